"""For tests that run the program many times: real processes, forked off one that has loaded it already.

Loading the program takes longer than most commands run. A command has its own process, environment, folder, files and
exit, as if ``python -m weboid`` had started it, or ``pwb``, for which pywikibot itself is loaded anew, as it reads its
configuration then; that these start is tested where the program starts its own parts, and with `Place.start_anew`.
"""

import asyncio
import atexit
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from asyncio.base_subprocess import BaseSubprocessTransport
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import IO, Any

_REPOSITORY = Path(__file__).resolve().parents[2]
_PROGRAM = """
import atexit, gc, importlib, json, os, pkgutil, select, socket, sys
import bs4, mwparserfromhell, requests
import weboid.bot.repair, weboid.bot.reverts, weboid.checking.spot_checks, weboid.cli
from weboid.core.url.hosts import registrable_domain

def run(files, program, call, environ, folder, leads):
    if leads:
        os.setpgid(0, 0)
    for number, file in enumerate(files):
        os.dup2(file, number)
    os.closerange(3, 256)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(environ)
    sys.argv[1:] = call
    if program == "pwb":
        sys.path[:0] = environ["PYTHONPATH"].split(os.pathsep)
        from pywikibot.scripts.wrapper import run as run_pwb
        run_pwb()
        atexit._run_exitfuncs()
    else:
        weboid.cli.run()

def ended(status):
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)

def run_to_its_end(*given):
    try:
        run(*given)
    except SystemExit as error:
        ended(error.code if isinstance(error.code, int) else bool(error.code))
    except BaseException:
        sys.excepthook(*sys.exc_info())
        ended(1)
    ended(0)

def answer(connection):
    asked, files, *_ = socket.recv_fds(connection, 1 << 20, 3)
    child = os.fork()
    if not child:
        run_to_its_end(files, *json.loads(asked))
    connection.sendall(b"%d\\n" % child)
    connection.sendall(b"%d\\n" % os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

for module in pkgutil.iter_modules(weboid.cli.__path__):
    importlib.import_module(f"weboid.cli.{module.name}")
registrable_domain("example.org")  # the suffix list is read once, too
gc.collect()
gc.freeze()
listener = socket.socket(fileno=int(sys.argv[1]))
while select.select([listener, sys.stdin], [], [])[0] == [listener]:
    connection, _ = listener.accept()
    if not (child := os.fork()):
        if not os.fork():
            answer(connection)
        os._exit(0)
    os.waitpid(child, 0)
    connection.close()
"""
"""It ends with its input. Each command hangs on a process of its own, which says its number and then how it ended."""


async def run_forked(
    call: Sequence[str], environ: Mapping[str, str], folder: Path, stdin: str, limit_s: float, program: str = "weboid"
) -> tuple[int, str, str]:
    """Runs ``weboid`` or ``pwb`` to its end; returns its status and what it wrote to stdout and stderr.

    What ``pwb`` wrote to either comes as one text.
    """
    with (
        tempfile.TemporaryFile() as given,
        tempfile.TemporaryFile() as out,
        tempfile.TemporaryFile() as err,
        socket.socket(socket.AF_UNIX) as connection,
    ):
        given.write(stdin.encode())
        given.seek(0)
        both = program == "pwb"
        files = [given.fileno(), out.fileno(), (out if both else err).fileno()]
        _ask(connection, files, program, list(call), dict(environ), str(folder), False)
        connection.setblocking(False)
        status = await _status(connection, limit_s)
        out.seek(0)
        err.seek(0)
        return status, out.read().decode(), err.read().decode()


async def start_forked(
    call: Sequence[str], environ: Mapping[str, str], folder: Path, stdin: int = subprocess.PIPE
) -> asyncio.subprocess.Process:
    """Starts ``weboid`` in a process group of its own; its output and errors are pipes."""
    loop = asyncio.get_running_loop()
    protocol = asyncio.subprocess.SubprocessStreamProtocol(limit=1 << 16, loop=loop)
    ready = loop.create_future()
    rest: dict[str, Any] = {"waiter": ready, "environ": dict(environ), "folder": str(folder)}
    transport = _Forked(loop, protocol, list(call), False, stdin, subprocess.PIPE, subprocess.PIPE, 0, **rest)
    await ready
    return asyncio.subprocess.Process(transport, protocol, loop)


class _Forked(BaseSubprocessTransport):
    """What asyncio knows of a process, for one that is no child of this one: another one waits for it."""

    def _start(self, args: Any, shell: bool, stdin: Any, stdout: Any, stderr: Any, bufsize: int, **given: Any) -> None:
        taken, input_ = os.pipe() if stdin == subprocess.PIPE else (os.dup(stdin), None)
        out, written = os.pipe()
        err, failed = os.pipe()
        self._connection = socket.socket(socket.AF_UNIX)
        _ask(self._connection, [taken, written, failed], "weboid", args, given["environ"], given["folder"], True)
        for file in (taken, written, failed):
            os.close(file)
        self._said = self._connection.makefile("rb")
        self._proc = _Process(
            int(self._said.readline()),
            None if input_ is None else os.fdopen(input_, "wb", 0),
            os.fdopen(out, "rb", 0),
            os.fdopen(err, "rb", 0),
        )
        self._loop.add_reader(self._connection, self._ended)

    def _ended(self) -> None:
        self._loop.remove_reader(self._connection)
        status = self._said.readline()
        self._said.close()
        self._connection.close()
        self._process_exited(int(status or -signal.SIGKILL))


class _Process(subprocess.Popen[bytes]):
    _child_created = False

    def __init__(self, pid: int, stdin: IO[bytes] | None, stdout: IO[bytes], stderr: IO[bytes]) -> None:
        self.pid, self.stdin, self.stdout, self.stderr = pid, stdin, stdout, stderr
        self.returncode = None

    def poll(self) -> int | None:
        return self.returncode


def _ask(connection: socket.socket, files: list[int], *call: object) -> None:
    """Sends a call to the process that has loaded the program, with its input, output and errors."""
    connection.connect(_address())
    socket.send_fds(connection, [json.dumps(call).encode()], files)


async def _status(connection: socket.socket, limit_s: float) -> int:
    shown = b""
    try:
        async with asyncio.timeout(limit_s):
            while shown.count(b"\n") < 2:
                came = await asyncio.get_running_loop().sock_recv(connection, 100)
                assert came, "who waits for the command was killed"
                shown += came
    finally:
        if shown.count(b"\n") == 1:
            os.kill(int(shown), signal.SIGKILL)
    return int(shown.split(b"\n")[1])


@cache
def _address() -> str:
    """Where the process that has loaded the program waits for calls."""
    folder = tempfile.mkdtemp(prefix="weboid-forked-")
    address = os.path.join(folder, "socket")
    environ = {name: value for name, value in os.environ.items() if not name.startswith("WEBOID_")}
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(address)
        listener.listen(16)
        process = subprocess.Popen(
            [sys.executable, "-c", _PROGRAM, str(listener.fileno())],
            stdin=subprocess.PIPE,
            pass_fds=[listener.fileno()],
            env=environ,
            cwd=_REPOSITORY,
        )

    @atexit.register
    def end() -> None:
        assert process.stdin
        process.stdin.close()
        process.wait(10)
        shutil.rmtree(folder, ignore_errors=True)

    return address
