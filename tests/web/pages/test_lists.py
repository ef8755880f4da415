"""Lists of a wiki: dead and doubtful links, by page and by domain, and pages with spam (W-6)."""

from typing import Any

import pytest
from support.intakes import release_pages
from support.listed import WIKI, add_pages, answer_to, texts, walked
from support.observations import FINE, LOST, WALL
from support.stored import key
from support.webservice import DEAD, TODAY, WALLED, Site

from weboid.core.url.farms import WMF
from weboid.store.people.report import record_report
from weboid.store.urls.url import find_urls

DEAD_LIST = f"/lists/dead?{WIKI}"


def links(documents: list[Any]) -> list[tuple[int, str]]:
    """(page, URL) of the links of a list, in order."""
    return [
        (page["id"], link["normal"]) for document in documents for page in document["pages"] for link in page["links"]
    ]


async def test_dead_links_are_listed_with_what_is_known_of_them(site: Site) -> None:
    document = await answer_to(site, f"{DEAD_LIST}&format=json")
    (page,) = document["pages"]
    assert (document["wiki"], document["verdict"], document["next"]) == ("testwiki@wmflabs", "dead", None)
    assert (page["id"], page["title"], page["namespace"]) == (1, "Page 1", 0)
    assert [(link["normal"], link["reason"]) for link in page["links"]] == [(DEAD, "not-found")]
    assert page["links"][0]["summary"].startswith("dead for 3 weeks")


async def test_each_dead_link_is_listed_once_while_pages_come_and_go(
    site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.pages.lists.ROWS", 7)
    wanted = {page: [f"http://dead.demo/{page}/{place}" for place in range(page % 4)] for page in range(10, 40)}
    await add_pages(site, {page: (f"P{page}", urls) for page, urls in wanted.items()})

    async def between(part: int) -> None:
        await site.wiki.do(release_pages, site.wiki.wiki.wiki, [9 + part, 39], 101)
        await add_pages(site, {2 + part: ("new", ["http://dead.demo/new"]), 50: ("P50", ["http://dead.demo/50"])})

    documents = await walked(site, f"{DEAD_LIST}&format=json", between)
    found = links(documents)
    assert len(found) == len(set(found))
    expected = {(page, url) for page, urls in wanted.items() for url in urls if page != 39}
    assert set(found) == {(1, DEAD), (50, "http://dead.demo/50"), *expected}
    assert {len(links([document])) for document in documents[:-1]} == {7}


@pytest.mark.parametrize("path", ["", "&path=/a"])
async def test_a_domain_is_listed_with_all_below_it_and_nothing_else(
    site: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.pages.lists.ROWS", 2)
    monkeypatch.setattr("support.webservice.answer_of", lambda url: LOST)
    hosts = ["dead.demo", "x.dead.demo", "y.x.dead.demo", "xdead.demo", "dead.demo.other.demo", "dead-x.demo"]
    urls = [f"http://{host}/{place}" for host in hosts for place in ("a1", "a2", "b")]
    await add_pages(site, {20: ("P20", urls), 21: ("P21", urls[::2])})
    found = links(await walked(site, f"{DEAD_LIST}&format=json&domain=Dead.demo{path}"))
    expected = [(20, url) for url in urls[:9]] + [(21, url) for url in urls[:9:2]]
    assert sorted(found) == sorted(
        [(page, url) for page, url in expected if not path or "/a" in url] + [(1, DEAD)] * (not path)
    )
    assert [hosts.index(url.split("/")[2]) for _, url in found] == sorted(
        hosts.index(url.split("/")[2]) for _, url in found
    )


async def test_a_rare_path_is_searched_in_parts_and_found_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.store.lists.links.BUDGET", 5)
    urls = {page: f"http://dead.demo/{'rare' if page % 12 == 0 else 'often'}/{page}" for page in range(10, 60)}
    await add_pages(site, {page: (f"P{page}", [url]) for page, url in urls.items()})
    documents = await walked(site, f"{DEAD_LIST}&format=json&domain=dead.demo&path=rare/")
    assert links(documents) == [(page, url) for page, url in urls.items() if "rare" in url]
    assert len(documents) >= 10
    body = await site.text(f"{DEAD_LIST}&domain=dead.demo&path=/nowhere&lang=en")
    assert "the search continues" in body
    assert texts(body, '//a[@rel="next"]')


async def test_a_path_is_compared_in_normal_form(site: Site) -> None:
    await add_pages(site, {9: ("P", ["http://dead.demo/ä/%7eb?c=1", "http://dead.demo/_ab"])})
    for path in ("/ä/", "%C3%A4/", "/%25C3%25A4/~b%3Fc", "/%25c3%25a4/"):
        document = await answer_to(site, f"{DEAD_LIST}&format=json&domain=*.dead.demo&path={path}")
        assert links([document]) == [(9, "http://dead.demo/%C3%A4/~b?c=1")], path
    # No pattern: what LIKE would take for a wildcard is itself meant.
    assert links([await answer_to(site, f"{DEAD_LIST}&format=json&domain=dead.demo&path=/_%25")]) == []


async def test_another_wiki_has_its_own_list(site: Site) -> None:
    await add_pages(site, {5: ("Another wiki", ["http://dead.demo/else"])}, "aawiki", WMF)
    assert links([await answer_to(site, f"{DEAD_LIST}&format=json")]) == [(1, DEAD)]
    assert links([await answer_to(site, "/lists/dead?dbname=aawiki&format=json")]) == [(5, "http://dead.demo/else")]
    document = await answer_to(site, "/lists/dead?dbname=aawiki&format=json&domain=dead.demo")
    assert links([document]) == [(5, "http://dead.demo/else")]


async def test_doubtful_links_are_each_listed_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_pages(
        site, {page: ("P", [WALLED, *(f"http://fine.demo/{n}" for n in range(4))]) for page in range(8, 16)}
    )
    for stretch, budget, rows in [(200, 5000, 100), (2, 5000, 2), (3, 4, 1), (1, 1, 1)]:
        monkeypatch.setattr("weboid.store.lists.links._STRETCH", stretch)
        monkeypatch.setattr("weboid.store.lists.links.BUDGET", budget)
        monkeypatch.setattr("weboid.web.pages.lists.ROWS", rows)
        documents = await walked(site, f"{DEAD_LIST}&format=json&verdict=doubtful")
        found = links(documents)
        # Where a server leads to an address that no browser would follow, that is a doubt of its own.
        assert [page for page, url in found if url == WALLED] == [1, *range(8, 16)]
        assert len(found) == len(set(found))
        verdicts = {link["verdict"] for document in documents for page in document["pages"] for link in page["links"]}
        assert verdicts == {"doubtful"}


async def test_doubtful_links_below_a_domain_are_each_listed_once(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "support.webservice.answer_of", lambda url: LOST if "dead" in url else FINE if "fine" in url else WALL
    )
    domains = ["press.demo", "x.press.demo", "y.x.press.demo", "xpress.demo", "press.demo.other.demo"]
    urls = [f"http://{host}/{place}" for host in domains for place in ("a_1", "aX2", "a_dead", "a_fine")]
    await add_pages(site, {page: ("P", urls[:: 1 + page % 2]) for page in range(20, 26)})
    await add_pages(site, {5: ("Another wiki", urls)}, "aawiki", WMF)
    for hosts, each, rows in [(500, 20, 100), (1, 1, 1), (2, 3, 2), (500, 2, 7)]:
        monkeypatch.setattr("weboid.store.lists.search.HOSTS", hosts)
        monkeypatch.setattr("weboid.store.lists.search.EACH", each)
        monkeypatch.setattr("weboid.web.pages.lists.ROWS", rows)
        for path in ("", "&path=/a_"):
            found = links(await walked(site, f"{DEAD_LIST}&format=json&verdict=doubtful&domain=press.demo{path}"))
            wanted = [
                (page, url)
                for page in range(20, 26)
                for url in urls[:: 1 + page % 2]
                if url.split("/")[2] in domains[:3] and url.endswith(("a_1", "aX2")) and (not path or "/a_" in url)
            ]
            assert sorted(found) == sorted(wanted)


async def test_what_counts_as_probably_reachable_is_on_the_doubtful_list(site: Site) -> None:
    urls = [DEAD, *(f"http://dead.demo/{n}" for n in range(5))]
    await add_pages(site, {20: ("P", urls[1:])})
    paths = (f"{DEAD_LIST}&format=json", f"{DEAD_LIST}&format=json&domain=dead.demo")
    assert [len(links(await walked(site, path))) for path in paths] == [6, 6]
    async with site.wiki.pool.connection() as conn:
        for number, each in enumerate(list((await find_urls(conn, sorted(map(key, urls)))).values())[:5]):
            await record_report(conn, each, TODAY, f"{number}", "Somebody")
    for path in paths:
        assert links(await walked(site, path)) == []
        found = links(await walked(site, f"{path}&verdict=doubtful"))
        assert {url for _, url in found if "dead" in url} == set(urls)


async def test_hosts_below_a_suffix_below_a_domain_are_listed_too(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts = ["amazonaws.com", "bucket.s3.amazonaws.com"]
    urls = [f"http://{host}/{kind}" for host in hosts for kind in ("dead", "wall")]
    monkeypatch.setattr("support.webservice.answer_of", lambda url: LOST if "dead" in url else WALL)
    await add_pages(site, {20: ("P", urls)})
    for verdict, kind in (("dead", "dead"), ("doubtful", "wall")):
        found = links(await walked(site, f"{DEAD_LIST}&format=json&domain=amazonaws.com&verdict={verdict}"))
        assert found == [(20, f"http://{host}/{kind}") for host in hosts]


async def test_people_get_headings_a_form_and_the_way_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.web.pages.lists.ROWS", 1)
    await add_pages(site, {9: ("P9", ["http://dead.demo/9"])})
    body = await site.text(f"{DEAD_LIST}&lang=de&domain=dead.demo")
    assert texts(body, "//h1") == ["Tote Weblinks in testwiki@wmflabs"]
    assert texts(body, '//input[@name="domain"]/@value') == ["dead.demo"]
    assert texts(body, '//link[@rel="alternate"]/@href') == [
        "/feeds/dead?dbname=testwiki%40wmflabs&domain=dead.demo&lang=de"
    ]
    seen = texts(body, '//ul[@class="links"]//*[@class="url"]')
    assert texts(body, '//ul[@class="links"]//a[starts-with(@href, "/url?")]')
    (path,) = texts(body, '//a[@rel="next"]/@href')
    body = await site.text(path)
    assert sorted([*seen, *texts(body, '//ul[@class="links"]//*[@class="url"]')]) == sorted(
        [DEAD, "http://dead.demo/9"]
    )
    assert texts(body, "//main//nav/a") == ["Erster Teil"]
