"""What programs need to match links and titles with answers: kinds of links, titles with prefixes, many URLs."""

import json
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

import pytest
from lxml import etree
from support.intakes import record_pages
from support.listed import answer_to
from support.webservice import DEAD, TODAY, Site

from weboid.core.url.farms import WMFLABS
from weboid.core.url.link_kind import InterwikiLink
from weboid.core.wikitext.titles import Namespace
from weboid.feed.intake import page_urls
from weboid.store.pages.wiki import list_namespaces
from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"
SISTER = "http://sister.demo/wiki/A_b"
BOTH = "http://both.demo/wiki/C"
SISTERS = (InterwikiLink(BOTH, "both", "C", is_external=True), InterwikiLink(SISTER, "sister", "A b"))
LINKED = PageLinks(20, 1, "Über", 9, None, tuple(sorted([DEAD, SISTER, BOTH])), SISTERS)
ALIASES = (Namespace(1, "Talk", is_alias=True), Namespace(1, "D", is_alias=True))
NAMES = (Namespace(0, ""), Namespace(1, "Diskussion"), *ALIASES, Namespace(4, "Wörter", is_cased=True))


async def sent(site: Site, path: str, fields: Mapping[str, str], **headers: str) -> tuple[int, dict[str, Any]]:
    given = {"Content-Type": "application/x-www-form-urlencoded", **headers}
    async with site.client.post(site.url + path, data=urlencode(fields).encode(), headers=given) as response:
        return response.status, json.loads(await response.read())


async def take_in(site: Site, page: PageLinks) -> None:
    await site.wiki.do(record_pages, site.wiki.wiki.wiki, [page_urls(page, WMFLABS)], TODAY)


def kinds_of(page: Mapping[str, Any]) -> dict[str, tuple[Any, Any]]:
    return {link["normal"]: (link["kind"], link["interwiki"]) for link in page["links"]}


async def test_each_link_is_external_or_interwiki_or_both(site: Site) -> None:
    site.source.found[20] = LINKED
    assert kinds_of((await answer_to(site, f"{API}&pageid=20&all=1"))["pages"][0]) == {
        DEAD: ("external", None),
        SISTER: ("interwiki", {"prefix": "sister", "title": "A b"}),
        BOTH: ("external", {"prefix": "both", "title": "C"}),
    }
    body = await site.text(f"{API}&pageid=20&all=1&format=xml")
    links = {link.get("normal"): link for link in etree.fromstring(body.encode()).iter("link")}
    assert {normal: link.get("kind") for normal, link in links.items()} == {
        DEAD: "external",
        SISTER: "interwiki",
        BOTH: "external",
    }
    assert [(one.get("prefix"), one.get("title")) for one in links[SISTER].iter("interwiki")] == [("sister", "A b")]


async def test_an_external_and_an_interwiki_link_with_one_normal_form_are_both(site: Site) -> None:
    urls = ("http://sister.demo/wiki/A_b", "http://sister.demo/wiki/A_b#part")
    site.source.found[20] = PageLinks(20, 0, "Both", 9, None, urls, (InterwikiLink(urls[0], "sister", "A b"),))
    (link,) = (await answer_to(site, f"{API}&pageid=20&all=1"))["pages"][0]["links"]
    assert (link["kind"], link["interwiki"]) == ("external", {"prefix": "sister", "title": "A b"})
    assert link["given"] == list(urls)


async def test_the_kind_of_stored_links_is_not_known(site: Site) -> None:
    site.source.silent = True
    page = (await answer_to(site, f"{API}&pageid=1&all=1"))["pages"][0]
    assert set(kinds_of(page).values()) == {(None, None)}


async def test_titles_lead_to_pages_with_the_prefix_that_the_wiki_gives_its_namespace(site: Site) -> None:
    site.source.found[20] = LINKED
    site.source.namespaces = NAMES
    document = await answer_to(site, f"{API}&title=Über|Page_1|Nothing")
    assert document["titles"] == [
        {"given": "Über", "title": "Diskussion:Über", "page": 20},
        {"given": "Page_1", "title": "Page 1", "page": 1},
    ]
    assert document["missing"] == ["Nothing"]
    pages = {page["id"]: (page["title"], page["prefixed_title"]) for page in document["pages"]}
    assert pages == {20: ("Über", "Diskussion:Über"), 1: ("Page 1", "Page 1")}
    assert (await answer_to(site, f"{API}&pageid=1"))["titles"] == []


async def test_a_wiki_is_asked_once_how_it_names_its_namespaces(site: Site) -> None:
    site.source.found[20] = LINKED
    site.source.namespaces = NAMES
    await answer_to(site, f"{API}&pageid=20")
    asked = site.source.asked
    await answer_to(site, f"{API}&pageid=20")
    assert site.source.asked == asked + 1
    assert set(await site.wiki.do(list_namespaces, site.wiki.wiki.wiki)) == set(NAMES)


async def test_a_wiki_that_names_no_namespaces_has_the_names_that_all_have(site: Site) -> None:
    site.source.found[20] = LINKED
    site.source.found[21] = PageLinks(21, 3_000, "Strange", 9, None, ())
    pages = (await answer_to(site, f"{API}&pageid=20|21"))["pages"]
    assert [page["prefixed_title"] for page in pages] == ["Talk:Über", "3000:Strange"]


@pytest.mark.parametrize(
    "title",
    ["Diskussion:Über", "diskussion:über", "Talk:Über", "d:Über", "D : Über", ":Diskussion:_Über", "Diskussion:Über#x"],
)
async def test_stored_pages_are_found_by_every_name_of_their_namespace(site: Site, title: str) -> None:
    site.source.found[20] = LINKED
    site.source.namespaces = NAMES
    await answer_to(site, f"{API}&pageid=20")
    await take_in(site, LINKED)
    site.source.silent = True
    if "#" in title:
        assert (await site.fetch(f"{API}&title={title.replace('#', '%23')}"))[0] == 404
        return
    document = await answer_to(site, f"{API}&title={title}")
    assert [page["id"] for page in document["pages"]] == [20]
    assert document["pages"][0]["live"] is False
    assert document["titles"] == [{"given": title, "title": "Diskussion:Über", "page": 20}]


async def test_where_the_case_of_the_first_letter_counts_another_case_is_another_page(site: Site) -> None:
    words = PageLinks(22, 4, "wort", 9, None, (DEAD,))
    site.source.found[22] = words
    site.source.namespaces = NAMES
    await answer_to(site, f"{API}&pageid=22")
    await take_in(site, words)
    site.source.silent = True
    assert [page["id"] for page in (await answer_to(site, f"{API}&title=wörter:wort"))["pages"]] == [22]
    assert (await site.fetch(f"{API}&title=Wörter:Wort"))[0] == 503


async def test_pages_can_be_requested_by_a_form(site: Site) -> None:
    fields = {"dbname": "testwiki@wmflabs", "title": "Page 1|Page 2", "all": "1"}
    status, document = await sent(site, "/api/page", fields)
    assert status == 200
    assert document == await answer_to(site, f"{API}&title=Page 1|Page 2&all=1")
    long = "|".join(["Page 1", *(f"{'Ü' * 120} {number}" for number in range(49))])
    status, document = await sent(site, "/api/page", {**fields, "title": long})
    assert (status, len(document["pages"]), len(document["missing"])) == (200, 1, 49)


async def test_a_form_may_name_the_format_and_is_refused_like_an_address(site: Site) -> None:
    fields = {"dbname": "testwiki@wmflabs", "pageid": "1"}
    async with site.client.post(f"{site.url}/api/page", data={**fields, "format": "xml"}) as response:
        assert (response.status, response.content_type) == (200, "application/xml")
        assert "ETag" not in response.headers
        assert response.headers["Access-Control-Allow-Origin"] == "*"
    status, document = await sent(site, "/api/page", {**fields, "pageid": "0"})
    assert (status, document["error"]["key"]) == (400, "weboid-error-page-id")
    status, document = await sent(site, "/api/page?pageid=1", fields)
    assert (status, document["error"]["key"]) == (400, "weboid-error-twice")
    status, document = await sent(site, "/api/page", {**fields, "title": "x" * 600_000})
    assert (status, document["error"]["key"]) == (413, "weboid-error-form-too-long")
    status, document = await sent(site, "/api/page", fields, **{"Content-Type": "text/plain"})
    assert (status, document["error"]["key"]) == (415, "weboid-error-form-type")


async def test_many_urls_have_their_normal_forms_in_the_order_of_the_form(site: Site) -> None:
    urls = [
        *("HTTP://Fine.DEMO:80/a/../b", "//fine.demo", "mailto:a@b.demo", "http://no-dot/"),
        "http://fine.demo/?a&b+c%20",
    ]
    status, document = await sent(site, "/api/normal", {"urls": "\r\n".join([urls[0], "", *urls[1:], " "])})
    assert status == 200
    assert [one["url"] for one in document["urls"]] == urls
    for one in document["urls"]:
        async with site.client.get(f"{site.url}/api/normal", params={"url": one["url"]}) as response:
            alone = await response.json()
        assert one == {name: alone[name] for name in one}
    assert document["form"] == alone["form"]
