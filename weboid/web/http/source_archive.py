"""The published source: a zip of the running version with what the repository ships (W-2, AGPL).

It is made of the very files that run, laid out as in the repository, so that it can be unpacked and started; nothing
else that may be in a checkout is in it.
"""

import asyncio
import json
import re
import sys
import zipfile
from asyncio.subprocess import PIPE
from collections.abc import Iterator
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, distribution
from io import BytesIO
from os import nice
from pathlib import Path
from typing import Final

import weboid
from weboid.web.http.respond import SharedBody, body_of

INSIDE: Final = "repository"
"""In a wheel, the folder of the package with what is next to it in the repository; `ASSETS` are directly in it."""
ASSETS: Final = ("gadget", "i18n", "sql", "streams", "wikis")
SHIPPED: Final = (
    ".ci", ".dockerignore", ".editorconfig", ".github", ".gitignore", ".pre-commit-config.yaml", ".python-version",
    "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "Containerfile", "LICENSE", "Makefile", "Procfile",
    "README.md", "SECURITY.md", "THIRD-PARTY.md", "benchmarks", "deploy", "docs", "jobs.yaml", "pyproject.toml",
    "requirements-dev.txt", "requirements-embedded.txt", "requirements-openapi.txt", "requirements-pywb.txt",
    "requirements-toolforge.txt", "requirements.txt", "service.template", "tests", "toolforge", "toolinfo.json",
    "tools",
)  # fmt: skip
"""The names at the top of the repository in addition to packages and assets. A wheel has no tests and benchmarks."""
_SCRIPTS: Final = "weboid_scripts"
"""The package next to this one, in a checkout as well as installed."""
STAMP: Final = "COMMIT"
"""The file at the top of the archive that names the commit, as the archive has no git history."""

_KINDS: Final = frozenset(
    {
        ".c", ".conf", ".css", ".example", ".html", ".js", ".json", ".jsonl", ".lua", ".md", ".php", ".png", ".py",
        ".service", ".sql", ".svg", ".target", ".template", ".toml", ".ts", ".txt", ".wikitext", ".yaml", ".yml",
    }
)  # fmt: skip
_NAMES: Final = frozenset(
    {
        ".dockerignore", ".editorconfig", ".gitignore", ".python-version", "Containerfile", "LICENSE", "Makefile",
        "Procfile", "SHA256SUMS", "run",
    }
)  # fmt: skip
_LEFTOVERS: Final = frozenset({"__pycache__", "node_modules"})
_HASH: Final = re.compile(r"[0-9a-f]{40,64}")
_NAMED: Final = 12
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The earliest time of the zip format: with a fixed time the same files always give the same archive."""


def source_files(package: Path) -> dict[str, Path]:
    """The files of the source by their names in the repository; `package` is in a checkout or was installed.

    Only kinds of files that the repository has, and nothing hidden: settings, keys and leftovers are never published.
    """
    is_checkout = _is_repository(package.parent)
    around = package.parent if is_checkout else package / INSIDE
    tops = {name: (package.parent if is_checkout else package) / name for name in ASSETS}
    tops |= {name: around / name for name in SHIPPED}
    apart = () if is_checkout else (package / INSIDE, *(package / name for name in ASSETS))
    found = {name: file for top, path in tops.items() for name, file in _files(top, path, ())}
    packages = (_files(package.name, package, apart), _files(_SCRIPTS, package.parent / _SCRIPTS, ()))
    return dict(sorted((found | {name: file for each in packages for name, file in each}).items()))


def commit_of(package: Path) -> str | None:
    """The commit, from a checkout, from an unpacked archive or from what pip has recorded; None if it is unknown."""
    root = package.parent
    if not _is_repository(root):
        return _installed_commit()
    for read in (_head, _stamp):
        try:
            commit = read(root)
        except (OSError, ValueError):
            continue
        if _HASH.fullmatch(commit):
            return commit
    return None


def archive_of(package: Path) -> bytes:
    """A zip of the source of this package, with the commit if it is known."""
    contents = {name: path.read_bytes() for name, path in source_files(package).items()}
    if commit := commit_of(package):
        contents[STAMP] = f"{commit}\n".encode()
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in sorted(contents.items()):
            entry = zipfile.ZipInfo(name, _EARLIEST)
            entry.external_attr = (0o100755 if content.startswith(b"#!") else 0o100644) << 16
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)
    return target.getvalue()


def name_of(package: Path) -> str:
    """The name of the archive: version and commit; a digest of the files where no commit is known."""
    return f"weboid-{weboid.__version__}-{(commit_of(package) or _digest(package))[:_NAMED]}.zip"


def _is_repository(root: Path) -> bool:
    """True for the top of our repository: next to an installed package, `docs` may belong to other packages."""
    try:
        return 'name = "weboid"' in (root / "pyproject.toml").read_text(encoding="utf-8")
    except (OSError, ValueError):
        return False


def _files(name: str, path: Path, apart: tuple[Path, ...]) -> Iterator[tuple[str, Path]]:
    """The files to publish of a file or folder, by name; paths in `apart` are skipped, as they have other names."""
    if path.is_symlink() or path in apart:
        return
    if path.is_dir():
        for inner in path.iterdir():
            if not inner.name.startswith(".") and inner.name not in _LEFTOVERS:
                yield from _files(f"{name}/{inner.name}", inner, apart)
    elif path.is_file() and (path.suffix in _KINDS or path.name in _NAMES):
        yield name, path


def _head(root: Path) -> str:
    """The commit that git has checked out, read from its files; raises OSError or ValueError."""
    git = root / ".git"
    if git.is_file():  # a git worktree: its git directory is at another place
        git = root / git.read_text(encoding="utf-8").removeprefix("gitdir:").strip()
    head = (git / "HEAD").read_text(encoding="utf-8").strip()
    if not head.startswith("ref:"):
        return head
    ref = head.removeprefix("ref:").strip()
    shared = git / (git / "commondir").read_text(encoding="utf-8").strip() if (git / "commondir").is_file() else git
    if (shared / ref).is_file():
        return (shared / ref).read_text(encoding="utf-8").strip()
    packed = (shared / "packed-refs").read_text(encoding="utf-8").splitlines()
    return next((line.partition(" ")[0] for line in packed if line.endswith(f" {ref}")), "")


def _stamp(root: Path) -> str:
    return (root / STAMP).read_text(encoding="utf-8").strip()


def _installed_commit() -> str | None:
    """The commit that pip recorded when it installed from a repository (PEP 610); None if there is none."""
    try:
        noted = json.loads(distribution("weboid").read_text("direct_url.json") or "{}")
        commit = noted["vcs_info"]["commit_id"]
    except (PackageNotFoundError, ValueError, KeyError, TypeError):
        return None
    return commit if isinstance(commit, str) and _HASH.fullmatch(commit) else None


def _digest(package: Path) -> str:
    digest = sha256()
    for name, path in source_files(package).items():
        content = path.read_bytes()
        digest.update(f"{name}\0{len(content)}\0".encode() + content)
    return digest.hexdigest()


_PACKAGE: Final = Path(weboid.__file__).parent
NAME: Final = name_of(_PACKAGE)
"""The name under which the source that runs is served."""


async def packed() -> SharedBody:
    """A zip of the source that runs, made in a process that gives way to this one: it takes a third of a second."""
    process = await asyncio.create_subprocess_exec(sys.executable, "-m", __name__, stdout=PIPE)
    zipped, _ = await process.communicate()
    if process.returncode:
        raise RuntimeError("the source could not be packed")
    return await asyncio.to_thread(body_of, zipped)


if __name__ == "__main__":
    nice(19)
    sys.stdout.buffer.write(archive_of(_PACKAGE))
