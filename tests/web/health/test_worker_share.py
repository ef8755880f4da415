import os
import subprocess
import sys
from pathlib import Path

from weboid.web.health.worker_share import FOLDER_VARIABLE

_COUNTING = """
import pathlib, sys
from weboid.web.health import metrics, worker_share
from weboid.web.request.route import ROUTES
share = worker_share.WorkerShare(pathlib.Path(sys.argv[1]), 1)
share.take(1)
counted = metrics.Metrics(metrics.LoopLag(), share)
for path in (route.path for route in ROUTES):
    counted._seconds(path).observe(0.1)
    [counted._requests(path, status).inc() for status in ("200", "304", "400", "404", "429", "503")]
"""


def test_all_that_a_worker_counts_has_room_on_the_disk_from_its_start(tmp_path: Path) -> None:
    environment = os.environ | {FOLDER_VARIABLE: str(tmp_path)}
    subprocess.run([sys.executable, "-c", _COUNTING, str(tmp_path)], env=environment, check=True)
    files = [file.stat() for file in tmp_path.glob("*.db")]
    assert [(file.st_size, file.st_blocks * 512 >= file.st_size) for file in files] == [(256 << 10, True)] * 4
