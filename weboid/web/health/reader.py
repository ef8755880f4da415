"""Reads the state of the system for the public, at most once a minute, and makes the JSON payload of it (O-5).

A line of a wiki's own spam list is shown for that wiki only (L-3), so alarms about such lists are shown without their
details.
"""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import replace
from math import isfinite
from typing import Any, Final, TypeVar

from weboid import __version__
from weboid.core.record.days import iso
from weboid.core.url.farms import WikiName
from weboid.core.verdict.kept_copies import DEFAULT_SERVICES, Services
from weboid.core.verdict.report_json import VERSION
from weboid.core.verdict.verdict import Verdict
from weboid.errors import NotFound, StoreError
from weboid.mechanism.single_flight import SingleFlight
from weboid.store.db.pool import Pool
from weboid.store.lists.alarms import DEFAULT_ALARMS, AlarmBounds, find_health
from weboid.store.lists.health import DAYS, Amount, Health, SpamListStatus, WikiStatus
from weboid.store.pages.page_pass import SWEEP_DAYS
from weboid.store.upkeep.alarm import Alarm, AlarmKind
from weboid.web.health.archives import archives_payload
from weboid.web.health.done_by_day import done_payload
from weboid.web.health.running_parts import parts_payload

KEPT_S: Final = 60.0
PATIENCE_S: Final = 10.0
HEALTH_S: Final = 1.0
"""A database that takes longer to lend a connection counts as not healthy."""

PUBLIC_DETAILS: Final = frozenset(
    {
        "pass-slow",
        "no-pass",
        "round-slow",
        "no-crawler",
        "part-gone",
        "stream-behind",
        "expiry-stopped",
        "partial-loss",
        "clock",
        "loop-lag",
        "offline",
        "own-fault",
        "one-crawler",
        "host-dying",
        "host-held",
        "host-confirmed",
        "store",
        "archive-rests",
        "archive-down",
        "snapshots",
        "conflicts",
        "standby",
    }
)
"""Kinds of alarms whose details hold only what is public anyway."""

Answer = TypeVar("Answer")


class HealthReader:
    """Reads the status and keeps it for a minute, so that many requests cost one query of the database (O-5)."""

    def __init__(
        self, pool: Pool, today: Callable[[], int], *, kept_s: float = KEPT_S, alarms: AlarmBounds = DEFAULT_ALARMS
    ) -> None:
        self._pool = pool
        self._today = today
        self._kept_s = kept_s
        self._alarms = alarms
        self._kept: tuple[float, Health] | None = None
        self._status: SingleFlight[Health] = SingleFlight()
        self._health: SingleFlight[None] = SingleFlight()

    async def find_status(self) -> Health:
        """The status, at most a minute old; raises StoreError."""
        if self._kept is not None:
            read, status = self._kept
            if status.day == self._today() and asyncio.get_running_loop().time() < read + self._kept_s:
                return status
        return await answer_within(PATIENCE_S, self._status, self._read)

    async def find_health(self) -> None:
        """Raises StoreError unless the database answers within a second."""
        await answer_within(HEALTH_S, self._health, self._look)

    async def close(self) -> None:
        """Cancels the reads that are under way."""
        await self._status.close()
        await self._health.close()

    async def _read(self) -> Health:
        async with self._pool.connection(PATIENCE_S) as conn:
            status = await find_health(conn, self._today(), patience_s=PATIENCE_S, alarms=self._alarms)
        status = self._with_standby(status)
        self._kept = asyncio.get_running_loop().time(), status
        return status

    def _with_standby(self, status: Health) -> Health:
        """The status with what this process knows of the standby that it reads."""
        if (standby := self._pool.standby) is None:
            return status
        lag_s = standby.lag_s if isfinite(standby.lag_s) else None
        if standby.pool is None:
            behind = "it is away" if lag_s is None else f"it is {lag_s:.0f} s behind"
            alarm = Alarm(AlarmKind.STANDBY, "", status.day, f"all is read from the primary: {behind}")
            status = replace(status, alarms=(*status.alarms, alarm))
        return replace(status, standby_lag_s=lag_s)

    async def _look(self) -> None:
        # The pool tests a connection before it lends it.
        async with self._pool.viewing(HEALTH_S):
            pass


async def answer_within(
    patience_s: float, flight: SingleFlight[Answer], query: Callable[[], Coroutine[Any, Any, Answer]]
) -> Answer:
    """The result of a query of the database, which is made once for all callers at the same time.

    Raises StoreError after `patience_s` seconds; the query itself may go on.
    """
    try:
        async with asyncio.timeout(patience_s):
            return await flight.result(None, query)
    except TimeoutError:
        raise StoreError(f"the database has not answered within {patience_s:g} s") from None


def status_of(status: Health, wiki: WikiName) -> Health:
    """The part of the status that concerns one wiki: its pass, its and its farm's spam lists, its alarms.

    Raises NotFound.
    """
    if not (wikis := tuple(each for each in status.wikis if each.name == wiki)):
        raise NotFound(str(wiki))
    return replace(
        status,
        wikis=wikis,
        processes=(),
        totals={},
        services=(),
        copy_queue={},
        spam_lists=tuple(each for each in status.spam_lists if each.farm == wiki.farm and each.wiki in (None, wiki)),
        alarms=tuple(alarm for alarm in status.alarms if str(wiki) in (alarm.subject, alarm.subject.partition(" ")[0])),
    )


def public_lines(spam: SpamListStatus, wiki: WikiName | None) -> tuple[str, ...] | None:
    """The unusable lines that may be shown for a wiki, or for all wikis (`wiki` = None); None = they may not."""
    return spam.faults if spam.wiki in (None, wiki) else None


def public_detail(alarm: Alarm) -> str | None:
    """The details of an alarm, if they are public."""
    return alarm.detail if alarm.kind in PUBLIC_DETAILS else None


def days_of(status: Health) -> range:
    """The days whose changes are shown."""
    return range(status.day - DAYS + 1, status.day + 1)


def changed_to(status: Health, verdict: Verdict) -> list[Amount]:
    """The numbers of URLs that came to the verdict on each of these days."""
    return [status.changes.get(day, {}).get(verdict, Amount(0)) for day in days_of(status)]


def shown_verdicts(status: Health) -> list[Verdict]:
    """The verdicts that URLs came to on any of the days, the worst first."""
    order = (Verdict.DEAD, Verdict.DOUBTFUL, Verdict.WORKING, Verdict.INVALID, Verdict.SPAM, Verdict.UNKNOWN)
    return [verdict for verdict in order if any(verdict in amounts for amounts in status.changes.values())]


def status_payload(
    status: Health, wiki: WikiName | None, source: str, services: Services = DEFAULT_SERVICES
) -> dict[str, Any]:
    """The payload of a status for programs; `wiki` is given if it is the status of that wiki only (`status_of`).

    `services` are the archives as they are configured.
    """
    return {
        "version": VERSION,
        "generator": f"Weboid {__version__}",
        "source": source,
        "moment": status.moment.isoformat(timespec="seconds"),
        "day": iso(status.day),
        "urls": _amount(status.urls),
        "hosts": _amount(status.hosts),
        "due": _amount(status.due),
        "oldest_due": _day(status.oldest_due),
        "unavailable": _amount(status.unavailable),
        "working_interval": status.interval,
        "checks_a_day": status.checks_a_day,
        "big_hosts": [{"host": big.host, "urls": big.urls, "days": big.days} for big in status.big_hosts],
        "parts": parts_payload(status),
        "alarms": [
            {
                "kind": alarm.kind,
                "subject": alarm.subject,
                "since": iso(alarm.since),
                "detail": public_detail(alarm),
            }
            for alarm in status.alarms
        ],
        "streams": [{"streams": streams, "lag_s": lag_s} for streams, lag_s in status.streams.items()],
        "standby_lag_s": status.standby_lag_s,
        "wikis": [_wiki(each) for each in status.wikis],
        "changes": [
            {
                "day": iso(day),
                "verdicts": {verdict.word: _amount(amount) for verdict, amount in status.changes.get(day, {}).items()},
            }
            for day in days_of(status)
        ],
        "done": done_payload(status),
        "spam_lists": [_spam_list(each, wiki) for each in status.spam_lists],
        **archives_payload(status, services),
    }


def swept_a_day(wiki: WikiStatus) -> int:
    """The pages of a wiki that the slow sweep reads a day, whether they have changed or not."""
    return -(-wiki.pages.value // SWEEP_DAYS)


def _wiki(wiki: WikiStatus) -> dict[str, Any]:
    return {
        "wiki": str(wiki.name),
        "pages": _amount(wiki.pages),
        "waiting": _amount(wiki.waiting),
        "passed": _day(wiki.passed),
        "pass_days": wiki.pass_days,
        "pass_s": wiki.pass_s,
        "started": _day(wiki.started),
        "step": wiki.step,
        "sweep_days": SWEEP_DAYS,
        "swept_a_day": swept_a_day(wiki),
    }


def _spam_list(spam: SpamListStatus, wiki: WikiName | None) -> dict[str, Any]:
    lines = public_lines(spam, wiki)
    return {
        "list": spam.farm if spam.wiki is None else str(spam.wiki),
        "kind": spam.kind.name.lower(),
        "day": _day(spam.day),
        "usable": spam.usable,
        "unusable": _amount(spam.unusable),
        "lines": None if lines is None else list(lines),
    }


def _amount(amount: Amount) -> dict[str, Any]:
    return {"value": amount.value, "exactness": amount.exactness.value}


def _day(day: int | None) -> str | None:
    return None if day is None else iso(day)
