"""The pages for people explain each verdict by its evidence (U-7)."""

from support.listed import texts
from support.observations import SILENT, UNAVAILABLE
from support.people import open_browser
from support.stored import key
from support.webservice import DEAD, MOVED, PDF, TODAY, WALLED, Site

from weboid.core.observe.observation import Observation
from weboid.core.record.record import UNTRIED
from weboid.core.verdict.judge import judge
from weboid.store.urls.check import CheckedUrl, record_checks

PAGE = "/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&lang=en"
EVIDENCE = '//p[@class="evidence"]'


async def fail(site: Site, url: str, seen: Observation) -> None:
    """Lets a URL fail on three days until the day before TODAY."""
    record, due = UNTRIED, TODAY
    for day in (TODAY - 7, TODAY - 4, TODAY - 1):
        record, due = judge(record, seen, day)
    await site.wiki.do(record_checks, [CheckedUrl(key(url), record, due)])


async def test_a_page_s_findings_have_it_in_the_open(site: Site) -> None:
    await fail(site, WALLED, SILENT)
    body = await site.text(PAGE)
    assert texts(body, f'//tr[@class="link dead"]{EVIDENCE}/bdi') == [
        "Not found on 7 days (for 3 weeks).",
        "Other pages of this host work.",
    ]
    (words,) = texts(body, f'//tr[@class="link doubtful"]{EVIDENCE}')
    assert words.startswith("Unreachable for 7 days (3 failing checks). It is called dead when")


async def test_an_exact_day_is_read_in_the_history_alone_and_is_the_tooltip_of_all_words(site: Site) -> None:
    body = await site.text(PAGE)
    for kind in ("dead", "doubtful"):
        item = f'//tr[@class="link {kind}"]'
        shown = " ".join(texts(body, f"{item}//text()[not(ancestor::title)]"))
        assert ("2017" in shown, "2017" in " ".join(texts(body, f"{item}//title//text()"))) == (False, True)
        times = zip(texts(body, f"{item}//time/@datetime"), texts(body, f"{item}//time/@title"), strict=True)
        assert all((iso[:4], title[-4:]) == ("2017", "2017") for iso, title in times)
    assert texts(body, '//tr[@class="link dead"]//span//time') == ["dead for 3 weeks"]
    assert texts(body, f'//tr[@class="link dead"]{EVIDENCE}//time/@title') == ["April 11, 2017"]


async def test_the_page_of_a_url_tells_it_below_the_reason(site: Site) -> None:
    for url, seen, beginning in (
        (PDF, SILENT, "Unreachable for 7 days (3 failing checks). It is called dead when this has lasted"),
        (MOVED, UNAVAILABLE, "Unavailable for 7 days. This alone is never"),
    ):
        await fail(site, url, seen)
        async with open_browser(site.url) as browser:
            await browser.send_form("/url?url=http://a.demo/old", "/url")
            page = (await browser.open(f"/url?url={url}&lang=en")).text
            (words,) = texts(page, '//p[bdi]/following-sibling::*[1][@class="evidence"]')
            assert words.startswith(beginning)
            assert "each on another day" not in page
            assert texts((await browser.open(f"/url?url={WALLED}&lang=en")).text, EVIDENCE) == []


async def test_programs_have_the_same_words(site: Site) -> None:
    body = await site.text("/externalLinkProblem?dbname=testwiki@wmflabs&pageid=1&lang=de")
    assert DEAD.partition("?")[0] in body
    assert '"explanation":"An 7 Tagen nicht gefunden (seit 3 Wochen)' in body
