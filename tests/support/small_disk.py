"""A disk that is soon full: a file system of its own, which only root can mount."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A file system of this size (`8m`, as mount has it) on a folder, which is made; skips the test where none can be.

    Other accounts can enter it, as the server's must.
    """
    folder.mkdir(exist_ok=True)
    call = ["mount", "-t", "tmpfs", "-o", f"size={size},mode=711", "weboid-test", str(folder)]
    may_mount = os.geteuid() == 0 and shutil.which("mount") is not None
    if not may_mount or subprocess.run(call, capture_output=True, check=False).returncode:
        pytest.skip("a disk of its own can only be mounted by root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)
