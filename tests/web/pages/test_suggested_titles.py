"""Titles that the wiki itself offers: next to the form, and for a page that it does not have (W-3)."""

import asyncio

import pytest
from support.browser import needs_browser, open_browser, open_page
from support.listed import WIKI, answer_to, texts
from support.webservice import Site

from weboid.web.http.page_script import SCRIPT, SOURCE
from weboid.web.pages import suggested_titles

HOSTILE = ['Ber"><script>alert(1)</script>', "Ber\u202elin", "Ber/../admin?x=1#y", "Berlin"]


async def test_a_page_that_is_not_there_leads_to_those_with_a_similar_name(site: Site) -> None:
    site.source.titles = [*HOSTILE, "Page 1", "Other"]
    status, body, _ = await site.fetch(f"/externalLinkInfo?{WIKI}&title=Ber&lang=en")
    assert status == 404
    assert texts(body, '//ul[@class="pages"]/li/a')[3] == "Berlin"
    addresses = texts(body, '//ul[@class="pages"]/li/a/@href')
    assert all(each.startswith("/page/testwiki@wmflabs/Ber") for each in addresses)
    assert len(addresses) == 4
    assert texts(body, "//script") == [SCRIPT.strip()]
    _, _, response = await site.fetch("/")
    (scripts,) = (part for part in response.headers["Content-Security-Policy"].split(";") if "script" in part)
    assert scripts.split() == ["script-src", SOURCE]
    site.source.titles = ["Page 1", "Page 12"]
    status, body, _ = await site.fetch("/page/testwiki@wmflabs/Page?lang=de")
    path = texts(body, '//ul[@class="pages"]/li/a/@href')[0]
    assert texts(body, '//input[@id="title" or @id="dbname"]/@value') == ["testwiki@wmflabs", "Page"]
    assert (status, path) == (404, "/page/testwiki@wmflabs/Page%201?lang=de")
    assert (await site.fetch(path))[0] == 200


async def test_a_wiki_is_asked_once_for_what_was_typed(site: Site) -> None:
    site.source.titles = ["Berlin", "Bern", "Bonn"]
    path = f"/api/titles?{WIKI}&title=Be"
    answers = await asyncio.gather(*(answer_to(site, path) for _ in range(5)))
    assert all(each["titles"] == ["Berlin", "Bern"] for each in answers)
    assert (await answer_to(site, "/api/titles?dbname=TESTWIKI&title=Be"))["titles"] == ["Berlin", "Bern"]
    assert site.source.asked == 1


@pytest.mark.parametrize("trouble", ["slow", "silent"])
async def test_nobody_waits_for_a_wiki_that_is_slow_or_silent(
    site: Site, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    assert suggested_titles.WAIT_S < 2
    monkeypatch.setattr(suggested_titles, "WAIT_S", 0.1)
    site.source.pause_s, site.source.silent = (0.3, False) if trouble == "slow" else (0.0, True)
    site.source.titles = ["Beslow"]
    found = await asyncio.gather(
        *(answer_to(site, f"/api/titles?{WIKI}&title=Be{place}") for place in (trouble, "s", "t"))
    )
    assert [each["titles"] for each in found] == [[]] * 3
    if trouble == "slow":
        # What comes late is kept for the next one who types the same.
        titles: list[str] = []
        async with asyncio.timeout(30):
            while not titles:
                titles = (await answer_to(site, f"/api/titles?{WIKI}&title=Be{trouble}"))["titles"]
        assert titles == ["Beslow"]


@needs_browser
@pytest.mark.long
async def test_titles_are_offered_while_somebody_types(site: Site) -> None:
    site.source.titles = ["Page 1", "Page 12", "Pa<b>ge"]
    async with open_browser() as browser, open_page(browser, scripts=True) as page:
        await page.goto(f"{site.url}/?lang=en")
        field = page.get_by_role("combobox", name="Title of the page, or its address")
        await field.press_sequentially("Page", delay=20)
        options = page.locator("#titles option")
        await options.first.wait_for(state="attached")
        assert await options.evaluate_all("all => all.map(each => each.value)") == ["Page 1", "Page 12"]
        await field.fill("Page 1")
        await field.press("Enter")
        await page.wait_for_url("**/externalLinkInfo?**")
