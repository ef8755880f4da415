"""A health check as Toolforge makes it: at its end in five seconds, or it failed."""

import os
import subprocess
import sys

import pytest
from support.database_proxy import open_database_proxy

PROBE_S = 5.0


@pytest.mark.parametrize("state", ["cut", "swallow"])
def test_while_the_database_is_away_a_job_is_told_healthy_in_time(database: str, state: str) -> None:
    with open_database_proxy(database) as proxy:
        getattr(proxy, state)()
        call = [sys.executable, "-m", "weboid", "health", "crawl"]
        environ = {**os.environ, "WEBOID_DATABASE": proxy.dsn}
        subprocess.run(call, env=environ, check=True, timeout=PROBE_S, stdout=subprocess.PIPE)


def test_a_job_that_does_not_run_is_told_so(database: str) -> None:
    call = [sys.executable, "-m", "weboid", "health", "crawl"]
    environ = {**os.environ, "WEBOID_DATABASE": database}
    assert subprocess.run(call, env=environ, stderr=subprocess.PIPE).returncode == 1
