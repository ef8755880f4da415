"""Settings of a server that follow the memory of its machine, at each start: the values of a new cluster are for any.

They are given on the command line, so a server of another machine has others next time. What an operator has set in the
cluster's files holds. Clusters of before have wal_compression there, which was half of the cost of recording.
"""

import os
import re
import resource
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final

from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.host_auth import read_file

_MB: Final = 1 << 20
_OF_ANY_MACHINE: Final = {"shared_buffers": "128MB", "max_wal_size": "1GB", "wal_compression": "on"}
"""The values that the files of a cluster have, or had, from the beginning; of the other settings they have none."""
_CGROUP: Final = Path("/sys/fs/cgroup")
_FILES: Final = ("postgresql.conf", "postgresql.auto.conf")


def memory_settings(memory: int) -> dict[str, str]:
    """The settings for a machine, or a container, with so many bytes of memory, where other programs run, too.

    An eighth is for the server's own buffers, half is hoped to be the system's cache. More of the log between two
    checkpoints means less of it to write, but eight gigabytes are what a start may have to replay within minutes.
    """
    buffers = _between(128, memory // 8 // _MB, 16_384)
    return {
        "shared_buffers": f"{buffers}MB",
        "effective_cache_size": f"{_between(128, memory // 2 // _MB, 1 << 20)}MB",
        "maintenance_work_mem": f"{_between(64, memory // 64 // _MB, 1_024)}MB",
        "max_wal_size": f"{_between(1_024, 2 * buffers, 8_192)}MB",
    }


def settings_of(folder: Folder) -> dict[str, str]:
    """The settings by memory that a folder's server is started with: those that its files leave to us.

    Raises OSError, FolderError.
    """
    text = b"".join(_texts(folder)).decode(errors="replace")
    if re.search(r"^\s*include", text, re.MULTILINE | re.IGNORECASE):
        return {}
    settings = memory_settings(available()) | {"wal_compression": "off"}
    return {name: value for name, value in settings.items() if not _is_chosen(name, text)}


def available(cgroup: Path = _CGROUP, own: Path = Path("/proc/self/cgroup")) -> int:
    """The bytes of memory that a program may use here: the machine's, or less by a control group or ``ulimit -v``."""
    limits = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    if (own_limit := resource.getrlimit(resource.RLIMIT_AS)[0]) != resource.RLIM_INFINITY:
        limits.append(own_limit)
    for path in _limits(cgroup, own):
        with suppress(OSError, ValueError):  # "max", no such controller, no such file
            limits.append(int(path.read_text()))
    return min(limits)


def _limits(cgroup: Path, own: Path) -> Iterator[Path]:
    """The files of the limits of this process's groups and of those that they are in, of both versions."""
    lines: list[str] = []
    with suppress(OSError):
        lines = own.read_text().splitlines()
    for line in lines:
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        top, name = (cgroup / "memory", "memory.limit_in_bytes") if controllers else (cgroup, "memory.max")
        place = Path(path.lstrip("/"))
        for group in (place, *place.parents):
            yield top / group / name


def _texts(folder: Folder) -> Iterator[bytes]:
    for name in _FILES:
        with suppress(FileNotFoundError, FolderError):
            yield read_file(folder, name)


def _is_chosen(name: str, text: str) -> bool:
    """True if the files have another value of the setting than that of any machine."""
    given = re.findall(rf"^[ \t]*{name}(?:[ \t]*=[ \t]*|[ \t]+)'?([^\s'#]*)", text, re.MULTILINE | re.IGNORECASE)
    return bool(set(given) - {_OF_ANY_MACHINE.get(name)})


def _between(least: int, value: int, most: int) -> int:
    return max(least, min(value, most))
