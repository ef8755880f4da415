"""Finds the URLs that the sitemaps of a site list."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Final

import ada_url

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse
from weboid.net.fetch import Single, fetch_answer
from weboid.site.rules import WEB, RulesOfOrigins, at_once
from weboid.site.sitemaps import MOST_BYTES, is_index, is_sitemap, locations_of, unpacked
from weboid.site.walk import SiteSessions

MOST_URLS: Final = 200_000
_MOST_SITEMAPS: Final = 1_000


def is_named_sitemap(url: Url) -> bool:
    """True if a URL looks like that of a sitemap."""
    return url.path.partition("?")[0].endswith((".xml", ".xml.gz"))


async def sitemaps_of_site(sessions: SiteSessions, rules: RulesOfOrigins) -> list[bytes]:
    """The sitemaps that the robots.txt of the start names, else the one at the usual place."""
    start = sessions.start
    origin = str(start.url._replace(path=""))
    named = (await rules.of(start.url, sessions.own, Single(start.headers))).sitemaps
    wanted = [joined for each in named[:_MOST_SITEMAPS] if (joined := _joined(origin, each))]
    bodies = [await sitemap_at(url, sessions) for url in wanted or [f"{origin}/sitemap.xml"]]
    return [body for body in bodies if body]


def _joined(origin: str, written: str) -> str:
    try:
        url = parse(ada_url.join_url(f"{origin}/", written))
    except ValueError:  # ada's, or InvalidUrl
        return ""
    return str(url) if url.scheme in ("http", "https") else ""


async def sitemap_at(url: str, sessions: SiteSessions) -> bytes:
    """The text of a sitemap; empty if there is none."""
    form = parse(url)
    single = Single(sessions.start.headers if sessions.start.is_origin_of(form) else {}, lambda _: MOST_BYTES)
    answer = await fetch_answer(sessions.of(form), str(form), turn=at_once, get_only=True, single=single)
    if answer.hops:
        url = answer.hops[0].location
        if not url.startswith(WEB):
            return b""
        single = replace(single, headers={})
        answer = await fetch_answer(sessions.of(parse(url)), url, turn=at_once, get_only=True, single=single)
    body = unpacked(answer.body) if answer.code is not None and 200 <= answer.code <= 299 else b""
    return body if is_sitemap(body) else b""


async def listed_in(bodies: Iterable[bytes], sessions: SiteSessions) -> list[str]:
    """The URLs that sitemaps list, in normal form, each once; those of another server than the start's are left out.

    An index leads to sitemaps, but not to another index.
    """
    found: dict[str, None] = {}
    indexed: dict[str, None] = {}
    for body in bodies:
        _take(body, indexed if is_index(body) else found, sessions)
    for url in list(indexed)[:_MOST_SITEMAPS]:
        body = await sitemap_at(url, sessions)
        if body and not is_index(body):
            _take(body, found, sessions)
    return list(found)


def _take(body: bytes, found: dict[str, None], sessions: SiteSessions) -> None:
    start = sessions.start.url
    for written in locations_of(body):
        try:
            url = parse(written)
        except InvalidUrl:
            continue
        if url.scheme in ("http", "https") and (url.host, url.port) == (start.host, start.port):
            found[str(url)] = None
            if len(found) >= MOST_URLS:
                return
