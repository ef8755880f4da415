"""Lists of dead links by day, by what is on their pages and by category, their totals, and as CSV (W-6, L-10)."""

import csv
from typing import Any

import pytest
import pytest_asyncio
from lxml import etree
from support.intakes import record_pages
from support.listed import WIKI, add_pages, answer_to, key_of_error, texts, walked
from support.observations import FINE, LOST
from support.webservice import DEAD, TODAY, WALLED, Site, record_weeks

from weboid.core.url.farms import WMFLABS
from weboid.feed.intake import page_urls
from weboid.maintain.wiki_totals import count_wikis
from weboid.wiki.source import PageLinks

DEAD_LIST = f"/lists/dead?{WIKI}"
JSON = f"{DEAD_LIST}&format=json"
COPY = "https://web.archive.org/web/20160102030405/{}"
PAGES = {page: f"http://{'a.' * (page % 2)}dead.demo/{page}" for page in range(10, 40)}


@pytest_asyncio.fixture(loop_scope="module")
async def filled(site: Site) -> Site:
    """Thirty pages whose links have been dead for different times; every third offers a copy."""
    wiki = site.wiki.wiki.wiki
    urls = {page: (url, *([COPY.format(url)] if page % 3 == 0 else ())) for page, url in PAGES.items()}
    links = [PageLinks(page, 0, f"P{page}", 1, None, tuple(sorted(each))) for page, each in urls.items()]
    async with site.wiki.pool.connection() as conn:
        await record_pages(conn, wiki, [page_urls(link, WMFLABS) for link in links], 100)
        await record_weeks(
            conn, {url for each in urls.values() for url in each}, lambda url: FINE if "web" in url else LOST
        )
    await site.wiki.execute("UPDATE dead SET since = 100 - page % 7 WHERE page > 1")
    return site


def found(documents: list[Any]) -> list[int]:
    """The pages of a list, in order."""
    return [page["id"] for document in documents for page in document["pages"] for _ in page["links"]]


def by_day(page: int) -> tuple[int, int]:
    return (100 if page == 1 else 100 - page % 7), page


ORDERED = sorted([1, *PAGES], key=by_day)


@pytest.mark.parametrize("rows", [1, 7, 100])
@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("&sort=oldest", ORDERED),
        ("&sort=newest", ORDERED[::-1]),
        ("&sort=oldest&domain=a.dead.demo", [page for page in ORDERED if page % 2 and page > 1]),
        ("&sort=newest&domain=dead.demo", sorted([1, *PAGES], key=lambda page: (-by_day(page)[0], page))),
        ("&category=Lights", [1, 12, 15, 20]),
        ("&category=Lights&sort=newest", [1, 15, 12, 20]),
        ("&repaired=yes", [page for page in PAGES if page % 3 == 0]),
        ("&repaired=no&sort=newest", [page for page in ORDERED[::-1] if page % 3 or page == 1]),
        ("&namespace=0&copy=without", [1, *(page for page in PAGES if page % 3)]),
        ("&namespace=4", []),
    ],
)
async def test_each_link_is_listed_once_in_its_order(
    filled: Site, monkeypatch: pytest.MonkeyPatch, rows: int, query: str, wanted: list[int]
) -> None:
    monkeypatch.setattr("weboid.web.pages.lists.ROWS", rows)
    monkeypatch.setattr("weboid.store.lists.links._LOOKED_AT", 4)
    filled.source.members["Lights"] = (20, 12, 15, 1, 3, 2**31)
    documents = await walked(filled, f"{JSON}{query}")
    assert found(documents) == wanted
    assert documents[0]["total"] == {"value": len(wanted), "exactness": "exact"}
    assert all(document["total"] is None for document in documents[1:])
    if rows == 7:
        lines = list(csv.reader((await filled.text(f"{DEAD_LIST}{query}&format=csv")).splitlines()))
        assert [int(line[0]) for line in lines[1:]] == wanted


async def test_more_than_are_counted_are_called_at_least_so_many(filled: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.store.lists.links.MOST_COUNTED", 12)
    filled.source.members["Lights"] = tuple(PAGES)
    for query, least in {"": 12, "&domain=dead.demo": 12, "&repaired=yes": 3, "&domain=a.dead.demo&path=/1": 5}.items():
        document = await answer_to(filled, JSON + query)
        assert document["total"] == {"value": least, "exactness": "at-least"}, query
    assert "Links in this list: at least 12." in await filled.text(f"{DEAD_LIST}&lang=en")
    for query in ("&domain=dead.demo&sort=newest", "&category=Lights"):
        assert await key_of_error(filled, JSON + query) == (409, "sort-many")


async def test_a_category_of_a_silent_wiki_is_no_empty_list(site: Site) -> None:
    site.source.silent = True
    assert await key_of_error(site, f"{JSON}&category=Silent") == (503, "wiki-silent")


async def test_no_cell_of_a_file_is_a_formula(site: Site) -> None:
    titles = ["=1+1", "+1", "-1", "@SUM(1)", "＝1", 'plain, "quoted"', "Ünïcode"]
    await add_pages(site, {10 + place: (title, [f"http://dead.demo/{place}"]) for place, title in enumerate(titles)})
    status, body, response = await site.fetch(f"{DEAD_LIST}&format=csv")
    assert (status, response.content_type, response.charset) == (200, "text/csv", "utf-8")
    assert response.headers["Content-Encoding"] == "gzip", "deflate is accepted, too"
    assert response.headers["Content-Disposition"] == 'attachment; filename="dead-testwiki@wmflabs.csv"'
    assert body.startswith("\ufeffpage,namespace,title,url,verdict")
    head, first, *rows = csv.reader(body.removeprefix("\ufeff").splitlines())
    assert head == ["page", "namespace", "title", "url", "verdict", "reason", "since", "checked", "copy", "repaired"]
    assert first == ["1", "0", "Page 1", DEAD, "dead", "not-found", "2017-04-11", "2017-04-29", "", "no"]
    assert [row[2] for row in rows] == ["'=1+1", "'+1", "'-1", "'@SUM(1)", "'＝1", 'plain, "quoted"', "Ünïcode"]


async def test_a_file_ends_at_its_most_rows_and_head_sends_none(filled: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.web.pages.list_answer.CSV_ROWS", 7)
    monkeypatch.setattr("weboid.web.pages.list_answer._PART", 3)
    assert (await filled.fetch(f"{DEAD_LIST}&format=csv", method="HEAD"))[:2] == (200, "")
    spam = await filled.text(f"/lists/spam?{WIKI}&format=csv")
    assert spam == "\ufeffpage,namespace,title,spam,day\r\n"
    # A file that ends before its list has, as its last row, nothing but the address of the rest.
    path, rest, pages = f"{DEAD_LIST}&sort=newest&format=csv", "", list[str]()
    while path:
        rows = list(csv.reader((await filled.text(path)).splitlines()))[1:]
        last = rows.pop()[3] if not rows[-1][0] else ""
        path = last.removeprefix("https://weboid.demo")
        rest = rest or path.replace("&format=csv", "")
        assert len(rows) == 7 if path else len(rows) < 7
        pages += [row[0] for row in rows]
    assert [int(page) for page in pages] == ORDERED[::-1]
    assert "CSV has up to 7 rows" in await filled.text(f"{rest}&lang=en")


async def test_a_list_leads_to_itself_in_other_formats(filled: Site) -> None:
    body = await filled.text(f"{DEAD_LIST}&domain=a.dead.demo&sort=newest")
    links = texts(body, '//p[@class="actions"][span]/a/@href')
    query = f"?{WIKI.replace('@', '%40')}&domain=a.dead.demo"
    machine = [f"/lists/dead{query}&sort=newest&format={each}" for each in ("json", "xml", "csv")]
    assert links == [*machine, f"/feeds/dead{query}"]
    for link in links:
        assert (await filled.fetch(link))[0] == 200, link


@pytest.mark.parametrize(
    ("query", "wanted", "title"),
    [
        ("&domain=A.dead.demo", [page for page in PAGES if page % 2], "a.dead.demo"),
        ("&domain=dead.demo&path=/2", [page for page in PAGES if 20 <= page < 30], "dead.demo"),
        ("&repaired=yes", [page for page in PAGES if page % 3 == 0], ""),
        ("&category=Lights&repaired=no", [20], "Lights"),
    ],
)
async def test_a_list_can_be_followed_as_a_feed(filled: Site, query: str, wanted: list[int], title: str) -> None:
    filled.source.members["Lights"] = (20, 12, 15)

    def texts_of(body: str, path: str) -> list[str]:
        found: Any = etree.fromstring(body.encode()).xpath(path, namespaces={"a": "http://www.w3.org/2005/Atom"})
        return [str(each) for each in found]

    feed = await filled.text(f"/feeds/dead?{WIKI}{query}&lang=en")
    urls = [each.partition(" on ")[0] for each in texts_of(feed, "a:entry/a:title/text()")]
    assert sorted(int(url.rpartition("/")[2]) for url in urls) == wanted
    assert title.lower() in texts_of(feed, "a:title/text()")[0].lower()
    (page,) = texts_of(feed, 'a:link[@rel="alternate"]/@href')
    assert sorted(found([await answer_to(filled, page.removeprefix("https://weboid.demo") + "&format=json")])) == wanted
    others = [await filled.text(f"/feeds/dead?{WIKI}{other}") for other in ("", "&domain=b.demo", "&repaired=no")]
    assert (
        len({*texts_of(feed, "a:id/text()"), *(each for other in others for each in texts_of(other, "a:id/text()"))})
        == 4
    )


@pytest.mark.parametrize("query", ["", "&domain=b.demo"])
async def test_doubtful_links_come_as_a_file_too_and_their_number_is_an_estimate(
    site: Site, monkeypatch: pytest.MonkeyPatch, query: str
) -> None:
    monkeypatch.setattr("weboid.web.pages.list_answer._PART", 2)
    await add_pages(site, {page: (f"P{page}", [WALLED]) for page in range(10, 17)})
    monkeypatch.setattr("weboid.web.pages.lists.ROWS", 5)
    path = f"{DEAD_LIST}&verdict=doubtful{query}"
    least = {"value": 5, "exactness": "at-least"}
    assert (await answer_to(site, f"{path}&format=json"))["total"] == least
    await count_wikis(site.wiki.pool, TODAY)
    document = await answer_to(site, f"{path}&format=json")
    lines = list(csv.reader((await site.text(f"{path}&format=csv")).splitlines()))[1:]
    assert [int(line[0]) for line in lines] == found(await walked(site, f"{path}&format=json"))
    assert {line[4] for line in lines} == {"doubtful"}
    assert document["total"] == (least if query else {"value": len(lines), "exactness": "estimate"})
