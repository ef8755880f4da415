"""The story of the demo: ten weeks of the links in ``articles``, and the copies that the made-up archive has of them.

Days count from the beginning of the story, and are negative before it.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import unquote

from weboid.assets import asset
from weboid.config import SETTINGS_TITLE
from weboid.demo.articles import ARTICLES, HOST_LIVES, INTERWIKI, UNLINKED
from weboid.demo.links import Article, Link
from weboid.demo.littlearchive import LittleCapture, moment_on
from weboid.demo.wikipages import InterwikiEntry, WikiLink, WikiPage
from weboid.demo.world import Behaviour, Code, Host, Life, Page, Spell, World, shifted

WIKI: Final = "demowiki@wmflabs"
DAYS: Final = 70
"""The length of the story; its first round is on day 0 and its last on day 70."""

Located = Callable[[str], str]
"""Puts the port into a URL of the world, as `LittleWeb.located` does."""

CAPTURED: Final[Mapping[str, tuple[tuple[int, Page | Code], ...]]] = {
    # Three good ones, and one that came too late.
    "http://tidalmill.demo/opening-hours": (
        (-700, Page(title="Opening hours")),
        (-40, Page(title="Opening hours")),
        (5, Page(title="Opening hours")),
        (20, Code(404)),
    ),
    # It came at a bad moment.
    "http://brewery.demo/pans": ((-200, Code(404)),),
    "http://ferryline.demo/fares": ((-90, Page(title="Fares")),),
    "http://museum.demo/object/77": ((-300, Page(title="A figurehead")),),
    "http://observatory.demo/fog": ((-1200, Page(title="Days with fog, by year")),),
}
CITED: Final = ("20190611120000", "http://ferryline.demo/timetable", Page(title="Timetable of the ferry"))
"""The copy that a page links to."""

EXCLUDED: Final[Mapping[str, int]] = {
    "http://ferryline.demo/fares": -90,
    "http://museum.demo/object/77": 36,
}
"""The day from which on the archive shows nothing of a URL: its owner has asked for that."""
LOOKED_UP_UNTIL: Final = 61
"""Links that begin to fail after this day wait in the queue: archives allow few look-ups a minute."""
QUARTER_DAYS: Final = 14
"""Kept copies are visited so often in the story, which has not the time for quarters."""

EXPECTED: Final[Mapping[str, str]] = {
    "http://tidalmill.demo/opening-hours": "found",
    "http://ferryline.demo/timetable": "found",
    "http://tidalmill.demo/brochure": "none",
    "http://brewery.demo/pans": "unsuitable",
    "http://ferryline.demo/fares": "excluded",
    "http://museum.demo/object/77": "withdrawn",
    "http://pilots.demo/rules": "pending",
}
"""The state of copies of these links at the end of the story, each state once, by the stable word."""


def demo_days(last_day: int) -> range:
    """The days on which rounds are run, so that the story ends on `last_day`."""
    return range(last_day - DAYS, last_day + 1)


def demo_world(first_day: int) -> World:
    """The little web of a story that begins on a day."""
    paths: dict[str, dict[str, Life[Behaviour]]] = {host: {} for host in HOST_LIVES}
    for url, life in _lives():
        host, _, path = url.partition("://")[2].partition("/")
        if host.endswith(".demo"):
            paths.setdefault(host, {})[unquote(f"/{path}".partition("#")[0])] = life
    hosts = {
        host: Host(HOST_LIVES[host], lives) if host in HOST_LIVES else Host(paths=lives)
        for host, lives in paths.items()
    }
    return shifted(World(hosts), first_day)


def _lives() -> Iterator[tuple[str, Life[Behaviour]]]:
    for article in ARTICLES:
        for link in article.links:
            if link.is_checked:
                yield link.url, link.life
    for url, behaviour in UNLINKED.items():
        yield url, (Spell(0, behaviour),)


def demo_pages(located: Located) -> list[WikiPage]:
    """The articles as pages of the little wiki."""
    return [_page(number, article, located) for number, article in enumerate(ARTICLES, start=1)]


def demo_settings_page() -> WikiPage:
    """The wiki's settings page: it writes copies and dead links as the English Wikipedia does."""
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8")) | {"dbname": WIKI}
    return WikiPage(page=99, title=SETTINGS_TITLE, text=json.dumps(settings), namespace=8, model="json")


def _page(number: int, article: Article, located: Located) -> WikiPage:
    return WikiPage(
        page=100 + number,
        title=article.title,
        links=tuple(WikiLink(located_link(link, located), link.caption) for link in article.links),
        text=article.text,
        revision=1000 + number,
        interwiki=article.interwiki,
        redirect=article.redirect,
    )


def located_link(link: Link, located: Located) -> str:
    """The URL of a link; in that of a copy, the URL of which it is one gets its port."""
    return link.url.replace(link.copy_of, located(link.copy_of)) if link.copy_of else located(link.url)


def demo_interwiki(located: Located) -> list[InterwikiEntry]:
    """The interwiki map of the little wiki."""
    return [InterwikiEntry(each.prefix, located(each.url), each.local) for each in INTERWIKI]


def demo_captures(first_day: int, located: Located) -> list[LittleCapture]:
    """All captures of a story that begins on a day, with the URLs that its wiki has."""
    found = [
        LittleCapture(located(url), moment_on(first_day + day), shown)
        for url, captured in CAPTURED.items()
        for day, shown in captured
    ]
    stamp, url, shown = CITED
    taken = datetime.strptime(stamp, "%Y%m%d%H%M%S").replace(tzinfo=UTC)
    return [*found, LittleCapture(located(url), taken, shown)]


def demo_excluded(first_day: int, located: Located) -> dict[str, int]:
    """The URLs of which the archive shows nothing, with the day from which on."""
    return {located(url): first_day + day for url, day in EXCLUDED.items()}
