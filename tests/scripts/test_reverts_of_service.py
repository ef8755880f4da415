"""Reverts that the scripts report to the real service: it freezes the link, and says when it was released."""

import asyncio
import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path

import pytest
from support.webservice import DEAD, Site, open_service

from weboid.bot.reverts import EditedLink
from weboid.store.people.revert import RevertState, list_reverts, record_reviewed
from weboid_scripts.client import WeboidClient
from weboid_scripts.journal.journal import Edit, Journal, NotedRevert
from weboid_scripts.reverts.revert_reports import Reported, report_reverts

WIKI = "testwiki@wmflabs"
NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
UNWATCHED = "http://nobody-links-here.example.org/"


@pytest.fixture
async def site(site_database: str, tmp_path: Path) -> AsyncIterator[Site]:
    tokens = f"deadbot:{sha256(b'known').hexdigest()}"
    async with open_service(site_database, tmp_path, environ={"WEBOID_WEB_TOKENS": tokens}) as service:
        yield service


def _note(journal: Journal, url: str, revision: int) -> int:
    link = EditedLink(url, url, "archive-added", "dead")
    number = journal.note_edit(Edit(WIKI, 1, "A", revision, revision - 1, NOW, "", (link,)))
    journal.note_revert(NotedRevert(number, url, url, "reverted", "link-works", 500, "Ann", NOW, True))
    return number


async def test_a_revert_is_reported_reviewed_and_released(site: Site, tmp_path: Path) -> None:
    with Journal(tmp_path / "journal.sqlite3") as journal:
        watched, unwatched = _note(journal, DEAD, 77), _note(journal, UNWATCHED, 79)

        async def report(now: datetime) -> Reported:
            client = WeboidClient(site.url, user_agent="test", token="known")
            return await asyncio.to_thread(report_reverts, journal, client, WIKI, lambda: now)

        done = await report(NOW)
        assert (done.new, [edit.number for edit, _, _ in done.refused]) == (1, [unwatched])
        [page] = json.loads((await site.fetch(f"/api/page?dbname={WIKI}&pageid=1&all=1"))[1])["pages"]
        assert [link["normal"] for link in page["links"] if "frozen" in link["flags"]] == [DEAD]
        assert await report(NOW + timedelta(days=2)) == Reported()
        async with site.wiki.pool.connection() as conn:
            [listed] = await list_reverts(conn, RevertState.OPEN)
            await record_reviewed(conn, listed.revert.revert, RevertState.RELEASED, "Boss")
        assert await report(NOW + timedelta(days=4)) == Reported(released=1)
        [revert] = journal.reverts_of(watched)
        assert (revert.state, revert.released) == ("released", NOW + timedelta(days=4))
