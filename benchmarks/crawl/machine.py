"""This machine: which cores measured clients and everything else run on, and what processes have used.

One law: what is measured of a process comes from the kernel (Linux's /proc), the same way for every client.
"""

import os
import platform
import signal
import sys
from collections.abc import Collection, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_TICKS_A_S: Final = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Cores:
    """One core for the client that is measured, the others for servers and database; both empty = nobody is bound."""

    client: frozenset[int]
    others: frozenset[int]

    def on_the_clients(self) -> AbstractContextManager[None]:
        """What is started in this block is a client that is measured."""
        return _bound(self.client)

    def on_all(self) -> AbstractContextManager[None]:
        """What is started in this block may use all cores."""
        return _bound(self.client | self.others)

    def __str__(self) -> str:
        if not self.client:
            return "all on one core"
        return f"client on core {min(self.client)}, servers and database on {', '.join(map(str, sorted(self.others)))}"


@contextmanager
def _bound(cores: frozenset[int]) -> Iterator[None]:
    """Binds this thread, and so what it starts, to other cores; none = it stays where it is."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores or before)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def shared_out() -> Cores:
    """Takes the client's core away from this process and so from all it starts, if there is more than one."""
    available = os.sched_getaffinity(0)
    if len(available) < 2:
        return Cores(frozenset(), frozenset())
    client = max(available)
    cores = Cores(frozenset({client}), frozenset(available - {client}))
    os.sched_setaffinity(0, cores.others)
    return cores


def end_in_order() -> None:
    """Lets SIGTERM end this program as Ctrl-C does, so that it leaves neither processes nor folders behind."""
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))


def described() -> str:
    """What machine this is, and how much else is going on."""
    model = next((line.partition(": ")[2] for line in _lines("/proc/cpuinfo") if line.startswith("model name")), "?")
    return (
        f"{platform.system()} {platform.machine()}, {model}, {len(os.sched_getaffinity(0))} cores, "
        f"load before the run {os.getloadavg()[0]:.1f}"
    )


def _lines(path: str) -> list[str]:
    try:
        return Path(path).read_text().splitlines()
    except OSError:
        return []


@dataclass(frozen=True, slots=True)
class Used:
    """CPU seconds of processes with their children so far, and the memory they hold now."""

    cpu_s: float
    rss_mib: float


def used(roots: Collection[int]) -> Used:
    """What these processes and all below them have used."""
    processes = {pid: process for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if (process := _read(pid))}
    tree = set(roots) & processes.keys()
    while more := {pid for pid, process in processes.items() if process.parent in tree} - tree:
        tree |= more
    return Used(
        sum(processes[pid].cpu_ticks for pid in tree) / _TICKS_A_S,
        sum(processes[pid].rss_pages for pid in tree) * os.sysconf("SC_PAGE_SIZE") / (1 << 20),
    )


@dataclass(frozen=True, slots=True)
class _Process:
    parent: int
    cpu_ticks: int
    rss_pages: int


def parent_of(pid: int) -> int:
    """The process that has started another, 0 if that has ended."""
    process = _read(pid)
    return process.parent if process else 0


def _read(pid: int) -> _Process | None:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return None
    # utime, stime, and those of children that have ended
    return _Process(int(fields[1]), sum(map(int, fields[11:15])), int(fields[21]))
