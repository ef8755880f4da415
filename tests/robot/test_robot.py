"""The robot serves its tasks fairly, loads each document once, and loses count of none (R-1 … R-4, R-9, R-11)."""

from collections import deque
from collections.abc import Iterable, Mapping
from itertools import count
from math import inf
from random import Random
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.sites import EXAMPLE, ROWS

from weboid.core.url.urls import parse
from weboid.errors import ConfigError
from weboid.robot.orders import Orders, Restriction
from weboid.robot.plugins import RobotLink, RobotPage, plugin
from weboid.robot.queues import QueueOrder, WantedDocument
from weboid.robot.robot import Robot
from weboid.robot.statistics import Outcome
from weboid.robot.task import Loaded, OutgoingLink, Task

ORDERS: tuple[QueueOrder, ...] = get_args(QueueOrder)


class Site:
    """Documents by URL with their links, and a loader that notes what it was asked for."""

    def __init__(self, links: Mapping[str, Iterable[str]]) -> None:
        self.links = links
        self.asked: list[tuple[int, str]] = []
        self.cached: set[str] = set()

    def has(self, entry: WantedDocument) -> bool:
        return entry.task.orders.uses_cache and entry.url in self.cached

    def load(self, entry: WantedDocument) -> Loaded:
        """Loads a document, but for those of the task or the cache."""
        links = [OutgoingLink(url) for url in self.links.get(entry.url, ())]
        if entry.url in entry.task.loaded or self.has(entry):
            return Loaded("hits", links)
        self.asked.append((entry.task.number, entry.url))
        self.cached.add(entry.url)
        return Loaded("downloaded", links)

    def run(self, robot: Robot) -> list[WantedDocument]:
        """Serves all tasks to their ends, one document at a time."""
        entries = []
        while (entry := robot.take(0)) is not None:
            robot.end(entry, self.load(entry))
            entries.append(entry)
        return entries


def example(number: int) -> str:
    return f"http://example.org/{number}.htm"


def test_the_example_task_of_the_source_gives_all_its_rows() -> None:
    site = Site({example(number): [example(link) for link in links] for number, links in EXAMPLE.items()})
    robot = Robot("breadth", site.has)
    before = robot.start([example(6)], Orders(depth=1))
    site.run(robot)
    assert (before.statistics.checked, before.statistics.queued, before.statistics.downloaded) == (4, 4, 4)
    site.asked.clear()
    orders = Orders(depth=3, most_bytes=10_000, link_filters=("exclude:7",))
    task = robot.start([example(1)], orders)
    rows = []
    while (entry := robot.take(0)) is not None:
        robot.end(entry, site.load(entry))
        now = task.statistics
        rows.append((now.checked, now.queued, now.filtered, now.downloaded, now.hits))
    assert rows == ROWS
    assert len(site.asked) == 10
    assert example(7) not in {url for _task, url in site.asked}
    assert task.statistics.filtered_by == {"exclude": 1}
    assert task.is_finished


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 11), max_size=5), min_size=12, max_size=12), st.integers(0, 4), st.data())
def test_every_document_within_reach_is_loaded_once_in_any_order(
    order: QueueOrder, graph: list[list[int]], depth: int, data: st.DataObject
) -> None:
    url = "http://h{}.example/{}".format
    names = [url(number % 3, number) for number in range(12)]
    site = Site({names[number]: [names[link] for link in links] for number, links in enumerate(graph)})
    robot = Robot(order)
    tasks = [robot.start([names[start]], Orders(depth, Restriction.NONE, uses_cache=False)) for start in (0, 5)]
    open_entries: list[WantedDocument] = []
    held: dict[str, float] = {}
    for now in count():
        entry = robot.take(now)
        if entry is not None:
            assert held.get(entry.host, 0) <= now
            open_entries.append(entry)
            held[entry.host] = now + data.draw(st.integers(0, 3))
            robot.hold(entry.host, held[entry.host], now)
        if open_entries and (entry is None or data.draw(st.booleans())):
            ended = open_entries.pop(data.draw(st.integers(0, len(open_entries) - 1)))
            robot.end(ended, site.load(ended))
        if all(task.is_finished for task in tasks):
            break
    assert len(site.asked) == len(set(site.asked))
    for task, start in zip(tasks, (0, 5), strict=True):
        assert {asked for number, asked in site.asked if number == task.number} == within(graph, names, start, depth)


def within(graph: list[list[int]], names: list[str], start: int, depth: int) -> set[str]:
    distances, queue = {start: 0}, deque([start])
    while queue:
        number = queue.popleft()
        for link in graph[number] if distances[number] < depth else ():
            if link not in distances:
                distances[link] = distances[number] + 1
                queue.append(link)
    return {names[number] for number in distances}


@pytest.mark.parametrize("order", ORDERS)
@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 11), max_size=5), min_size=12, max_size=12), st.integers(0))
def test_nothing_is_lost_at_any_moment_whatever_becomes_of_documents_and_tasks(
    order: QueueOrder, graph: list[list[int]], seed: int
) -> None:
    random = Random(seed)
    names = [f"http://h{number % 3}.example/{number}" for number in range(12)]
    robot = Robot(order, lambda entry: entry.url.endswith("5"))
    given_orders = [
        Orders(depth, Restriction.NONE, most_downloads=most, priority=depth, link_filters=filters)
        for depth, most, filters in ((5, inf, ()), (3, 4, ()), (9, inf, ("exclude:/7",)), (1, inf, ()))
    ]
    tasks = [robot.start([names[number]], given_orders[number]) for number in range(3)]
    open_entries: list[WantedDocument] = []
    loaded: set[tuple[int, str]] = set()
    for now in count():
        match random.randrange(20):
            case 0:
                robot.cancel(random.choice(tasks))
            case 1:
                random.choice(tasks).order(random.choice(given_orders))
            case 2:
                robot.hold(f"h{random.randrange(3)}.example", random.choice([now + 5, inf]), now)
            case 3 | 4:
                for number in range(3):
                    robot.hold(f"h{number}.example", now + 1, now)
            case 5 | 6 | 7 | 8 if open_entries:
                entry = open_entries.pop(random.randrange(len(open_entries)))
                is_again = (entry.task.number, entry.url) in loaded
                loaded.add((entry.task.number, entry.url))
                targets = graph[names.index(entry.url)]
                outcome: Outcome = "hits" if is_again else random.choice(["downloaded", "failed"])
                is_redirect = bool(targets) and random.random() < 0.3
                links = [OutgoingLink(names[target]) for target in targets]
                robot.end(entry, Loaded(outcome, [] if is_redirect else links, links[0].url if is_redirect else ""))
            case _ if taken := robot.take(now):
                assert (taken.task.number, taken.url) not in {(each.task.number, each.url) for each in open_entries}
                open_entries.append(taken)
        for task in tasks:
            numbers = task.statistics
            numbers.verify()
            assert numbers.open == sum(entry.task is task for entry in open_entries)
            assert not (task.is_cancelled and numbers.waiting)
        if all(task.is_finished for task in tasks):
            break
    assert robot.take(inf) is None


@pytest.mark.parametrize("order", ORDERS)
def test_a_cancelled_task_ends_at_once_and_delays_no_other(order: QueueOrder) -> None:
    site = Site({example(1): [example(number) for number in range(2, 500)]})
    robot = Robot(order)
    task, other = (robot.start([example(1)], Orders(1, uses_cache=False)) for _ in range(2))
    entries = [entry for _ in range(2) if (entry := robot.take(0))]
    for entry in entries:
        robot.end(entry, site.load(entry))
    open_entry = robot.take(0)
    assert open_entry is not None
    cancelled, kept = (open_entry.task, other if open_entry.task is task else task)
    robot.cancel(cancelled)
    assert (cancelled.statistics.open, cancelled.statistics.waiting) == (1, 0)
    assert all(entry.task is kept for entry in site.run(robot))
    robot.end(open_entry, Loaded("failed"))
    assert cancelled.is_finished
    assert kept.is_finished
    assert cancelled.statistics.dropped + cancelled.statistics.downloaded + cancelled.statistics.failed in (498, 499)


def test_the_fair_queue_takes_turns_over_the_tasks() -> None:
    site = Site({example(1): [example(number) for number in range(2, 100)]})
    robot = Robot("fair")
    many = robot.start([example(1)], Orders(1))
    first = robot.take(0)
    assert first is not None
    robot.end(first, site.load(first))
    few = robot.start([example(number) for number in (201, 202, 203)], Orders(0))
    assert [entry.task for _ in range(6) if (entry := robot.take(0))].count(few) == 3
    assert many.statistics.waiting == 95


def test_a_task_of_greater_priority_comes_first_even_if_it_begins_later() -> None:
    robot = Robot("priority")
    for priority in (0, 2, 1):
        robot.start([example(priority), example(9)], Orders(0, priority=priority))
    assert [entry.task.orders.priority for entry in Site({}).run(robot)] == [2, 2, 1, 1, 0, 0]


def test_orders_hold_from_the_next_document_on() -> None:
    site = Site({example(n): [example(n + 1), example(n + 100)] for n in range(1, 50)})
    robot = Robot("breadth")
    task = robot.start([example(1)], Orders(10))
    for _ in range(3):
        entry = robot.take(0)
        assert entry is not None
        robot.end(entry, site.load(entry))
    task.order(Orders(1))
    site.run(robot)
    assert (task.statistics.downloaded, task.statistics.dropped) == (3, 2)
    limited = robot.start([example(1)], Orders(10, most_downloads=4, uses_cache=False))
    expired = robot.start([example(1)], Orders(10, expires=-inf))
    site.run(robot)
    assert limited.statistics.downloaded == 4
    assert (expired.statistics.downloaded, expired.statistics.dropped) == (0, 1)


def test_redirects_count_as_documents_and_the_same_content_ends_a_branch() -> None:
    robot = Robot("breadth")
    task = robot.start([example(1)], Orders(3))
    answers = {
        example(1): Loaded("downloaded", redirect=example(2)),
        example(2): Loaded("downloaded", [OutgoingLink(example(3)), OutgoingLink(example(4))]),
        example(3): Loaded("downloaded", [OutgoingLink(example(5))], content_hash=b"same"),
        example(4): Loaded("downloaded", [OutgoingLink(example(6))], content_hash=b"same"),
        example(5): Loaded("downloaded", redirect=example(5)),
    }
    asked = []
    while (entry := robot.take(0)) is not None:
        asked.append((entry.url, entry.distance))
        robot.end(entry, answers[entry.url])
    assert asked == [(example(1), 0), (example(2), 0), (example(3), 1), (example(4), 1), (example(5), 2)]
    assert (task.statistics.same_content, task.statistics.seen) == (1, 1)


def test_a_chain_of_redirects_without_end_is_cut_and_named() -> None:
    robot = Robot()
    task = robot.start([example(1)], Orders(3))
    numbers = count(2)
    while (entry := robot.take(0)) is not None:
        robot.end(entry, Loaded("downloaded", redirect=example(next(numbers))))
    assert task.statistics.filtered_by == {"redirects": 1}
    assert task.statistics.downloaded == 11


@pytest.mark.parametrize(
    ("restriction", "followed"), [("none", "abcde"), ("internal", "abc"), ("external", "de"), ("below", "ab")]
)
def test_a_restriction_is_seen_from_all_starts(restriction: Restriction, followed: str) -> None:
    starts = ["http://example.org/docs/x.htm", "http://example.com/a/"]
    links = {
        "a": "http://example.org/docs/deeper/y?z=/",
        "b": "https://example.com/a/b",
        "c": "http://example.org/docsy/?/docs/",
        "d": "http://example.net/docs/",
        "e": "http://example.org:81/docs/",
    }
    site = Site({starts[0]: links.values()})
    robot = Robot()
    task = robot.start(starts, Orders(1, Restriction(restriction)))
    asked = {entry.url for entry in site.run(robot)}
    assert asked - set(starts) == {links[name] for name in followed}
    assert task.statistics.filtered_by["restriction"] == len(links) - len(followed)


@pytest.mark.parametrize(
    ("pattern", "is_matched"),
    [("7", True), ("*.htm", True), ("7*", False), ("example.org/1?.htm", False), ("8", False)],
)
def test_a_pattern_is_of_the_whole_url_and_a_word_of_any_piece_of_it(pattern: str, is_matched: bool) -> None:
    link = RobotLink(RobotPage(example(1), 0), parse(example(17)))
    assert plugin(f"include:{pattern}")(link) is is_matched
    assert plugin(f"exclude:{pattern}")(link) is not is_matched


def test_an_unknown_name_of_a_filter_is_refused() -> None:
    with pytest.raises(ConfigError, match="no-such"):
        Task(1, [example(1)], Orders(1, link_filters=("no-such",)))


def test_of_each_link_of_a_document_it_is_said_why_it_is_not_followed() -> None:
    robot = Robot()
    refuse = {"own": lambda link: "own" not in str(link.url)}
    task = robot.start([example(1)], Orders(1, link_filters=("exclude:*/7.htm",)), refuse)
    urls = [example(2), example(7), "http://other.example/", "http://[/", "http://example.org/own", example(2)]
    entry = robot.take(0)
    assert entry
    robot.end(entry, Loaded("downloaded", [OutgoingLink(url) for url in urls]))
    assert task.refusals == ["", "exclude", "restriction", "invalid", "own", ""]
    entry = robot.take(0)
    assert entry
    robot.end(entry, Loaded("downloaded", [OutgoingLink(url) for url in (example(3), example(7))]))
    assert task.refusals == ["depth", "exclude"]
    assert task.statistics.checked == 7


def test_a_start_that_leads_to_another_server_means_that_site() -> None:
    robot = Robot()
    task = robot.start(["http://example.org/"], Orders(5))
    entry = robot.take(0)
    assert entry
    robot.end(entry, Loaded("downloaded", redirect="https://www.example.org/"))
    entry = robot.take(0)
    assert entry
    robot.end(entry, Loaded("downloaded", [OutgoingLink("https://www.example.org/a")]))
    assert task.refusals == [""]
