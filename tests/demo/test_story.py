"""The story told to the real fetch and judgement, day by day and without a database: it ends as it is written."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import NamedTuple

import pytest

from weboid.checking.checker import Checker
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED, HostRecord, UrlRecord
from weboid.core.record.status import Status
from weboid.core.url.classify import classify
from weboid.core.url.farms import BUILT_IN, farm_named, parse_wiki_name
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url, normal, parse
from weboid.core.verdict.judge import judge
from weboid.core.verdict.verdict import Finding, Verdict, finding_of
from weboid.crawl.visit import Visit
from weboid.demo.articles import ARTICLES, HOST_LIVES
from weboid.demo.littleweb import LoggedRequest, open_littleweb
from weboid.demo.story import DAYS as STORY_DAYS
from weboid.demo.story import WIKI, Truth, demo_days, demo_pages, demo_world, ground_truth
from weboid.demo.world import Page, World, behaviour_on, located
from weboid.net.outbound import Outbound, open_session
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked

pytestmark = pytest.mark.timed

LAST_DAY = 3600
DAYS = demo_days(LAST_DAY)


class Check(NamedTuple):
    """One check of the rounds."""

    day: int
    url: str
    inferred: bool


@dataclass
class Rounds:
    """What is remembered from round to round, as the store would, and what every round found."""

    urls: dict[Url, UrlRecord]
    hosts: dict[str, HostRecord] = field(default_factory=dict)
    due: dict[Url, int] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    verdicts: dict[str, list[Verdict]] = field(default_factory=dict)

    async def run(self, session: Outbound, day: int) -> None:
        """One round: all hosts at once, the due URLs of each in turn."""

        checker = Checker(session, LocalTurns(0), CrawlConfig())

        async def round_of(host: str, urls: list[Url]) -> None:
            stored = StoredHost(HostKey(*key_of(urls[0])[:2]), host, self.hosts.get(host, UNKNOWN_HOST))
            asked = [StoredUrl(key_of(url), url, self.urls[url]) for url in urls]
            visit = Visit(
                stored,
                asked,
                check=checker.ask,
                second_opinion=None,
                report=self._record,
                now=lambda: Moment(day),
                policy=DEFAULT,
                stopping=lambda: False,
            )
            await visit.run()

        due: dict[str, list[Url]] = {}
        for url in self.urls:
            if self.due.get(url, 0) <= day:
                due.setdefault(url.host, []).append(url)
        await asyncio.gather(*(round_of(host, urls) for host, urls in due.items()))
        for url in self.urls:
            self.verdicts.setdefault(str(url), []).append(self.finding(url).verdict)

    def finding(self, url: Url) -> Finding:
        """What is to be said of a URL now."""
        return finding_of(self.urls[url], self.hosts.get(url.host, UNKNOWN_HOST))

    async def _record(self, checked: Checked) -> None:
        if checked.seen is None:  # its host wants a rest
            self.due[checked.url.url] = checked.due
            return
        self.urls[checked.url.url] = checked.record
        self.hosts[checked.host.host] = checked.host_after
        self.due[checked.url.url] = checked.due
        self.checks.append(Check(checked.day, str(checked.url.url), checked.seen.inferred))


@dataclass
class Told:
    """The whole story, told."""

    rounds: Rounds
    truth: dict[str, Truth]
    requests: list[LoggedRequest]

    def watched(self) -> dict[str, Truth]:
        """The truth of what is checked, by normal form."""
        return {normal(url): truth for url, truth in self.truth.items() if truth.is_checked}


async def tell() -> Told:
    """Runs all rounds of the story."""
    now = DAYS[0]
    async with open_littleweb(demo_world(DAYS[0]), day=lambda: now) as web:
        truth = dict(ground_truth(web.located))
        rounds = Rounds({parse(url): UNTRIED for url, one in truth.items() if one.is_checked})
        settings = NetConfig(
            permit=(ip_network("127.0.0.0/8"),),
            dns=(web.name_server,),
            web_ports=(web.http_port, web.https_port),
            answer_s=0.5,
            user_agent="Weboid/0",
        )
        for now in DAYS:
            # Names are remembered for minutes, which are weeks here: every day begins with a new way out.
            async with open_session(settings) as session:
                await rounds.run(session, now)
        return Told(rounds, truth, list(web.requests))


@pytest.fixture(scope="module")
def told() -> Iterator[Told]:
    """The story, told once for all tests; in a thread, for a loop of its own."""
    with ThreadPoolExecutor(1) as executor:
        yield executor.submit(asyncio.run, tell()).result()


def test_every_link_ends_as_it_is_written(told: Told) -> None:
    wrong = []
    for url, truth in told.watched().items():
        finding = told.rounds.finding(parse(url))
        if finding.verdict is not truth.verdict or not finding.reason or finding.reason.word not in truth.reasons:
            wrong.append((url, finding, truth))
    assert not wrong


def test_nothing_was_ever_called_dead_that_was_not(told: Told) -> None:
    for url, truth in told.watched().items():
        was_dead = Verdict.DEAD in told.rounds.verdicts[url]
        assert was_dead == (truth.was_dead or truth.verdict is Verdict.DEAD), url


def test_a_revival_is_told_at_the_next_check(told: Told) -> None:
    (url,) = [url for url, truth in told.watched().items() if truth.was_dead]
    days = [check.day for check in told.rounds.checks if check.url == url]
    revived = next(day for day in days if day >= DAYS[0] + 50)
    verdicts = dict(zip(DAYS, told.rounds.verdicts[url], strict=True))
    assert verdicts[revived - 1] is Verdict.DEAD
    assert verdicts[revived] is Verdict.WORKING


def test_every_check_that_is_not_inferred_reached_the_little_web_or_its_name_server(told: Told) -> None:
    asked = {(each.day, each.host) for each in told.requests}
    never_arrive = {"ferryline.demo", "observatory.demo", "lighthouse.demo", "bakery.demo", "vault.demo"}
    for check in told.rounds.checks:
        host = parse(check.url).host
        assert check.inferred or host in never_arrive or (check.day, host) in asked, check


def test_nobody_who_is_not_in_the_story_was_asked(told: Told) -> None:
    assert {each.host for each in told.requests} <= demo_world(0).hosts.keys() | {""}


def test_the_classes_of_the_links_are_what_they_are_said_to_be(told: Told) -> None:
    farm = farm_named(parse_wiki_name(WIKI).farm, BUILT_IN)
    for url, truth in told.truth.items():
        assert classify(url, farm).kind is truth.kind, url


def test_all_kinds_of_ends_are_in_the_story(told: Told) -> None:
    ends = {(truth.verdict, word) for truth in told.watched().values() for word in truth.reasons}
    assert len(ends) >= 20
    assert {verdict for verdict, _ in ends} == {Verdict.WORKING, Verdict.DOUBTFUL, Verdict.DEAD}


def test_the_same_link_on_two_articles_has_one_life(told: Told) -> None:
    lives: dict[str, set[object]] = {}
    for article in ARTICLES:
        for link in article.links:
            lives.setdefault(link.url, set()).add(link.life)
    assert all(len(each) == 1 for each in lives.values())


def test_page_ids_and_titles_are_unique() -> None:
    pages = demo_pages(str)
    assert len({page.page for page in pages}) == len({page.title for page in pages}) == len(pages) >= 12


def test_the_story_is_long_enough_for_every_death_whatever_its_last_day() -> None:
    latest_check = DEFAULT.working_interval + 1
    for article in ARTICLES:
        for link in article.links:
            if link.verdict is Verdict.DEAD:
                host = link.url.split("/")[2]
                begun = max(life[-1].from_day for life in (link.life, HOST_LIVES.get(host, link.life)))
                span = min(DEFAULT.span_of(reason) for reason in link.reasons)
                assert begun + latest_check + span <= STORY_DAYS, link.url


@pytest.mark.parametrize("last_day", range(3600, 3607))
def test_the_revival_of_the_story_is_told_whatever_its_last_day_and_the_hour_of_its_host(last_day: int) -> None:
    lost, fine = Observation(Status.NOT_FOUND, Reason.NOT_FOUND), Observation(Status.FINE, Reason.OK)
    (life,) = {link.life for article in ARTICLES for link in article.links if link.was_dead}
    for host_key in range(48):
        days, record, verdicts = demo_days(last_day), UNTRIED, []
        day = days[0]
        while day <= last_day:
            seen = fine if isinstance(behaviour_on(life, day - days[0]), Page) else lost
            record, day = judge(record, seen, day, host_key=host_key)
            verdicts.append(finding_of(record).verdict)
        assert Verdict.DEAD in verdicts
        assert verdicts[-1] is Verdict.WORKING


def test_every_life_of_the_story_is_in_order() -> None:
    world: World = demo_world(100)
    for host in world.hosts.values():
        behaviour_on(host.life, 100)
        for life in host.paths.values():
            behaviour_on(life, 100)


def test_the_story_ends_on_the_day_that_is_asked_for() -> None:
    assert (DAYS[0], DAYS[-1], len(DAYS)) == (LAST_DAY - STORY_DAYS, LAST_DAY, STORY_DAYS + 1)


def test_only_hosts_of_the_story_get_a_port() -> None:
    world = demo_world(0)

    def at(url: str) -> str:
        return located(world, url, http_port=1, https_port=2)

    assert at("http://harbour.demo/x") == "http://harbour.demo:1/x"
    assert at("https://vault.demo") == "https://vault.demo:2"
    assert at("http://harbour.demo:80/") == "http://harbour.demo:80/"
    assert at("http://www.example.org/") == "http://www.example.org/"
    assert at("javascript:alert(1)") == "javascript:alert(1)"
