"""The page of links as a table: grouped by host, filtered and sorted by addresses, every action in the open (W-3)."""

from datetime import UTC, datetime

import pytest
from support.listed import answer_to, nodes, texts
from support.people import Browser
from support.webservice import DEAD, WALLED, Site

from weboid.assets import asset
from weboid.core.archive.copies import Copies, CopyOrigin, CopyState, ShownSnapshot
from weboid.core.record.history import Entry
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.status import Status
from weboid.core.url.archives import ARCHIVES
from weboid.core.url.classify import classify
from weboid.core.url.farms import WikiName
from weboid.core.verdict.link_report import LinkReport, PageReport, link_report
from weboid.core.verdict.verdict import Claims, Finding, Verdict
from weboid.core.wikitext.settings import parse_settings
from weboid.mechanism.slices import at_once
from weboid.store.pages.wiki import StoredWiki
from weboid.web.answer.report import PageAnswer
from weboid.web.pages.link_table import table_steps
from weboid.web.words.language import languages
from weboid.web.words.messages import messages_in

DAY = 3_000
PAGE = "/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&lang=en"
_HOSTILE = "http://b.demo/\"><script>'&{{x}}"


def link(url: str, reason: Reason, since: int = DAY - 30, newest: Reason | None = None) -> LinkReport:
    verdict = Verdict.WORKING if reason is Reason.OK else Verdict.DEAD
    history = tuple(Entry(Status.NOT_FOUND, DAY - 9 * n - 8, DAY - 9 * n) for n in range(1, 6))
    found = link_report(classify(url, None))
    record = UrlRecord(history, reason=newest or reason)
    return found._replace(finding=Finding(verdict, reason, since), record=record)


def table(*links: LinkReport, **given: str) -> str:
    wiki = WikiName("testwiki", "wmflabs")
    page = PageReport(wiki, 7, 0, "Title", 1, links, DAY, True, "Title")
    stored = StoredWiki(1, 0, "testwiki", None, None, None)
    settings = parse_settings((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    answer = PageAnswer(stored, (page,), (), DAY, {}, None, settings, DEFAULT)
    return str(at_once(table_steps(page, answer, links, given, messages_in(languages()["en"]))))


def copied(url: str) -> Copies:
    address, taken = f"https://web.archive.org/web/2016/{url}", datetime(2016, 5, 3, tzinfo=UTC)
    shown = ShownSnapshot(ARCHIVES[0], address, url, taken, CopyOrigin.CHOSEN)
    return Copies(CopyState.FOUND, (shown,), None, None)


def rows(body: str) -> list[str]:
    """The host of each row of one, in brackets, and the address of each other row."""
    return [
        f"[{row.xpath('string(.//bdi)')}]" if row.get("class") == "host" else row.xpath('string(.//th/*[@class="url"])')
        for row in nodes(body, "//tbody/tr")
    ]


LINKS = (
    link("http://a.demo/1", Reason.NOT_FOUND, DAY - 5),
    link("http://b.demo/1", Reason.OK, DAY - 2),
    link("http://c.demo/1", Reason.HOST_DOWN, newest=Reason.TIMEOUT),
    link("http://c.demo/2", Reason.HOST_DOWN, newest=Reason.TIMEOUT),
    link("http://d.demo/1", Reason.HOST_DOWN, DAY - 40, newest=Reason.DNS_GONE),
)


def test_a_dead_host_is_one_row_with_its_links_beneath_and_the_gravest_come_first() -> None:
    body = table(*LINKS)
    d, c = "http://d.demo/1", ["[c.demo]", "http://c.demo/1", "http://c.demo/2"]
    assert rows(body) == [d, *c, "http://a.demo/1", "http://b.demo/1"]
    (host,) = nodes(body, '//tr[@class="host"]')
    assert "The server did not answer in time." in host.text_content()
    assert "The domain does not exist any more." in nodes(body, "//tbody/tr")[0].text_content()
    assert texts(body, '//tr[contains(@class, "stated")]//span[starts-with(@class, "cdx-info-chip chip")]') == []
    assert nodes(body, '//tr[@class="host"]//a/@href') == ["/domain/c.demo?dbname=testwiki%40wmflabs"]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("place", ["a.demo/1", "b.demo/1", "c.demo]", "c.demo/1", "c.demo/2", "d.demo/1"]),
        ("newest", ["b.demo/1", "a.demo/1", "c.demo]", "c.demo/1", "c.demo/2", "d.demo/1"]),
        ("oldest", ["d.demo/1", "c.demo]", "c.demo/1", "c.demo/2", "a.demo/1", "b.demo/1"]),
    ],
)
def test_links_are_sorted_and_stay_with_their_host(sort: str, expected: list[str]) -> None:
    assert [each.lstrip("[").removeprefix("http://") for each in rows(table(*LINKS, sort=sort))] == expected


def test_each_link_has_one_row_of_actions_in_the_open() -> None:
    url = "http://a.demo/1"
    dead = link(url, Reason.NOT_FOUND)._replace(copies=copied(url), claims=Claims(reported=DAY))
    body = table(dead, link(_HOSTILE, Reason.OK))
    assert nodes(body, "//details | //script | //button") == []
    place = "url=http://a.demo/1&dbname=testwiki%40wmflabs&pageid=7"
    assert nodes(body, '//tr[1]//p[@class="actions"]/a/@href')[:5] == [
        "https://web.archive.org/web/2016/http://a.demo/1",
        *(f"/report?{place}", f"/report?{place}#check", f"/replacement?{place}", f"/url?{place}"),
    ]
    (field,) = nodes(body, "//input[@readonly]")
    assert field.get("value").startswith("{{webarchive")
    assert field.getparent().text_content().strip() == "Wikitext to copy"
    assert "reported as working" in texts(body, '//tr[1]//td[@class="state"]')[0]


async def test_items_of_lists_have_the_same_actions(site: Site) -> None:
    body = await site.text("/lists/dead?dbname=testwiki@wmflabs&lang=en")
    ways = [href.partition("?")[0] for href in nodes(body, '//li[@class="link dead"]//p[@class="actions"]/a/@href')]
    assert ways == ["/report", "/report", "/replacement", "/url"]


def test_the_history_is_a_picture_of_at_most_five_bars_with_words() -> None:
    (picture,) = nodes(table(LINKS[0]), "//svg[@role='img']")
    assert len(picture.xpath(".//path")) == 5
    assert picture.xpath("string(.//title)").count("page not found") == 5
    assert len(str(table(LINKS[0])).partition('<svg class="past"')[2].partition("</svg>")[0]) < 1_000


async def test_filters_are_addresses_and_totals_stay(site: Site) -> None:
    for more, expected in (
        ("&reason=not-found", [DEAD]),
        ("&reason=forbidden", [WALLED]),
        ("&repaired=yes", []),
        ("&repaired=no&verdict=dead", [DEAD]),
        ("&copy=without&verdict=dead&sort=newest", [DEAD]),
        ("&reason=dns-gone", []),
    ):
        body = await site.text(PAGE + more)
        assert texts(body, '//tbody//th/*[@class="url"]') == expected, more
        assert texts(body, '//ul[@class="counts"]/li')[0] == "9 links"
        assert texts(body, '//ul[@class="counts"]/li')[-1] == f"{len(expected)} of 9 shown"
        (page,) = (await answer_to(site, f"/api/page?{PAGE.partition('?')[2]}{more}"))["pages"]
        assert [each["normal"] for each in page["links"]] == expected, more
    chips = nodes(await site.text(f"{PAGE}&verdict=dead&sort=newest&all=1"), '//ul[@class="counts"]//a')
    assert [(chip.get("href").partition("&lang=en")[2], chip.get("aria-current")) for chip in chips] == [
        ("&sort=newest", "true"),
        ("&sort=newest&verdict=doubtful", None),
        ("&sort=newest&verdict=working", None),
    ]


async def test_the_filters_keep_the_page_the_language_and_the_verdict(browser: Browser) -> None:
    page = await browser.open(f"{PAGE}&verdict=dead&sort=oldest&reason=not-found")
    (form,) = nodes(page.text, '//form[@class="filters"]')
    given = {name: value for name, value in form.form_values() if value}
    place = {"dbname": "testwiki@wmflabs", "pageid": "1", "lang": "en", "verdict": "dead"}
    assert given == {**place, "sort": "oldest", "reason": "not-found"}
    assert "The server reports that the page does not exist. (1)" in texts(page.text, "//select[@id='reason']/option")
