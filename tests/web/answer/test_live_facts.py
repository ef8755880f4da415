"""What an answer knows of this second besides the links themselves: spam lists (L-3)."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from support.listed import answer_to
from support.webservice import DEAD, TODAY, Site

from weboid.core.url.classify import classify
from weboid.core.url.farms import WMFLABS
from weboid.core.url.spam_lines import SpamFilter, parse_lines
from weboid.core.verdict.link_report import KeyedLink, keyed_link
from weboid.errors import StoreAway
from weboid.store.pages.spam import FARM, ListKind, record_spam_list, spam_list
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.live_spam import LiveSpam
from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"
WIKI = StoredWiki(1, WMFLABS.code, "testwiki", None, None, None)
BAD, WORSE, FINE = "http://bad.demo/", "http://worse.demo/a", "http://fine.demo/new"
LISTED = SpamFilter(parse_lines(r"bad\.demo").usable)


async def verdicts_of(site: Site, page: int) -> Mapping[str, Any]:
    (found,) = (await answer_to(site, f"{API}&pageid={page}&all=1"))["pages"]
    return {link["normal"]: link["verdict"] for link in found["links"]}


def keyed(*urls: str) -> list[KeyedLink]:
    return [keyed_link(classify(url, WMFLABS)) for url in urls]


async def test_a_link_is_spam_by_the_lists_that_are_loaded_whatever_its_page_is(site: Site) -> None:
    for of, line in ((FARM, r"bad\.demo"), ("testwiki", r"worse\.demo"), ("other", r"fine\.demo")):
        found = spam_list(WMFLABS.code, of, ListKind.BLACK, TODAY, parse_lines(line))
        await site.wiki.do(record_spam_list, found)
    # A page that is not watched, and one whose link has just been added.
    site.source.found[30] = PageLinks(30, 4, "Project page", 9, None, (BAD, DEAD, FINE, WORSE))
    site.source.found[1] = PageLinks(1, 0, "Page 1", 8, None, (BAD, DEAD))
    expected = {BAD: "spam", DEAD: "dead", FINE: "unknown", WORSE: "spam"}
    assert await verdicts_of(site, 30) == expected
    assert await verdicts_of(site, 1) == {BAD: "spam", DEAD: "dead"}


async def test_lists_are_read_once_for_all_and_judge_later_answers_if_they_are_late() -> None:
    asked = 0
    ready = asyncio.Event()

    async def late(_: StoredWiki) -> SpamFilter:
        nonlocal asked
        asked += 1
        await ready.wait()
        return LISTED

    spam, links = LiveSpam(late), {7: keyed(BAD, FINE, "mailto:a@b")}
    async with asyncio.timeout(3):
        assert await asyncio.gather(*(spam.find(WIKI, links) for _ in range(9))) == [{}] * 9
    ready.set()
    assert await spam.find(WIKI, links) == {7: {links[7][0].key: BAD}}
    assert (asked, await spam.find(WIKI, {7: []})) == (1, {})


async def test_the_lists_before_are_in_force_while_the_store_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.web.answer.live_spam._KEPT_S", 0.0)
    answers = iter([LISTED])

    async def once(_: StoredWiki) -> SpamFilter:
        for found in answers:
            return found
        raise StoreAway("it is away")

    spam, links = LiveSpam(once), {7: keyed(BAD)}
    for _ in range(2):
        assert await spam.find(WIKI, links) == {7: {links[7][0].key: BAD}}
    assert await LiveSpam(once).find(WIKI, links) == {}
