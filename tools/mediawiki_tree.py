"""Fetches the MediaWiki that Debian ships and unpacks it into a folder; nothing is installed. ``make`` runs this.

It needs apt and dpkg, as any user. The mirror is the one that the machine has for its own packages.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

RELEASE: Final = "trixie"
PACKAGES: Final = ("mediawiki=1:1.43*", "mediawiki-classes=1:1.43*")
_KEYS: Final = "/usr/share/keyrings/debian-archive-keyring.gpg"
_OUTSIDE: Final = ("extensions", "skins", "images", "config", "LocalSettings.php")
"""In the package these lead to folders of the machine."""


def unpack(folder: Path) -> None:
    """MediaWiki's tree as `folder`, in one step: a folder that is there is whole.

    Raises LookupError or CalledProcessError if it cannot be had.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".mediawiki-", dir=folder.parent) as name:
        work = Path(name)
        _download(work)
        for package in work.glob("*.deb"):
            subprocess.run(["dpkg-deb", "-x", package, work / "unpacked"], check=True)
        tree = work / "unpacked" / "usr" / "share" / "mediawiki"
        _relink(tree)
        tree.rename(folder)


def _download(work: Path) -> None:
    for part in ("lists/partial", "cache/archives/partial"):
        (work / part).mkdir(parents=True)
    sources = work / "sources.list"
    sources.write_text(f"deb [signed-by={_KEYS}] {_mirror()} {RELEASE} main\n", encoding="utf-8")
    own = {
        "Dir::Etc::SourceList": sources,
        "Dir::Etc::SourceParts": os.devnull,
        "Dir::State::Lists": work / "lists",
        "Dir::Cache": work / "cache",
        "APT::Sandbox::User": "root",
        "Acquire::Languages": "none",
        "Acquire::Retries": "1",
        "Acquire::http::Timeout": "30",
    }
    apt = ["apt-get", "-qq", *(f"-o{key}={value}" for key, value in own.items())]
    for command in (["update"], ["download", *PACKAGES]):
        subprocess.run([*apt, *command], cwd=work, check=True, stdout=subprocess.DEVNULL)


def _mirror() -> str:
    """Where this machine gets Debian's packages from. Its lists may be missing: then apt knows addresses only."""
    question = ["apt-get", "indextargets", "--format", "$(REPO_URI)"]
    listed = subprocess.run(question, check=True, capture_output=True, text=True).stdout.split()
    found = next((address for address in listed if "/debian/" in f"{address}/"), None)
    if found is None:
        raise LookupError("this machine has no mirror of Debian's packages")
    return found


def _relink(tree: Path) -> None:
    """Makes the tree complete in itself, with the extensions and skins that the package has."""
    for name in _OUTSIDE:
        if (tree / name).is_symlink():
            (tree / name).unlink()
    for name in ("extensions", "skins"):
        if not (tree / name).exists():
            (tree / name).symlink_to(f"{name}-core")
    (tree / "images").mkdir(exist_ok=True)


if __name__ == "__main__":
    try:
        unpack(Path(sys.argv[1]).resolve())
    except (LookupError, OSError, subprocess.CalledProcessError) as error:
        sys.exit(f"MediaWiki could not be fetched: {error}")
