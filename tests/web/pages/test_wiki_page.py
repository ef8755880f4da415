"""The page of a wiki: its counts over months, its worst domains, the newest and oldest dead links, its pass (W-6)."""

from urllib.parse import parse_qs, urlsplit

import pytest
from support.listed import add_pages, texts
from support.webservice import DEAD, TODAY, Site

from weboid.maintain.wiki_totals import count_wikis
from weboid.store.lists.wiki_totals import DeadPlace, PlaceKind, WikiTotal, record_totals

PATH = "/wiki/testwiki@wmflabs?lang=en"


def total(day: int, dead: int, died: int) -> WikiTotal:
    return WikiTotal(day, 2, 1_000, dead, dead // 2, 7, died, 1, True)


async def test_a_wiki_shows_what_was_counted_and_where_its_dead_links_are(site: Site) -> None:
    await count_wikis(site.wiki.pool, TODAY)
    body = await site.text(PATH)
    assert texts(body, "//h1") == ["Links of testwiki@wmflabs"]
    facts = dict(zip(texts(body, "//dl[1]//dt"), texts(body, "//dl[1]//dd"), strict=True))
    assert (facts["Watched pages"], facts["Dead"], facts["Newly dead"]) == ("2", "1", "1")
    assert texts(body, '//h2[@id="domains"]/following-sibling::div[1]//tbody/tr/*') == ["dead.demo", "1", "0"]
    assert texts(body, '//h2[@id="spaces"]/following-sibling::div[1]//tbody/tr/*') == ["(main namespace)", "1", "0"]
    for part in ("newest", "oldest"):
        (link, page, since) = texts(body, f'//h2[@id="{part}"]/following-sibling::div[1]//tbody/tr/*')
        assert (link.startswith(DEAD), page, since) == (True, "Page 1", "for 3 weeks"), part
    for address in texts(body, "//main//a/@href"):
        if address.startswith(("/lists", "/feeds", "/status")):
            assert (await site.fetch(address))[0] == 200, address


async def test_what_was_not_counted_yet_is_said(site: Site) -> None:
    assert "have not been counted yet" in await site.text(PATH)


@pytest.mark.parametrize(("days", "bars", "changed"), [(1, 0, []), (30, 30, ["3", "1"]), (300, 43, ["18", "6"])])
async def test_many_days_have_a_bar_for_each_week(site: Site, days: int, bars: int, changed: list[str]) -> None:
    places = [DeadPlace(PlaceKind.DOMAIN, f"{place}.demo", place, 0) for place in range(1, 30)]
    async with site.wiki.pool.connection() as conn:
        for day in range(TODAY - days, TODAY):
            await record_totals(conn, site.wiki.wiki.wiki, total(day, day + 400, 3), places)
    body = await site.text(PATH)
    assert len(texts(body, "//figure[1]//*[name()='rect']")) == bars
    assert len(texts(body, '//h2[@id="domains"]/following-sibling::div[1]//tbody/tr')) == 20
    newest = texts(body, "//details//tbody/tr[1]/td")
    assert newest == ([str(TODAY + 399), str((TODAY + 399) // 2), "7", *changed] if bars else [])
    assert "about 1,000" in body


async def test_links_lead_to_what_is_known_of_them_on_this_wiki(site: Site) -> None:
    await add_pages(site, {7: ("P7", ["http://dead.demo/7?a=1&b=2"])})
    addresses = texts(await site.text(PATH), '//main//a[starts-with(@href, "/url")]/@href')
    assert {tuple(parse_qs(urlsplit(each).query)) for each in addresses} == {("url", "dbname", "lang")}
    assert len(addresses) >= 4


async def test_titles_and_domains_of_a_wiki_are_escaped(site: Site) -> None:
    await add_pages(site, {7: ('"><script>', ["http://dead.demo/<b>"])})
    assert "<script>" not in await site.text(PATH)


async def test_where_too_many_have_a_copy_the_list_goes_on(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    await add_pages(site, {7: ("P7", ["http://dead.demo/7"])})
    await site.wiki.execute("UPDATE dead SET repaired = page = 1, since = page")
    assert "continues in the next part" not in await site.text(PATH)
    monkeypatch.setattr("weboid.store.lists.links.BUDGET", 1)
    body = await site.text(PATH)
    assert "continues in the next part" in body
    (path,) = [each for each in texts(body, "//main//a/@href") if "sort=oldest" in each]
    assert texts(await site.text(path), '//a[@rel="next"]')
