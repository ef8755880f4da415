"""Processes of the program: what holds for each; children that are kept running, die, hang, are stopped, or outlive
their parent.
"""

import asyncio
import os
import signal
import subprocess
import sys
import tomllib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.processes import is_running
from support.waiting import until

from weboid.cli.processes import children
from weboid.cli.processes.children import Child, Keeper, start_child

CHILD = """
import signal, sys, time
from weboid.cli.processes.supervisor import ALIVE, READY, Parent
parent = Parent(int(sys.argv[1].removeprefix("--line=")))
parent.watch()
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
if len(sys.argv) > 3:
    time.sleep(float(sys.argv[3]))  # as while it loads
parent.report(READY)
beats = int(sys.argv[2])
while beats:
    parent.report(ALIVE)
    beats -= 1
    time.sleep(0.05)
time.sleep(60)
"""
PARENT = f"""
import asyncio, sys
from weboid.cli.processes.children import start_child
async def main():
    child = await start_child([sys.executable, "-c", {CHILD!r}], ["-1"], {{}})
    await child.ready
    print(child.process.pid, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""
LIMIT_S = 20


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pause before a child is started again is short."""
    monkeypatch.setattr(children, "_PAUSE_S", 0.05)


class Kept:
    """A keeper at work, and all children that it has started."""

    def __init__(self, words: Sequence[str], start_s: float) -> None:
        self.children: list[Child] = []
        self.stopped = asyncio.Event()
        self.states: list[str] = []
        self.keeper = Keeper(
            "child", self._start, self.stopped, show=self._show, beat_s=0.1, silence_s=0.6, start_s=start_s
        )
        self._words = words

    async def _start(self) -> Child:
        self.children.append(await start_child([sys.executable, "-c", CHILD], self._words, {}))
        return self.children[-1]

    def _show(self) -> None:
        self.states.append(self.keeper.state)

    async def started(self, count: int) -> Child:
        await until(lambda: len(self.children) >= count and self.states[-1] == "runs")
        return self.children[-1]


@asynccontextmanager
async def open_kept(*words: str, start_s: float = 60) -> AsyncIterator[Kept]:
    kept = Kept(words, start_s)
    keeping = asyncio.create_task(kept.keeper.keep())
    yield kept
    kept.stopped.set()
    async with asyncio.timeout(LIMIT_S):
        await keeping
    assert not [child for child in kept.children if is_running(child.process.pid)]


async def test_a_child_that_is_killed_is_started_again() -> None:
    async with open_kept("-1") as kept:
        (await kept.started(1)).process.kill()
        await kept.started(2)
        assert kept.states == ["starts", "runs", "starts again in 0.05 s", "starts", "runs"]


@pytest.mark.parametrize("is_stopped", [False, True])
async def test_a_child_that_hangs_is_killed_and_started_again(
    caplog: pytest.LogCaptureFixture, is_stopped: bool
) -> None:
    async with open_kept("-1" if is_stopped else "3") as kept:
        first = await kept.started(1)
        if is_stopped:
            first.process.send_signal(signal.SIGSTOP)
        await kept.started(2)
        assert first.end == "was ended by SIGKILL"
    assert f"child does not answer any more (process {first.process.pid}): it is killed" in caplog.text


async def test_a_child_that_never_reports_is_killed_too(caplog: pytest.LogCaptureFixture) -> None:
    async with open_kept("-1", "600", start_s=0.7) as kept:
        await until(lambda: len(kept.children) >= 2)
    assert "child does not answer any more" in caplog.text


HELD_WHILE_LOADING = """
import os, sys, time

class Held:
    def find_spec(self, name, path, target=None):
        if name == "weboid.cli.crawl":
            os.write(int(os.environ["SAY_TO"]), b"loading")
            time.sleep(600)

sys.meta_path.insert(0, Held())
from weboid.__main__ import main
main()
"""


async def test_a_child_whose_parent_ends_while_it_loads_ends_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output, theirs = os.pipe()
    monkeypatch.setenv("SAY_TO", str(theirs))
    program = [sys.executable, "-c", HELD_WHILE_LOADING, f"--data={tmp_path}"]
    child = await start_child(program, ["crawl"], {}, [theirs])
    os.close(theirs)
    assert await asyncio.to_thread(os.read, output, 100) == b"loading"
    os.close(output)
    child.socket.close()
    async with asyncio.timeout(LIMIT_S):
        assert await child.ended == -signal.SIGTERM


async def test_a_child_whose_parent_is_killed_ends() -> None:
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", PARENT, stdout=asyncio.subprocess.PIPE, env=dict(os.environ)
    )
    assert parent.stdout
    child = int(await parent.stdout.readline())
    assert is_running(child)
    parent.kill()
    await parent.wait()
    await until(lambda: not is_running(child))
    async with asyncio.timeout(LIMIT_S):
        assert await parent.stdout.read() == b""  # to its end, which closes it


@pytest.mark.parametrize(
    ("program", "end"),
    [("/nowhere/python", "could not be started (No such file or directory)"), ("false", "ended with status 1")],
)
async def test_a_child_that_cannot_start_is_tried_again_after_growing_pauses(
    program: str, end: str, caplog: pytest.LogCaptureFixture
) -> None:
    stopped = asyncio.Event()
    tries = 0

    async def start() -> Child:
        nonlocal tries
        tries += 1
        if tries == 4:
            stopped.set()
        return await start_child([program], [], {})

    async with asyncio.timeout(LIMIT_S):
        await Keeper("child", start, stopped).keep()
    assert caplog.messages == [f"child {end}; it is started again in {pause_s} s" for pause_s in ("0.05", "0.1", "0.2")]


_LIMITED = "from weboid.cli.processes.process import raise_open_files; print(raise_open_files(1000))"


def test_where_few_files_may_be_open_one_connection_is_left_and_reported() -> None:
    limited = ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", sys.executable, "-c", _LIMITED]
    printed = subprocess.run(limited, capture_output=True, text=True, check=True, timeout=60)
    assert printed.stdout == "1\n"
    assert printed.stderr == "weboid: only 1 of 1000 connections fit into 64 open files (ulimit -n)\n"


_INTERRUPTED = """
import importlib, os, signal, sys

class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "weboid.cli":
            os.kill(os.getpid(), signal.SIGINT)

# A shell may have started the tests with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
module, function = sys.argv[1].split(":")
sys.meta_path.insert(0, Interrupted())
getattr(importlib.import_module(module), function)()
"""


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    program = project["project"]["scripts"]["weboid"]
    ran = subprocess.run([sys.executable, "-c", _INTERRUPTED, program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (-signal.SIGINT, "")


_LOCAL = """
import sys
from weboid.cli import backup, check_store, health, migrate, normalize, rekey, restore, show, up, upgrade
assert "aiohttp" not in sys.modules
"""


def test_commands_that_ask_nobody_outside_load_no_client_for_it() -> None:
    # It takes 0.3 s, longer than many of them, and 20 MB of `weboid up` for as long as it runs.
    subprocess.run([sys.executable, "-c", _LOCAL], check=True, timeout=60)
