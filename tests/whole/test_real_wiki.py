"""The real MediaWiki of the tests leaves nothing behind."""

import os
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from support.mediawiki import find_tree

pytestmark = pytest.mark.long

_WIKI = """
import sys
from support.mediawiki import make_mediawiki
with make_mediawiki() as wiki:
    wiki.start()
    print(wiki.server, wiki.folder, flush=True)
    sys.stdin.read()
"""


def _is_there(group: int) -> bool:
    """Whether a process of the group runs; one that has ended may wait for ever where nobody is its parent."""
    for folder in Path("/proc").iterdir():
        with suppress(OSError):
            state, _, own = (folder / "stat").read_text(encoding="utf-8").rpartition(")")[2].split()[:3]
            if int(own) == group and state not in "ZX":
                return True
    return False


def test_it_ends_with_all_its_workers_even_if_the_run_is_killed() -> None:
    find_tree()
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(
        [sys.executable, "-c", _WIKI], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environ
    ) as run:
        assert run.stdout
        group, folder = run.stdout.readline().split()
        assert _is_there(int(group))
        run.kill()
    for _ in range(200):
        if not _is_there(int(group)) and not Path(folder).exists():
            return
        time.sleep(0.1)
    raise AssertionError("something of it is left")
