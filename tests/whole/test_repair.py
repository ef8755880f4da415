"""The repair bot on its whole way: on a real wiki, with a real archive, a real store and the real webservice."""

from collections.abc import AsyncIterator
from datetime import datetime

import pytest
import pytest_asyncio
from support.pwb import BOT, BotWiki, Operator, PwbRun
from support.pywb import Pywb
from support.repair_story import DBNAME, TOKEN, RepairStory, open_repair_story
from support.wiki_templates import COPY_CATEGORY, DEAD_CATEGORY, PERMANENT_CATEGORY, complaints

from weboid_scripts.journal.journal import FILE_NAME

pytestmark = [pytest.mark.long, pytest.mark.asyncio(loop_scope="module")]

HARBOUR = """'''Harbour''' is old.<ref>{{Cite web|url={COPIED}|title=The ferry|access-date=17 April 2017}}</ref>
It was painted.<ref>[{COPIED} The painting]</ref>
The list was lost.<ref>{{Cite web |url={LOST} |title=The list}}</ref>
Nobody may see it.<ref>{{cite web|url={BLOCKED}|title=The plan}}</ref>
Ships come.<ref>{{Cite web|url={FINE}|title=Ships}}{{dead link|date=May 2017|bot=WeboidBot|fix-attempted=yes}}</ref>
<nowiki>[{COPIED} x]</nowiki> <!-- [{COPIED} y] -->
<references/>"""
CITED = "It sails.<ref>{{Cite web|url={COPIED}|title=The ferry}}</ref>\n\nIt is old.\n\n<references/>"
MISTAKEN = CITED.replace("{COPIED}", "{MISTAKEN}")
PAGES = {
    "Harbour": HARBOUR,
    "Mistake": MISTAKEN,
    "Other mistake": MISTAKEN,
    **dict.fromkeys(("Quay", "Ärger & „Spaß“ +1=2?"), CITED),
}


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def story(
    module_database: str, tmp_path_factory: pytest.TempPathFactory, bot_wiki: BotWiki, pywb: Pywb
) -> AsyncIterator[RepairStory]:
    folder = tmp_path_factory.mktemp("story")
    async with open_repair_story(module_database, folder, bot_wiki, pywb.new_archive(), PAGES) as story:
        yield story


def repair(story: RepairStory, operator: Operator, *words: str) -> PwbRun:
    operator.environ |= {"WEBOID_SERVICE": story.service, "WEBOID_TOKEN": TOKEN}
    return operator.pwb("weboid_repair", "-farm:wmflabs", *words)


async def test_a_page_is_repaired_once_renders_well_and_the_next_pass_sees_it(
    story: RepairStory, operator: Operator
) -> None:
    wiki = story.bot_wiki.admin
    before = wiki.parsed("Harbour")
    ran = repair(story, operator, "-page:Harbour", "-always")
    assert ran.status == 0, ran.out
    copy = story.copy_of("COPIED")
    edit, *_ = wiki.history("Harbour")
    month = f"{datetime.fromisoformat(edit['timestamp']):%B %Y}"
    expected = (
        story.filled(HARBOUR)
        .replace(
            "|access-date=17 April 2017}}",
            f"|access-date=17 April 2017|archive-url={copy}|archive-date=30 March 2017|url-status=dead}}}}",
        )
        .replace(" The painting]", f" The painting] {{{{webarchive|url={copy}|date=30 March 2017}}}}")
        .replace(
            " |title=The list}}", f" |title=The list}}}}{{{{dead link|date={month}|bot={BOT}|fix-attempted=yes}}}}"
        )
        .replace("|title=Ships}}{{dead link|date=May 2017|bot=WeboidBot|fix-attempted=yes}}", "|title=Ships}}")
    )
    assert wiki.text("Harbour") == expected
    assert edit["user"] == BOT
    assert "archived cop" in edit["comment"]
    after = wiki.parsed("Harbour")
    assert complaints(after["categories"]) == complaints(before["categories"]) == set()
    assert after["parsewarnings"] == before["parsewarnings"]
    assert {COPY_CATEGORY, DEAD_CATEGORY, PERMANENT_CATEGORY} <= set(after["categories"])
    assert set(after["externallinks"]) - set(before["externallinks"]) == {copy}

    await story.command("feed", "pass", "--day", str(story.day + 1))
    stored = {link["normal"] for link in await story.shown(f"{DBNAME}:Harbour")}
    assert stored == {copy, *(story.located(name) for name in ("COPIED", "LOST", "BLOCKED", "FINE"))}
    ran = repair(story, operator, "-page:Harbour", "-always")
    assert ran.status == 0, ran.out
    assert wiki.revision("Harbour") == edit["revid"]


async def test_what_was_reverted_is_not_repeated_and_then_frozen_for_all_bots_of_the_wiki(
    story: RepairStory, operator: Operator
) -> None:
    wiki = story.bot_wiki.admin
    assert repair(story, operator, "-page:Mistake", "-always").status == 0
    edit, *_ = wiki.history("Mistake")
    assert edit["user"] == BOT
    undone = story.bot_wiki.person("Reader").undo("Mistake", edit["revid"], "the link works for me")
    story.bot_wiki.run_jobs()
    ran = repair(story, operator, "-page:Mistake", "-always")
    assert (ran.status, wiki.revision("Mistake")) == (0, undone), ran.out
    assert "link-reverted" in ran.out

    ran = operator.pwb("weboid_reverts", "-farm:wmflabs")
    assert (ran.status, "the link works" in ran.out, "Reported to" in ran.out) == (0, True, True), ran.out
    (operator.folder / FILE_NAME).unlink()
    ran = repair(story, operator, "-page:Mistake", "-page:Other mistake", "-always")
    assert (ran.status, wiki.revision("Mistake")) == (0, undone), ran.out
    assert wiki.text("Other mistake") == story.filled(MISTAKEN)


async def test_pages_whose_links_died_are_found_once(story: RepairStory, operator: Operator) -> None:
    wiki = story.bot_wiki.admin
    ran = repair(story, operator, "-weboid:dead", "-always")
    assert ran.status == 0, ran.out
    for title in ("Quay", "Ärger & „Spaß“ +1=2?"):
        assert story.copy_of("COPIED") in wiki.text(title), ran.out
    wiki.save("Quay", story.filled(CITED))
    revision = wiki.revision("Quay")
    ran = repair(story, operator, "-weboid:dead", "-always")
    assert (ran.status, wiki.revision("Quay")) == (0, revision), ran.out
