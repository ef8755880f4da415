"""What programs and search engines look for at addresses that they know, and the language of a page."""

import json
from datetime import date

import pytest
from support.webservice import TODAY, Site

from weboid.core.record.days import date_of


async def test_a_finder_of_holes_learns_where_to_report_them(site: Site) -> None:
    status, body, response = await site.fetch("/.well-known/security.txt")
    fields = dict(line.split(": ", 1) for line in body.splitlines())
    assert (status, response.content_type, fields["Contact"]) == (
        200,
        "text/plain",
        "mailto:tools.weboid@toolforge.org",
    )
    assert 0 < (date.fromisoformat(fields["Expires"].partition("T")[0]) - date_of(TODAY)).days < 365
    assert fields["Canonical"] == "https://weboid.demo/.well-known/security.txt"


async def test_directories_of_tools_get_the_addresses_of_this_service(site: Site) -> None:
    status, body, response = await site.fetch("/toolinfo.json")
    info = json.loads(body)
    assert (status, response.content_type, info["url"]) == (200, "application/json", "https://weboid.demo/")
    assert info["api_url"] == "https://weboid.demo/api/openapi.json"


async def test_the_icon_is_found_where_programs_guess(site: Site) -> None:
    status, _, response = await site.fetch("/favicon.ico")
    assert (status, response.content_type) == (200, "image/svg+xml")


async def test_an_address_that_does_not_exist_is_named_and_escaped(site: Site) -> None:
    status, body, _ = await site.fetch("/nothing/<b>")
    assert (status, "There is nothing at <bdi>/nothing/&lt;b&gt;</bdi>." in body) == (404, True)


@pytest.mark.parametrize(
    ("asked", "shown"), [("fr", "en"), ("bar", "de"), ("de-at", "de"), ("ar", "ar"), ("arz", "ar"), ("he", "en")]
)
async def test_a_page_says_the_language_of_its_words(site: Site, asked: str, shown: str) -> None:
    page = await site.text(f"/help?lang={asked}")
    assert f'<html lang="{shown}" dir="{"rtl" if shown == "ar" else "ltr"}">' in page
    assert f'lang="{shown}" dir="{"rtl" if shown == "ar" else "ltr"}" aria-current="true"' in page


async def test_each_page_is_one_step_from_its_other_languages(site: Site) -> None:
    page = await site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&all=1&lang=en")
    assert 'href="?dbname=testwiki%40wmflabs&amp;pageid=1&amp;all=1&amp;lang=de"' in page
