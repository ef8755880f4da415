"""What holds for every process of the program."""

import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

_NAMELESS = """
import pwd

def getpwuid(uid):
    raise KeyError(uid)

pwd.getpwuid = getpwuid

import asyncssh
from weboid.cli.processes.process import run_async

async def main():
    asyncssh.SSHClientConnectionOptions(username="anonymous", config=None)

run_async(main())
"""


_LIMITED = "from weboid.cli.processes.process import raise_open_files; print(raise_open_files(1000))"


def test_libraries_find_a_name_of_whoever_runs_it_where_the_user_id_has_none() -> None:
    # So it is in containers that run under any user id: the SSH library, which checks sftp links, refused to work.
    names = ("LOGNAME", "USER", "LNAME", "USERNAME")
    environ = {name: value for name, value in os.environ.items() if name not in names}
    subprocess.run([sys.executable, "-c", _NAMELESS], env=environ, check=True, timeout=60)


def test_where_few_files_may_be_open_one_connection_is_left_and_told() -> None:
    told = subprocess.run(
        ["sh", "-c", 'ulimit -n 64; exec "$@"', "sh", sys.executable, "-c", _LIMITED],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert told.stdout == "1\n"
    assert told.stderr == "weboid: only 1 of 1000 connections fit into 64 open files (ulimit -n)\n"


_INTERRUPTED = """
import importlib, os, signal, sys

class Interrupted:
    def find_spec(self, name, path, target=None):
        if name == "weboid.cli":
            os.kill(os.getpid(), signal.SIGINT)

module, function = sys.argv[1].split(":")
sys.meta_path.insert(0, Interrupted())
getattr(importlib.import_module(module), function)()
"""


def test_ctrl_c_while_the_program_loads_ends_it_without_a_word() -> None:
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    program = project["project"]["scripts"]["weboid"]
    ran = subprocess.run([sys.executable, "-c", _INTERRUPTED, program], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stderr) == (-signal.SIGINT, "")
