"""Lists of spam and of doubtful links: totals, order, filters, feeds (W-6, W-12)."""

from typing import Any

import pytest
import pytest_asyncio
from lxml import etree
from support.listed import WIKI, add_pages, answer_to, key_of_error, texts, walked
from support.observations import FINE
from support.stored import key
from support.webservice import TODAY, WALLED, Site, record_weeks

from weboid.store.pages.spam import record_spam_links

SPAM = f"/lists/spam?{WIKI}"
DOUBTFUL = f"/lists/dead?{WIKI}&verdict=doubtful"
URLS = {key(url): url for url in (f"http://spam.demo/{place}" for place in range(4))}
PAGES = {10: 2, 11: 4, 12: 1, 13: 4, 14: 3}
"""The number of links that are spam, by page; odd ones are in namespace 4, page 10 was met before days were written."""


@pytest_asyncio.fixture(loop_scope="module")
async def filled(site: Site) -> Site:
    await add_pages(site, {page: (f"P{page}", [WALLED, f"http://fine.demo/{page}"]) for page in PAGES})
    await site.wiki.execute("UPDATE page SET namespace = 4 WHERE page IN (11, 13)")
    for page, count in PAGES.items():
        spam = {page: dict(list(URLS.items())[:count])}
        await site.wiki.do(record_spam_links, site.wiki.wiki.wiki, spam, None if page == 10 else TODAY - page)
    return site


def pages_of(documents: list[Any]) -> list[int]:
    return [page["id"] for document in documents for page in document["pages"]]


def atom_texts(body: str, path: str) -> list[str]:
    found: Any = etree.fromstring(body.encode()).xpath(path, namespaces={"a": "http://www.w3.org/2005/Atom"})
    return [str(each) for each in found]


@pytest.mark.parametrize("rows", [1, 2, 100])
async def test_pages_with_spam_have_a_total_an_order_and_a_namespace(
    filled: Site, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    monkeypatch.setattr("weboid.web.pages.spam_pages.ROWS", rows)
    for query, wanted in {
        "": [10, 11, 12, 13, 14],
        "&sort=most": [11, 13, 14, 10, 12],
        "&namespace=4": [11, 13],
        "&namespace=0&sort=most": [14, 10, 12],
        "&namespace=9": [],
    }.items():
        documents = await walked(filled, f"{SPAM}{query}&format=json")
        pages = [(page["id"], page["title"], page["spam"]) for each in documents for page in each["pages"]]
        assert pages == [(page, f"P{page}", PAGES[page]) for page in wanted], query
        assert documents[0]["total"] == {"value": len(wanted), "exactness": "exact"}
        lines = (await filled.text(f"{SPAM}{query}&format=csv")).split()[1:]
        assert [int(line.partition(",")[0]) for line in lines] == wanted, query
    newest = await walked(filled, f"{SPAM}&sort=newest&format=json")
    assert pages_of(newest) == [11, 12, 13, 14][:rows]
    assert newest[0]["pages"][0]["day"] == "2017-04-20"
    body = await filled.text(f"{SPAM}&lang=en")
    assert texts(body, '//ul[@class="pages"]/li/a') == [f"P{page}" for page in PAGES][:rows]
    assert "2 spam" in body


async def test_of_many_pages_with_spam_the_first_are_counted_and_a_rare_namespace_is_found(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.store.pages.spam.MOST_PAGES", 2)
    document = await answer_to(filled, f"{SPAM}&format=json")
    assert document["total"] == {"value": 2, "exactness": "at-least"}
    assert pages_of(await walked(filled, f"{SPAM}&namespace=4&format=json")) == [11, 13]
    assert await key_of_error(filled, f"{SPAM}&sort=most&format=json") == (409, "sort-many")
    assert "CSV has up to 100,000 rows" in await filled.text(f"{SPAM}&lang=en")


async def test_new_spam_can_be_followed(filled: Site) -> None:
    feed = await filled.text(f"/feeds/spam?{WIKI}&lang=en")
    assert atom_texts(feed, "a:entry/a:title/text()") == ["P11", "P12", "P13", "P14"]
    assert atom_texts(feed, "a:entry/a:updated/text()")[0] == "2017-04-20T00:00:00Z"
    ids = {*atom_texts(feed, "//a:id/text()")}
    assert len(ids) == 5
    assert not ids & {*atom_texts(await filled.text(f"/feeds/spam?{WIKI}&namespace=4"), "a:id/text()")}
    assert (
        await filled.fetch(atom_texts(feed, 'a:link[@rel="alternate"]/@href')[0].removeprefix("https://weboid.demo"))
    )[0] == 200
    assert "/feeds/spam?" in await filled.text(f"{SPAM}&lang=en")


async def test_doubtful_links_are_chosen_by_namespace_and_category(
    filled: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.source.members["Lights"] = (12, 11, 1)
    for rows, stretch in [(100, 200), (1, 2)]:
        monkeypatch.setattr("weboid.web.pages.lists.ROWS", rows)
        monkeypatch.setattr("weboid.store.lists.links._STRETCH", stretch)
        for query, wanted in {
            "&namespace=4": [11, 13],
            "&category=Lights": [1, 11, 12],
            "&category=Lights&namespace=4": [11],
            "&domain=b.demo&namespace=4": [11, 13],
        }.items():
            documents = await walked(filled, f"{DOUBTFUL}{query}&format=json")
            links = [
                page["id"]
                for document in documents
                for page in document["pages"]
                for link in page["links"]
                if link["normal"] == WALLED
            ]
            assert links == wanted, (query, rows)


async def test_doubtful_links_can_be_followed_until_they_are_doubtful_no_more(filled: Site) -> None:
    def titles(body: str) -> list[str]:
        return [each.partition(" on ")[0] for each in atom_texts(body, "a:entry/a:title/text()")]

    path = f"/feeds/dead?{WIKI}&verdict=doubtful&lang=en"
    feed = await filled.text(path)
    assert any(WALLED.removeprefix("http://") in each for each in titles(feed))
    assert atom_texts(feed, "a:title/text()") == ["Newly doubtful links in testwiki@wmflabs"]
    assert {*atom_texts(feed, "//a:id/text()")}.isdisjoint(
        atom_texts(await filled.text(f"/feeds/dead?{WIKI}"), "//a:id/text()")
    )
    listed = await answer_to(filled, f"{DOUBTFUL}&sort=newest&domain=b.demo&namespace=4&format=json")
    assert pages_of([listed]) == [11, 13]
    assert (listed["next"], listed["total"]) == (None, {"value": 2, "exactness": "at-least"})
    for other in ("&domain=c.demo", "&namespace=9", "&domain=b.demo&path=/nowhere", "&copy=with"):
        assert titles(await filled.text(path + other)) == [], other
    async with filled.wiki.pool.connection() as conn:
        await record_weeks(conn, {WALLED}, lambda _: FINE)
    assert not any("b.demo/wall" in each for each in titles(await filled.text(path)))
