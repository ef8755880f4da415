"""The hosts that are not asked because they said so, with all below them (C-17).

One law: a list that cannot be read any more stays as it was; a bad line costs nothing but itself.
"""

import logging
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from time import monotonic
from typing import Final

from weboid.core.hosts import InvalidUrl, host_form

log = logging.getLogger(__name__)

_LOOK_S: Final = 1.0
"""Between two looks whether the file has changed."""


class StopList:
    """Hosts by configuration, and those of a file that is read again whenever it changes."""

    def __init__(self, names: Iterable[str], file: Path | None = None) -> None:
        self._configured = frozenset(_hosts(names, "the configuration"))
        self._in_file: frozenset[str] = frozenset()
        self._file = file
        self._version: tuple[int, int, int] | None = None
        self._looked = float("-inf")

    def holds(self, host: str) -> bool:
        """Whether a host in normal form, or one above it, is on the list."""
        if self._file and monotonic() - self._looked >= _LOOK_S:
            self._look(self._file)
        if not self._configured and not self._in_file:
            return False
        while host:
            if host in self._configured or host in self._in_file:
                return True
            host = host.partition(".")[2]
        return False

    def _look(self, file: Path) -> None:
        self._looked = monotonic()
        try:
            stat = os.stat(file)
            version = (stat.st_mtime_ns, stat.st_ino, stat.st_size)
            if version != self._version:
                self._in_file = frozenset(_hosts(_lines(file.read_text(encoding="utf-8")), str(file)))
                self._version = version
                log.info("%d hosts on the stop list %s", len(self._in_file), file)
        except (OSError, UnicodeDecodeError) as error:
            if self._version != (0, 0, 0):
                log.warning("the stop list %s cannot be read, what it said before stays: %s", file, error)
                self._version = (0, 0, 0)


def _lines(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if name := line.partition("#")[0].strip():
            yield name


def _hosts(names: Iterable[str], source: str) -> Iterator[str]:
    for name in names:
        try:
            yield host_form(name.strip().strip("."))
        except InvalidUrl as error:
            log.warning("%s: %.100r is no host (%s) and is ignored", source, name, error)
