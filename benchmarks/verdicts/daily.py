"""The diary of a year: what ``weboid show`` would say of each URL, after each day's checks.

One law: it is read from the store in the words of the program itself; nothing is concluded here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from benchmarks.verdicts.stage import FIRST_DAY
from weboid.config import Config
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.url.classify import Classified, classify
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.verdict.link_report import link_report
from weboid.core.verdict.verdict import Verdict
from weboid.core.verdict.wiki_rules import WikiRules
from weboid.store.db.pool import Connection, Pool
from weboid.store.urls.url import find_urls


@dataclass(frozen=True, slots=True)
class Check:
    """One check as it was written into the store, on a day of the world."""

    day: int
    outcome: Outcome
    reason: Reason
    status: Status


@dataclass(frozen=True, slots=True)
class Change:
    """What was reported from a day of the world on; `since` is a day of the world, too."""

    day: int
    verdict: Verdict
    reason: Reason | None
    since: int | None = None

    def as_json(self) -> list[object]:
        """Day, verdict, reason and since in the stable words."""
        return [self.day, self.verdict.word, self.reason.word if self.reason else None, self.since]


@dataclass(slots=True)
class UrlDiary:
    """What the store said of one URL: its checks, and each day on which verdict, reason or since changed."""

    link: Classified
    key: UrlKey
    checks: list[Check] = field(default_factory=list)
    changes: list[Change] = field(default_factory=list)


_VERSIONS: Final = """
    SELECT url.bucket, url.host_key, url.url_key, url.xmin::text, host.xmin::text
    FROM url JOIN host USING (bucket, host_key)
"""


class Diary:
    """The diary of all URLs of a world, by their URLs as they are played."""

    def __init__(self, config: Config, urls: Sequence[str]) -> None:
        self._config = config
        self.urls = [_new_diary(url) for url in urls]
        self._keys = [url.key for url in self.urls]
        self._numbers = {key: number for number, key in enumerate(self._keys)}
        self._versions: dict[UrlKey, tuple[str, str]] = {}
        self._records: dict[UrlKey, object] = {}

    async def note(self, pool: Pool, day: int, reported: int) -> list[tuple[int, Check]]:
        """Reads what stands in the store after a day on which the clock showed another; the new checks, by number."""
        async with pool.connection() as conn:
            known = await find_urls(conn, await self._touched(conn))
        checks = []
        for key, stored in known.items():
            number = self._numbers[key]
            url, record = self.urls[number], stored.record
            if self._records.get(key) != (record, stored.due):
                self._records[key] = record, stored.due
                if record.checked == FIRST_DAY + reported and record.reason:
                    check = Check(day, record.reason.outcome, record.reason, record.history[0].status)
                    url.checks.append(check)
                    checks.append((number, check))
            finding = link_report(url.link, stored, WikiRules(self._config.policy)).finding
            since = None if finding.since is None else finding.since - FIRST_DAY
            change = Change(day, finding.verdict, finding.reason, since)
            if not url.changes or replace(url.changes[-1], day=day) != change:
                url.changes.append(change)
        return checks

    async def _touched(self, conn: Connection) -> list[UrlKey]:
        """The URLs of which, or of whose hosts, the store has another version than the last time."""
        touched = []
        rows = await conn.execute(_VERSIONS)
        for bucket, host, url, *version in await rows.fetchall():
            key, now = UrlKey(bucket, host, url), (version[0], version[1])
            if key in self._numbers and self._versions.get(key) != now:
                self._versions[key] = now
                touched.append(key)
        return touched


def _new_diary(url: str) -> UrlDiary:
    link = classify(url, WMFLABS)
    assert link.url is not None
    return UrlDiary(link, key_of(link.url))
