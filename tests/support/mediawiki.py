"""A real MediaWiki for tests: Debian's 1.43 in a tree that ``make`` unpacks, PHP's own server, SQLite in a folder.

Debian's package has everything and comes from the mirror that the machine has anyway; a container would need a daemon.
It has the extensions Cite, Gadgets, ParserFunctions, Scribunto and TemplateData, all skins of the package, and Parsoid.
One law: it ends with the test run, even with one that is killed; and without the tree or PHP a test skips and says why.
"""

import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode
from xml.sax.saxutils import escape

import pytest
from support.memory import memory_folder
from support.ports import free_port

ADMIN: Final = "Admin"
PASSWORD: Final = "harbour-lighthouse-7"
SKINS: Final = ("Vector", "MinervaNeue", "MonoBook", "Timeless")
EXTENSIONS: Final = ("Cite", "Gadgets", "ParserFunctions", "Scribunto", "TemplateData")
PHP_MODULES: Final = ("intl", "mbstring", "pdo_sqlite", "xml")
_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_DBNAME: Final = "testwiki"
_START_S: Final = 30.0
_SCRIPT_S: Final = 110.0
_SETTINGS: Final = Path(__file__).with_name("mediawiki_settings.php").read_text(encoding="utf-8")
"""Caches are in the database, as what a maintenance script changes must reach the server; nobody outside is asked."""

_ROUTER: Final = Path(__file__).with_name("mediawiki_router.php").read_text(encoding="utf-8")
_COMPILED: Final = (
    "-dopcache.enable_cli=1",
    "-dopcache.memory_consumption=192",
    "-dopcache.max_accelerated_files=16000",
    "-dopcache.validate_timestamps=0",
    "-dmemory_limit=1G",
    "-derror_reporting=E_ALL & ~E_DEPRECATED",
)
_RUN: Final = """"$@" </dev/null & trap '' TERM; read -r word; kill -TERM -$$; wait
[ "$word" = stop ] || rm -rf "$0\""""
"""The server's workers outlive their parent: the whole group ends with the input, and that ends with the run.

The folder goes too if the run was killed: then no word has come."""


_MODELS: Final = {
    "js": ("javascript", "text/javascript"),
    "css": ("css", "text/css"),
    "json": ("json", "application/json"),
}
"""Content model and format of pages of the interface, by the end of their title."""


class Interwiki(NamedTuple):
    prefix: str
    url: str
    local: bool = False


class MediaWiki:
    """A wiki in a folder; `url` is its origin, `api` its api.php, `rest` its rest.php."""

    def __init__(self, tree: Path, folder: Path, port: int) -> None:
        self.folder = folder
        self.port = port
        self.url = f"http://127.0.0.1:{port}"
        self.api = f"{self.url}/w/api.php"
        self.rest = f"{self.url}/w/rest.php"
        self.dbname = _DBNAME
        self._tree = tree
        self._server: subprocess.Popen[bytes] | None = None

    def install(self, language: str, settings: str) -> None:
        """Makes the wiki, empty but for its main page; `settings` are more lines of its LocalSettings.php."""
        for part in ("www", "data", "cache", "images"):
            (self.folder / part).mkdir()
        (self.folder / "www" / "w").symlink_to(self._tree)
        (self.folder / "www" / "images").symlink_to(self.folder / "images")
        (self.folder / "router.php").write_text(_ROUTER, encoding="utf-8")
        options = {
            "confpath": self.folder,
            "dbtype": "sqlite",
            "dbpath": self.folder / "data",
            "dbname": _DBNAME,
            "server": self.url,
            "scriptpath": "/w",
            "lang": language,
            "pass": PASSWORD,
            "extensions": ",".join(EXTENSIONS),
            "skins": ",".join(SKINS),
        }
        self.run("install", *(f"--{name}={value}" for name, value in options.items()), "Test wiki", ADMIN)
        with (self.folder / "LocalSettings.php").open("a", encoding="utf-8") as file:
            file.write(f"\n{_SETTINGS}{settings}")

    def start(self, workers: int = 4) -> None:
        """Starts the web server and waits until the wiki answers."""
        # Not APCu, where it is installed: what one wiki keeps there would be taken for another's of the same name.
        serve = ["php", *_COMPILED, "-dapc.enabled=0", "-S", f"127.0.0.1:{self.port}", "-t", str(self.folder / "www")]
        command = ["sh", "-c", _RUN, str(self.folder), *serve, str(self.folder / "router.php")]
        environ = {**os.environ, **self._environ(), "PHP_CLI_SERVER_WORKERS": str(workers)}
        with (self.folder / "server.log").open("ab") as out:
            self._server = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=out, stderr=out, env=environ, start_new_session=True
            )
        until_s = time.monotonic() + _START_S
        while time.monotonic() < until_s and self._server.poll() is None:
            with suppress(OSError), urllib.request.urlopen(f"{self.api}?action=query&format=json", timeout=_START_S):
                return
            time.sleep(0.05)
        raise RuntimeError(f"no wiki: {(self.folder / 'server.log').read_text(encoding='utf-8')[-2000:]}")

    def stop(self) -> None:
        if self._server:
            self._server.communicate(b"stop\n", _START_S)
            self._server = None

    def run(self, script: str, *arguments: str | Path, text: str = "") -> str:
        """Runs a maintenance script with `text` as input; returns what it prints, raises RuntimeError if it fails."""
        runner = self._tree / "maintenance" / "run.php"
        program = ["php", *_COMPILED, f"-dopcache.file_cache={self._compiled()}", runner, script, *arguments]
        env = {**os.environ, **self._environ()}
        done = subprocess.run(
            program, input=text, env=env, capture_output=True, text=True, timeout=_SCRIPT_S, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{script}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout

    def save(self, title: str, text: str) -> None:
        """Saves one page as its administrator, with the content model of its title: a gadget's code is JavaScript."""
        self.run("edit", "--user", ADMIN, title, text=text)

    def save_pages(self, pages: Mapping[str, str]) -> None:
        """Saves pages with this text by full title, all at once; their links are known afterwards.

        A page of the interface whose title ends like a file of a gadget has that file's content model.
        """
        file = self.folder / "pages.xml"
        file.write_text(_export(pages), encoding="utf-8")
        self.import_pages(file)

    def import_pages(self, *files: Path, linked: bool = True) -> None:
        """Imports XML exports; unless `linked`, their links are not known before `update_links`."""
        for file in files:
            self.run("importDump", "--username-prefix=imported", *(() if linked else ("--no-updates",)), file)

    def update_links(self, pages: Iterable[int]) -> None:
        """Lets the running server render pages for readers and note their links, on all cores."""
        requests = [
            urlencode({"action": "purge", "forcelinkupdate": 1, "pageids": page, "format": "json"}) for page in pages
        ]

        def ask(request: str) -> bytes:
            with urllib.request.urlopen(self.api, request.encode(), timeout=_SCRIPT_S) as response:
                answer: bytes = response.read()
                return answer

        with ThreadPoolExecutor(os.cpu_count()) as executor:
            for answer in executor.map(ask, requests):
                if b'"linkupdate":' not in answer:
                    raise RuntimeError(answer.decode())

    def import_images(self, images: Mapping[str, bytes]) -> None:
        folder = self.folder / "uploads"
        folder.mkdir(exist_ok=True)
        for name, image in images.items():
            (folder / name).write_bytes(image)
        self.run("importImages", folder)

    def add_interwikis(self, entries: Iterable[Interwiki]) -> None:
        """Adds prefixes to the interwiki map. Before the server starts: it keeps the map."""
        with closing(sqlite3.connect(self.database)) as connection, connection:
            connection.executemany(
                "INSERT OR REPLACE INTO interwiki (iw_prefix, iw_url, iw_api, iw_wikiid, iw_local, iw_trans)"
                " VALUES (?, ?, '', '', ?, 0)",
                entries,
            )

    @property
    def server(self) -> int:
        assert self._server
        return self._server.pid

    @property
    def database(self) -> Path:
        return self.folder / "data" / f"{_DBNAME}.sqlite"

    def _compiled(self) -> Path:
        """Where compiled PHP is kept for the next script."""
        folder = self.folder / "compiled"
        folder.mkdir(exist_ok=True)
        return folder

    def _environ(self) -> dict[str, str]:
        settings = self.folder / "LocalSettings.php"
        known = {"MW_CONFIG_FILE": str(settings)} if settings.exists() else {}
        return {"MW_INSTALL_PATH": str(self._tree), **known}


def find_tree() -> Path:
    """The unpacked MediaWiki; skips the test, and says what is missing, where it cannot be had."""
    given = os.environ.get("WEBOID_TEST_MEDIAWIKI")
    places = [Path(given)] if given else [Path(sys.prefix) / "mediawiki", _REPOSITORY / ".venv" / "mediawiki"]
    found = next((place for place in places if (place / "index.php").exists()), None)
    if found is None:
        pytest.skip("MediaWiki is not unpacked: make .venv/mediawiki.stamp")
    if not shutil.which("php"):
        pytest.skip("PHP is not installed (Debian: php-cli, php-intl, php-mbstring, php-sqlite3, php-xml)")
    modules = subprocess.run(["php", "-m"], check=True, capture_output=True, text=True).stdout.split()
    if missing := [module for module in PHP_MODULES if module not in modules]:
        pytest.skip(f"PHP lacks {', '.join(missing)} (Debian: php-intl, php-mbstring, php-sqlite3, php-xml)")
    return found


@contextmanager
def make_mediawiki(*, language: str = "en", settings: str = "") -> Iterator[MediaWiki]:
    """A new wiki that is not started yet, and ends with the block; skips the test where it cannot be had."""
    tree = find_tree()
    folder = Path(tempfile.mkdtemp(prefix="weboid-mw-", dir=memory_folder()))
    try:
        wiki = MediaWiki(tree, folder, free_port())
        wiki.install(language, settings)
        try:
            yield wiki
        finally:
            wiki.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _model(title: str) -> str:
    """The elements of an export that say what kind of text a page has."""
    name = title.rpartition(".")[2] if title.startswith("MediaWiki:") else ""
    model, kind = _MODELS.get(name, ("wikitext", "text/x-wiki"))
    return f"<model>{model}</model><format>{kind}</format>"


def _export(pages: Mapping[str, str]) -> str:
    entries = "".join(
        f"<page><title>{escape(title)}</title><revision><timestamp>2026-11-01T00:00:00Z</timestamp>"
        f'{_model(title)}<text xml:space="preserve">{escape(text)}</text>'
        "</revision></page>"
        for title, text in pages.items()
    )
    return f'<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">{entries}</mediawiki>'
