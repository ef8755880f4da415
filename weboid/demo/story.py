"""The story of the demo: ten weeks of the links in ``articles``, and the verdict that each must have in the end.

One law: the expected verdict is written by hand, with each link, so that it can prove the crawler right or wrong.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote

from weboid.assets import asset
from weboid.config import SETTINGS_TITLE
from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass
from weboid.core.verdict.verdict import Verdict
from weboid.demo.articles import ARTICLES, HOST_LIVES, INTERWIKI, UNLINKED
from weboid.demo.links import Article, Link
from weboid.demo.wikipages import InterwikiEntry, WikiLink, WikiPage
from weboid.demo.world import Behaviour, Host, Life, Spell, World, shifted

WIKI: Final = "demowiki@wmflabs"
DAYS: Final = 70
"""The length of the story; its first round is on day 0 and its last on day 70."""

Located = Callable[[str], str]
"""Puts the port into a URL of the world, as `LittleWeb.located` does."""


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
        links=tuple(WikiLink(_located(link, located), link.caption) for link in article.links),
        text=article.text,
        revision=1000 + number,
        interwiki=article.interwiki,
        redirect=article.redirect,
    )


def _located(link: Link, located: Located) -> str:
    """The URL of a link; in that of a copy, the URL of which it is one gets its port."""
    return link.url.replace(link.copy_of, located(link.copy_of)) if link.copy_of else located(link.url)


def demo_interwiki(located: Located) -> list[InterwikiEntry]:
    """The interwiki map of the little wiki."""
    return [InterwikiEntry(each.prefix, located(each.url), each.local) for each in INTERWIKI]


@dataclass(frozen=True, slots=True)
class Truth:
    """What is true of a link at the end. `verdict` None = it is not checked, because of its class.

    `reasons` are the words of which Weboid must give one; `was_dead`: the verdict must have been dead before, rightly.
    `is_checked`: by the link checker, which leaves copies in web archives to those who visit these.
    """

    kind: UrlClass
    verdict: Verdict | None
    reasons: tuple[str, ...]
    was_dead: bool
    is_checked: bool = True


def ground_truth(located: Located) -> Mapping[str, Truth]:
    """The truth at the end of the story, by URL as the wiki has it: not yet in normal form."""
    links = {_located(link, located): _truth(link) for article in ARTICLES for link in article.links}
    foreign = {each.prefix: each.url for each in INTERWIKI if not each.local}
    targets = [
        located(foreign[prefix].replace("$1", title))
        for article in ARTICLES
        for prefix, title in article.interwiki
        if prefix in foreign
    ]
    fine = Truth(UrlClass.WATCHED, Verdict.WORKING, (Reason.OK.word,), was_dead=False)
    return links | dict.fromkeys(targets, fine)


def _truth(link: Link) -> Truth:
    if link.kind is UrlClass.INVALID:
        return Truth(link.kind, Verdict.INVALID, (), was_dead=False, is_checked=False)
    words = tuple(reason.word for reason in link.reasons)
    verdict = link.verdict if link.kind is UrlClass.WATCHED else None
    return Truth(link.kind, verdict, words, was_dead=link.was_dead, is_checked=link.is_checked)
