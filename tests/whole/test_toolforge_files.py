"""What Toolforge and the catalogues read of this repository: it fits their forms, and what it names is there."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

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


def test_the_runbook_is_commands_that_a_shell_can_read() -> None:
    blocks = runbook_blocks()
    assert len(blocks) > 8
    for block in blocks:
        checked = subprocess.run(["bash", "-n"], input=block.encode(), stderr=subprocess.PIPE)
        assert (checked.returncode, checked.stderr) == (0, b""), block


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


@pytest.mark.skipif(shutil.which("make") is None, reason="make is missing")
def test_make_has_the_python_of_the_folder_above_whatever_the_build_service_has(tmp_path: Path) -> None:
    # A pyenv that says what holds in other folders, and fails where a file names a version that it has not.
    (tmp_path / "pyenv").write_text("#!/bin/sh\ntest ! -e .python-version && echo 3.12.1\n")
    (tmp_path / "pyenv").chmod(0o755)
    checkout = tmp_path / "checkout"
    checkout.mkdir()
    for name in ("Makefile", ".python-version"):
        shutil.copy(REPOSITORY / name, checkout)
    call = ["make", "-s", "--eval", "shown: ; @echo $$PYENV_VERSION", "shown"]
    environ = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    assert subprocess.run(call, cwd=checkout, env=environ, stdout=subprocess.PIPE).stdout == b"3.12.1\n"


def test_toolinfo_fits_the_schema_and_names_what_is_there() -> None:
    info = json.loads((REPOSITORY / "toolinfo.json").read_text(encoding="utf-8"))
    assert _misfits(info) == []
    assert info["_schema"] == "/toolinfo/1.2.2"
    languages = {file.stem for file in (REPOSITORY / "i18n").glob("*.json")} - {"qqq"}
    assert {*info["available_ui_languages"]} == languages
    paths = {route.path for route in ROUTES}
    own = [value for value in info.values() if isinstance(value, str) and value.startswith("https://weboid.toolforge")]
    assert [url for url in own if url.removeprefix("https://weboid.toolforge.org") not in paths] == []
    assert len(own) == 3


@pytest.mark.parametrize(("key", "value"), [("title", None), ("for_wikis", ["example.org"]), ("licence", "MIT")])
def test_a_toolinfo_with_a_fault_does_not_fit(key: str, value: Any) -> None:
    info = json.loads((REPOSITORY / "toolinfo.json").read_text(encoding="utf-8"))
    given = {**info, key: value} if value is not None else {name: info[name] for name in info if name != key}
    assert _misfits(given) == [key]


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


_REQUIRED = ("name", "title", "description", "url")
_URL, _TEXT = r"https?://[^\s/]+/?\S{0,2000}", r".{0,255}"
_PROJECTS = "pedia|quote|books|source|news|versity|data|voyage|media"
_FORMS = {
    **dict.fromkeys(("name", "title", "subtitle", "license", "author"), _TEXT),
    **dict.fromkeys(("url", "repository", "api_url", "translate_url", "privacy_policy_url"), _URL),
    **dict.fromkeys(("_language", "available_ui_languages"), r"x-.*|[A-Za-z]{2,3}(-.*)?"),
    "_schema": r"/toolinfo/.{0,20}",
    "description": r"(?s).{0,65535}",
    "for_wikis": rf"\*|(.*)?\.?(mediawiki|wiktionary|wiki({_PROJECTS}))\.org",
    "technology_used": _TEXT,
    "tool_type": r"(web|desktop) app|bot|gadget|user script|command line tool|coding framework|lua module|template",
}


def _misfits(info: dict[str, Any]) -> list[str]:
    """The keys that do not fit the schema 1.2.2 of Toolhub (its jsonschema/toolinfo/1.2.2.json), or are missing.

    Of the schema only keys that we may need are known here; it allows more.
    """
    missing = [key for key in _REQUIRED if key not in info]
    return missing + [key for key, value in info.items() if not _fits(key, value)]


def _fits(key: str, value: Any) -> bool:
    values = [each["name"] if key == "author" else each for each in (value if isinstance(value, list) else [value])]
    return key in _FORMS and all(isinstance(each, str) and re.fullmatch(_FORMS[key], each) for each in values)
