"""What has changed in a wiki: the log for programs (W-14) and the Atom feed (W-12)."""

import re
from email.utils import parsedate_to_datetime
from typing import Any

import pytest
from lxml import etree
from support.listed import WIKI, add_pages, answer_to
from support.stored import key
from support.webservice import DEAD, HOSTILE_TITLE, PDF, TODAY, Site

from weboid.core.record.days import date_of, iso
from weboid.core.record.reasons import Reason
from weboid.core.url.farms import WMF
from weboid.core.verdict.verdict import Change, Verdict
from weboid.store.db.pool import Connection
from weboid.store.urls.check import record_changes

CHANGES = f"/changes?{WIKI}"
FEED = f"/feeds/dead?{WIKI}"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


async def log(conn: Connection, url: str, day: int, after: Verdict = Verdict.DEAD) -> None:
    """A line of the log: a link that worked is dead, or one that was dead is not."""
    before = Verdict.WORKING if after is Verdict.DEAD else Verdict.DEAD
    reason = Reason.GONE if after is Verdict.DEAD else Reason.OK
    await record_changes(conn, [Change(key(url), day, before, after, reason, day)])


async def log_all(site: Site, *lines: tuple[str, int, Verdict]) -> None:
    async with site.wiki.pool.connection() as conn:
        for line in lines:
            await log(conn, *line)


async def followed(site: Site, more: str = "") -> list[dict[str, Any]]:
    """All changes from the beginning, going on by `next`."""
    found: list[dict[str, Any]] = []
    since = 0
    for _ in range(100):
        document = await answer_to(site, f"{CHANGES}{more}&since={since}")
        found += document["changes"]
        since = document["next"]
        if not document["more"]:
            return found
    raise AssertionError("it never ends")


def entries(body: str) -> list[dict[str, str]]:
    feed = etree.fromstring(body.encode())
    return [
        {
            **{
                name: str(entry.findtext(f"a:{name}", namespaces=ATOM))
                for name in ("id", "title", "updated", "summary")
            },
            "link": str(entry.find("a:link", ATOM).get("href")),  # type: ignore[union-attr]
        }
        for entry in feed.iterfind("a:entry", ATOM)
    ]


async def test_links_that_died_or_came_back_are_reported_in_the_order_of_the_log(site: Site) -> None:
    await log_all(site, (PDF, 118, Verdict.DEAD), (PDF, 120, Verdict.WORKING))
    document = await answer_to(site, CHANGES)
    assert [
        (change["day"], change["before"], change["after"], change["link"]["normal"]) for change in document["changes"]
    ] == [
        (iso(TODAY - 1), "unknown", "dead", DEAD),
        (iso(118), "working", "dead", PDF),
        (iso(120), "dead", "working", PDF),
    ]
    numbers = [change["change"] for change in document["changes"]]
    assert numbers == sorted(numbers)
    assert document["changes"][1]["reason"] == "gone"
    assert document["changes"][0]["pages"] == [{"id": 1, "namespace": 0, "title": "Page 1", "repaired": False}]
    assert document["changes"][0]["link"]["summary"].startswith("dead for 3 weeks")
    assert (document["more"], document["changes"][0]["more"]) == (False, False)
    assert await answer_to(site, f"{CHANGES}&since={document['next']}") == {
        **document,
        "since": document["next"],
        "changes": [],
    }


async def test_each_change_is_reported_once_however_small_the_parts(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    urls = [f"http://many.demo/{number}" for number in range(23)]
    await add_pages(site, {9: ("P9", urls)})
    await add_pages(site, {5: ("Other", ["http://else.demo/"])}, "aawiki", WMF)
    lines = [(url, 100 + place, Verdict.DEAD) for place, url in enumerate(urls)]
    await log_all(site, *(line for pair in lines for line in (pair, ("http://else.demo/", 101, Verdict.DEAD))))
    whole = [change["change"] for change in await followed(site)]
    assert len(whole) == 24
    for most, budget in ((1, 5000), (4, 3), (100, 2), (3, 7)):
        monkeypatch.setattr("weboid.web.api.changes.MOST_CHANGES", most)
        monkeypatch.setattr("weboid.store.lists.changes.BUDGET", budget)
        assert [change["change"] for change in await followed(site)] == whole
    assert (await answer_to(site, "/changes?dbname=aawiki&since=0"))["next"] >= whole[0]


async def test_changes_to_some_verdicts_can_be_asked_for_and_none_is_missed(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [(PDF, 100 + day, after) for day, after in enumerate((Verdict.DEAD, Verdict.WORKING, Verdict.DOUBTFUL) * 5)]
    await log_all(site, *lines)
    whole = await followed(site)
    assert (len(whole), {change["after"] for change in whole}) == (16, {"dead", "working", "doubtful"})
    for to in ("dead", "working", "doubtful", "dead|working", "working|doubtful|dead"):
        expected = [change["change"] for change in whole if change["after"] in to.split("|")]
        for most, budget in ((100, 5000), (2, 5000), (100, 3), (1, 1)):
            monkeypatch.setattr("weboid.web.api.changes.MOST_CHANGES", most)
            monkeypatch.setattr("weboid.store.lists.changes.BUDGET", budget)
            found = await followed(site, f"&to={to}")
            assert [change["change"] for change in found] == expected
    document = await answer_to(site, f"{CHANGES}&to=working|dead&pageid=1&since={iso(110)}")
    assert document["to"] == ["working", "dead"]
    assert {change["day"] >= iso(110) for change in document["changes"]} == {True}
    assert (await answer_to(site, CHANGES))["to"] == []
    tree = etree.fromstring((await site.text(f"{CHANGES}&to=dead|working&format=xml")).encode())
    assert [each.text for each in tree.findall("to")] == ["working", "dead"]
    # Going on ends where the log ends, whichever changes were asked for.
    assert (await answer_to(site, f"{CHANGES}&to=doubtful"))["next"] == (await answer_to(site, CHANGES))["next"]


async def test_changes_can_be_asked_for_from_a_day_on(site: Site) -> None:
    await log_all(site, (PDF, 119, Verdict.DEAD), (PDF, 125, Verdict.WORKING), (PDF, 130, Verdict.DEAD))
    for day, count in ((0, 4), (119, 4), (120, 2), (125, 2), (126, 1), (131, 0)):
        assert len((await answer_to(site, f"{CHANGES}&since={iso(day)}"))["changes"]) == count, day
    whole = await answer_to(site, CHANGES)
    assert (await answer_to(site, f"{CHANGES}&since=9999-12-31"))["next"] == whole["next"]
    assert (await answer_to(site, f"{CHANGES}&since=0001-01-01"))["changes"] == whole["changes"]


async def test_a_change_names_some_pages_and_says_if_there_are_more(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await add_pages(site, {page: (f"P{page}", [PDF]) for page in range(10, 20)})
    await log_all(site, (PDF, 120, Verdict.DEAD))
    change = (await answer_to(site, CHANGES))["changes"][-1]
    assert ([page["id"] for page in change["pages"]], change["more"]) == ([1, *range(10, 20)], False)
    monkeypatch.setattr("weboid.store.lists.changes.MOST_PAGES", 4)
    change = (await answer_to(site, CHANGES))["changes"][-1]
    assert ([page["id"] for page in change["pages"]], change["more"]) == ([1, 10, 11, 12], True)


async def test_the_feed_is_atom_with_the_newest_first(site: Site) -> None:
    await add_pages(site, {9: (HOSTILE_TITLE, ["http://dead.demo/</title>"])})
    status, body, response = await site.fetch(f"{FEED}&lang=en")
    assert (status, response.content_type) == (200, "application/atom+xml")
    feed = etree.fromstring(body.encode())
    newest, other = entries(body)
    assert feed.findtext("a:title", namespaces=ATOM) == "Newly dead links in testwiki@wmflabs"
    assert feed.findtext("a:id", namespaces=ATOM) == "tag:weboid.demo,2017:dead/testwiki@wmflabs"
    assert feed.findtext("a:author/a:name", namespaces=ATOM) == "Weboid"
    assert feed.findtext("a:updated", namespaces=ATOM) == newest["updated"] == f"{iso(TODAY - 1)}T00:00:00Z"
    assert newest["title"].startswith('http://dead.demo/%3C/title%3E on “"><script>alert(1)</script>⟨U+202E⟩')
    assert other["title"] == f"{DEAD} on “Page 1”"
    assert other["summary"] == "The server reports that the page does not exist. Used on: Page 1."
    assert re.fullmatch(r"tag:weboid\.demo,2017:dead/testwiki@wmflabs/change/[0-9]+", other["id"])
    assert all(link.get("href").startswith("https://weboid.demo/") for link in feed.iter("{*}link"))  # type: ignore[union-attr]
    assert not re.search("[\u202a-\u202e\u2028]", body)
    assert (await site.fetch(other["link"].removeprefix("https://weboid.demo")))[0] == 200


async def test_the_feed_of_a_page_has_its_links_alone(site: Site) -> None:
    await add_pages(site, {9: ("P9", ["http://dead.demo/9"])})
    for name in ("page", "pageid", "curid"):
        body = await site.text(f"{FEED}&{name}=9&lang=de")
        assert [entry["title"] for entry in entries(body)] == ["http://dead.demo/9 auf „P9“"]
    assert "Neue tote Weblinks auf „P9“" in body
    assert entries(body)[0]["id"] in {entry["id"] for entry in entries(await site.text(FEED))}


async def test_the_log_can_be_reported_of_one_page_or_of_a_category(site: Site) -> None:
    await add_pages(site, {8: ("P8", [PDF]), 9: ("P9", ["http://nine.demo/"])})
    await log_all(site, (PDF, 118, Verdict.DEAD), ("http://nine.demo/", 119, Verdict.DEAD))
    site.source.members |= {"Two": (8, 9), "One": (9, 77, 9999999999)}

    async def urls(query: str) -> list[tuple[str, list[int]]]:
        return [
            (change["link"]["normal"], [page["id"] for page in change["pages"]])
            for change in (await answer_to(site, f"{CHANGES}&{query}"))["changes"]
        ]

    assert await urls("pageid=8") == [(PDF, [8])]
    assert await urls("page=1") == [(DEAD, [1]), (PDF, [1])]
    assert await urls("category=Two") == [(PDF, [8]), ("http://nine.demo/", [9])]
    assert await urls("category=Category:One") == [("http://nine.demo/", [9])]
    assert await urls("category=None") == []
    document = await answer_to(site, f"{CHANGES}&category=Two&since=0")
    assert (document["category"], document["members"], document["partial"]) == ("Two", 2, False)
    assert (await answer_to(site, f"{CHANGES}&category=Two&since={document['next']}"))["changes"] == []
    assert (await answer_to(site, f"{CHANGES}&pageid=8"))["page"] == 8


async def test_the_feed_of_a_category_has_its_pages_links_alone(site: Site) -> None:
    await add_pages(site, {9: ("P9", [DEAD, "http://nine.demo/"])})
    site.source.members |= {"Gone & lost": (1, 9), "Empty": ()}
    path = f"{FEED}&category=Gone_%26_lost"
    status, body, response = await site.fetch(path)
    assert (status, response.content_type) == (200, "application/atom+xml")
    (entry,) = entries(body)
    assert "Page 1, P9" in entry["summary"]
    feed = etree.fromstring(body.encode())
    assert str(feed.findtext("a:id", namespaces=ATOM)).endswith("/category/Gone%20%26%20lost")
    assert "category=Gone+%26+lost" in str(feed.find("a:link[@rel='self']", ATOM).get("href"))  # type: ignore[union-attr]
    assert "Gone & lost" in str(feed.findtext("a:title", namespaces=ATOM))
    assert (await site.fetch(path, If_None_Match=response.headers["ETag"]))[0] == 304
    assert entries((await site.fetch(f"{FEED}&category=Empty"))[1]) == []


async def test_who_is_in_a_category_is_asked_once_in_a_while(site: Site) -> None:
    site.source.members["A"] = (1,)
    for path in (CHANGES, FEED, CHANGES):
        assert (await site.fetch(f"{path}&category=A"))[0] == 200
    assert site.source.asked == 1


async def test_of_a_large_category_the_first_pages_are_reported_and_that_there_are_more(site: Site) -> None:
    site.source.members["A"] = (1, 2, 3)
    site.source.members_at_once = 2
    document = await answer_to(site, f"{CHANGES}&category=A")
    assert (document["members"], document["partial"]) == (2, True)


async def test_what_came_back_leaves_the_feed_and_what_died_twice_stands_there_once(site: Site) -> None:
    await log_all(site, (DEAD, 119, Verdict.WORKING), (DEAD, 120, Verdict.DEAD))
    assert [entry["updated"] for entry in entries(await site.text(FEED))] == [f"{iso(120)}T00:00:00Z"]
    await log_all(site, (PDF, 118, Verdict.DEAD))
    body = await site.text(FEED)
    # Logged, but the record says that it works.
    assert [entry["title"].split()[0] for entry in entries(body)] == [DEAD]


async def test_a_feed_has_a_hundred_entries_at_most(site: Site) -> None:
    await add_pages(site, {9: ("P9", [f"http://dead.demo/{number}" for number in range(120)])})
    for path in (FEED, f"{FEED}&page=9"):
        found = entries(await site.text(path))
        assert len(found) == 100
        assert len({entry["id"] for entry in found}) == 100


async def test_who_has_the_feed_gets_304(site: Site) -> None:
    _, _, response = await site.fetch(FEED)
    tag, modified = response.headers["ETag"], response.headers["Last-Modified"]
    # The newest change is of yesterday: its day is over, nothing can be added to it.
    assert parsedate_to_datetime(modified).date() == date_of(TODAY)
    for headers in ({"If_None_Match": tag}, {"If_Modified_Since": modified}):
        status, body, response = await site.fetch(FEED, **headers)
        assert (status, body, response.headers["ETag"]) == (304, "", tag), headers
    assert (await site.fetch(FEED, If_None_Match='"other"', If_Modified_Since=modified))[0] == 200
    assert (await site.fetch(FEED, If_Modified_Since="Sat, 01 Apr 2017 00:00:00 GMT"))[0] == 200
    await log_all(site, (DEAD, TODAY, Verdict.DEAD))
    status, _, response = await site.fetch(FEED, If_None_Match=tag, If_Modified_Since=modified)
    # Today may bring more: its day says nothing yet.
    assert (status, "Last-Modified" in response.headers) == (200, False)
