import os
import subprocess
import sys
from pathlib import Path

from weboid.web.health.worker_share import WorkerShare


def test_of_workers_without_a_parent_the_last_one_knows_that_it_is_the_last(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        (tmp_path / "1.pid").write_text(str(os.getpid()))
        (tmp_path / "2.pid").write_text(str(other.pid))
        assert not WorkerShare(tmp_path, 1).leave()
        assert WorkerShare(tmp_path, 2).leave()


def test_a_worker_that_was_killed_keeps_nobody_waiting(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as killed:
        pass
    (tmp_path / "1.pid").write_text(str(os.getpid()))
    (tmp_path / "2.pid").write_text(str(killed.pid))
    assert WorkerShare(tmp_path, 1).leave()
