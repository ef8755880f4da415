"""The hosts that are not asked because they said so, with all below them (C-17).

One law: a host leaves the list only when the file has twice been read without it; whatever cannot be read, now or at
all, takes nobody off.
"""

import logging
import os
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from threading import Thread
from time import monotonic
from typing import Final

from weboid.core.url.hosts import InvalidUrl, host_form
from weboid.errors import ConfigError

log = logging.getLogger(__name__)

_LOOK_S: Final = 1.0
"""Between two looks whether the file has changed."""
_SMALL_BYTES: Final = 32_768
"""A file so small is read at once, in some milliseconds; a larger one beside the event loop."""
_SHOWN: Final = 5
"""Bad lines that are shown in one warning."""

_Version = tuple[int, int, int]


class StopList:
    """Hosts by configuration, and those of a file that is looked at again whenever it changes.

    The file is UTF-8, one host a line, in any form that a URL may have it in; what follows a ``#`` is a comment. Raises
    ConfigError if it cannot be read to begin with.
    """

    def __init__(self, names: Iterable[str], file: Path | None = None) -> None:
        self._configured, bad = _hosts(names)
        _tell("the configuration", bad)
        self._names = self._configured
        self._file = file
        self._version: _Version | None = None
        self._is_settled = False
        self._is_lost = False
        self._told: frozenset[str] = frozenset()
        self._reader: Thread | None = None
        self._looked = monotonic()
        if file:
            try:
                self._version = _version(file)
                self._settle(file, *_hosts(_lines(file.read_bytes())))
            except OSError as error:
                raise ConfigError(
                    f"the stop list {file} cannot be read; it may be empty, but must exist: {error}"
                ) from None

    def __len__(self) -> int:
        """How many hosts are on the list."""
        return len(self._names)

    def holds(self, host: str) -> bool:
        """Whether a host in normal form, or one above it, is on the list."""
        if self._file and monotonic() - self._looked >= _LOOK_S:
            self._look(self._file)
        names = self._names
        if not names:
            return False
        while host not in names:
            host = host.partition(".")[2]
            if not host:
                return False
        return True

    def _look(self, file: Path) -> None:
        """Reads the file if it has changed, and once more after that: somebody may have been writing it."""
        self._looked = monotonic()
        if self._reader and self._reader.is_alive():
            return
        try:
            version = _version(file)
        except OSError as error:
            self._lose(file, error)
            return
        if version == self._version and self._is_settled and not self._is_lost:
            return
        if version[2] <= _SMALL_BYTES:
            self._read(file, version)
        else:
            self._reader = Thread(target=self._read, args=(file, version), name="stop list", daemon=True)
            self._reader.start()

    def _read(self, file: Path, version: _Version) -> None:
        try:
            names, bad = _hosts(_lines(file.read_bytes()))
        except OSError as error:
            self._lose(file, error)
            return
        self._is_lost = False
        if version == self._version:
            self._settle(file, names, bad)
        else:
            self._version = version
            self._is_settled = False
            self._names |= names

    def _settle(self, file: Path, names: frozenset[str], bad: list[str]) -> None:
        """Takes what the file says as it stands."""
        self._is_settled = True
        _tell(f"the stop list {file}", [line for line in bad if line not in self._told])
        self._told = frozenset(bad)
        if bad and not names:
            log.warning("the stop list %s holds nothing but bad lines, what it said before stays", file)
            return
        self._names = self._configured | names
        log.info("%d hosts on the stop list with %s", len(self._names), file)

    def _lose(self, file: Path, error: OSError) -> None:
        if not self._is_lost:
            log.warning("the stop list %s cannot be read, what it said before stays: %s", file, error)
            self._is_lost = True


def _version(file: Path) -> _Version:
    """What changes when a file does; raises OSError."""
    found = os.stat(file)
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is no file")
    return found.st_mtime_ns, found.st_ino, found.st_size


def _lines(content: bytes) -> Iterator[str]:
    for line in content.decode("utf-8-sig", errors="replace").splitlines():
        if name := line.partition("#")[0].strip():
            yield name


def _hosts(names: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    """The hosts among names, in normal form, and the names that are none."""
    hosts, bad = set(), []
    for given in names:
        name = given.strip().removeprefix("*").strip(".")
        try:
            hosts.add(host_form(f"[{name}]" if name.count(":") > 1 and name[0] != "[" else name))
        except InvalidUrl:
            bad.append(given)
    return frozenset(hosts), bad


def _tell(source: str, bad: list[str]) -> None:
    if bad:
        shown = ", ".join(f"{name!r:.100}" for name in bad[:_SHOWN])
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        log.warning("%s: no host, and ignored: %s%s", source, shown, more)
