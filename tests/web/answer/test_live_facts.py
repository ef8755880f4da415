"""What an answer knows of this second besides the links themselves: spam lists, pages of the own farm (L-1, L-3), old
facts of hosts (C-6)."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from support.listed import answer_to
from support.observations import SILENT
from support.people import Browser
from support.webservice import DEAD, MOVED, TODAY, Site, open_service

from weboid.core.record.record import UNKNOWN_HOST
from weboid.core.record.specials import Special
from weboid.core.url.classify import classify
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import key_of
from weboid.core.url.spam_lines import SpamFilter, parse_lines
from weboid.core.url.urls import parse
from weboid.core.verdict.judge import judge_host
from weboid.core.verdict.link_report import KeyedLink, keyed_link
from weboid.errors import SourceError, StoreAway
from weboid.store.archives.wiki_settings import record_configured
from weboid.store.db.rows import HostKey
from weboid.store.pages.spam import FARM, ListKind, record_spam_links, record_spam_list, spam_list
from weboid.store.pages.wiki import StoredWiki
from weboid.store.urls.check import record_hosts
from weboid.store.urls.host_traits import HostSpecial, record_specials
from weboid.web.answer.live_spam import LiveSpam
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"
WIKI = StoredWiki(1, WMFLABS.code, "testwiki", None, None, None)
BAD, WORSE, FINE = "http://bad.demo/", "http://worse.demo/a", "http://fine.demo/new"
LISTED = SpamFilter(parse_lines(r"bad\.demo").usable)


async def verdicts_of(site: Site, page: int) -> Mapping[str, Any]:
    (found,) = (await answer_to(site, f"{API}&pageid={page}&all=1"))["pages"]
    return {link["normal"]: link["verdict"] for link in found["links"]}


def keyed(*urls: str) -> list[KeyedLink]:
    return [keyed_link(classify(url, WMFLABS)) for url in urls]


async def test_a_link_is_spam_by_the_lists_that_are_loaded_whatever_its_page_is(site: Site) -> None:
    for of, line in ((FARM, r"bad\.demo"), ("testwiki", r"worse\.demo"), ("other", r"fine\.demo")):
        found = spam_list(WMFLABS.code, of, ListKind.BLACK, TODAY, parse_lines(line))
        await site.wiki.do(record_spam_list, found)
    # A page that is not watched, and one whose link has just been added.
    site.source.found[30] = PageLinks(30, 4, "Project page", 9, None, (BAD, DEAD, FINE, WORSE))
    site.source.found[1] = PageLinks(1, 0, "Page 1", 8, None, (BAD, DEAD))
    assert await verdicts_of(site, 30) == {BAD: "spam", DEAD: "dead", FINE: "unknown", WORSE: "spam"}
    assert await verdicts_of(site, 1) == {BAD: "spam", DEAD: "dead"}


@pytest.mark.parametrize(
    ("record", "said", "verdict"),
    [
        (record_configured, '{"links": {"permadead": ["a.demo"]}}', "dead"),
        (record_spam_links, {1: {key_of(parse(MOVED)): MOVED}}, "spam"),
    ],
)
async def test_findings_have_of_a_link_whose_url_works_all_that_the_whole_answer_has(
    site: Site, record: Callable[..., Awaitable[None]], said: Any, verdict: str
) -> None:
    await site.wiki.do(record, site.wiki.wiki.wiki, said)
    for site.source.silent in (False, True):
        answers = [await answer_to(site, f"{API}&pageid=1&extent={extent}") for extent in ("all", "findings")]
        whole, found = (answer["pages"][0]["links"] for answer in answers)
        assert found == [link for link in whole if link["verdict"] not in ("working", "unknown") or link["suspicious"]]
        assert [link["verdict"] for link in found if link["normal"] == MOVED] == [verdict]


async def test_an_invalid_link_is_offered_what_was_probably_meant_if_that_works(site: Site) -> None:
    site.source.found[30] = PageLinks(30, 0, "Page 30", 9, None, (f"http://{MOVED}", f"http://{DEAD}"))
    (page,) = (await answer_to(site, f"{API}&pageid=30&all=1"))["pages"]
    meant = [(link["verdict"], link["probably_meant"]) for link in page["links"]]
    assert meant == [("invalid", MOVED), ("invalid", None)]


async def test_lists_are_read_once_for_all_and_judge_later_answers_if_they_are_late() -> None:
    asked = 0
    ready = asyncio.Event()

    async def late(_: StoredWiki) -> SpamFilter:
        nonlocal asked
        asked += 1
        await ready.wait()
        return LISTED

    spam, links = LiveSpam(late), {7: keyed(BAD, FINE, "mailto:a@b")}
    async with asyncio.timeout(3):
        assert await asyncio.gather(*(spam.find(WIKI, links) for _ in range(9))) == [{}] * 9
    ready.set()
    assert await spam.find(WIKI, links) == {7: {links[7][0].key: BAD}}
    assert (asked, await spam.find(WIKI, {7: []})) == (1, {})


async def test_the_lists_before_are_in_force_while_the_store_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.web.answer.live_spam._KEPT_S", 0.0)
    answers = iter([LISTED])

    async def once(_: StoredWiki) -> SpamFilter:
        for found in answers:
            return found
        raise StoreAway("it is away")

    spam, links = LiveSpam(once), {7: keyed(BAD)}
    for _ in range(2):
        assert await spam.find(WIKI, links) == {7: {links[7][0].key: BAD}}
    assert await LiveSpam(once).find(WIKI, links) == {}


SISTER = Interwiki("s", "https://sister.beta.wmcloud.org/wiki/$1", local=True, wikiid="sisterwiki")
COMPANY = Interwiki("c", "//pages.company.demo/wiki/$1", local=True)
MAP = InterwikiMap((SISTER, COMPANY))


@dataclass
class Sister:
    """Another wiki of the farm, which says that some pages are missing, or does not answer, or not in time."""

    missing: frozenset[str] = frozenset({"Gone", "Talk:Gone"})
    pause_s: float = 0.0
    fault: Exception | None = None
    apis: set[str] = field(default_factory=set)
    asked: list[tuple[str, ...]] = field(default_factory=list)

    def at(self, api: str) -> "Sister":
        self.apis.add(api)
        return self

    async def find_missing(self, titles: Sequence[str]) -> set[str]:
        self.asked.append(tuple(titles))
        await asyncio.sleep(self.pause_s)
        if self.fault:
            raise self.fault
        return {*titles} & self.missing


@asynccontextmanager
async def linking(database: str, folder: Path, sister: Sister, *titles: str) -> AsyncIterator[Site]:
    """A service whose page 30 links to these titles of two other wikis of the farm, and to one by its address."""
    links = [MAP.local_link(prefix, title) for prefix in "sc" for title in titles]
    local = tuple(link for link in links if link)
    urls = ("https://sister.beta.wmcloud.org/wiki/Talk:Gone?oldid=5", "http://sister.beta.wmcloud.org/wiki/Talk%3AGone")
    async with open_service(database, folder, targets=sister.at) as site:
        site.source.entries = (SISTER, COMPANY)
        site.source.found[30] = PageLinks(30, 0, "Page 30", 9, None, tuple(sorted((DEAD, *urls))), local=local)
        yield site


def hinted(page: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {link["normal"]: [hint["kind"] for hint in link["hints"]] for link in page["links"]}


async def test_pages_that_other_wikis_of_the_farm_miss_are_hinted(site_database: str, tmp_path: Path) -> None:
    sister = Sister()
    async with linking(site_database, tmp_path, sister, "Gone", "There") as site:
        (every,) = (await answer_to(site, f"{API}&pageid=30&all=1"))["pages"]
        (found,) = (await answer_to(site, f"{API}&pageid=30&extent=findings"))["pages"]
        body = await site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=30&lang=en")
        xml = await site.text(f"{API}&pageid=30&format=xml")
        asked = len(sister.asked)
        site.source.asked = 0
        await answer_to(site, f"{API}&pageid=1&all=1")
    wiki, company = "https://sister.beta.wmcloud.org/wiki", "https://pages.company.demo/wiki"
    missing = {f"{wiki}/Gone", f"{company}/Gone", "http://sister.beta.wmcloud.org/wiki/Talk:Gone"}
    hints = hinted(every)
    assert {url for url, kinds in hints.items() if kinds} == missing
    assert hints.keys() == {*missing, DEAD, f"{wiki}/There", f"{company}/There", f"{wiki}/Talk:Gone?oldid=5"}
    kinds = {link["normal"]: (link["class"], link["kind"], link["verdict"]) for link in every["links"]}
    assert kinds[f"{company}/Gone"] == ("own-farm", "interwiki", "unknown")
    assert hinted(found).keys() == {*missing, DEAD}
    assert body.count("no such page") == len(missing) - 1, "that of two links of one host stands in its row"
    assert xml.count('<hint kind="missing-page"/>') == len(missing)
    # Each wiki is asked once; a page without such links asks nobody but its own wiki.
    assert (asked, site.source.asked, len(sister.asked)) == (2, 1, 2)
    assert sister.apis == {"https://sister.beta.wmcloud.org/w/api.php", "https://pages.company.demo/w/api.php"}


@pytest.mark.parametrize(
    ("entry", "api"),
    [
        (replace(SISTER, api="https://sister.beta.wmcloud.org/api.php"), "https://sister.beta.wmcloud.org/api.php"),
        (replace(SISTER, api="https://stranger.demo/w/api.php"), "https://sister.beta.wmcloud.org/w/api.php"),
        (replace(SISTER, api="http://["), "https://sister.beta.wmcloud.org/w/api.php"),
        (replace(SISTER, wikiid="testwiki"), "http://wiki.demo/w/api.php"),
    ],
    ids=["by the map", "not at another host", "not at none", "by the store"],
)
async def test_the_other_wiki_is_asked_at_its_own_address(
    site_database: str, tmp_path: Path, entry: Interwiki, api: str
) -> None:
    sister = Sister()
    async with linking(site_database, tmp_path, sister, "Gone") as site:
        site.source.entries = (entry,)
        await answer_to(site, f"{API}&pageid=30")
    assert sister.apis == {api}


async def test_simultaneous_readers_share_the_looks_in_batches_of_fifty(site_database: str, tmp_path: Path) -> None:
    sister = Sister(pause_s=0.1)
    async with linking(site_database, tmp_path, sister, *(f"T{number}" for number in range(60))) as site:
        await asyncio.gather(*(answer_to(site, f"{API}&pageid=30") for _ in range(5)))
    assert sorted(map(len, sister.asked)) == [10, 11, 50, 50]


@pytest.mark.parametrize("fault", [SourceError("it does not answer"), None])
async def test_a_wiki_that_fails_or_is_slow_hints_nothing_in_bounded_time(
    site_database: str, tmp_path: Path, fault: Exception | None
) -> None:
    sister = Sister(pause_s=0.0 if fault else 1.3, fault=fault)
    async with linking(site_database, tmp_path, sister, "Gone") as site:
        for _ in range(5 if fault else 1):
            async with asyncio.timeout(1.9):
                body = await site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=30&all=1&lang=en")
            assert (body.count('<tr class="link'), "no such page" in body) == (5, False)
        await asyncio.sleep(0.5)
        (page,) = (await answer_to(site, f"{API}&pageid=30&all=1"))["pages"]
    # What came too late is known to the next reader; a wiki that failed three times is left in peace.
    assert any(hinted(page).values()) is not bool(fault)
    assert len(sister.asked) == (6 if fault else 2)


async def test_what_is_known_of_a_host_for_long_is_hinted_of_a_url_that_was_not_checked(site: Site) -> None:
    hosts = {name: HostKey(*key_of(parse(f"http://{name}/"))[:2]) for name in ("old.demo", "new.demo")}
    old = {HostSpecial(hosts[f"{name}.demo"], Special.NEEDS_HTTPS): day for name, day in (("old", 5), ("new", 99))}
    await site.wiki.do(record_specials, old)
    await site.wiki.do(record_specials, dict.fromkeys(old, TODAY - 20))
    urls = ("http://new.demo/x", "http://old.demo/x", "http://sub.old.demo/x", "https://old.demo/x")
    site.source.found[30] = PageLinks(30, 4, "Project page", 9, None, urls)
    (page,) = (await answer_to(site, f"{API}&pageid=30&all=1"))["pages"]
    (found,) = (await answer_to(site, f"{API}&pageid=30&extent=findings"))["pages"]
    needs = ["host-needs-https"]
    assert hinted(page) == {urls[0]: [], urls[1]: needs, urls[2]: needs, urls[3]: []}
    assert {link["summary"] for link in page["links"] if link["hints"]} == {
        "not checked yet: Its host has answered well only to https for 4 months."
    }
    # It works by the other scheme, so it is no finding.
    assert found["links"] == []


async def test_a_host_that_has_been_down_for_long_is_a_finding_of_its_unchecked_urls(
    site: Site, browser: Browser
) -> None:
    urls = ("http://down.demo/x", "http://lately.demo/x")
    await site.wiki.take_in({31: urls}, 100)
    for url, first in zip(urls, (5, 60), strict=True):
        host = UNKNOWN_HOST
        for day in range(first, TODAY, 4):
            host = judge_host(host, SILENT, day)
        await site.wiki.do(record_hosts, {HostKey(*key_of(parse(url))[:2]): host})
    site.source.found[31] = PageLinks(31, 0, "Page 31", 9, None, (*urls, "http://down.demo/unwatched"))
    (page,) = (await answer_to(site, f"{API}&pageid=31&extent=findings"))["pages"]
    since = [[hint["kind"], hint["since"]] for link in page["links"] for hint in link["hints"]]
    assert since == [["host-down", "2017-01-06"]] * 2
    await browser.send_form(f"/url?url={urls[0]}", "/url")
    assert "Its host has been unreachable for 4 months." in (await browser.open(f"/url?url={urls[0]}&lang=en")).text
