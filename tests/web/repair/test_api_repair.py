"""``/api/repair``: what people get who save a repair themselves, and what strangers cannot do with it."""

import asyncio
import json
from io import BytesIO
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from support.copies import keep_copies
from support.settled import COPY, settle
from support.webservice import DEAD, MOVED, TODAY, WALLED, Site, record_weeks

from weboid.core.archive.outcomes import LookupOutcome
from weboid.mechanism.helper_process import HelperProcess
from weboid.wiki.source import PageLinks, RevisionText

FORM: Final = {"Content-Type": "application/x-www-form-urlencoded"}
PLACE: Final = {"dbname": "testwiki@wmflabs", "pageid": "1", "revid": "7"}
FOREIGN: Final = "http://nobody-knows.demo/"
TEXT: Final = f"\r\n 😀\u3000[{DEAD} gone], [{MOVED} moved], [{WALLED} wall] and {FOREIGN}\r\n"


async def sent(site: Site, http: int = 200, **fields: str) -> Any:
    body = BytesIO(urlencode({**PLACE, **fields}).encode())
    async with site.client.post(f"{site.url}/api/repair", data=body, headers=FORM) as response:
        answer = await response.text()
        assert response.status == http, answer[:1_000]
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        return json.loads(answer)


async def refused(site: Site, http: int, key: str, **fields: str) -> None:
    assert (await sent(site, http, **fields))["error"]["key"] == f"weboid-error-{key}"


async def test_a_text_that_is_sent_comes_back_repaired_with_what_was_done_and_what_was_left(site: Site) -> None:
    await settle(site)
    answer = await sent(site, text=TEXT)
    assert (answer["wiki"], answer["page"], answer["revision"]) == ("testwiki@wmflabs", 1, 7)
    (change,) = answer["changes"]
    assert answer["wikitext"] == TEXT.replace(change["before"], change["after"])
    assert TEXT.encode("utf-16-le")[2 * change["offset"] :].decode("utf-16-le").startswith(change["before"])
    assert change["copy"] == {"address": COPY, "archive": "Wayback Machine", "taken": "2016-05-03T12:00:00Z"}
    assert change["copies"] == [change["copy"]]
    assert (change["url"], change["action"], change["verdict"]) == (DEAD, "archive-added", "dead")
    assert change["words"].startswith("archived copy added: ")
    assert change["since"]
    assert answer["summary"].startswith("Defekte Weblinks: Archivlink ergänzt")
    assert {each["url"]: each["why"] for each in answer["left"]} == {WALLED: "doubtful", FOREIGN: "unknown"}
    assert all(each["words"] for each in answer["left"])
    again = await sent(site, text=answer["wikitext"])
    assert (again["wikitext"], again["changes"], again["summary"]) == (answer["wikitext"], [], "")
    assert {each["url"]: each["why"] for each in again["left"]}[DEAD] == "archived"


async def test_the_text_of_a_revision_is_read_from_the_wiki(site: Site) -> None:
    await settle(site)
    address = f"{site.url}/api/repair?dbname=testwiki@wmflabs&pageid=1&revid="
    site.source.texts = {5: RevisionText(1, 5, 4, TEXT), 6: RevisionText(2, 6, 0, TEXT), 4: RevisionText(1, 4, 0, None)}
    async with site.client.get(f"{address}5") as response:
        answer = await response.json()
    assert [change["url"] for change in answer["changes"]] == [DEAD]
    assert answer == await sent(site, revid="5") == await sent(site, revid="5", text=TEXT)
    for revision, key in (("3", "no-revision"), ("6", "no-revision"), ("4", "revision-hidden")):
        await refused(site, 409, key, revid=revision)


async def test_only_links_that_the_page_has_now_or_had_at_its_last_pass_are_looked_up(site: Site) -> None:
    await settle(site)
    for silent in (False, True):
        site.source.silent = silent
        answer = await sent(site, pageid="2", text=TEXT)
        assert (answer["changes"], answer["wikitext"]) == ([], TEXT)
        assert {each["why"] for each in answer["left"]} == {"unknown"}
    assert len((await sent(site, text=TEXT))["changes"]) == 1, "by the last pass"
    await refused(site, 503, "wiki-silent", pageid="3", text=TEXT)
    await refused(site, 503, "wiki-silent")


async def test_choices_are_followed_and_foreign_addresses_refused(site: Site) -> None:
    await settle(site)
    assert (await sent(site, text=TEXT, choices=json.dumps({DEAD: "leave"})))["left"][0]["why"] == "chosen"
    assert (await sent(site, text=TEXT, only="chosen"))["left"][0]["why"] == "not-chosen"
    tagged = await sent(site, text=TEXT, choices=json.dumps({DEAD: "tag", FOREIGN: "tag"}))
    assert [(change["action"], change["copy"]) for change in tagged["changes"]] == [("tagged", None)]
    assert (await sent(site, text=TEXT, choices=json.dumps({DEAD: COPY})))["changes"][0]["copy"]["address"] == COPY
    for unfit in ({DEAD: "https://evil.example/"}, {"\ud800": "tag"}):
        await refused(site, 409, "choice-refused", text=TEXT, choices=json.dumps(unfit))
    for choices in ("[]", "{", '{"a":1}', "[" * 100_000, json.dumps({"a" * (512 << 10): ""})):
        await refused(site, 400, "choices", text=TEXT, choices=choices)


async def test_pages_that_are_not_repaired_say_why(site: Site) -> None:
    await refused(site, 409, "no-settings", text=TEXT)
    await settle(site)
    kept_off = await sent(site, text=f"{{{{nobots}}}}{TEXT}")
    assert (kept_off["kept_off"], kept_off["changes"]) == ("{{nobots}}", [])
    assert [each["why"] for each in kept_off["left"]] == ["kept-off"]
    other = await sent(site, text="{{a template with the link}}")
    assert [(each["url"], each["why"]) for each in other["left"]] == [(DEAD, "not-in-text")]
    site.source.found[4] = PageLinks(4, 1, "Talk", 7, None, (DEAD,))
    site.source.found[5] = PageLinks(5, 8, "Sitenotice", 7, None, (DEAD,))
    for page in ("4", "5"):
        await refused(site, 409, "no-repairs-here", pageid=page, text=TEXT)
    site.source.found[6] = PageLinks(6, 0, "No links", 7, None, ())
    assert (await sent(site, pageid="6", text=TEXT))["changes"] == [], "it is no fault of its wiki's settings"
    await refused(site, 404, "unknown-page", pageid="99", text=TEXT)
    await refused(site, 404, "unknown-wiki", dbname="nowiki@wmflabs", text=TEXT)
    await settle(site, talk="instead")
    assert len((await sent(site, text=TEXT))["changes"]) == 1, "a person edits, and no bot"
    await settle(site, run=False)
    assert [each["why"] for each in (await sent(site, text=TEXT))["left"]] == ["switched-off"]


async def test_a_dead_link_without_any_copy_is_tagged_and_one_not_looked_up_yet_is_left(site: Site) -> None:
    await settle(site)
    other = "http://dead.demo/none"
    site.source.found[1] = PageLinks(1, 0, "Page 1", 7, None, (DEAD, other))
    await site.wiki.take_in({1: [DEAD, other]}, TODAY - 40)
    async with site.wiki.pool.connection() as conn:
        await record_weeks(conn, [other])
    text = f"[{other} x]"
    assert [each["why"] for each in (await sent(site, text=text))["left"]] == ["archive-pending", "not-in-text"]
    await keep_copies(site.wiki.pool, other, day=TODAY, said={"wayback": LookupOutcome.NONE})
    assert [each["action"] for each in (await sent(site, text=text))["changes"]] == ["tagged"]


_UNFIT = (("revid", ""), ("revid", "0"), ("pageid", "1|2"), ("only", "all"), ("text", "\x00"), ("text", "a\x0bb"))


@pytest.mark.parametrize(("name", "value"), [*_UNFIT, ("lang", "'")])
async def test_what_cannot_be_used_is_refused_before_anything_is_read(site: Site, name: str, value: str) -> None:
    async with site.client.post(f"{site.url}/api/repair", data={**PLACE, "text": TEXT, name: value}) as response:
        assert (response.status, site.source.asked) == (400, 0), await response.text()


@pytest.mark.parametrize(
    "body", ["text=%ED%A0%80", "text=%FF", "text=a&text=b", "&" * 41, "text=a&choices=%ED%A0%80", "text=%00"]
)
async def test_bytes_that_are_no_text_are_refused(site: Site, body: str) -> None:
    form = f"dbname=testwiki@wmflabs&pageid=1&revid=7&{body}"
    async with site.client.post(f"{site.url}/api/repair", data=form, headers=FORM) as response:
        assert response.status == 400, await response.text()


_HUGE: Final = {
    "brackets": "[" * (2 << 20),
    "braces": "{{" * (1 << 20),
    "one unclosed citation": f"{{{{cite web|url={DEAD}|title=" + "x" * 1000,
    "an unclosed comment": f"<!-- [{DEAD} gone]",
    "nested": "{{a|" * 5_000 + f"[{DEAD} gone]" + "}}" * 5_000,
}


@pytest.mark.parametrize("name", _HUGE)
async def test_hostile_texts_come_back_as_they_were(site: Site, name: str) -> None:
    await settle(site)
    answer = await sent(site, text=_HUGE[name])
    assert (answer["changes"], answer["wikitext"] == _HUGE[name]) == ([], True)


async def test_what_is_too_long_or_takes_too_long_is_refused_and_others_are_answered(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await settle(site)
    await refused(site, 413, "form-too-long", text="a" * ((2 << 20) + 1))
    await refused(site, 413, "form-too-long", text="ä" * ((1 << 20) + 1))
    exchanged = HelperProcess._exchanged

    async def hurried(self: HelperProcess, job: bytes) -> tuple[bytes, bytes]:
        async with asyncio.timeout(0.5 if len(job) > 100_000 else None):  # in earnest 10 s of processor time
            return await exchanged(self, job)

    monkeypatch.setattr(HelperProcess, "_exchanged", hurried)
    await refused(site, 413, "too-much-to-repair", text=f"{DEAD} " * 40_000)
    assert len((await sent(site, text=TEXT))["changes"]) == 1
    monkeypatch.setattr("weboid.web.repair.repairing.MOST_TEXT", 10)
    site.source.texts = {7: RevisionText(1, 7, 0, TEXT)}
    await refused(site, 413, "form-too-long")


async def test_the_same_link_many_times_gives_each_piece_once(site: Site) -> None:
    await settle(site)
    text = f"[{DEAD} a]" * 50
    changes = (await sent(site, text=text))["changes"]
    assert len(changes) == 50
    assert sum(len(change["before"] or "") for change in changes) <= len(text)
