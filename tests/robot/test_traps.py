"""A site with traps gives all its pages, and each trap costs at most 200 requests and is named (R-6)."""

from itertools import count

from weboid.robot.orders import Orders
from weboid.robot.robot import Robot
from weboid.robot.task import Loaded, OutgoingLink
from weboid.robot.traps import MOST, TRAPS

SITE = "http://example.org"
PAGES = 300


def links_of_trap(url: str, sessions: "count[int]") -> dict[str, list[str]]:
    """The links of a page of the site, by the trap that they lead into."""
    path = url.removeprefix(SITE)
    number = len(path)
    return {
        "session-id": [f"{SITE}/shop?sid={next(sessions):016}" for _ in range(2)],
        "calendar": [
            f"{SITE}/calendar/{1900 + n // 12 % 300}-{1 + n % 12:02}" for n in (next(sessions), next(sessions))
        ],
        "repeating-path": [f"{url.partition('?')[0].rstrip('/')}/more"] if "/more" in path else [f"{SITE}/x/more"],
        "deep-path": [f"{url}/d{number}"] if "/deep" in path else [f"{SITE}/deep"],
        "query-explosion": [f"{SITE}/list?sort={next(sessions)}&order={next(sessions)}"],
    }


def test_a_site_with_traps_gives_all_its_pages() -> None:
    sessions = count()
    robot = Robot()
    task = robot.start([f"{SITE}/p0"], Orders(1_000, link_filters=tuple(TRAPS)))
    asked: set[str] = set()
    while (entry := robot.take(0)) is not None:
        asked.add(entry.url)
        page = entry.url.removeprefix(f"{SITE}/p")
        ahead = [f"{SITE}/p{int(page) + 1}"] if page.isdigit() and int(page) + 1 < PAGES else []
        found = [*ahead, *(url for urls in links_of_trap(entry.url, sessions).values() for url in urls)]
        robot.end(entry, Loaded("downloaded", [OutgoingLink(url) for url in found]))
    assert {f"{SITE}/p{number}" for number in range(PAGES)} <= asked
    assert set(task.statistics.filtered_by) == set(TRAPS)
    for place in ("/shop", "/calendar", "/x/more", "/deep", "/list"):
        assert 1 <= sum(url.startswith(SITE + place) for url in asked) <= MOST
