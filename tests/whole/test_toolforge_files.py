"""What Toolforge and the catalogues read of this repository: it fits their forms, and what it names is there."""

import json
import re
import shlex
from pathlib import Path

import pytest
import yaml
from support.toolforge import (
    REPOSITORY,
    example_lines,
    handed_over,
    loaded_jobs,
    procfile,
    runbook_blocks,
    understood_jobs_calls,
)

from weboid.config import load_config
from weboid.web.request.route import ROUTES

VANTAGE = {"VANTAGE_KEY", "VANTAGE_HOST_KEY"}
"""Variables of toolforge/vantage.py, which Weboid itself does not know."""
IMAGE = "tool-weboid/tool-weboid:latest"
QUOTA_GIB, QUOTA_CPUS, JOB_GIB, JOB_CPUS = 8, 16, 6, 3


def test_all_variables_of_the_example_are_known_and_make_a_configuration() -> None:
    given = dict(example_lines())
    config = load_config(None, {name: value for name, value in given.items() if name not in VANTAGE})
    assert [str(wiki.name) for wiki in config.wikis] == ["dewiki@WMF"]
    assert config.crawl.vantage.split()[:2] == ["python", "toolforge/vantage.py"]
    assert (REPOSITORY / "toolforge" / "vantage.py").is_file()
    assert given.keys() >= VANTAGE


def test_the_line_of_the_runbook_hands_values_over_as_they_are(tmp_path: Path) -> None:
    values = {
        "WEBOID_DATABASE": "host=/a b user='x y' password=\\$HOME`id`",
        "WEBOID_WIKI": '{"dewiki@WMF": {"pages": ["Ü = 1", "*"]}}',
        "WEBOID_CONTACT": " tools@example.org",
    }
    assert handed_over(tmp_path, values) == values


@pytest.mark.long
def test_toolforge_takes_what_the_runbook_says_of_jobs() -> None:
    calls = [
        shlex.split(line, comments=True)[2:]
        for block in runbook_blocks()
        for line in re.split(r"\n|; do |; done| && ", block)
        if line.startswith("toolforge jobs ")
    ]
    assert {call[0] for call in calls} == {"run", "delete", "load", "list", "logs", "quota", "restart", "flush"}
    assert understood_jobs_calls(calls)


@pytest.mark.long
def test_toolforge_takes_the_jobs_and_they_fit_its_quota() -> None:
    jobs = loaded_jobs()
    assert [job["name"] for job in jobs] == ["crawl", "feed", "events", "archive", "robot", "maintain"]
    web = yaml.safe_load((REPOSITORY / "service.template").read_text(encoding="utf-8"))
    shares = [(_gib(part.get("memory", part.get("mem"))), float(part["cpu"])) for part in [*jobs, web]]
    assert sum(memory for memory, _ in shares) <= QUOTA_GIB
    assert sum(cpus for _, cpus in shares) <= QUOTA_CPUS
    assert all(memory <= JOB_GIB and cpus <= JOB_CPUS for memory, cpus in shares)
    for job in jobs:
        assert job["cmd"] in procfile()
        assert (job["imagename"], job["mount"], job["emails"]) == (IMAGE, "none", "onfailure")
        if job["job_type"] == "scheduled":
            assert job["timeout"] < 86_400
        else:
            role = job["name"]
            assert job["health_check"] == {"type": "script", "script": f"python -m weboid health {role}"}


def test_the_webservice_is_looked_after_at_an_address_that_it_has() -> None:
    web = yaml.safe_load((REPOSITORY / "service.template").read_text(encoding="utf-8"))
    assert (web["type"], web["mount"]) == ("buildservice", "none")
    assert web["health-check-path"] in {route.path for route in ROUTES}


def test_the_build_service_finds_a_version_of_python_that_the_program_takes() -> None:
    # A line with a major version only, so that security updates come by themselves; several versions are refused.
    version = (REPOSITORY / ".python-version").read_text(encoding="utf-8")
    assert re.fullmatch(r"3\.(1[1-9])\n", version)


def test_toolinfo_has_what_is_required_and_names_what_is_there() -> None:
    info = json.loads((REPOSITORY / "toolinfo.json").read_text(encoding="utf-8"))
    assert info.keys() >= {"name", "title", "description", "url"}
    languages = {file.stem for file in (REPOSITORY / "i18n").glob("*.json")} - {"qqq"}
    assert {*info["available_ui_languages"]} == languages
    paths = {route.path for route in ROUTES}
    own = [value for value in info.values() if isinstance(value, str) and value.startswith("https://weboid.toolforge")]
    assert [url for url in own if url.removeprefix("https://weboid.toolforge.org") not in paths] == []
    assert len(own) == 3


def test_translatewiki_finds_the_messages() -> None:
    text = (REPOSITORY / "toolforge" / "translatewiki.yaml").read_text(encoding="utf-8")
    groups = [group for group in yaml.safe_load_all(text) if group]
    assert [group["BASIC"]["id"] for group in groups] == ["weboid", "weboid-scripts"]
    for group in groups:
        assert (group["BASIC"]["class"], group["FILES"]["format"]) == ("FileBasedMessageGroup", "Json")
        pattern = group["FILES"]["sourcePattern"]
        assert pattern.startswith("%GROUPROOT%/weboid/")
        for code in ("en", "qqq"):
            name = pattern.removeprefix("%GROUPROOT%/weboid/").replace("%CODE%", code)
            keys = json.loads((REPOSITORY / name).read_text(encoding="utf-8")).keys() - {"@metadata"}
            assert keys
            assert all(key.startswith("weboid-") for key in keys)


def _gib(size: str) -> float:
    number, unit = float(size[:-2]), size[-2:]
    return number if unit == "Gi" else number / 1024
