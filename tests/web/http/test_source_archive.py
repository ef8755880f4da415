"""W-2: the published source is what the repository ships, and runs where it is unpacked."""

import io
import shutil
import subprocess
import tomllib
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

import weboid
from weboid.web.http.source_archive import STAMP, archive_of, commit_of, name_of, source_files

PACKAGE = Path(weboid.__file__).parent
REPOSITORY = PACKAGE.parent
COMMIT = "c0ffee" + 34 * "0"
NEEDS_GIT = pytest.mark.skipif(
    not (REPOSITORY / ".git").exists() or shutil.which("git") is None, reason="this is no checkout, or git is missing"
)


def git(*words: str, cwd: Path = REPOSITORY) -> list[str]:
    options = ("-c", "safe.directory=*", "-c", "user.name=Test", "-c", "user.email=test@example.org")
    return subprocess.run(["git", *options, *words], cwd=cwd, check=True, capture_output=True, text=True).stdout.split()


def unpacked(data: bytes, folder: Path) -> Path:
    with closing(zipfile.ZipFile(io.BytesIO(data))) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A small checkout with all that lies about in one."""
    for name, text in {
        "pyproject.toml": 'name = "weboid"',
        "weboid/__init__.py": "",
        "weboid/web/a.html": "",
        "weboid/__pycache__/a.py": "",
        "weboid/.a.py.swp": "",
        "sql/a.sql": "",
        "sql/a.sql~": "",
        "gadget/node_modules/a.js": "",
        "toolforge/envvars": "WEBOID_WEB_SECRET=1",
        "toolforge/envvars.example": "",
        "docs/.env": "",
        ".ci/run": "#!/bin/sh",
        "weboid.toml": "secret",
        ".venv/a.py": "",
        "data/a.json": "",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "docs/link.md").symlink_to(tmp_path / "weboid.toml")
    return tmp_path


@NEEDS_GIT
def test_all_that_the_repository_ships_is_published_and_nothing_that_git_ignores() -> None:
    published = {*source_files(PACKAGE)}
    assert {*git("ls-files")} - published == set()
    assert published - {*git("ls-files", "--cached", "--others", "--exclude-standard")} == set()


def test_settings_keys_and_leavings_are_not_published(checkout: Path) -> None:
    assert [*source_files(checkout / "weboid")] == [
        *(".ci/run", "pyproject.toml", "sql/a.sql", "toolforge/envvars.example", "weboid/__init__.py"),
        "weboid/web/a.html",
    ]


@NEEDS_GIT
def test_the_name_carries_the_commit() -> None:
    (commit,) = git("rev-parse", "HEAD")
    assert name_of(PACKAGE) == f"weboid-{weboid.__version__}-{commit[:12]}.zip"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is missing")
def test_the_commit_is_found_however_git_keeps_it(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    git("init", "-q", cwd=checkout)
    assert commit_of(checkout / "weboid") is None
    git("add", "weboid", "pyproject.toml", cwd=checkout)
    git("commit", "-qm", "x", cwd=checkout)
    (commit,) = git("rev-parse", "HEAD", cwd=checkout)
    assert commit_of(checkout / "weboid") == commit
    other = tmp_path_factory.mktemp("other") / "tree"
    git("worktree", "add", "-q", "-b", "side/branch", str(other), cwd=checkout)
    assert commit_of(other / "weboid") == commit
    git("pack-refs", "--all", cwd=checkout)
    assert (commit_of(checkout / "weboid"), commit_of(other / "weboid")) == (commit, commit)
    git("checkout", "-q", "--detach", cwd=checkout)
    assert commit_of(checkout / "weboid") == commit


def test_an_installed_program_publishes_all_but_tests_and_benchmarks(tmp_path: Path) -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    wheel = settings["tool"]["hatch"]["build"]["targets"]["wheel"]
    included = wheel["force-include"]
    for package in wheel["packages"]:
        shutil.copytree(REPOSITORY / package, tmp_path / package, ignore=shutil.ignore_patterns("__pycache__"))
    for name, place in included.items():
        (tmp_path / place).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy
        copy(REPOSITORY / name, tmp_path / place)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs/others.md").write_text("next to an installed package lies what others have installed")
    expected = {name for name in source_files(PACKAGE) if not name.startswith(("tests/", "benchmarks/"))}
    assert {*source_files(tmp_path / "weboid")} == expected


def test_what_is_unpacked_publishes_the_same_under_the_commit_that_it_was_packed_of(tmp_path: Path) -> None:
    """That such files run, whole/test_toolforge shows: they are git's."""
    folder = unpacked(archive_of(PACKAGE), tmp_path)
    assert {*source_files(folder / "weboid")} == {*source_files(PACKAGE)}
    (folder / STAMP).write_text(f"{COMMIT}\n")
    assert name_of(folder / "weboid") == f"weboid-{weboid.__version__}-{COMMIT[:12]}.zip"
    assert (folder / "weboid/__init__.py").read_bytes() == (PACKAGE / "__init__.py").read_bytes()
