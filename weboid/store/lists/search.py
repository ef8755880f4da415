"""The search for URLs by pattern, and for the pages of one wiki that use them (W-5); doubtful ones by domain (W-6).

Patterns belong to ``core/url/patterns``. A call reads a bounded number of rows for a bounded time, however large the
store is, and returns where to go on; pages are listed of the given wiki only, never of others (P-1).
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.patterns import UrlPattern, pattern_below
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules
from weboid.store.db.rows import SCHEMES, KnownUrl, key_columns, verdict_values
from weboid.store.db.statements import Connection, fetch_value, statements
from weboid.store.lists.links import (
    OFFERED,
    DeadFilter,
    ListedLinks,
    PageLink,
    PageTitle,
    SpotBelow,
    fits_copied,
    verdict_on,
)
from weboid.store.urls.url import find_urls

SQL: Final = statements("lists/search")
HOSTS: Final = 500
"""Hosts that one statement reads, each with its first `EACH` URLs; a host with more is then read alone."""
EACH: Final = 20
MOST_STRETCHES: Final = 100
"""Stretches, each read by one statement, that one call reads at most."""
PAGES: Final = 5
"""Pages listed for a URL at most."""
MOST_USES: Final = 1_000
"""Uses of a URL in a wiki that are searched at most for pages in the right namespaces."""

MOST_BY_PATH: Final = 20_000
"""URLs of hosts of which those that fit are sorted by path."""

_FIRST_STRETCH: Final = 1_000
_SHORTEST_STRETCH: Final = 250
_LONGEST_STRETCH: Final = 16_000
_MOST_CANDIDATES: Final = 500
"""URLs of a stretch whose uses are searched for at most."""
_TIMEOUT_S: Final = 8.0
_LEAST: Final = -(2**63)


class SearchSpot(NamedTuple):
    """A URL in the order of hosts: the place after which a search goes on."""

    url_key: int
    reversed: str


@dataclass(frozen=True, slots=True)
class Match:
    """A URL that fits, with the first pages of the wiki that use it, by page id.

    `more`: there are other pages. With `more` and no page the URL has so many uses that not all were read.
    """

    known: KnownUrl
    pages: tuple[PageTitle, ...] = ()
    more: bool = False


@dataclass(frozen=True, slots=True)
class Matches:
    """Some URLs that fit, and the place after which to go on; None at the end. There may be a place without a match."""

    matches: tuple[Match, ...]
    after: SearchSpot | None


class _Filter(NamedTuple):
    """The verdict, and whether there must be an archived copy; None = any."""

    verdict: Verdict | None
    copied: bool | None


class _Uses(NamedTuple):
    """The wiki in which to look for uses, and its namespaces; None = all."""

    wiki: int
    namespaces: Collection[int] | None


class _Stretch(NamedTuple):
    """The results of one statement, in order, and the place after which to go on; None at the end."""

    keys: list[UrlKey]
    after: SearchSpot | None


async def list_matches(
    conn: Connection,
    pattern: UrlPattern,
    *,
    verdict: Verdict | None = None,
    copied: bool | None = None,
    wiki: int | None = None,
    namespaces: Collection[int] | None = None,
    rules: WikiRules = DEFAULT_RULES,
    after: SearchSpot | None = None,
    limit: int = 50,
    within_s: float = 1.5,
    by_path: bool = False,
) -> Matches:
    """At most `limit` URLs after `after` that fit, host by host from the top-level domain down; with a wiki only those
    that its pages (in these namespaces) use. `copied`: only those with an archived copy, or only those without. After
    `within_s` seconds no further statement is begun. `by_path`: each host's by path, where all hosts that fit have at
    most `MOST_BY_PATH` URLs; else by key.

    Raises StoreError for a statement that takes too long.
    """
    uses, condition = None if wiki is None else _Uses(wiki, namespaces), _Filter(verdict, copied)
    await conn.execute(SQL["bound_time"], {"timeout_ms": f"{_TIMEOUT_S * 1000:.0f}"})
    if pattern.exact is not None:
        found = await _matches(conn, [key_of(pattern.exact)], condition, uses, rules)
        return Matches(tuple(found), None)
    rows = limit + 1 if uses is None else _MOST_CANDIDATES
    matches: list[Match] = []
    begin = after or SearchSpot(_LEAST, pattern.first)
    spot: SearchSpot | None = begin
    by_path_all = await _list_by_path(conn, pattern) if by_path else None
    if by_path_all is not None:
        walk = _walk_by_path(by_path_all, after, rows, within_s)
    else:
        walk = _walk(conn, pattern, condition, rules, begin, rows, within_s)
    async for stretch in walk:
        matches += await _matches(conn, stretch.keys, condition, uses, rules)
        if len(matches) > limit:
            return Matches(tuple(matches[:limit]), _spot_of(matches[limit - 1].known))
        spot = stretch.after
    return Matches(tuple(matches), spot)


async def list_doubtful_links_below(
    conn: Connection,
    wiki: int,
    wanted: DeadFilter,
    *,
    rules: WikiRules = DEFAULT_RULES,
    after: SpotBelow | None = None,
    limit: int = 100,
    within_s: float = 1.5,
) -> ListedLinks[SpotBelow]:
    """The doubtful links of a wiki on the domain of a filter, with its path, namespace and copies: host by host, URL by
    URL, at most `limit` after `after`, whose page 0 means: after that URL.

    A call may return few or none and yet a place after which to go on. Raises StoreError as `list_matches`.
    """
    await conn.execute(SQL["bound_time"], {"timeout_ms": f"{_TIMEOUT_S * 1000:.0f}"})
    pattern, condition = pattern_below(wanted.domain, wanted.path), _Filter(Verdict.DOUBTFUL, wanted.copied)
    last_shown = after or SpotBelow(0, _LEAST, pattern.first)
    # A URL of which only some pages have been listed is read once more.
    begin = SearchSpot(max(last_shown.url_key - (last_shown.page > 0), _LEAST), last_shown.reversed)
    spot: SearchSpot | None = begin
    links: list[PageLink] = []
    async for stretch in _walk(conn, pattern, condition, rules, begin, _MOST_CANDIDATES, within_s):
        matches = await _matches(conn, stretch.keys, condition, None, rules)
        spot_row = {"after_url_key": last_shown.url_key, "after_page": last_shown.page}
        row = {"wiki": wiki, **key_columns(match.known.key for match in matches), **spot_row}
        row |= {"limit": limit + 1 - len(links), "namespace": wanted.namespace}
        async for place, *page in await conn.execute(SQL["list_links_of"], row):
            links.append(PageLink(PageTitle(*page), matches[place - 1].known))
        if len(links) > limit:
            last = links[limit - 1]
            spot = _spot_of(last.known)
            return ListedLinks(tuple(links[:limit]), SpotBelow(last.page.page, *spot))
        spot = stretch.after
    return ListedLinks(tuple(links), None if spot is None else SpotBelow(0, *spot))


async def _list_by_path(conn: Connection, pattern: UrlPattern) -> list[tuple[UrlKey, str]] | None:
    """The URLs that fit, each with its host in reverse, by host and path; None if the hosts have too many URLs."""
    row = {**_values(pattern, _Filter(None, None)), "first": pattern.first, "end": pattern.end}
    row["limit"] = MOST_BY_PATH + 1
    if (await fetch_value(conn, SQL["count_urls"], row) or 0) > MOST_BY_PATH:
        return None
    rows = await conn.execute(SQL["list_by_path"], row)
    return [(UrlKey(*key), host) async for *key, host in rows]


async def _walk_by_path(
    found: Sequence[tuple[UrlKey, str]], after: SearchSpot | None, rows: int, within_s: float
) -> AsyncIterator[_Stretch]:
    """These URLs after a spot, `rows` of them at a time, until so many seconds are over."""
    spots = [SearchSpot(key.url_key, host) for key, host in found]
    begin = spots.index(after) + 1 if after in spots else 0
    clock = asyncio.get_running_loop().time
    begun_s = clock()
    while begin < len(found) and clock() - begun_s < within_s:
        end = begin + rows
        yield _Stretch([key for key, _ in found[begin:end]], spots[end - 1] if end < len(found) else None)
        begin = end


async def _walk(
    conn: Connection,
    pattern: UrlPattern,
    condition: _Filter,
    rules: WikiRules,
    begin: SearchSpot,
    rows: int,
    within_s: float,
) -> AsyncIterator[_Stretch]:
    """Reads stretch after stretch after a spot, each with at most `rows` rows: at least one, and none is begun later
    than `within_s` seconds after the first."""
    clock = asyncio.get_running_loop().time
    begun_s, deep = clock(), _FIRST_STRETCH
    if not rules.lists.is_empty:
        condition = condition._replace(verdict=None)  # `_fits` alone knows the wiki's lists
    values = {**_values(pattern, condition), **verdict_values(rules.policy), "limit": rows}
    spot: SearchSpot | None = begin
    for _ in range(MOST_STRETCHES):
        if spot is None:
            return
        now_s = clock()
        is_deep = spot.url_key > _LEAST
        stretch = await _find_stretch(conn, pattern, values, (1, deep) if is_deep else (HOSTS, EACH), spot)
        if is_deep:
            # Where each URL has to be read from disk, a long stretch would take longer than a reader waits.
            is_slow = clock() - now_s > within_s / 4
            deep = max(deep // 4, _SHORTEST_STRETCH) if is_slow else min(2 * deep, _LONGEST_STRETCH)
        spot = stretch.after
        yield stretch
        if clock() - begun_s >= within_s:
            return


def _values(pattern: UrlPattern, condition: _Filter) -> dict[str, Any]:
    """A pattern as the parameters of a statement."""
    ports = None if pattern.ports is None else dict(zip(pattern.schemes, pattern.ports, strict=True))
    return {
        "hosts": list(pattern.hosts),
        "path": pattern.path,
        "schemes": [SCHEMES.index(scheme) for scheme in pattern.schemes],
        "ports": None if ports is None else [ports.get(scheme, 0) for scheme in SCHEMES],
        "verdict": None if condition.verdict is None else condition.verdict.value,
        "copied": condition.copied,
        "offered": OFFERED,
        "least": _LEAST,
    }


async def _find_stretch(
    conn: Connection, pattern: UrlPattern, values: dict[str, Any], size: tuple[int, int], spot: SearchSpot
) -> _Stretch:
    """The URLs that fit among the next ones after a spot; `size` = number of hosts, and of URLs of each."""
    hosts, each = size
    row = {"first": spot.reversed, "end": pattern.end, "hosts": hosts}
    end: str | None = await fetch_value(conn, SQL["find_hosts_end"], row)
    after = {"after": spot.reversed, "after_url_key": spot.url_key, "budget": each}
    row = {**values, **after, "first": spot.reversed, "end": end or pattern.end}
    rows = await (await conn.execute(SQL["list_stretch"], row)).fetchall()
    keys = [UrlKey(bucket, host_key, url_key) for _, url_key, bucket, host_key, fits, _ in rows if fits]
    if rows and (len(rows) == values["limit"] or rows[-1][5]):
        return _Stretch(keys, SearchSpot(rows[-1][1], rows[-1][0]))
    return _Stretch(keys, SearchSpot(_LEAST, end) if end else None)


async def _matches(
    conn: Connection, keys: Sequence[UrlKey], condition: _Filter, uses: _Uses | None, rules: WikiRules
) -> list[Match]:
    """Of these URLs, in their order, those that fit and have such uses."""
    if not keys:
        return []
    pages = None if uses is None else await _list_uses(conn, keys, uses)
    known = await find_urls(conn, [key for key in keys if pages is None or key in pages])
    return [
        Match(known[key], *(pages[key] if pages is not None else ()))
        for key in keys
        if key in known and _fits(known[key], condition, rules)
    ]


async def _list_uses(
    conn: Connection, keys: Sequence[UrlKey], uses: _Uses
) -> dict[UrlKey, tuple[tuple[PageTitle, ...], bool]]:
    """By URL its first pages, and whether there are or may be others; URLs without any use are missing."""
    namespaces = None if uses.namespaces is None else sorted(uses.namespaces)
    bounds = {"most": MOST_USES, "limit": PAGES + 1}
    row = {**key_columns(keys), "wiki": uses.wiki, "namespaces": namespaces, **bounds}
    found: dict[UrlKey, tuple[tuple[PageTitle, ...], bool]] = {}
    async for place, page, namespace, title, looked in await conn.execute(SQL["list_uses_of"], row):
        pages, more = found.get(key := keys[place - 1], ((), False))
        if title is not None and (uses.namespaces is None or namespace in uses.namespaces):
            pages += (PageTitle(page, namespace, title),)
        found[key] = pages[:PAGES], more or looked == MOST_USES or len(pages) > PAGES
    return found


def _fits(known: KnownUrl, condition: _Filter, rules: WikiRules) -> bool:
    """Returns whether the URL has that verdict as it is shown, with people's claims, and a copy or none."""
    verdict = verdict_on(known, rules)
    return condition.verdict in (None, verdict) and (condition.copied is None or fits_copied(known, condition.copied))


def _spot_of(known: KnownUrl) -> SearchSpot:
    return SearchSpot(known.key.url_key, reversed_name(known.url.host))
