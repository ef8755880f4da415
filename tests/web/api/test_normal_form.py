"""L-3 to L-6 over HTTP: the normal form of a URL, its class, and what is wrong with it."""

from typing import Any
from urllib.parse import quote

from lxml import etree
from support.listed import answer_to
from support.webservice import Site

from weboid.core.url.urls import FORM_VERSION


async def normal_of(site: Site, url: str, more: str = "") -> Any:
    return await answer_to(site, f"/api/normal?url={quote(url, safe='')}{more}")


async def test_a_url_has_a_form_a_class_and_perhaps_a_fault(site: Site) -> None:
    for url, normal, kind, reason, suspicious in [
        ("HTTP://Fine.DEMO:80/a/../b?c#d", "http://fine.demo/b?c", "watched", None, False),
        ("//fine.demo", "https://fine.demo/", "watched", None, False),
        ("http://a.demo/\u202efdp.exe", "http://a.demo/%E2%80%AEfdp.exe", "watched", None, True),
        ("http://example.org/", "http://example.org/", "example", None, False),
        ("http://no-dot/", None, "invalid", "no-dot", False),
        ("mailto:a@b.demo", None, "ignored", None, False),
        ("<script>", None, "ignored", None, False),
    ]:
        found = await normal_of(site, url)
        assert (found["url"], found["normal"], found["class"]) == (url, normal, kind), url
        assert (found["reason"], found["suspicious"], found["form"]) == (reason, suspicious, FORM_VERSION), url


async def test_a_wikis_own_farm_is_reported_apart(site: Site) -> None:
    url = "https://de.wikipedia.org/wiki/A"
    assert (await normal_of(site, url))["class"] == "watched"
    assert (await normal_of(site, url, "&dbname=dewiki"))["class"] == "own-farm"


async def test_it_comes_as_xml_too_and_costs_a_304_the_second_time(site: Site) -> None:
    path = "/api/normal?url=http://Fine.demo&format=xml"
    _, body, response = await site.fetch(path)
    assert etree.fromstring(body.encode()).get("normal") == "http://fine.demo/"
    assert (await site.fetch(path, If_None_Match=response.headers["ETag"]))[0] == 304
    assert (await site.fetch(path, method="HEAD"))[:2] == (200, "")


async def test_a_thousand_urls_are_reported_at_a_time_and_no_more(site: Site) -> None:
    # As long as they may be together, percent-encoded.
    urls = [f"http://fine.demo/{number:04}/{'ж' * 80}" for number in range(1_000)]
    async with site.client.post(f"{site.url}/api/normal", data={"urls": "\n".join(urls)}) as response:
        found = await response.json()
        assert (response.status, [one["url"] for one in found["urls"]]) == (200, urls)
    for form, kind in (("json", "application/json"), ("xml", "application/xml")):
        sent = {"urls": "\n".join([*urls, "http://one.demo/"]), "format": form}
        async with site.client.post(f"{site.url}/api/normal", data=sent) as response:
            assert (response.status, response.content_type) == (400, kind)
            body = await response.text()
            assert "weboid-error-too-many-urls" in body
            assert "1,000" in body


async def test_neither_the_database_nor_a_wiki_is_needed(site: Site) -> None:
    await site.wiki.pool.close()
    assert (await normal_of(site, "http://a.demo", "&dbname=dewiki"))["normal"] == "http://a.demo/"
    assert site.source.asked == 0
