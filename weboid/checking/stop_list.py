"""The stop list: hosts that are not contacted because their owners demand it, with all subdomains (C-17).

A host leaves the list only after the file was read twice without it; a file or line that cannot be read removes none.
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
"""Seconds between two tests whether the file has changed."""
_SMALL_BYTES: Final = 32_768
"""A file up to this size is read at once, in some milliseconds; a larger one in a thread."""
_SHOWN: Final = 5
"""Bad lines that are shown in one warning."""

_Version = tuple[int, int, int]


class StopList:
    """The hosts of the configuration and those of a file, which is read again whenever it changes.

    The file is UTF-8, one host a line, in any form that is valid in a URL; what follows a ``#`` is a comment. Raises
    ConfigError if it cannot be read at the start.
    """

    def __init__(self, names: Iterable[str], file: Path | None = None) -> None:
        self._configured, bad = _hosts(names)
        _warn("the configuration", bad)
        self.names = self._configured
        """The hosts on the list, as it was last read."""
        self._file = file
        self._version: _Version | None = None
        self._is_settled = False
        self._is_lost = False
        self._reported: frozenset[str] = frozenset()
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
        return len(self.names)

    def holds(self, host: str) -> bool:
        """Returns whether a host in normal form, or a parent domain, is on the list."""
        if self._file and monotonic() - self._looked >= _LOOK_S:
            self._look(self._file)
        names = self.names
        if not names:
            return False
        while host not in names:
            host = host.partition(".")[2]
            if not host:
                return False
        return True

    def _look(self, file: Path) -> None:
        """Reads the file if it has changed, and once more after that: somebody may still have been writing it."""
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
            self.names |= names

    def _settle(self, file: Path, names: frozenset[str], bad: list[str]) -> None:
        """Replaces the list by the file's content, which has not changed between two readings."""
        self._is_settled = True
        _warn(f"the stop list {file}", [line for line in bad if line not in self._reported])
        self._reported = frozenset(bad)
        if bad and not names:
            log.warning("the stop list %s has only invalid lines; its earlier content stays in force", file)
            return
        self.names = self._configured | names
        log.info("%d hosts on the stop list with %s", len(self.names), file)

    def _lose(self, file: Path, error: OSError) -> None:
        if not self._is_lost:
            log.warning("the stop list %s cannot be read; its earlier content stays in force: %s", file, error)
            self._is_lost = True


def _version(file: Path) -> _Version:
    """Returns values that change when a file does; raises OSError."""
    found = os.stat(file)
    if not stat.S_ISREG(found.st_mode):
        raise OSError("it is not a regular file")
    return found.st_mtime_ns, found.st_ino, found.st_size


def _lines(content: bytes) -> Iterator[str]:
    for line in content.decode("utf-8-sig", errors="replace").splitlines():
        if name := line.partition("#")[0].strip():
            yield name


def _hosts(names: Iterable[str]) -> tuple[frozenset[str], list[str]]:
    """The hosts among names, in normal form, and the names that are not valid hosts."""
    hosts, bad = set(), []
    for given in names:
        name = given.strip().removeprefix("*").strip(".")
        try:
            hosts.add(host_form(f"[{name}]" if name.count(":") > 1 and name[0] != "[" else name))
        except InvalidUrl:
            bad.append(given)
    return frozenset(hosts), bad


def _warn(source: str, bad: list[str]) -> None:
    if bad:
        shown = ", ".join(f"{name!r:.100}" for name in bad[:_SHOWN])
        more = f" and {len(bad) - _SHOWN} more" if len(bad) > _SHOWN else ""
        log.warning("%s: not valid hosts, ignored: %s%s", source, shown, more)
