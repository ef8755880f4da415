"""Pywikibot as an operator has it: a bot account of a real wiki, its own folder, and ``pwb SCRIPT …`` in a process.

The wiki of `bot_wiki` has the spam blacklist, too. It is shared by all tests of a run: each takes titles of its own.
One law: without MediaWiki or PHP a test skips and says why.
"""

import asyncio
import os
import sqlite3
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest
import requests
from support.forked import run_forked
from support.mediawiki import ADMIN, PASSWORD, MediaWiki, make_mediawiki

BOT: Final = "WeboidBot"
BOT_PASSWORD: Final = "f2h7k9m3q8w5r1t6h4u0i2o7p5a3s9d1"
FAMILY: Final = "weboidtest"
CODE: Final = "en"
_REPOSITORY: Final = Path(__file__).resolve().parents[2]
_LIMIT_S: Final = 60.0
_GRANTS: Final = "basic,highvolume,editpage,createeditmovepage"
_SETTINGS: Final = """
wfLoadExtension( "SpamBlacklist" );
$wgSpamBlacklistFiles = [];
$wgSpamBlacklistSettings = [ "email" => [ "files" => [] ], "spam" => [ "files" => [] ] ];
$wgGroupPermissions["bot"]["sboverride"] = false;
$wgUseRCPatrol = false;
"""
"""The blacklist holds for bots, too, and what was reverted is marked without somebody's approval, as on enwiki.

Only the wiki's own MediaWiki:Spam-blacklist counts: the list that is usual would be fetched from outside.
"""

_FAMILY_FILE: Final = """
from pywikibot import family

class Family(family.SingleSiteFamily):
    name, code, domain = {name!r}, {code!r}, {domain!r}

    def protocol(self, code):
        return "http"

    def scriptpath(self, code):
        return "/w"
"""
_USER_CONFIG: Final = """
family, mylang = {name!r}, {code!r}
family_files[{name!r}] = {family_file!r}
usernames[{name!r}][{code!r}] = {bot!r}
password_file = "user-password.cfg"
put_throttle = minthrottle = noisysleep = 0
maxthrottle = 1
max_retries = 2
retry_wait = retry_max = 1
console_encoding = "utf-8"
colorized_output = False
"""
"""Nothing waits: the wiki is ours alone."""


class Person:
    """Somebody who edits the wiki by its API, logged in once."""

    def __init__(self, api: str, name: str, password: str) -> None:
        self._api = api
        self._session = requests.Session()
        token = self.ask(action="query", meta="tokens", type="login")["query"]["tokens"]["logintoken"]
        shown = self.ask(action="login", lgname=name, lgpassword=password, lgtoken=token)["login"]
        if shown["result"] != "Success":
            raise RuntimeError(str(shown))
        self._token = self.ask(action="query", meta="tokens")["query"]["tokens"]["csrftoken"]

    def ask(self, **question: str | int) -> dict[str, Any]:
        data = {key: str(value) for key, value in question.items()}
        answer = self._session.post(self._api, data | {"format": "json", "formatversion": "2"}, timeout=_LIMIT_S)
        answer.raise_for_status()
        shown: dict[str, Any] = answer.json()
        return shown

    def do(self, action: str, **question: str | int) -> dict[str, Any]:
        """Does what changes the wiki; raises RuntimeError if the wiki refuses it."""
        shown = self.ask(action=action, token=self._token, **question)
        if "error" in shown:
            raise RuntimeError(f"{action}: {shown['error']}")
        done: dict[str, Any] = shown[action]
        return done

    def save(self, title: str, text: str, summary: str = "", **more: str | int) -> int:
        """Saves a page; returns its newest revision. A null edit has no revision: then that before it is returned."""
        done = self.do("edit", title=title, text=text, summary=summary, **more)
        return int(done.get("newrevid") or self.revision(title))

    def text(self, title: str) -> str:
        return str(self._newest(title)["slots"]["main"]["content"])

    def revision(self, title: str) -> int:
        return int(self._newest(title)["revid"])

    def history(self, title: str) -> list[dict[str, Any]]:
        """A page's revisions, newest first: revid, parentid, user, comment, tags, sha1, timestamp."""
        shown = self.ask(
            action="query", prop="revisions", titles=title, rvprop="ids|user|comment|tags|sha1|timestamp", rvlimit=50
        )
        return list(shown["query"]["pages"][0].get("revisions", []))

    def page_id(self, title: str) -> int:
        return int(self.ask(action="query", titles=title)["query"]["pages"][0]["pageid"])

    def undo(self, title: str, revision: int, summary: str = "") -> int:
        return int(self.do("edit", title=title, undo=revision, summary=summary)["newrevid"])

    def rollback(self, title: str, user: str = BOT, summary: str = "") -> int:
        """Rolls the last edits of `user` back; returns the new revision."""
        shown = self.ask(action="query", meta="tokens", type="rollback")["query"]["tokens"]["rollbacktoken"]
        done = self.ask(action="rollback", title=title, user=user, summary=summary, token=shown)
        return int(done["rollback"]["revid"])

    def protect(self, title: str, level: str = "sysop") -> None:
        """Lets only people of this level edit a page; an empty level releases it."""
        self.do("protect", title=title, protections=f"edit={level or 'all'}", expiry="never")

    def _newest(self, title: str) -> dict[str, Any]:
        shown = self.ask(action="query", prop="revisions", titles=title, rvprop="ids|content", rvslots="main")
        revision: dict[str, Any] = shown["query"]["pages"][0]["revisions"][0]
        return revision

    def parsed(self, title: str) -> dict[str, Any]:
        """A page as rendered: `text` (HTML), `categories` (hidden ones, too), `externallinks`, `parsewarnings`."""
        return self._rendered(page=title)

    def rendered(self, text: str) -> dict[str, Any]:
        return self._rendered(text=text, title="Unsaved", contentmodel="wikitext", disablelimitreport=1)

    def _rendered(self, **what: str | int) -> dict[str, Any]:
        shown = self.ask(action="parse", prop="text|categories|externallinks|parsewarnings", **what)["parse"]
        return {**shown, "categories": sorted(each["category"] for each in shown["categories"])}


@dataclass(frozen=True)
class PwbRun:
    """How a script ended; `out` is all that it printed, as an operator sees it."""

    status: int
    out: str


@dataclass
class BotWiki:
    """A wiki with a bot account; `admin` is its administrator."""

    wiki: MediaWiki
    admin: Person

    def person(self, name: str) -> Person:
        self.wiki.run("createAndPromote", "--force", name, PASSWORD)
        return Person(self.wiki.api, name, PASSWORD)

    def blacklist(self, *patterns: str) -> None:
        """Makes these regular expressions the wiki's spam blacklist, at once: by itself it takes ten seconds."""
        self.admin.save("MediaWiki:Spam-blacklist", "\n".join(patterns) or "# nothing")
        with closing(sqlite3.connect(self.wiki.folder / "data" / "wikicache.sqlite")) as connection, connection:
            connection.execute("DELETE FROM objectcache WHERE keyname LIKE '%blacklist%'")

    def run_jobs(self) -> None:
        """Lets the wiki do what it does after edits, such as marking what was reverted."""
        self.wiki.run("runJobs")


@dataclass
class Operator:
    """Who runs the bot: `folder` is the PYWIKIBOT_DIR, with cookies, caches and journals of its own.

    `environ` is given to every script as well, such as WEBOID_SERVICE.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Starts ``pwb`` with these words; what it prints can be read while it runs. Nobody answers its questions."""
        return subprocess.Popen(
            [Path(sys.executable).with_name("pwb"), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            encoding="utf-8",
            cwd=self.folder,
            env={**_clean_environ(self.folder), **self.environ},
        )

    def pwb(self, *words: str, limit_s: float = _LIMIT_S) -> PwbRun:
        """Runs ``pwb`` with these words to its end, which comes after `limit_s` at the latest."""
        environ = {**_clean_environ(self.folder), **self.environ}
        with ThreadPoolExecutor(1) as executor:  # a test may have a loop of its own
            run = run_forked(words, environ, self.folder, "", limit_s, "pwb")
            status, out, _ = executor.submit(asyncio.run, run).result()
        return PwbRun(status, out)

    def use(self, domain: str) -> None:
        """Sends pywikibot to another host and port, such as one that passes requests on to the wiki."""
        text = _FAMILY_FILE.format(name=FAMILY, code=CODE, domain=domain)
        (self.folder / "weboidtest_family.py").write_text(text, encoding="utf-8")


def _clean_environ(folder: Path) -> dict[str, str]:
    """The environment of this run, in which pwb finds this checkout's scripts, however old what is installed."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("WEBOID_", "PYWIKIBOT"))}
    path = [str(folder / "installed"), str(_REPOSITORY), *filter(None, [environ.get("PYTHONPATH")])]
    return {
        **environ,
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUNBUFFERED": "1",
        "PYWIKIBOT_DIR": str(folder),
        "COLUMNS": "200",
    }


def write_operators_folder(folder: Path, domain: str) -> None:
    """Makes a PYWIKIBOT_DIR for the bot of the wiki at `domain`, and the entry points that ``pip`` would install."""
    settings = {"name": FAMILY, "code": CODE, "bot": BOT, "family_file": str(folder / "weboidtest_family.py")}
    files = {
        "weboidtest_family.py": _FAMILY_FILE.format(name=FAMILY, code=CODE, domain=domain),
        "user-config.py": _USER_CONFIG.format(**settings),
        "user-password.cfg": f"({BOT!r}, BotPassword('weboid', {BOT_PASSWORD!r}))\n",
    }
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
        (folder / name).chmod(0o600)
    project = tomllib.loads((_REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = folder / "installed" / "weboid_checkout-0.dist-info"
    installed.mkdir(parents=True)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: weboid-checkout\nVersion: 0\n", encoding="utf-8")
    points = "\n".join(f"{name} = {where}" for name, where in project["entry-points"]["pywikibot"].items())
    (installed / "entry_points.txt").write_text(f"[pywikibot]\n{points}\n", encoding="utf-8")


@pytest.fixture(scope="session")
def bot_wiki() -> Iterator[BotWiki]:
    """A running wiki of this run with a bot; skips where there is no MediaWiki."""
    with make_mediawiki(settings=_SETTINGS) as wiki:
        wiki.run("createAndPromote", "--bot", BOT, PASSWORD)
        wiki.run("createBotPassword", "--appid", "weboid", "--grants", _GRANTS, BOT, BOT_PASSWORD)
        wiki.start()
        yield BotWiki(wiki, Person(wiki.api, ADMIN, PASSWORD))


@pytest.fixture
def operator(bot_wiki: BotWiki, tmp_path: Path) -> Operator:
    folder = tmp_path / "pywikibot"
    write_operators_folder(folder, f"127.0.0.1:{bot_wiki.wiki.port}")
    return Operator(folder)
