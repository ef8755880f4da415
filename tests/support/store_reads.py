"""Reads of the store that only tests need: the verdict log, dead links and savings by themselves."""

from collections.abc import Iterable
from dataclasses import dataclass

from weboid.core.record.reasons import BY_NUMBER, Reason
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict
from weboid.store.archives.saving import Saving, SavingState
from weboid.store.archives.with_url import list_plain_urls
from weboid.store.db.statements import Connection, fetch_by_key


@dataclass(frozen=True, slots=True)
class LoggedChange:
    """A line of the log: on `day` the verdict went from `before` to `after`."""

    day: int
    before: Verdict
    after: Verdict
    reason: Reason | None


async def list_changes(conn: Connection, key: UrlKey, *, limit: int = 100) -> list[LoggedChange]:
    rows = await conn.execute(
        b"SELECT day, before, after, reason FROM change WHERE bucket = %(bucket)s AND host_key = %(host_key)s "
        b"AND url_key = %(url_key)s ORDER BY change DESC LIMIT %(limit)s",
        {**key._asdict(), "limit": limit},
    )
    return [
        LoggedChange(day, Verdict(before), Verdict(after), None if reason is None else BY_NUMBER[reason])
        async for day, before, after, reason in rows
    ]


async def list_dead(conn: Connection, wiki: int, page: int) -> dict[UrlKey, int]:
    """The dead links of a page, each with the day since when it is dead."""
    statement = b"SELECT bucket, host_key, url_key, since FROM dead WHERE wiki = %(wiki)s AND page = %(page)s"
    rows = await conn.execute(statement, {"wiki": wiki, "page": page})
    return {UrlKey(*row[:3]): row[3] async for row in rows}


async def list_savings(conn: Connection, keys: Iterable[UrlKey]) -> dict[UrlKey, Saving]:
    statement = (
        "SELECT bucket, host_key, url_key, day, state, tries, job, why FROM saving "
        "JOIN unnest(%(bucket)s::smallint[], %(host_key)s::bigint[], %(url_key)s::bigint[]) "
        "AS given (bucket, host_key, url_key) USING (bucket, host_key, url_key)"
    )
    rows = await fetch_by_key(conn, statement, keys)
    urls = await list_plain_urls(conn, [key for key, _ in rows])
    return {key: Saving(key, urls[key], day, SavingState(state), *rest) for key, (day, state, *rest) in rows}
