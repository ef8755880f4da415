"""The alarms that hold now: those that processes have raised, and those that follow from the state of the store (O-5,
P-7).

``store/upkeep/alarm`` raises and lowers what only a process can know. An alarm that follows from the state is computed
with each request, so that no process has to live to raise it, and nobody has to lower it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC
from operator import attrgetter
from typing import Final, Self

from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.url.display import many
from weboid.core.url.farms import WikiName
from weboid.store.db.statements import Connection
from weboid.store.lists.health import DEFAULT_BOUNDS, SLOW_DAYS, Bounds, Health, SpamListStatus, WikiStatus, find_status
from weboid.store.pages.spam import ListKind
from weboid.store.schedule.days import DayFigure
from weboid.store.schedule.process import EXPIRY_S, CrawlerFigure, ProcessRole, SeenProcess
from weboid.store.upkeep.alarm import Alarm, AlarmKind
from weboid.store.upkeep.last_backup import OLD_DAYS

_DAY_S: Final = 86_400


@dataclass(frozen=True, slots=True)
class AlarmBounds:
    """The bounds beyond which something is an alarm.

    `period_days` and `late_days`: a wiki is due for a pass, and how much later that may have happened; `wikis`: the
    configured ones; `behind_s`: of events (P-6); `gone_s`: since a process was seen that did not say that it ends;
    `idle_s`: since a crawler has finished a check although links are due; `backup_days`: of the newest backup, None =
    there need not be any (O-9).
    """

    period_days: int = 7
    late_days: int = 7
    wikis: frozenset[WikiName] = frozenset()
    behind_s: float = 3_600.0
    gone_s: float = 300.0
    idle_s: float = 3_600.0
    backup_days: int | None = None

    @classmethod
    def of(cls, config: Config) -> Self:
        """As configured: `config` has the wikis and how often they are passed, and whether backups are made."""
        return cls(
            period_days=config.feed.period_days,
            wikis=frozenset(wiki.name for wiki in config.wikis),
            backup_days=OLD_DAYS if config.backup.folder else None,
        )


DEFAULT_ALARMS: Final = AlarmBounds()


async def find_health(
    conn: Connection,
    day: int,
    *,
    patience_s: float,
    bounds: Bounds = DEFAULT_BOUNDS,
    alarms: AlarmBounds = DEFAULT_ALARMS,
) -> Health:
    """The health on `day` with all alarms that hold, and without processes that have a successor.

    No statement takes longer than `patience_s`, or the pool raises StoreError.
    """
    found = await find_status(conn, day, patience_s=patience_s, bounds=bounds)
    # An alarm that a process has raised of the same thing says more than its age.
    merged = {(alarm.kind, alarm.subject): alarm for alarm in (*_following(found, alarms), *found.alarms)}
    missing = missing_processes(found.processes, EXPIRY_S)
    return replace(
        found,
        alarms=tuple(merged[key] for key in sorted(merged)),
        processes=tuple(each for each in found.processes if each.is_running or each in missing),
    )


def missing_processes(processes: Iterable[SeenProcess], gone_s: float) -> list[SeenProcess]:
    """The processes that disappeared over `gone_s` seconds ago, and have no successor.

    A process is the successor of one of its role that was seen shortly before it began, on any host; each of one only,
    and also if it is gone itself by now. It has deleted the row of one that was gone for longer by then.
    """
    missing = []
    known = list(processes)
    for role in sorted({process.role for process in known}):
        # Pairing the newest with the one that was seen last gives as many as possible a successor.
        free = sorted((each for each in known if each.role == role), key=attrgetter("since"), reverse=True)
        for gone in sorted((each for each in free if each.silent_s > gone_s), key=attrgetter("silent_s")):
            if successor := next((other for other in free if _has_followed(other, gone)), None):
                free.remove(successor)
            else:
                missing.append(gone)
    return missing


def _has_followed(other: SeenProcess, gone: SeenProcess) -> bool:
    """Returns whether a process of the role began so soon after another was seen that it may have taken its place."""
    return other is not gone and 0 <= (other.since - gone.seen).total_seconds() <= EXPIRY_S


def _following(health: Health, bounds: AlarmBounds) -> Iterator[Alarm]:
    """The alarms that follow from the state."""
    # Those that were configured once get no passes any more.
    wikis = [wiki for wiki in health.wikis if not bounds.wikis or wiki.name in bounds.wikis]
    for wiki in wikis:
        yield from _slow_pass(wiki, health.day)
    yield from _no_pass(health, wikis, bounds)
    if health.overdue is not None:
        detail = f"links that were due on {iso(health.overdue)} have not been checked yet"
        yield Alarm(AlarmKind.ROUND_SLOW, "", health.overdue + SLOW_DAYS + 1, detail)
    yield from _no_crawler(health, bounds)
    yield from _gone(health, bounds)
    yield from _no_event(health, bounds)
    for streams, lag_s in health.streams.items():
        if lag_s > bounds.behind_s:
            detail = f"the newest event is {many(lag_s // 3_600, 'hour')} old"
            yield Alarm(AlarmKind.STREAM_BEHIND, streams, _days_ago(health.day, lag_s - bounds.behind_s), detail)
    for spam in health.spam_lists:
        yield from _spam_lines(spam, health.day)
    yield from _conflicts(health)
    if bounds.backup_days is not None and health.backup and health.backup.day < health.day - bounds.backup_days:
        detail = f"the newest backup is of {iso(health.backup.day)}"
        yield Alarm(AlarmKind.BACKUP_OLD, "", health.backup.day + bounds.backup_days + 1, detail)


def _conflicts(health: Health) -> Iterator[Alarm]:
    """Transactions that the database ended for the sake of others, today or yesterday: locks that are in no order."""
    days = {
        day: number
        for day in (health.day - 1, health.day)
        if (number := health.totals.get(day, {}).get(DayFigure.CONFLICTS, 0))
    }
    if days:
        detail = f"{sum(days.values())} transactions were ended by the database for the sake of others, and begun anew"
        yield Alarm(AlarmKind.CONFLICTS, "", min(days), detail)


def _slow_pass(wiki: WikiStatus, day: int) -> Iterator[Alarm]:
    if wiki.started is not None and wiki.started < day - SLOW_DAYS:
        detail = f"a pass has been under way since {iso(wiki.started)}"
        yield Alarm(AlarmKind.PASS_SLOW, str(wiki.name), wiki.started + SLOW_DAYS + 1, detail)
    elif wiki.pass_days is not None and wiki.pass_days > SLOW_DAYS:
        detail = f"the last pass took {wiki.pass_days} days"
        yield Alarm(AlarmKind.PASS_SLOW, str(wiki.name), day if wiki.passed is None else wiki.passed, detail)


def _no_pass(health: Health, wikis: Iterable[WikiStatus], bounds: AlarmBounds) -> Iterator[Alarm]:
    """Wikis over which no pass went when it was due, and none is under way.

    A wiki that was never passed waits for its turn as long as a feeder runs, or all processes have just been started.
    """
    late_days = bounds.period_days + bounds.late_days
    has_feeder = any(
        each.role == ProcessRole.FEED.value and each.silent_s <= bounds.gone_s for each in health.processes
    )
    begun_s = [(health.moment - each.since).total_seconds() for each in health.processes]
    for wiki in wikis:
        if wiki.passed is not None and wiki.started is None and wiki.passed < health.day - late_days:
            detail = f"the last one ended on {iso(wiki.passed)}, and none is under way"
            yield Alarm(AlarmKind.NO_PASS, str(wiki.name), wiki.passed + late_days + 1, detail)
    begun = {wiki.name for wiki in health.wikis if wiki.passed is not None or wiki.started is not None}
    if not has_feeder and max(begun_s, default=bounds.gone_s) >= bounds.gone_s:
        for name in sorted(bounds.wikis - begun):
            yield Alarm(AlarmKind.NO_PASS, str(name), health.day, "there was none yet, and no feeder runs")


def _no_crawler(health: Health, bounds: AlarmBounds) -> Iterator[Alarm]:
    """Links were due on an earlier day, and nobody checks any. Without a crawler they have a day more: it may be
    started once a day.
    """
    if health.late is None:
        return
    since = f"links have been due since {iso(health.late)}"
    crawlers = [
        each for each in health.processes if each.role == ProcessRole.CRAWL.value and each.silent_s <= bounds.idle_s
    ]
    if not crawlers and health.late < health.day - 1:
        yield Alarm(AlarmKind.NO_CRAWLER, "", health.late + 2, f"{since}, and no crawler runs")
    idle_s = min((each.figures.get(CrawlerFigure.IDLE, 0.0) + each.silent_s for each in crawlers), default=0.0)
    if idle_s > bounds.idle_s:
        detail = f"{since}, and for {idle_s / 60:.0f} minutes no crawler has finished a check"
        yield Alarm(AlarmKind.NO_CRAWLER, "", _days_ago(health.day, idle_s), detail)


def _no_event(health: Health, bounds: AlarmBounds) -> Iterator[Alarm]:
    """Events are followed, and none has ever come, so that there is no age."""
    since = [each.since for each in health.processes if each.role == ProcessRole.EVENTS.value and each.is_running]
    waited_s = (health.moment - min(since, default=health.moment)).total_seconds()
    if not health.streams and waited_s > bounds.behind_s:
        detail = f"no event has come in the {waited_s // 3_600:.0f} hours since they are followed"
        yield Alarm(AlarmKind.STREAM_BEHIND, "events", _days_ago(health.day, waited_s - bounds.behind_s), detail)


def _gone(health: Health, bounds: AlarmBounds) -> Iterator[Alarm]:
    missing = missing_processes(health.processes, bounds.gone_s)
    for role in sorted({process.role for process in missing}):
        of_role = sorted((process for process in missing if process.role == role), key=attrgetter("silent_s"))
        last, number = of_role[0], len(of_role)
        detail = (
            f"{number} ended without a word and did not come back; last seen {last.seen.astimezone(UTC):%Y-%m-%d %H:%M}"
        )
        yield Alarm(AlarmKind.PART_GONE, role, _days_ago(health.day, last.silent_s), detail)


def _spam_lines(spam: SpamListStatus, day: int) -> Iterator[Alarm]:
    if not spam.unusable.value:
        return
    kind = "black" if spam.kind is ListKind.BLACK else "white"
    detail = f"{spam.unusable.value} lines cannot be run, the first: {next(iter(spam.faults), '')}"
    yield Alarm(AlarmKind.SPAM_LINES, f"{spam.wiki or spam.farm} {kind}", day if spam.day is None else spam.day, detail)


def _days_ago(day: int, seconds: float) -> int:
    """The day that was so many seconds ago, about: days may be given and need not be those of the clock."""
    return day - int(seconds // _DAY_S)
