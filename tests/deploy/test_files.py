"""The files for containers and systemd fit this version: their commands, roles, graces and what gets into the image."""

import configparser
import os
import re
import shutil
import subprocess
import tomllib
from datetime import timedelta
from pathlib import Path
from typing import Any

import click
import pytest
import yaml

from weboid.cli import main
from weboid.cli.processes.stopping import GRACE_S
from weboid.pgfolder import postmaster
from weboid.store.schedule.process import ProcessRole
from weboid.web.http.source_archive import ASSETS, SHIPPED, STAMP

REPOSITORY = Path(__file__).resolve().parents[2]
DEPLOY = REPOSITORY / "deploy"
UNITS = DEPLOY / "systemd"
PARTS = {role.value for role in ProcessRole} - {"up"}
NOT_IN_THE_IMAGE = {"tests", "benchmarks"}


def accept(words: list[str]) -> None:
    """Parses a command line of Weboid as far as to its last option, and runs nothing; raises click.UsageError."""
    command: click.Command = main
    context = click.Context(main, info_name="weboid")
    while isinstance(command, click.Group):
        _, found, words = command.resolve_command(context, list(words))
        assert found is not None
        command, context = found, click.Context(found, parent=context, info_name=found.name)
    command.make_context(command.name, list(words), parent=context.parent)


@pytest.fixture(scope="module")
def services() -> dict[str, Any]:
    services: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))["services"]
    return services


def unit(*names: str) -> configparser.RawConfigParser:
    """A unit and its drop-ins; of settings that may be repeated the last one alone."""
    parser = configparser.RawConfigParser(strict=False, delimiters="=", comment_prefixes="#")
    parser.optionxform = str  # type: ignore[assignment, method-assign]
    assert parser.read([UNITS / name for name in names], encoding="utf-8") == [str(UNITS / name) for name in names]
    return parser


def seconds(text: str) -> float:
    (number, kind), *rest = re.findall(r"(\d+)(s|m|)", text)[:1]
    assert not rest
    return timedelta(**{"minutes" if kind == "m" else "seconds": int(number)}).total_seconds()


def test_each_part_is_a_service_of_one_image_with_limits_and_a_check_of_its_own(services: dict[str, Any]) -> None:
    assert {*services} == PARTS | {"database", "migrate"}
    assert len({service["image"] for name, service in services.items() if name != "database"}) == 1
    for name, service in services.items():
        assert service["restart"]
        assert service["mem_limit"]
        if name in PARTS:
            assert service["healthcheck"]["test"][-3:] == ["weboid", "health", name]
            assert seconds(service["stop_grace_period"]) > GRACE_S
        if name != "database":
            accept(service["command"])
            assert service["read_only"]
            assert service["init"], "orphans would stay as zombies"


def test_the_database_of_the_services_has_the_major_version_of_the_programs_that_back_it_up(
    services: dict[str, Any],
) -> None:
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    (embedded,) = project["optional-dependencies"]["embedded"]
    found = re.search(r">=(\d+)", embedded)
    assert found
    assert f"postgres:{found[1]}-" in services["database"]["image"]


def test_a_part_has_the_same_command_as_service_as_unit_and_on_toolforge(services: dict[str, Any]) -> None:
    lines = (REPOSITORY / "Procfile").read_text(encoding="utf-8").splitlines()
    procfile = {name: words.split()[3:] for name, _, words in (line.partition(": ") for line in lines)}
    for part in PARTS:
        folder = UNITS / f"weboid@{part}.service.d"
        names = [f"{folder.name}/{file.name}" for file in folder.glob("*.conf")]
        setting = unit("weboid@.service", *names)["Service"].get("Environment", "") if names else f"PART_COMMAND={part}"
        command = re.sub(r'^"?PART_COMMAND=|"$', "", setting).split()
        assert command == services[part]["command"], part
        accept(command)
        # There the webservice takes the address from the line, and a job of its own begins the maintenance each day.
        assert procfile[part][: len(command)] == [word for word in command if part != "maintain" or word != "--repeat"]


def test_systemd_gives_the_time_to_stop_in_order() -> None:
    of_database_s = postmaster._STOP_S + postmaster._QUIT_S
    for name, needed_s in (("weboid.service", GRACE_S + of_database_s), ("weboid@.service", GRACE_S)):
        service = unit(name)["Service"]
        assert seconds(service["TimeoutStopSec"]) > needed_s
        # The default would send the signal to PostgreSQL, too, which takes it for an order to wait for its clients.
        assert service["KillMode"] == "mixed"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd is not installed")
def test_systemd_takes_the_units(tmp_path: Path) -> None:
    shutil.copytree(UNITS, tmp_path, dirs_exist_ok=True)
    for template in tmp_path.glob("*.service"):  # The program lies in another place here.
        text = template.read_text(encoding="utf-8")
        template.write_text(re.sub(r"ExecStart=\S+", f"ExecStart={shutil.which('true')}", text), encoding="utf-8")
    parts = [f"weboid@{part}.service" for part in sorted(PARTS)]
    for name in parts:
        (tmp_path / name).symlink_to("weboid@.service")
    environment = os.environ | {"SYSTEMD_UNIT_PATH": f"{tmp_path}:"}
    units = [str(tmp_path / name) for name in ("weboid.service", "weboid.target", *parts)]
    command = ["systemd-analyze", "verify", "--man=no", *units]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False, timeout=60)
    assert (run.returncode, [line for line in run.stderr.splitlines() if "weboid" in line]) == (0, [])


def test_all_that_is_published_but_tests_gets_into_the_image_and_nothing_else() -> None:
    rules = (REPOSITORY / ".dockerignore").read_text(encoding="utf-8").splitlines()
    first, *rules = [rule for rule in rules if not rule.startswith("#")]
    assert first == "*"
    named = {rule.removeprefix("!") for rule in rules if rule.startswith("!")}
    locks = {name for name in SHIPPED if re.fullmatch(r"requirements.*\.txt", name)}
    wanted = {*SHIPPED, *ASSETS, "weboid", "weboid_scripts", STAMP} - NOT_IN_THE_IMAGE - locks
    assert named == wanted | {"requirements*.txt"}
    assert {"**/.env", "**/weboid.toml", "toolforge/envvars", "**/__pycache__", "**/node_modules"} <= {*rules}
