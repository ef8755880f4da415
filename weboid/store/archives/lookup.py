"""Look-ups: what each service last said of the copies of a URL (A-2), and when it may be asked again."""

from collections.abc import Sequence
from dataclasses import dataclass

from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.url.keys import UrlKey
from weboid.store.db.pool import Connection


@dataclass(frozen=True, slots=True)
class StoredLookup:
    """What the archive with this number said of the URL `key` on day `asked`; it holds until day `due`.

    `failures` counts the errors in a row. `passed` says why copies were passed over: stable words, None = nothing to say.
    """

    key: UrlKey
    archive: int
    outcome: LookupOutcome
    asked: int
    due: int
    failures: int = 0
    passed: str | None = None


async def record_lookups(conn: Connection, lookups: Sequence[StoredLookup]) -> int:
    """Writes look-ups in the place of earlier ones; returns how many. Those of URLs not watched any more are left out."""
    raise NotImplementedError


async def list_lookups(conn: Connection, keys: Sequence[UrlKey]) -> dict[UrlKey, tuple[StoredLookup, ...]]:
    """The look-ups of these URLs by archive; URLs that were never looked up are missing."""
    raise NotImplementedError
