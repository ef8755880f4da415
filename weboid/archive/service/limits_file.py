"""The file in which all processes of a user on a machine keep the pace and the rests of archive services.

It is small, always as long, and locked while it is read and written. A file that is damaged or hostile is begun anew,
and no rest in it is longer than the one that was begun, whatever the clock does. A file that cannot be used (a folder
that cannot be written, a full disk, another user's file) leaves the limits to this process alone, with one warning.
"""

import asyncio
import fcntl
import json
import logging
import os
import re
import stat
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, field
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final

from weboid.config import process_environment, state_folder
from weboid.store.archives.service_limit import RequestKind

log = logging.getLogger(__name__)

LONGEST_NAMED_REST_S: Final = 24 * 3_600.0
"""So long a pause is granted to a service that says how long; what it says of more counts as this."""
_SIZE: Final = 16_384
"""Bytes of the file, whatever is in it: writing it again takes no further room on a full disk."""
_FORMAT: Final = 1
_LONGEST_FREE_S: Final = 60.0
"""No request has to wait longer for those sent before it: the slowest pace is one a minute."""
_LOCK_TRIES: Final = 400
_LOCK_POLL_S: Final = 0.005
"""Two seconds are waited for the lock, which is held for less than a millisecond."""
_WHY: Final = re.compile("[a-z0-9-]{0,40}")


@dataclass(slots=True)
class ServicePace:
    """The requests and the pause of one service, in seconds of the limiter's clock.

    `free`: by kind of request, when all that were sent will have had their time. `rest_s` = how long the newest pause
    is or was, 0 if a request was answered since; `until` = its end. `failures` = failures in a row.
    """

    free: dict[int, float] = field(default_factory=dict)
    until: float = -inf
    rest_s: float = 0.0
    why: str = ""
    failures: int = 0


class LimitsFile:
    """The file at a path; None = there is no place for it. `now` is the system's clock, as all processes read it."""

    def __init__(self, path: Path | None, now: Callable[[], float]) -> None:
        self.now = now
        self._path = path
        if path is None:
            self._give_up("there is no home folder")

    @asynccontextmanager
    async def shared(self, services: dict[str, ServicePace]) -> AsyncIterator[None]:
        """Brings `services` up to the file, which is locked until the end of the block, and then written if they have
        changed. The block must not wait for anything. Where the file cannot be used, they stay as they are."""
        file = await self._opened()
        before = b""
        if file is not None:
            try:
                before = _read(file)
                known = _parse(before, self.now())
            except OSError as error:
                self._give_up(error)
            else:
                services.clear()
                services.update(known)
        try:
            yield
        finally:
            if file is not None:
                try:
                    if self._path and (after := _text(services, self.now())) != before:
                        os.pwrite(file, after, 0)
                        os.ftruncate(file, _SIZE)
                except OSError as error:
                    self._give_up(error)
                finally:
                    os.close(file)

    async def _opened(self) -> int | None:
        """The descriptor of the file, locked; None if it cannot be used."""
        if self._path is None:
            return None
        file = None
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
            file = os.open(self._path, flags, 0o600)
            found = os.fstat(file)
            if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid() or found.st_nlink != 1:
                raise PermissionError("it is no file of this user")
            os.fchmod(file, 0o600)
            for _ in range(_LOCK_TRIES):
                if _is_locked(file):
                    return file
                await asyncio.sleep(_LOCK_POLL_S)
            raise BlockingIOError("another process keeps it locked")
        except BaseException as error:
            if file is not None:
                os.close(file)
            if not isinstance(error, OSError):
                raise
            self._give_up(error)
            return None

    def _give_up(self, error: object) -> None:
        where, self._path = self._path, None
        log.warning("limits of archives hold for this process alone: %s cannot be used: %s", where or "a file", error)


def limits_file(now: Callable[[], float]) -> LimitsFile:
    """The file of this user, by the system's clock."""
    folder = state_folder(process_environment())
    return LimitsFile(folder / "archives.json" if folder else None, now)


def _is_locked(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _read(file: int) -> bytes:
    return os.pread(file, _SIZE + 1, 0)


def _parse(data: bytes, now: float) -> dict[str, ServicePace]:
    """The services of the file; none if it is empty, damaged or of another format."""
    try:
        if len(data) > _SIZE:
            return {}
        found = json.loads(data)
        if found["format"] != _FORMAT:
            return {}
        return {base: _service(values, now) for base, values in found["services"].items()}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError):
        return {}


def _service(values: Any, now: float) -> ServicePace:
    """Raises ValueError, TypeError, KeyError."""
    latest = now + _LONGEST_FREE_S  # if the clock was set back, nothing waits longer than if it had begun just now
    found = values["free"].items()
    free: dict[int, float] = {RequestKind(int(kind)): min(_seconds(value), latest) for kind, value in found}
    until, rest_s, why = _seconds(values["until"]), _seconds(values["rest_s"]), values["why"]
    failures = int(values.get("failures", 0))
    if not 0 <= rest_s <= LONGEST_NAMED_REST_S or not _WHY.fullmatch(why) or not 0 <= failures < _SIZE:
        raise ValueError
    return ServicePace(free, min(until, now + rest_s), rest_s, why, failures)


def _seconds(value: Any) -> float:
    seconds = float(value)
    if not isfinite(seconds) or isinstance(value, str):
        raise ValueError
    return seconds


def _text(services: dict[str, ServicePace], now: float) -> bytes:
    """The content of the file: what matters a day later is left out, and if there are too many, the oldest."""
    rows = {
        base: {**asdict(known), "until": max(known.until, 0.0)}
        for base, known in sorted(services.items(), key=lambda item: _newest(item[1]))
        if _newest(known) > now - LONGEST_NAMED_REST_S
    }
    while len(text := json.dumps({"format": _FORMAT, "services": rows}).encode()) > _SIZE:
        del rows[next(iter(rows))]
    return text.ljust(_SIZE)


def _newest(known: ServicePace) -> float:
    return max([known.until, *known.free.values()])
