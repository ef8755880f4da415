"""The health of the system: passes, streams, rounds, verdicts, spam lists and alarms in one value (O-5, P-6, P-7).

``web/health`` shows it, ``store/lists/alarms`` derives alarms from it. Nothing here is counted beyond a bound: in a
store of fifty million URLs as few rows are read as in a small one; a number beyond the bound is marked as an estimate.
"""

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Final

from weboid.core.record.policy import DEFAULT
from weboid.core.url.farms import WikiName
from weboid.core.url.spam_lines import MAX_REPORTED
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.copy_queue import QueueLength, Rank, count_queue
from weboid.store.archives.service_limit import ServiceState, list_services
from weboid.store.db.statements import Connection, fetch_all, fetch_value, statements
from weboid.store.pages.spam import FARM, UNAPPLIED, ListKind
from weboid.store.schedule.days import DayTotals, list_totals
from weboid.store.schedule.pace import BigHost, find_checks_a_day, find_pace, list_big_hosts
from weboid.store.schedule.process import SeenProcess, list_processes
from weboid.store.upkeep.alarm import Alarm, find_overdue, list_alarms
from weboid.store.upkeep.last_backup import GoodBackup, find_last_backup

SQL: Final = statements("lists/health")
SLOW_DAYS: Final = 28
"""A pass or a round that takes over so many days is too slow (P-7)."""
DAYS: Final = 30
"""The number of days for which verdict changes are counted, including the current one."""
TOTAL_DAYS: Final = 56
"""The number of days for which the totals of work are shown."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """The bounds of counting: rows of a table or of a wiki, due URLs, changes of a day (`slices` × `slice_rows`)."""

    rows: int = 2_000
    due: int = 20_000
    slices: int = 100
    slice_rows: int = 100
    wikis: int = 2_000
    lists: int = 5_000
    lines: int = 20


DEFAULT_BOUNDS: Final = Bounds()


class Exactness(StrEnum):
    """The exactness of a number; AT_LEAST = counting stopped there."""

    EXACT = "exact"
    ESTIMATE = "estimate"
    AT_LEAST = "at-least"


@dataclass(frozen=True, slots=True)
class Amount:
    """A number and its exactness."""

    value: int
    exactness: Exactness = Exactness.EXACT


@dataclass(frozen=True, slots=True)
class WikiStatus:
    """A wiki's newest completed pass (its day, how long it took) and the one under way (since when, at which step)."""

    name: WikiName
    pages: Amount
    waiting: Amount
    passed: int | None
    pass_days: int | None
    pass_s: int | None
    started: int | None
    step: int | None


@dataclass(frozen=True, slots=True)
class SpamListStatus:
    """A spam list; `wiki` = None is the farm's own. `faults` has the first of its unusable lines, with the reasons.

    `day` = None: not all links have been judged by it yet.
    """

    farm: str
    wiki: WikiName | None
    kind: ListKind
    day: int | None
    usable: int
    unusable: Amount
    faults: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the whole system at one moment of the database's clock.

    `streams` has the lag in seconds, `oldest_due` the day since when a URL has been due, `changes` by day and verdict
    how many URLs came to that verdict (without zeros).
    """

    moment: datetime
    day: int
    urls: Amount
    hosts: Amount
    due: Amount
    oldest_due: int | None
    unavailable: Amount
    """The URLs that have answered nothing but a bare 503 for as long as would prove any other 5xx."""
    wikis: tuple[WikiStatus, ...]
    streams: dict[str, int]
    changes: dict[int, dict[Verdict, Amount]]
    spam_lists: tuple[SpamListStatus, ...]
    alarms: tuple[Alarm, ...]
    interval: int | None
    """Days between two checks of a working URL; None = as configured (C-4)."""
    checks_a_day: int | None
    big_hosts: tuple[BigHost, ...]
    services: tuple[ServiceState, ...] = ()
    """Archives that were ever asked, one for each kind of requests."""
    copy_queue: dict[Rank, QueueLength] = field(default_factory=dict)
    """Links waiting for a look-up in archives."""
    backup: GoodBackup | None = None
    """The newest good backup (O-9)."""
    late: int | None = None
    """An earlier day since when a URL has been due, those of big hosts left out; not always the oldest."""
    overdue: int | None = None
    """The same of a URL that has been due for over four weeks (P-7)."""
    totals: DayTotals = field(default_factory=dict)
    """The work of each of the last `TOTAL_DAYS` days."""
    processes: tuple[SeenProcess, ...] = ()
    """The processes that run, and those that disappeared."""
    standby_lag_s: float | None = None
    """The seconds that the standby from which is read is behind; None = none is configured, or that is not known."""


async def find_status(conn: Connection, day: int, *, patience_s: float, bounds: Bounds = DEFAULT_BOUNDS) -> Health:
    """The health on `day`; no statement takes longer than `patience_s`, or the pool raises StoreError."""
    await conn.execute(SQL["set_patience"], {"milliseconds": f"{patience_s * 1_000:.0f}"})
    row = await (await conn.execute(SQL["count_all"], {"limit": bounds.rows})).fetchone()
    assert row is not None, "it has no WHERE"
    moment, urls, all_urls, hosts, all_hosts = row
    pace = await find_pace(conn)
    long = {"before": day - DEFAULT.server_span, "limit": bounds.due}
    return Health(
        moment=moment,
        day=day,
        urls=_amount(urls, all_urls, bounds.rows),
        hosts=_amount(hosts, all_hosts, bounds.rows),
        due=_amount(await fetch_value(conn, SQL["count_due"], {"day": day, "limit": bounds.due}), None, bounds.due),
        oldest_due=await fetch_value(conn, SQL["find_oldest_due"], {"day": day}),
        unavailable=_amount(await fetch_value(conn, SQL["count_unavailable"], long), None, bounds.due),
        wikis=await _list_wikis(conn, bounds),
        streams={streams: lag_s async for streams, lag_s in await conn.execute(SQL["list_streams"])},
        changes=await _count_changes(conn, day, bounds),
        spam_lists=await _list_spam_lists(conn, bounds),
        alarms=tuple(await list_alarms(conn)),
        interval=pace.interval if pace else None,
        checks_a_day=await find_checks_a_day(conn, day),
        big_hosts=tuple(await list_big_hosts(conn)),
        services=tuple(await list_services(conn)),
        copy_queue=await count_queue(conn, limit=bounds.due),
        backup=(await find_last_backup(conn)).good,
        late=await find_overdue(conn, day, days=0),
        overdue=await find_overdue(conn, day, days=SLOW_DAYS),
        totals=await list_totals(conn, day, days=TOTAL_DAYS),
        processes=tuple(await list_processes(conn)),
    )


def _amount(counted: int | None, estimated: int | None, limit: int) -> Amount:
    """The amount from a count that stops at `limit` and the estimate of ANALYZE (None or -1 = no estimate yet)."""
    counted = counted or 0
    if counted < limit:
        return Amount(counted)
    if estimated is None or estimated < limit:
        return Amount(limit, Exactness.AT_LEAST)
    return Amount(estimated, Exactness.ESTIMATE)


async def _list_wikis(conn: Connection, bounds: Bounds) -> tuple[WikiStatus, ...]:
    def status(dbname: str, farm: str, *columns: Any) -> WikiStatus:
        *newest_pass, pages, all_pages, waiting = columns
        amounts = _amount(pages, all_pages, bounds.rows), _amount(waiting, None, bounds.rows)
        return WikiStatus(WikiName(dbname, farm), *amounts, *newest_pass)

    values = {"limit": bounds.rows, "wikis": bounds.wikis}
    return tuple(await fetch_all(conn, status, SQL["list_wikis"], values))


async def _count_changes(conn: Connection, day: int, bounds: Bounds) -> dict[int, dict[Verdict, Amount]]:
    row = {"first": day - DAYS + 1, "day": day, "slices": bounds.slices, "rows": bounds.slice_rows}
    changes: dict[int, dict[Verdict, Amount]] = {}
    async for of_day, after, count, estimated in await conn.execute(SQL["count_changes"], row):
        exactness = Exactness.ESTIMATE if estimated else Exactness.EXACT
        changes.setdefault(of_day, {})[Verdict(after)] = Amount(count, exactness)
    return changes


async def _list_spam_lists(conn: Connection, bounds: Bounds) -> tuple[SpamListStatus, ...]:
    def status(
        farm: str, dbname: str, kind: int, day: int, usable: int, unusable: int, faults: list[str]
    ) -> SpamListStatus:
        wiki = None if dbname == FARM else WikiName(dbname, farm)
        judged = None if day == UNAPPLIED else day
        # Beyond so many unusable lines a list only states how many there are (core/url/spam_lines.py).
        amount = _amount(unusable, None, MAX_REPORTED + 1)
        return SpamListStatus(farm, wiki, ListKind(kind), judged, usable, amount, tuple(faults))

    values = {"shown": bounds.lines, "lists": bounds.lists}
    return tuple(await fetch_all(conn, status, SQL["list_spam_lists"], values))
