import subprocess
import sys
from pathlib import Path

import pytest

from weboid.web.http.listening import open_listeners, url_of

_CROWD = """
import os, resource, socket; from pathlib import Path; from weboid.web.http.listening import reserve_files
resource.setrlimit(resource.RLIMIT_NOFILE, (2_000, 2_000)); listener = socket.socket()
for most in (1_000, 3_000): reserve_files(listener, most)
print(len(os.listdir("/proc/self/fd")), *Path("/proc/self/status").read_text().partition("FDSize:")[2].split()[:1])
"""


def test_the_system_has_room_for_a_crowd_before_it_comes() -> None:
    """As many as are allowed: no error where more are wanted."""
    ran = subprocess.run([sys.executable, "-c", _CROWD], capture_output=True, text=True, check=True)
    opened, room = map(int, ran.stdout.split())
    assert opened < 10 < 1_000 < room


async def test_an_ipv6_address_may_stand_in_brackets() -> None:
    if f"{1:032x}" not in "".join(map(Path.read_text, Path("/proc/net").glob("if_inet6"))):
        pytest.skip("this machine has no ::1")
    (listener,) = await open_listeners("[::1]", 0)
    with listener:
        assert url_of(listener).startswith("http://[::1]:")
