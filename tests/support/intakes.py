"""Intakes of one kind into one wiki, for tests: `record_intake` with nothing else."""

from collections.abc import Sequence

from weboid.store.db.statements import Connection
from weboid.store.pages.page import Intake, PageChanges, PageUrls, record_intake


async def record_pages(conn: Connection, wiki: int, pages: Sequence[PageUrls], day: int) -> Intake:
    return await record_intake(conn, {wiki: PageChanges(read=pages)}, day)


async def release_pages(conn: Connection, wiki: int, pages: Sequence[int], day: int) -> Intake:
    return await record_intake(conn, {wiki: PageChanges(gone=pages)}, day)
