"""The page to which summaries of repairs link: what was changed and why, and errors that people report."""

from dataclasses import replace
from typing import Final

import pytest
from support.listed import answer_to, texts
from support.people import BOSS, Browser, People, Seen
from support.settled import COPY, settle
from support.webservice import DEAD, TODAY, Site

from weboid.core.record.days import date_of
from weboid.store.people.audit import list_audit
from weboid.store.people.revert import RevertState, list_reverts, record_reviewed
from weboid.wiki.source import ListedEdit, RevisionText

PATH: Final = "/repair/testwiki@wmflabs/1/7"
BEFORE: Final = f"One line.\n* [{DEAD} gone] and\u202e <b>more</b>\nThe end."
AFTER: Final = BEFORE.replace("gone]", f"gone] {{{{Webarchive|url={COPY}|date=2016-05-03}}}}")
SUMMARY: Final = f"</q><script>alert(1)</script>\u202e https://weboid.demo{PATH}"
WARNING: Final = "The wiki has no edit that says that it has repaired this revision"


async def save(site: Site, *, after: str = AFTER, summary: str = SUMMARY, page: int = 1) -> None:
    """Somebody has edited the page twice, the second time as a repair."""
    await settle(site)
    moment = f"{date_of(TODAY)}T12:00:00Z"
    site.source.texts = {
        7: RevisionText(page, 7, 0, BEFORE),
        8: RevisionText(page, 8, 7, BEFORE),
        9: RevisionText(page, 9, 8, after),
    }
    site.source.edits = [
        ListedEdit(7, 0, "first", "Ann", moment),
        ListedEdit(8, 7, "typo", "Bob", moment),
        ListedEdit(9, 8, summary, '"><b>Cy', moment),
    ]


async def test_the_edit_is_shown_with_its_reasons_and_nothing_of_it_is_markup(site: Site) -> None:
    await save(site)
    status, body, response = await site.fetch(f"{PATH}?lang=en")
    assert (status, response.headers["Cache-Control"]) == (200, "no-store")
    assert "<script>alert" not in body
    assert "\u202e" not in body
    assert texts(body, "//q") == ["</q><script>alert(1)</script>⟨U+202E⟩ https://weboid.demo" + PATH]
    assert texts(body, "//h3") == [DEAD]
    assert any(text.startswith("When it was saved, since ") for text in texts(body, "//section/p"))
    assert texts(body, "//pre/ins")[0].strip().startswith("{{Webarchive|url=https://web.archive.org/")
    assert texts(body, "//pre/del") == []
    assert texts(body, '//a[@href="http://wiki.demo/w/index.php?diff=9"]') == ["on the wiki"]
    assert "/repair/error" not in body, "nobody has signed in"
    assert "Signing in is not set up here." in body


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({"summary": "another"}, WARNING),
        ({"summary": f"https://weboid.demo{PATH}0"}, WARNING),
        ({"after": BEFORE}, WARNING),
        ({"page": 2}, WARNING),
        ({"after": BEFORE.replace("The end", "The  end")}, "No link was changed"),
    ],
)
async def test_without_such_an_edit_the_page_says_so(site: Site, changes: dict[str, str], wanted: str) -> None:
    await save(site, **changes)  # type: ignore[arg-type]
    assert wanted in await site.text(f"{PATH}?lang=en")


async def test_a_revision_that_is_not_of_the_page_or_hidden_is_no_edit_and_a_silent_wiki_is_said(site: Site) -> None:
    await save(site)
    assert WARNING in await site.text("/repair/testwiki@wmflabs/1/6?lang=en")
    site.source.texts[9] = replace(site.source.texts[9], text=None)
    assert WARNING in await site.text(f"{PATH}?lang=en")
    site.source.silent = True
    assert (await site.fetch(PATH))[0] == 503


async def report(browser: Browser) -> Seen:
    return await browser.send_form(f"{PATH}?lang=en", "/repair/error", why="link-works")


async def flags(people: People) -> list[str]:
    answer = await answer_to(people.site, "/api/page?dbname=testwiki@wmflabs&pageid=1")
    flagged: list[str] = answer["pages"][0]["links"][0]["flags"]
    return flagged


async def test_an_error_that_somebody_reports_freezes_the_link_until_it_is_undone_or_reviewed(people: People) -> None:
    await save(people.site)
    anna, boss = await people.browser("Anna"), await people.browser("Boss")
    sent = await report(anna)
    assert (sent.status, sent.location) == (303, f"{PATH}?lang=en")
    assert "An error was reported" in (await anna.open(sent.location)).text
    assert await flags(people) == ["frozen"]
    (listed,) = await people.site.wiki.do(list_reverts, RevertState.OPEN)
    stated = listed.revert.stated
    assert (stated.revision, stated.why, stated.reverter, stated.subject) == (9, "link-works", "Anna", "7")
    (entry,) = await people.site.wiki.do(list_audit)
    assert (entry.action, entry.object, entry.subject) == ("report-repair", DEAD, "7")
    assert "error of a repair, reported" in (await boss.open("/admin?lang=en")).text
    undone = await boss.send_form("/admin?subject=7&lang=en", "/admin/undo")
    assert "errors of repairs: 1." in (await boss.open(undone.location)).text
    assert await flags(people) == []
    await people.later()
    assert (await report(anna)).status == 303
    (listed,) = await people.site.wiki.do(list_reverts, RevertState.OPEN)
    assert await people.site.wiki.do(record_reviewed, listed.revert.revert, RevertState.KEPT, BOSS)
    await boss.send_form("/admin?subject=7&lang=en", "/admin/undo")
    assert await flags(people) == ["frozen"], "what was reviewed stays"


async def test_only_who_may_report_can_and_only_what_the_edit_has_changed(people: People) -> None:
    await save(people.site)
    anna, new, nobody = await people.browser("Anna"), await people.browser("New"), await people.browser()
    form = (await anna.open(f"{PATH}?lang=qqx")).form("/repair/error")
    assert "/account?back=" in (await nobody.open(PATH)).text
    for browser, changes, status in (
        (nobody, {}, 403),
        (new, {}, 403),
        (anna, {"url": "http://a.demo/old"}, 409),
        (anna, {"why": "style"}, 400),
        (anna, {"revid": "6"}, 409),
        (anna, {"token": "x"}, 403),
    ):
        seen = await browser.send("/repair/error", {**form, "why": "unknown", **changes})
        assert seen.status == status, (changes, seen.text[:500])
    assert await flags(people) == []
    assert (await report(anna)).status == 303
    assert (await anna.send("/repair/error", {**form, "why": "unknown"})).status == 429, "one a minute"
