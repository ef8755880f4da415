"""Where tests keep what no disk has to keep: databases whose start and statements would wait for one."""

import os
from contextlib import suppress
from typing import Final

_ENOUGH_BYTES: Final = 2 << 30


def memory_folder() -> str | None:
    """Where files wait for no disk, if there is such a place and programs may be put there."""
    with suppress(OSError):
        there = os.statvfs("/dev/shm")
        if there.f_bavail * there.f_frsize > _ENOUGH_BYTES and not there.f_flag & os.ST_NOEXEC:
            return "/dev/shm"
    return None
