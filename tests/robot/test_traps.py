"""A site with traps gives all its pages, and each trap costs at most 200 requests and is named (R-6)."""

import tracemalloc
from collections.abc import Callable, Iterator
from itertools import count, pairwise
from urllib.parse import quote

import pytest

from weboid.core.url.urls import parse
from weboid.robot.orders import Orders
from weboid.robot.plugins import RobotLink, RobotPage
from weboid.robot.robot import Robot
from weboid.robot.task import Loaded, OutgoingLink
from weboid.robot.traps import TRAPS

SITE = "http://example.org"
PAGES = 1_000
MOST = 200
NUMBERS = count(1)


def word() -> str:
    """A word that no other call gives, without digits."""
    return "".join(chr(ord("g") + int(digit)) for digit in str(next(NUMBERS)))


def folder(path: str) -> str:
    return path.partition("?")[0].split("/")[1]


def months(path: str) -> list[str]:
    year, month = map(int, path.split("/")[2:4])
    return [f"/diary/{year + month // 12}/{month % 12 + 1:02}/", f"/diary/{year - (month == 1)}/{month - 1 or 12:02}/"]


TRAP: dict[str, tuple[str, Callable[[str], list[str]]]] = {
    "session-id": ("/shop?sid=0123456789abcdef", lambda path: [f"/shop?sid={next(NUMBERS):016}"]),
    "calendar": ("/diary/2026/12/", months),
    "repeating-path": ("/x/more", lambda path: [f"{path}/more"]),
    "deep-path": ("/deep/a/", lambda path: [f"{path}{word()}/", f"{path}{word()}/"]),
    "growing-query": ("/login?next=%2F", lambda path: [f"/login?next={quote(path, safe='')}"]),
    "query-explosion": ("/find?by=name", lambda path: [f"/find?by={word()}&sort={word()}" for _ in range(9)]),
    "endless-path/": ("/token/0123456789abcdef", lambda path: [f"/token/{next(NUMBERS):x}{'f' * 16}" for _ in (1, 2)]),
    "query-explosion/": ("/shelf?d=word&e=", lambda path: [f"/shelf?{key}={word()}&e=" for key in "abcd"]),
    "query-explosion/semicolon": ("/part?a=b;c=d", lambda path: [f"{path};{key}=x" for key in "abc"]),
    "query-explosion/dates": ("/dated?d=1&e=", lambda path: [f"/dated?{key}={next(NUMBERS)}&e=" for key in "cd"]),
    "query-explosion/amp": ("/amp?a=1&b=2", lambda path: [path.replace("&", "&amp;")]),
    "growing-query/words": ("/plus?q=a", lambda path: [f"{path}+{word()}", f"{path}%20b", f"{path},c"]),
    "growing-query/first": ("/sorted?tags=a", lambda path: [path.replace("=", f"={word()}|") for _ in range(30)]),
    "growing-query/path": ("/tag/a", lambda path: [f"{path}+{each}" for each in "abc"]),
    "endless-path": ("/hash/", lambda path: [f"{path}{next(NUMBERS):08x}f/", f"{path}{next(NUMBERS):08x}e/"]),
}


def test_a_site_with_traps_gives_all_its_pages() -> None:
    robot = Robot()
    task = robot.start([f"{SITE}/p0"], Orders(1_000, link_filters=tuple(TRAPS)))
    asked: set[str] = set()
    while len(asked) < 2 * PAGES + MOST * len(TRAP) and (entry := robot.take(0)) is not None:
        path = entry.url.removeprefix(SITE)
        asked.add(path)
        found = [following(path) for start, following in TRAP.values() if folder(path) == folder(start)]
        if not found:
            ahead = range(2 * int(path[2:]) + 1, min(2 * int(path[2:]) + 3, PAGES))
            found = [[f"/p{number}" for number in ahead], [start for start, _ in TRAP.values()]]
        links = [OutgoingLink(f"{SITE}{url}") for urls in found for url in urls]
        robot.end(entry, Loaded("downloaded", links))
    assert {f"/p{number}" for number in range(PAGES)} <= asked
    assert set(task.statistics.filtered_by) == set(TRAPS) == {name.partition("/")[0] for name in TRAP}
    requests = {name: sum(folder(path) == folder(start) for path in asked) for name, (start, _) in TRAP.items()}
    assert {name: number for name, number in requests.items() if not 1 <= number <= MOST} == {}


def from_lists(items: list[str]) -> Iterator[tuple[str, str]]:
    """Page and target of links of a site: lists of 20 that lead to the next list; items lead to the next ones."""
    for number in range(0, len(items), 20):
        page = f"/list?page={number // 20}"
        yield from ((page, item) for item in items[number : number + 20])
        yield page, f"/list?page={number // 20 + 1}"
    yield from pairwise(items)


@pytest.mark.parametrize(
    "item",
    [
        "/item?cat=1&id={0}", "/w/index.php?title=P{0}&action=edit", "/events/2024-05-12-name-{0}.html",
        "/2019/05/12/story-{0}", "/p{0}.html;jsessionid=ABCDEF0123456789", "/?s=climbing{0}",
        "/a/b/c/d/e/f/g/h/i/j/{0}", "/info/{0:016x}", "/a{0:05}.html", "/w/index.php?title=Name+{0}", "/w/{0}%20B",
    ],
)  # fmt: skip
def test_many_pages_of_a_real_site_that_its_lists_lead_to_are_no_trap(item: str) -> None:
    filters = [make() for make in TRAPS.values()]
    for page, target in from_lists([item.format(number) for number in range(400)]):
        link = RobotLink(RobotPage(SITE + page, 1), parse(SITE + target))
        assert not any(is_trap(link) for is_trap in filters), link


def test_pages_that_only_their_like_leads_to_are_no_trap_among_more_that_others_lead_to() -> None:
    filters = [make() for make in TRAPS.values()]
    links = [("/", f"/?id={number}") for number in range(0, 2_000, 2)]
    links += [(f"/?id={number}", f"/?id={number + 1}") for number in range(0, 1_900, 2)]
    for page, target in links:
        link = RobotLink(RobotPage(SITE + page, 1), parse(SITE + target))
        assert not any(is_trap(link) for is_trap in filters), link


def test_titles_of_many_words_are_no_trap_although_each_leads_to_one_that_has_more() -> None:
    is_trap = TRAPS["growing-query"]()
    for page, target in from_lists([f"/w?title=Name+{number}" for number in range(400)]):
        for parent, url in (page, target), (target, f"{target}+(discography)"):
            assert not is_trap(RobotLink(RobotPage(SITE + parent, 1), parse(SITE + url))), url


def test_a_counter_in_the_path_ends_far_from_the_start() -> None:
    is_trap = TRAPS["endless-path"]()
    links = (RobotLink(RobotPage(f"{SITE}/ad/{n}", n), parse(f"{SITE}/ad/{n + 1}")) for n in count())
    assert next(link.page.distance for link in links if is_trap(link)) == 1_000


def test_filters_remember_only_so_much(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.robot.traps._REMEMBERED", 500)
    filters = [make() for make in TRAPS.values()]

    def kept_by(numbers: range) -> int:
        tracemalloc.start()
        for number in numbers:
            url = parse(f"{SITE}/{number}/x{word()},{'y' * 500}?sid={number:016}")
            for is_trap in filters:
                is_trap(RobotLink(RobotPage(f"{SITE}/{word()}", 1), url))
        kept = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        return kept

    kept_by(range(1_500))
    assert kept_by(range(1_500, 4_000)) < 2_000_000
