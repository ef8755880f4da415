"""For tests that take the database away under a real command: what takes it away, and the command with what it says.

One law: whatever took the database away, `heal` brings it back.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, LiteralString

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict
from support.database_proxy import DatabaseProxy

AWAY: Final = "the database is away: "
_WRITING: Final = "-c default_transaction_read_only=off"


@dataclass
class Reached:
    """A database, reached past the proxy, and the proxy by which a command reaches it."""

    dsn: str
    proxy: DatabaseProxy

    def number(self, query: LiteralString) -> int:
        """The one number that a query gives."""
        with psycopg.connect(self.dsn, options=_WRITING) as connection:
            row = connection.execute(query).fetchone()
        return int(row[0]) if row else 0

    def set_read_only(self, *, is_on: bool) -> None:
        """As a fail-over does: sessions that exist are ended."""
        with psycopg.connect(self.dsn, autocommit=True, options=_WRITING) as connection:
            name = sql.Identifier(str(conninfo_to_dict(self.dsn)["dbname"]))
            word = sql.SQL("on" if is_on else "off")
            connection.execute(sql.SQL("ALTER DATABASE {} SET default_transaction_read_only = {}").format(name, word))
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )


def cut(reached: Reached) -> None:
    """All connections are reset, and none is accepted."""
    reached.proxy.cut()


def stall(reached: Reached) -> None:
    """Nothing comes through for a while."""
    reached.proxy.stall()


def swallow(reached: Reached) -> None:
    """All that is said is lost, and nobody says so."""
    reached.proxy.swallow()


def read_only(reached: Reached) -> None:
    """The server became a standby."""
    reached.set_read_only(is_on=True)


def lost_commit(reached: Reached) -> None:
    """The next commit takes place, and nobody learns of it."""
    reached.proxy.cut_at(b"COMMIT", is_passed=True)


def lost_work(reached: Reached) -> None:
    """The next commit does not reach the server."""
    reached.proxy.cut_at(b"COMMIT", is_passed=False)


def heal(reached: Reached) -> None:
    """The database is back."""
    reached.proxy.heal()
    reached.set_read_only(is_on=False)


Disturb = Callable[[Reached], None]
STATES: Final[tuple[Disturb, ...]] = (cut, stall, swallow, read_only)
KINDS: Final[tuple[Disturb, ...]] = (*STATES, lost_commit, lost_work)


class Running:
    """A command under way, and what it has said."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.said = ""
        self._reading = asyncio.create_task(self._read())

    async def _read(self) -> None:
        assert self.process.stderr
        while block := await self.process.stderr.read(1 << 14):
            self.said += block.decode(errors="replace")

    async def until(self, condition: Callable[[], bool]) -> bool:
        """Whether the condition, which may wait for the database, came true before the command ended."""
        async with asyncio.timeout(60):
            while not (is_true := await asyncio.to_thread(condition)) and self.process.returncode is None:
                await asyncio.sleep(0.005)
        return is_true

    async def ended(self, seconds: float = 60) -> int:
        """How it ended, within so many seconds; it must not have ended by a mistake of ours."""
        async with asyncio.timeout(seconds):
            status = await self.process.wait()
            await self._reading
        assert "Traceback" not in self.said, self.said
        assert "never retrieved" not in self.said, self.said
        return status

    def times_away(self) -> int:
        """How often it has said that the database is away."""
        return self.said.count(AWAY)
