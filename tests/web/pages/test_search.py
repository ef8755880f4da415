"""The search form: by address or pattern, verdict and namespace, for people only (W-5)."""

import re

from support.intakes import record_pages
from support.listed import add_pages, texts
from support.people import Browser, Seen
from support.stored import WikiInStore
from support.webservice import DEAD, PDF, WALLED, Site

from weboid.core.url.farms import WMF, WMFLABS
from weboid.feed.intake import page_urls
from weboid.wiki.source import PageLinks

OWN = "testwiki@wmflabs"
URLS = "//div[@class='match']//p[@class='what']/*[contains(@class, 'url')]"
PAGES = "//div[@class='match']//ul[@class='pages']/li"


async def asked(browser: Browser, pattern: str, **fields: str) -> Seen:
    return await browser.send_form("/search?lang=en", "/search", pattern=pattern, **fields)


async def take_in(wiki: WikiInStore, pages: list[PageLinks]) -> None:
    await wiki.do(record_pages, wiki.wiki.wiki, [page_urls(page, WMFLABS) for page in pages], 100)


async def test_the_form_says_how_and_looks_nothing_up(browser: Browser) -> None:
    seen = await browser.open("/search?lang=en&pattern=*.dead.demo&dbname=testwiki@wmflabs&verdict=dead")
    assert seen.status == 200
    assert texts(seen.text, "//h1") == ["Search external links"]
    assert not texts(seen.text, "//div[@class='match']")
    fields = seen.form("/search")
    assert (fields["pattern"], fields["dbname"]) == ("*.dead.demo", OWN)
    assert texts(seen.text, "//select[@id='verdict']/option[@selected]/@value") == ["dead"]
    labels = texts(seen.text, "//form[@action='/search']//label/@for")
    assert set(labels) == set(texts(seen.text, "//form[@action='/search']//*[@id and @name]/@id"))


async def test_a_pattern_finds_its_weblinks_with_what_is_known_of_them(browser: Browser) -> None:
    seen = await asked(browser, "*.b.demo")
    assert seen.status == 200
    assert set(texts(seen.text, URLS)) == {PDF, WALLED}
    assert "working" in seen.text
    assert not texts(seen.text, PAGES)
    assert (seen.headers["Cache-Control"], texts(seen.text, "//input[@name='pattern']/@value")) == (
        "no-store",
        ["*.b.demo"],
    )


async def test_each_field_narrows_it_down(browser: Browser) -> None:
    for fields, urls in [
        ({"pattern": "dead.demo"}, {DEAD}),
        ({"pattern": DEAD}, {DEAD}),
        ({"pattern": DEAD, "verdict": "working"}, set()),
        ({"pattern": "http://a.demo/never"}, set()),
        ({"pattern": "*.b.demo", "verdict": "doubtful"}, {WALLED}),
        ({"pattern": "*.b.demo", "verdict": "working"}, {PDF}),
        ({"pattern": "*.b.demo", "verdict": "dead"}, set()),
        ({"pattern": "b.demo/wa"}, {WALLED}),
        ({"pattern": "b.demo/*.pdf"}, {PDF}),
        ({"pattern": "https://*.b.demo"}, {PDF}),
        ({"pattern": "*.b.demo:8443"}, {PDF}),
        ({"pattern": "*.b.demo", "dbname": OWN}, {PDF, WALLED}),
        ({"pattern": "*.b.demo", "dbname": OWN, "namespace": "1"}, set()),
        ({"pattern": "fine.demo", "dbname": OWN, "namespace": "0"}, {"http://fine.demo/"}),
    ]:
        assert set(texts((await asked(browser, **fields)).text, URLS)) == urls, fields


async def test_pages_are_listed_of_the_named_wiki_and_of_no_other(site: Site, browser: Browser) -> None:
    await add_pages(site, {9: ("Other wiki", [DEAD, "http://x.dead.demo/"])}, "aawiki")
    await add_pages(site, {5: ("Of another farm", [DEAD, "http://y.dead.demo/"])}, "testwiki", WMF)
    seen = await asked(browser, "*.dead.demo", dbname=OWN)
    assert (texts(seen.text, URLS), texts(seen.text, PAGES)) == ([DEAD], ["Page 1"])
    seen = await asked(browser, "*.dead.demo", dbname="testwiki")
    assert texts(seen.text, PAGES) == ["Of another farm", "Of another farm"]
    seen = await asked(browser, "*.dead.demo")
    assert (len(texts(seen.text, URLS)), texts(seen.text, PAGES)) == (3, [])


async def test_all_content_namespaces_are_the_main_one_and_those_that_are_watched(site: Site, browser: Browser) -> None:
    url = "http://press.demo/"
    await take_in(site.wiki, [PageLinks(20 + n, n, f"Namespace {n}", 1, None, (url,)) for n in (0, 1, 100)])
    seen = await asked(browser, "press.demo", dbname=OWN)
    assert texts(seen.text, PAGES) == ["Namespace 0"]
    seen = await asked(browser, "press.demo", dbname=OWN, namespace="100")
    assert texts(seen.text, PAGES) == ["Namespace 100"]
    seen = await asked(browser, "press.demo", dbname=OWN, namespace="7")
    assert texts(seen.text, URLS) == []


async def test_a_pattern_that_cannot_be_searched_for_comes_back_to_be_corrected(browser: Browser) -> None:
    for pattern, words in [
        ("", "No address or pattern"),
        ("*.com", "must end with a domain"),
        ("*.co.uk", "Anybody can register a domain under co.uk"),
        ("192.0.2.*", "IP address"),
        ("a*b*c*d*e*f*g.press.demo", "at most 5 wildcards"),
        ("x" * 10_000, "longer than 2,000"),
        ("(.*)+$.press.demo", "neither an address"),
        ("\u202e*.press.demo", "⟨U+202E⟩"),
        ("<script>alert(1)</script>", "&lt;script&gt;"),
    ]:
        seen = await asked(browser, pattern)
        assert seen.status == 400, pattern
        (alert,) = re.findall(r'<p class="notice" role="alert">(.*?)</p>', seen.text, re.DOTALL)
        alert = re.sub("</?bdi>", "", alert)
        assert words in alert, pattern
        assert texts(seen.text, "//input[@name='pattern']/@value") == [pattern], pattern
        assert not texts(seen.text, "//div[@class='match'] | //script"), pattern


async def test_other_wrong_input_gets_a_message(browser: Browser) -> None:
    for fields, http, name in [
        ({"verdict": "x"}, 400, "search-verdict"),
        ({"verdict": "unknown"}, 400, "search-verdict"),
        ({"dbname": "x';--"}, 400, "wiki"),
        ({"dbname": "nowiki"}, 404, "unknown-wiki"),
        ({"namespace": "0"}, 400, "no-wiki"),
        ({"namespace": "-1", "dbname": OWN}, 400, "namespace"),
        ({"namespace": "9" * 30, "dbname": OWN}, 400, "namespace"),
        ({"namespace": "٣", "dbname": OWN}, 400, "namespace"),
        ({"after": "1"}, 404, "after"),
        ({"after": "1.demo.other."}, 404, "after"),
        ({"after": "9999999999999999999.demo.dead."}, 404, "after"),
        ({"after": "1.demo.dead/"}, 404, "after"),
    ]:
        seen = await asked(browser, "*.dead.demo", **(fields | {"lang": "qqx"}))
        assert (seen.status, f"(weboid-error-{name}" in seen.text) == (http, True), fields
