"""What holds for every process of the program."""

import os
import subprocess
import sys

_NAMELESS = """
import pwd

def getpwuid(uid):
    raise KeyError(uid)

pwd.getpwuid = getpwuid

import asyncssh
from weboid.cli.process import run_async

async def main():
    asyncssh.SSHClientConnectionOptions(username="anonymous", config=None)

run_async(main())
"""


def test_libraries_find_a_name_of_whoever_runs_it_where_the_user_id_has_none() -> None:
    # So it is in containers that run under any user id: the SSH library, which checks sftp links, refused to work.
    names = ("LOGNAME", "USER", "LNAME", "USERNAME")
    environ = {name: value for name, value in os.environ.items() if name not in names}
    subprocess.run([sys.executable, "-c", _NAMELESS], env=environ, check=True, timeout=60)
