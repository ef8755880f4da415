"""Toolforge on this machine: a checkout of git's files, an image of what requirements.txt names, the variables that the
runbook's line hands over, and processes started as the platform does it.

One law: nothing reaches a process but what would reach it there; of the repository's own environment it sees nothing.
"""

import asyncio
import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import venv
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

import pytest
from packaging.markers import Marker
from support.own_environment import programs_of

REPOSITORY = Path(__file__).resolve().parents[2]
END_S = 15.0
"""Seconds between SIGTERM and SIGKILL there."""
PROBES_S = 120.0
"""Seconds that a job has until its first health check must succeed."""

_PINNED = re.compile(r"^([A-Za-z0-9._-]+)==([^ ;\\]+)(?: ; ([^\\]+?))?(?: \\)?$", re.MULTILINE)
_PROCESS = re.compile(r"^([A-Za-z0-9_-]+):[ \t]*(.+)$", re.MULTILINE)
_PLATFORM = {
    "TOOL_DATA_DIR": "/data/project/weboid",
    "TOOL_REPLICA_USER": "u1",
    "TOOL_REPLICA_PASSWORD": "secret",
    "TOOL_TOOLSDB_USER": "s1",
    "TOOL_TOOLSDB_PASSWORD": "secret",
    # What Kubernetes sets in each container for the service of a tool called weboid.
    "WEBOID_PORT": "tcp://192.0.2.1:8000",
    "WEBOID_PORT_8000_TCP": "tcp://192.0.2.1:8000",
    "WEBOID_PORT_8000_TCP_ADDR": "192.0.2.1",
    "WEBOID_SERVICE_HOST": "192.0.2.1",
    "WEBOID_SERVICE_PORT": "8000",
}
"""What the platform sets by itself."""
_LOAD = """
import json, sys
from jobs_cli import cli

class Api:
    jobs = []
    def patch(self, path, json):
        self.jobs.append(json)
    post = patch

cli.op_load(Api(), sys.argv[1], None, "weboid")
print(json.dumps(Api.jobs))
"""
"""Reads jobs.yaml as ``toolforge jobs load`` does, and prints what it would send."""
_PARSE = """
import json, sys
from jobs_cli import cli

for call in json.loads(sys.argv[1]):
    cli.arg_parser(call)
"""
"""Reads calls of ``toolforge jobs``; ends with another status than 0 at one that it does not know."""
_TOOLFORGE = """#!/bin/sh
[ "$#:$1:$2" = "3:envvars:create" ] && cat >"$VARIABLES/$3"
"""
"""Of ``toolforge`` only what sets variables; like the real one it takes a missing value from standard input."""


def procfile() -> dict[str, str]:
    return dict(_PROCESS.findall((REPOSITORY / "Procfile").read_text(encoding="utf-8")))


def loaded_jobs() -> list[dict[str, Any]]:
    """The jobs as the real command line sends them to Toolforge; skips the test where it is not installed."""
    call = [str(programs_of("toolforge") / "python"), "-c", _LOAD, str(REPOSITORY / "jobs.yaml")]
    jobs: list[dict[str, Any]] = json.loads(subprocess.run(call, check=True, stdout=PIPE).stdout)
    return jobs


def understood_jobs_calls(calls: list[list[str]]) -> bool:
    """Whether the real ``toolforge jobs`` knows these words and options; skips the test where it is not installed."""
    answer = json.dumps(calls)
    return not subprocess.run([str(programs_of("toolforge") / "python"), "-c", _PARSE, answer]).returncode


def runbook_blocks() -> list[str]:
    return (REPOSITORY / "toolforge" / "README.md").read_text(encoding="utf-8").split("```\n")[1::2]


def example_lines() -> Iterator[tuple[str, str]]:
    """Names and values of ``envvars.example``."""
    for line in (REPOSITORY / "toolforge" / "envvars.example").read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            name, _, value = line.partition("=")
            yield name, value


def handed_over(folder: Path, values: Mapping[str, str]) -> dict[str, str]:
    """The variables after the runbook's line has been typed, with `envvars.example` filled in by `values`.

    A name that the example has not is an error.
    """
    home, programs, variables = folder / "home", folder / "programs", folder / "variables"
    for each in (home, programs, variables):
        each.mkdir(parents=True)
    names = [name for name, _ in example_lines()]
    assert not values.keys() - {*names}
    home.joinpath("envvars").write_text(
        "# filled in\n" + "".join(f"{name}={values[name]}\n" for name in names if name in values), encoding="utf-8"
    )
    programs.joinpath("toolforge").write_text(_TOOLFORGE)
    programs.joinpath("toolforge").chmod(0o755)
    (line,) = [line for block in runbook_blocks() for line in block.splitlines() if "envvars create" in line]
    environ = {"HOME": str(home), "PATH": f"{programs}:/usr/bin:/bin", "VARIABLES": str(variables)}
    subprocess.run(["bash", "-c", line], env=environ, check=True, stdin=DEVNULL)
    return {each.name: each.read_text(encoding="utf-8") for each in variables.iterdir()}


@dataclass
class Tool:
    """The tool: its checkout and image in `folder`, and the variables of its processes."""

    folder: Path
    variables: dict[str, str]
    commands: dict[str, str] = field(default_factory=procfile)
    started: dict[str, Process] = field(default_factory=dict)

    @property
    def home(self) -> Path:
        return self.folder / "nowhere"

    def build(self) -> None:
        """Makes the image, as the build service does by the repository: git's files, what requirements.txt names."""
        if shutil.which("git") is None or not (REPOSITORY / ".git").exists():
            pytest.skip("this is no checkout of git")
        files = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        listed = subprocess.run(files, cwd=REPOSITORY, check=True, stdout=PIPE)
        for name in filter(None, listed.stdout.decode().split("\0")):
            if (REPOSITORY / name).is_file():
                (self.checkout / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(REPOSITORY / name, self.checkout / name)
        _link_requirements(self.folder / "image")
        self.home.mkdir()
        (self.folder / "logs").mkdir()

    @property
    def checkout(self) -> Path:
        return self.folder / "workspace"

    async def start(self, name: str, **more: str) -> Process:
        with (self.folder / "logs" / name).open("ab") as log:
            self.started[name] = await asyncio.create_subprocess_exec(
                *("bash", "-c", self.commands[name]),
                cwd=self.checkout,
                env={**self._environ(), **more},
                stdin=DEVNULL,
                stdout=log,
                stderr=STDOUT,
            )
        return self.started[name]

    async def run(self, command: str) -> str:
        status, said = await self._ended("bash", "-c", command)
        assert status == 0, said
        return said

    async def probe(self, script: str) -> int:
        """The status of a health check, which the launcher runs without a shell."""
        return (await self._ended(*shlex.split(script)))[0]

    async def terminate(self) -> dict[str, int]:
        """Ends all that was started, by SIGTERM; the statuses. Raises TimeoutError after the time that there is."""
        for process in self.started.values():
            process.send_signal(signal.SIGTERM)
        async with asyncio.timeout(END_S):
            statuses = {name: await process.wait() for name, process in self.started.items()}
        self.started.clear()
        return statuses

    async def kill(self) -> None:
        for process in self.started.values():
            if process.returncode is None:
                process.kill()
                await process.wait()

    def said(self, name: str) -> str:
        return (self.folder / "logs" / name).read_text(encoding="utf-8")[-5_000:]

    async def _ended(self, *command: str) -> tuple[int, str]:
        process = await asyncio.create_subprocess_exec(
            *command, cwd=self.checkout, env=self._environ(), stdin=DEVNULL, stdout=PIPE, stderr=STDOUT
        )
        try:
            said, _ = await process.communicate()
        finally:
            if process.returncode is None:
                process.kill()
        assert process.returncode is not None
        return process.returncode, said.decode()

    def _environ(self) -> dict[str, str]:
        path = f"{self.folder / 'image' / 'bin'}:/usr/bin:/bin"
        own = {"PATH": path, "HOME": str(self.home), "LANG": "C.UTF-8", "PYTHONUNBUFFERED": "1"}
        return {**own, **_PLATFORM, **self.variables}


def _link_requirements(image: Path) -> None:
    """An environment with just the distributions that requirements.txt names, which are those that tests run with."""
    venv.EnvBuilder(symlinks=os.name == "posix", with_pip=False).create(image)
    (site,) = image.glob("lib/python3*/site-packages")
    for name, version, marker in _PINNED.findall((REPOSITORY / "requirements.txt").read_text(encoding="utf-8")):
        if marker and not Marker(marker).evaluate():
            continue
        found = distribution(name)
        assert found.version == version, f"{name} is not as in requirements.txt: make .venv/run.stamp"
        for file in found.files or ():
            source = Path(str(found.locate_file(file)))
            if ".." not in file.parts and source.is_file():
                (site / file).parent.mkdir(parents=True, exist_ok=True)
                (site / file).symlink_to(source)
