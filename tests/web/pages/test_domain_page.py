"""The page of a domain: hosts, links by verdict and wiki, when they died, where they lead, pages by path (W-5, W-6)."""

import pytest
import pytest_asyncio
from support.listed import WIKI, add_pages, texts
from support.people import People
from support.stored import key
from support.webservice import TODAY, Site

from weboid.core.record.specials import Special
from weboid.core.url.farms import WMF
from weboid.store.db.rows import HostKey
from weboid.store.urls.host_traits import HostSpecial, record_specials

PATH = "/domain/dead.demo"
PATHS = ("z", "B", "a/1", "a/10", "a/2", "ä")


@pytest_asyncio.fixture(loop_scope="module")
async def filled(site: Site) -> Site:
    await add_pages(
        site, {page: (f"P{page}", [f"http://dead.demo/{path}"]) for page, path in enumerate(PATHS, start=10)}
    )
    await add_pages(
        site, {5: ("Other", ["http://dead.demo/other", "http://sub.dead.demo/", "http://xdead.demo/"])}, "aawiki", WMF
    )
    return site


def table(body: str, name: str) -> list[list[str]]:
    rows = texts(body, f'//h2[@id="{name}"]/following-sibling::div[1]//tbody/tr/*')
    size = {"hosts": 4, "uses": 3}[name]
    return [rows[begin : begin + size] for begin in range(0, len(rows), size)]


async def test_a_domain_is_shown_with_its_hosts_wikis_and_deaths(filled: Site) -> None:
    special = HostSpecial(HostKey(*key("http://dead.demo/z")[:2]), Special.NEEDS_HTTPS)
    async with filled.wiki.pool.connection() as conn:
        await record_specials(conn, {special: TODAY})
    body = await filled.text(f"{PATH}?lang=en")
    assert texts(body, "//h1") == ["dead.demo"]
    assert texts(body, '//ul[@class="counts"]/li') == ["8 dead", "1 working"]
    assert table(body, "hosts") == [
        ["dead.demo", "It answers. It works with https only.", "–", "8"],
        ["sub.dead.demo", "It answers. It works with https only.", "–", "1"],
    ]
    assert table(body, "uses") == [["testwiki@wmflabs", "7", "7"], ["aawiki@WMF", "2", "1"]]
    assert texts(body, "//details//tbody/tr/td") == ["8", "0"]
    for address in texts(body, "//main//a/@href"):
        if address.startswith("/domain"):
            assert (await filled.fetch(address))[0] == 200, address


async def test_a_domain_of_a_wiki_leads_to_its_list_in_all_formats(filled: Site) -> None:
    body = await filled.text(f"{PATH}?{WIKI}&lang=en")
    links = [each for each in texts(body, "//main//a/@href") if each.startswith(("/lists", "/feeds"))]
    assert len(links) == 5
    for address in links:
        assert (await filled.fetch(address))[0] == 200, address
    assert "Its first links and the pages" not in body


async def test_a_name_is_found_in_any_form_and_shown_in_both(site: Site) -> None:
    await add_pages(site, {7: ("P7", ["http://bücher.demo/a"])})
    for name in ("b%C3%BCcher.demo", "xn--bcher-kva.demo", "*.B%C3%9CCHER.demo."):
        assert texts(await site.text(f"/domain/{name}"), "//h1") == ["xn--bcher-kva.demo (bücher.demo)"]


async def test_people_see_the_pages_by_path_and_have_an_address_to_share(people: People) -> None:
    site = people.site
    await add_pages(
        site, {page: (f"P{page}", [f"http://dead.demo/{path}"]) for page, path in enumerate(PATHS, start=10)}
    )
    nobody, reader = await people.browser(), await people.browser()
    asked = {"pattern": "dead.demo", "dbname": "testwiki@wmflabs"}
    answer = await reader.send_form("/search", "/search", **asked)
    (address,) = [each for each in texts(answer.text, "//main//a/@href") if each.startswith("/search")]
    wanted = ["B", "a/1", "a/10", "a/2", "gone?a=1&b=%22x%22", "z", "%C3%A4"]
    ordered = sorted(f"http://dead.demo/{path}" for path in wanted)
    for path in (address, f"{PATH}?{WIKI}"):
        assert texts((await reader.open(path)).text, '//div[@class="match"]//*[@class="url"]') == ordered
        assert not texts((await nobody.open(path)).text, '//div[@class="match"]')
    assert texts((await nobody.open(address)).text, '//input[@name="pattern"]/@value') == ["dead.demo"]
    script = {"Sec_Fetch_Dest": "empty"}
    assert not texts((await reader.open(address, **script)).text, '//div[@class="match"]')


async def test_results_by_path_go_on_where_they_ended_and_many_urls_are_not_sorted(
    people: People, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.pages.search.ROWS", 2)
    site, reader = people.site, await people.browser()
    urls = [f"http://dead.demo/{place}" for place in range(9)]
    await add_pages(site, {10: ("P10", urls)})
    asked = {"pattern": "dead.demo/*", "dbname": "testwiki@wmflabs"}
    for most, is_sorted in ((20_000, True), (5, False)):
        monkeypatch.setattr("weboid.store.lists.search.MOST_BY_PATH", most)
        found, body = [], (await reader.send_form("/search", "/search", **asked)).text
        while True:
            found += texts(body, '//div[@class="match"]//*[@class="url"]')
            assert len(found) <= 10
            if not (address := texts(body, '//a[@rel="next"]/@href')):
                break
            body = (await reader.open(address[0])).text
        assert len(found) == len(set(found)) == 10
        assert (found == sorted(found)) is is_sorted
