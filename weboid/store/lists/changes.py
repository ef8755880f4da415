"""The verdict log as news of one wiki: links that died on its pages, and links that came back (W-12, W-14).

``store/urls/check`` writes the log. A caller that goes on from `News.after` misses nothing, as it asks only for settled
changes (`find_settled`).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from weboid.core.record.reasons import BY_NUMBER, Reason
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules
from weboid.store.db.rows import KnownUrl, columns_of
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.lists.links import DeadFilter, DeadSpot, PageTitle, fits_copied, list_titles, verdict_on
from weboid.store.urls.repaired import list_repaired
from weboid.store.urls.url import find_urls

SQL: Final = statements("lists/changes")
BUDGET: Final = 5_000
"""Lines of the log that one call reads at most."""

MOST_PAGES: Final = 100
"""Pages listed for one change at most; its URL may be used on more."""
_LOOKED_AT: Final = 10
"""Changes that are looked at for one that is wanted."""


class _Line(NamedTuple):
    change: int
    day: int
    before: int
    after: int
    reason: int | None
    bucket: int
    host_key: int
    url_key: int
    pages: list[int] | None
    more: bool

    @property
    def key(self) -> UrlKey:
        return UrlKey(self.bucket, self.host_key, self.url_key)


@dataclass(frozen=True, slots=True)
class NewsItem:
    """A change of verdict from or to dead, with what is known of the URL now and the pages of the wiki that use it.

    `more`: it is used on more pages than are listed. `repaired` are those of the pages, by id, that offer a copy of it
    already (L-10); none of a link that came back.
    """

    change: int
    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None
    known: KnownUrl
    pages: tuple[PageTitle, ...]
    more: bool
    repaired: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class News:
    """Changes in the order of the log, up to and including number `after`; `more`: the log goes on after it."""

    items: tuple[NewsItem, ...]
    after: int
    more: bool


async def find_day_start(conn: Connection, day: int) -> int | None:
    """The number after which the changes of a day and of later days come; None if there are none yet."""
    first: int | None = await fetch_value(conn, SQL["find_first_of_day"], {"day": day})
    return None if first is None else first - 1


async def list_news(
    conn: Connection,
    wiki: int,
    *,
    since: int,
    until: int,
    of: Sequence[int] | None = None,
    to: Collection[Verdict] = (),
    limit: int = 100,
) -> News:
    """The changes after number `since` up to `until`, at most `limit`; `of`: only of URLs that these pages use now;
    `to`: only to one of these verdicts, none = to any.

    At most `BUDGET` lines of the log are read, so a call may return few or none although more follow.
    """
    bounds = {"since": since, "until": until, "budget": BUDGET, "limit": limit + 1, "pages": MOST_PAGES + 1}
    filters = {"of": None if of is None else list(of), "to": [verdict.value for verdict in to] or None}
    lines = await fetch_all(conn, _Line, SQL["list_news"], {"wiki": wiki, **bounds, **filters})
    used = [line for line in lines if line.pages is not None]
    items = await _list_items(conn, wiki, used[:limit])
    if len(used) > limit:
        return News(items, used[limit - 1].change, True)
    if lines and lines[-1].more:
        return News(items, lines[-1].change, True)
    return News(items, max(since, until), False)


async def list_newest(conn: Connection, wiki: int, *, limit: int = 100) -> tuple[NewsItem, ...]:
    """The newest changes among the last `BUDGET` of the log, newest first, at most `limit`."""
    row = {"wiki": wiki, "budget": BUDGET, "limit": limit, "pages": MOST_PAGES + 1}
    return await _list_items(conn, wiki, await fetch_all(conn, _Line, SQL["list_newest"], row))


async def list_newest_doubtful(
    conn: Connection, wiki: int, wanted: DeadFilter, *, rules: WikiRules = DEFAULT_RULES, limit: int = 100
) -> tuple[NewsItem, ...]:
    """The URLs that became doubtful by the last `BUDGET` such changes and are so still, newest first; at most `limit`.

    `wanted` chooses as in a list of dead links, `repaired` apart.
    """
    filters = {"of": None if wanted.pages is None else list(wanted.pages), "namespace": wanted.namespace}
    row = {"wiki": wiki, "budget": BUDGET, "limit": limit * _LOOKED_AT, "pages": MOST_PAGES + 1, **filters}
    newest: dict[UrlKey, _Line] = {}
    for line in await fetch_all(conn, _Line, SQL["list_doubtful"], row):
        newest.setdefault(line.key, line)
    known = await find_urls(conn, sorted(newest), wiki)
    fitting = [line for key, line in newest.items() if key in known and _fits(known[key], wanted, rules)]
    return await _list_items(conn, wiki, fitting[:limit])


def _fits(known: KnownUrl, wanted: DeadFilter, rules: WikiRules) -> bool:
    """Returns whether a URL is doubtful, and is one of those that are wanted."""
    return (
        verdict_on(known, rules) is Verdict.DOUBTFUL
        and reversed_name(known.url.host).startswith(reversed_name(wanted.domain) if wanted.domain else "")
        and known.url.path.startswith(wanted.path)
        and (wanted.copied is None or fits_copied(known, wanted.copied))
    )


async def list_newest_of(
    conn: Connection, wiki: int, links: Sequence[DeadSpot], *, limit: int = 100
) -> tuple[NewsItem, ...]:
    """The changes by which these dead links of a wiki died, newest first, at most `limit`."""
    row = {"wiki": wiki, **columns_of(links, "page bucket host_key url_key"), "limit": limit}
    return await _list_items(conn, wiki, await fetch_all(conn, _Line, SQL["list_newest_of"], row))


async def _list_items(conn: Connection, wiki: int, lines: Sequence[_Line]) -> tuple[NewsItem, ...]:
    """The lines with URLs and titles; what has been deleted meanwhile is left out."""
    if not lines:
        return ()
    known = await find_urls(conn, sorted({line.key for line in lines}), wiki)
    titles = await list_titles(conn, wiki, (page for line in lines for page in line.pages or ()))
    uses = [(page, line.key) for line in lines for page in (line.pages or ())[:MOST_PAGES]]
    repaired = await list_repaired(conn, wiki, uses)
    items = []
    for line in (line for line in lines if line.key in known):
        verdicts, reason = (Verdict(line.before), Verdict(line.after)), line.reason
        pages = tuple(titles[page] for page in (line.pages or ())[:MOST_PAGES] if page in titles)
        why, more = None if reason is None else BY_NUMBER[reason], len(line.pages or ()) > MOST_PAGES
        there = frozenset(page.page for page in pages if (page.page, line.key) in repaired)
        items.append(NewsItem(line.change, line.day, *verdicts, why, known[line.key], pages, more, there))
    return tuple(items)
