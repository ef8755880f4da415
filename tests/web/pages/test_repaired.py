"""Links that their page has repaired already (L-10), wherever links are shown."""

import json

import pytest
from lxml import etree
from support.listed import WIKI, add_pages, answer_to, texts
from support.observations import LOST
from support.stored import key
from support.webservice import DEAD, TODAY, WALLED, Site

from weboid.core.verdict.judge import judge
from weboid.store.results.record import record_copy_check
from weboid.store.urls.url import find_urls
from weboid.web.answer import query
from weboid.wiki.source import PageLinks

COPY = f"https://web.archive.org/web/20160503120000/{DEAD}"
BARE = "http://dead.demo/bare"
NOTE = "This page already offers an archived copy of it."


async def add_page(site: Site, *urls: str, page: int = 9) -> None:
    """Takes a page in; the wiki has it, too."""
    await add_pages(site, {page: ("Repaired", list(urls))})
    site.source.found[page] = PageLinks(page, 0, "Repaired", 1, None, tuple(sorted(urls)))


async def lose(site: Site, copy: str) -> None:
    """The copy is gone from its archive, which visits have proven."""
    async with site.wiki.pool.connection() as conn:
        known = (await find_urls(conn, [key(copy)]))[key(copy)]
        record = known.record
        for day in range(100, TODAY, 3):
            record, _ = judge(record, LOST, day)
        assert await record_copy_check(conn, known, record, day=TODAY - 1, due=TODAY)


async def test_a_page_tells_repaired_links_apart_in_all_formats_also_while_its_wiki_is_silent(site: Site) -> None:
    await add_page(site, DEAD, BARE, COPY)
    for site.source.silent in (False, True):
        (page,) = (await answer_to(site, f"/api/page?{WIKI}&pageid=9"))["pages"]
        assert (page["counts"]["dead"], page["repaired"]) == (2, {"dead": 1, "doubtful": 0})
        assert {link["normal"]: link["repaired"] for link in page["links"]} == {BARE: False, DEAD: True}
        script = await site.text(f"/externalLinkProblem?{WIKI}&pageid=9")
        assert json.loads(script.partition("(")[2].rpartition(")")[0])["pages"] == [page]
        document = await site.text(f"/api/page?{WIKI}&pageid=9&format=xml&verdict=dead")
        tree = etree.fromstring(document.encode())
        assert [link.get("repaired") for link in tree.iterfind(".//link")] == ["false", "true"]
        assert [dict(each.attrib) for each in tree.iterfind(".//repaired")] == [{"dead": "1", "doubtful": "0"}]
        body = await site.text(f"/externalLinkInfo?{WIKI}&pageid=9&lang=en")
        assert "2 dead, 1 of them with a copy on the page" in texts(body, '//ul[@class="counts"]/li')
        assert [DEAD in text for text in texts(body, f'//tr[contains(., "{NOTE}")]')] == [True]
        assert len(texts(body, '//tr[starts-with(@class, "link repaired dead")]')) == 1
    await lose(site, COPY)
    (page,) = (await answer_to(site, f"/api/page?{WIKI}&pageid=9&lang=de"))["pages"]  # no kept answer
    assert (page["counts"]["dead"], page["repaired"]["dead"]) == (3, 0), "the finding is back when the copy is gone"


async def test_a_copy_beyond_the_end_of_an_answer_repairs_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(query, "MOST_LINKS", 1)
    await add_page(site, DEAD, COPY)
    (page,) = (await answer_to(site, f"/api/page?{WIKI}&pageid=9"))["pages"]
    assert page["part"] == {"from": 0, "to": 1, "of": 2}
    assert [link["repaired"] for link in page["links"]] == [True]


async def test_lists_feeds_changes_and_the_start_page_tell_repaired_links_apart(site: Site) -> None:
    await add_page(site, DEAD, BARE, COPY)
    listed = f"/lists/dead?{WIKI}&format=json"
    expected = {(1, DEAD): False, (9, BARE): False, (9, DEAD): True}
    for path in (listed, f"{listed}&domain=dead.demo"):
        assert await repaired_in(site, path) == expected
    body = await site.text(f"/lists/dead?{WIKI}&lang=en")
    assert len(texts(body, f'//li[@class="link repaired dead"][contains(., "{NOTE}")]')) == 1
    changes = (await answer_to(site, f"/changes?{WIKI}"))["changes"]
    found = {each["link"]["normal"]: {page["id"]: page["repaired"] for page in each["pages"]} for each in changes}
    assert found == {DEAD: {1: False, 9: True}, BARE: {9: False}}
    feed = await site.text(f"/feeds/dead?{WIKI}")
    words = "Pages that already have a copy of it: 1 of 2."
    summaries = [each.findtext("{*}summary") or "" for each in etree.fromstring(feed.encode()).iterfind("{*}entry")]
    assert sorted(words in text for text in summaries) == [False, True]
    assert texts(await site.text("/?lang=en"), '//span[contains(@class, "chip dead")]') == [
        "1 dead",
        "2 dead, 1 of them with a copy on the page",
    ]
    await lose(site, COPY)
    assert await repaired_in(site, listed) == {**expected, (9, DEAD): False, (9, COPY): False}


async def test_the_list_of_doubtful_links_tells_repaired_ones_apart(site: Site) -> None:
    await add_page(site, WALLED, f"https://web.archive.org/web/2016/{WALLED}")
    listed = f"/lists/dead?{WIKI}&format=json&verdict=doubtful"
    for path in (listed, f"{listed}&domain=b.demo"):
        assert await repaired_in(site, path) == {(1, WALLED): False, (9, WALLED): True}


async def repaired_in(site: Site, path: str) -> dict[tuple[int, str], bool]:
    pages = (await answer_to(site, path))["pages"]
    return {(page["id"], link["normal"]): link["repaired"] for page in pages for link in page["links"]}
