"""For tests that look at processes of their own: those of one data folder, its database server and guard included.

One law: no process is looked for by its name.
"""

import asyncio
import os
import select
from contextlib import suppress
from pathlib import Path


def of_folder(folder: Path) -> dict[int, str]:
    """The command lines of the processes that were given this folder, by number: in their words or environment."""
    found = {}
    for process in Path("/proc").iterdir():
        if not process.name.isdigit() or int(process.name) == os.getpid():
            continue
        try:
            words = (process / "cmdline").read_bytes()
            if os.fsencode(folder) in words + (process / "environ").read_bytes() and is_running(int(process.name)):
                found[int(process.name)] = words.replace(b"\0", b" ").decode(errors="replace")
        except OSError:  # it has ended meanwhile
            continue
    return found


def programs_of(name: str, folder: Path) -> list[int]:
    """The numbers of the processes of a program that was given this folder, or one below it."""
    return [pid for pid, words in of_folder(folder).items() if words.partition(" ")[0].endswith(f"/{name}")]


def is_running(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for has."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] not in "ZX"
    except OSError:
        return False


def children(pid: int) -> dict[int, list[str]]:
    """The words of the children of a process, by number; none if it has ended."""
    found = {}
    with suppress(OSError):
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            with suppress(OSError):  # it has ended meanwhile
                found[int(child)] = Path(f"/proc/{child}/cmdline").read_text().split("\0")
    return found


async def assert_nothing_is_left(folder: Path, within_s: float) -> None:
    """Waits until no process of the folder runs."""
    try:
        async with asyncio.timeout(within_s):
            while of_folder(folder):
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"left after {within_s} s: {of_folder(folder)}") from None


def read_terminal(terminal: int, words: bytes, limit_s: float = 60) -> bytes:
    """What is said on a terminal up to these words; without words, until nobody has it open."""
    said = b""
    while not words or words not in said:
        assert select.select([terminal], [], [], limit_s)[0], said
        try:
            said += os.read(terminal, 1 << 16)
        except OSError:
            break
    return said
