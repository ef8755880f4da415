"""A wiki's API as pywikibot's bots use it, on loopback, as small and quick as tests and benchmarks need it.

It keeps the newest text of each page, says who is logged in, saves edits by MediaWiki's rules for conflicts, and notes
each request. The real MediaWiki of ``support/pwb.py`` shows that these are the rules.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha1
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pywikibot
from aiohttp import web
from pywikibot import config, family
from support.little_service import served

BOT: Final = "WeboidBot"
DBNAME: Final = "testwiki"
_MOST: Final = 50
_SPACES: Final = {0: "", 1: "Talk", 2: "User", 3: "User talk", 8: "MediaWiki", 10: "Template", 14: "Category"}
_GENERAL: Final = {
    "mainpage": "Main Page", "sitename": "Test", "generator": "MediaWiki 1.43.0", "case": "first-letter", "lang": "en",
    "fallback": [], "wikiid": DBNAME, "time": "2026-11-22T12:00:00Z", "maxarticlesize": 2_097_152, "writeapi": True,
    "articlepath": "/wiki/$1", "scriptpath": "/w", "script": "/w/index.php", "server": "http://127.0.0.1",
    "legaltitlechars": " %!\"$&'()*,\\-.\\/0-9:;=?@A-Z\\\\^_`a-z~\\x80-\\xFF+", "timezone": "UTC", "timeoffset": 0,
    "linktrail": "/^([a-z]+)(.*)$/sD", "linkprefixcharset": "", "magiclinks": {}, "thumblimits": {}, "imagelimits": {},
    "titleconversion": False,
}  # fmt: skip


_MODULES: Final = {
    "prop": {"info": "in", "revisions": "rv", "categoryinfo": "ci", "imageinfo": "ii"},
    "list": {"allpages": "ap", "exturlusage": "eu"},
    "meta": {"siteinfo": "si", "userinfo": "ui", "tokens": ""},
}
_LIMIT: Final = {"name": "limit", "type": "limit", "max": 500, "highmax": 5_000, "limit": 50, "highlimit": 500}
_TOKENS: Final = {"name": "type", "type": ["csrf", "login"], "multi": True, "limit": 50, "highlimit": 500}
_ACTIONS: Final = ("edit", "login", "paraminfo", "query")


@dataclass(slots=True)
class StoredPage:
    title: str
    text: str
    revision: int
    model: str = "wikitext"
    is_redirect: bool = False
    user: str = "Author"


@dataclass
class LittleBotWiki:
    """The pages by id; `account` is who is logged in, empty for nobody.

    `refusals` are errors by title, given instead of saving; `before_saving` is called with the title of each edit.
    """

    base: str = ""
    pages: dict[int, StoredPage] = field(default_factory=dict)
    account: str = BOT
    has_messages: bool = False
    is_blocked: bool = False
    is_partly_blocked: bool = False
    users: dict[str, list[int]] = field(default_factory=dict)
    """Pages that link to a URL, which is without its scheme."""
    refusals: dict[str, dict[str, Any]] = field(default_factory=dict)
    before_saving: Callable[[str], object] = lambda _: None
    edits: list[dict[str, str]] = field(default_factory=list)
    asked: list[dict[str, str]] = field(default_factory=list)
    counted: Counter[str] = field(default_factory=Counter)
    revisions: int = 0

    def save(self, title: str, text: str, **others: Any) -> int:
        number = self.number_of(title)
        if number is None:
            return self.add(title, text, **others)
        self.revisions += 1
        self.pages[number] = StoredPage(title, text, self.revisions, **others)
        return number

    def add(self, title: str, text: str, **others: Any) -> int:
        number = len(self.pages) + 1
        self.revisions += 1
        self.pages[number] = StoredPage(title, text, self.revisions, **others)
        return number

    def number_of(self, title: str) -> int | None:
        return next((number for number, page in self.pages.items() if page.title == title), None)

    def text(self, title: str) -> str:
        number = self.number_of(title)
        return "" if number is None else self.pages[number].text

    def reads(self) -> int:
        return self.counted["texts"]

    def forget(self) -> None:
        self.asked.clear()
        self.counted.clear()

    async def answer(self, request: web.BaseRequest) -> web.StreamResponse:
        form = {} if request.method == "GET" else dict(await request.post())
        asked = {key: str(value) for key, value in {**request.query, **form}.items()}
        self.asked.append(asked)
        action = asked.get("action", "")
        self.counted[action] += 1
        match action:
            case "query":
                return web.json_response(self._query(asked))
            case "edit":
                return web.json_response(self._edit(asked))
            case "paraminfo":
                modules = [_module(path) for path in asked["modules"].split("|")]
                return web.json_response({"paraminfo": {"helpformat": "none", "modules": modules}})
            case "login":
                return web.json_response({"login": {"result": "Failed", "reason": "Incorrect password."}})
        return web.json_response({"error": {"code": "unknown_action", "info": f"Unrecognized value: {action}."}})

    def _query(self, asked: Mapping[str, str]) -> dict[str, Any]:
        query: dict[str, Any] = {}
        wanted = asked.get("meta", "").split("|")
        if "siteinfo" in wanted:
            query |= self._siteinfo(asked)
        if "userinfo" in wanted:
            query["userinfo"] = self._userinfo()
        if "tokens" in wanted:
            kinds = asked.get("type", "csrf").split("|")
            query["tokens"] = {f"{kind}token": f"{kind}+\\" for kind in kinds}
        if asked.get("generator") == "allpages" or asked.get("list") == "allpages":
            return {"query": query | self._all_pages(asked)} | self._going_on(asked)
        if asked.get("generator") == "exturlusage":
            users = [self.pages[number].title for number in self.users.get(asked["geuquery"], ())]
            shown = [{"pageid": self.number_of(title), "ns": 0, "title": title} for title in users]
            return {"query": query | {"pages": {str(each["pageid"]): each for each in shown}}}
        if "prop" in asked:
            query["pages"] = self._texts(asked)
        return {"query": query, "batchcomplete": True}

    def _siteinfo(self, asked: Mapping[str, str]) -> dict[str, Any]:
        table = {
            "general": _GENERAL,
            "namespaces": {
                str(number): {"id": number, "case": "first-letter", "*": name, "name": name, "canonical": name}
                for number, name in _SPACES.items()
            },
            "namespacealiases": [],
            "extensions": [],
            "interwikimap": [],
            "magicwords": [],
            "specialpagealiases": [],
            "usergroups": [],
        }
        return {key: table.get(key, []) for key in asked.get("siprop", "general").split("|")}

    def _userinfo(self) -> dict[str, Any]:
        if not self.account:
            return {"id": 0, "name": "127.0.0.1", "anon": True, "groups": ["*"], "rights": ["read", "edit"]}
        person = {"id": 1, "name": self.account, "groups": ["*", "bot"], "rights": ["read", "edit", "bot"]}
        if self.has_messages:
            person["messages"] = True
        if self.is_blocked:
            person |= {"blockid": 7, "blockedby": "Admin", "blockreason": "Wrong copies"}
            person["blockpartial"] = self.is_partly_blocked
        return person

    def _texts(self, asked: Mapping[str, str]) -> list[dict[str, Any]]:
        if "pageids" in asked:
            numbers: list[int | str] = [int(each) for each in asked["pageids"].split("|")]
        else:
            numbers = [self.number_of(each) or each for each in asked["titles"].split("|")]
        assert len(numbers) <= _MOST, "it gives 50 pages at a time"
        if asked["prop"] == "info":
            return [_without_text(self._text(number)) for number in numbers]
        self.counted["texts"] += "info" in asked["prop"]
        return [self._text(number) for number in numbers]

    def _text(self, number: int | str) -> dict[str, Any]:
        page = self.pages.get(number) if isinstance(number, int) else None
        if page is None:
            return {"pageid" if isinstance(number, int) else "title": number, "missing": True}
        revision = {
            "revid": page.revision, "parentid": 0, "user": page.user, "comment": "", "tags": [],
            "timestamp": "2026-11-22T12:00:00Z", "sha1": sha1(page.text.encode()).hexdigest(),
        }  # fmt: skip
        revision |= {"slots": {"main": {"contentmodel": page.model, "content": page.text}}}
        shown = {
            "pageid": number, "ns": 0, "title": page.title, "contentmodel": page.model, "lastrevid": page.revision,
            "revisions": [revision],
        }  # fmt: skip
        return shown | ({"redirect": True} if page.is_redirect else {})

    def _all_pages(self, asked: Mapping[str, str]) -> dict[str, Any]:
        start = int(asked.get("gapcontinue", asked.get("apcontinue", "0")))
        some = islice(self.pages.items(), start, start + 500)
        shown = [{"pageid": number, "ns": 0, "title": page.title} for number, page in some]
        if asked.get("list") == "allpages":
            return {"allpages": shown}
        return {"pages": {str(page["pageid"]): page for page in shown}}

    def _going_on(self, asked: Mapping[str, str]) -> dict[str, Any]:
        name = "gapcontinue" if asked.get("generator") else "apcontinue"
        start = int(asked.get(name, "0"))
        return {"continue": {name: str(start + 500), "continue": "-||"}} if start + 500 < len(self.pages) else {}

    def _edit(self, asked: dict[str, str]) -> dict[str, Any]:
        page = self.pages.get(int(asked["pageid"]))
        if page is not None:
            self.before_saving(page.title)
            page = self.pages.get(int(asked["pageid"]))
        if page is None:
            return {"error": {"code": "nosuchpageid", "info": "There is no page with that ID."}}
        if asked.get("assertuser") != self.account:
            return {"error": {"code": "assertnameduserfailed", "info": "You are no longer logged in as that user."}}
        if page.title in self.refusals:
            return {"error": self.refusals[page.title]}
        if int(asked["baserevid"]) != page.revision:
            return {"error": {"code": "editconflict", "info": "Edit conflict."}}
        self.edits.append(asked)
        self.revisions += 1
        page.text, page.revision, page.user = asked["text"], self.revisions, self.account
        return {
            "edit": {
                "result": "Success", "pageid": int(asked["pageid"]), "title": page.title, "contentmodel": page.model,
                "oldrevid": int(asked["baserevid"]), "newrevid": page.revision, "newtimestamp": "2026-11-22T12:00:00Z",
            }
        }  # fmt: skip


def _without_text(page: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in page.items() if key != "revisions"}


def _module(path: str) -> dict[str, Any]:
    """What the API says of one of its modules, as far as pywikibot wants to know it."""
    name = path.rpartition("+")[2]
    prefix = next((modules[name] for modules in _MODULES.values() if name in modules), "")
    parameters: list[dict[str, Any]] = [_LIMIT, _TOKENS, {"name": "namespace", "type": "namespace", "multi": True}]
    if path == "main":
        submodules = {each: each for each in _ACTIONS}
        parameters = [{"name": "action", "type": list(_ACTIONS), "submodules": submodules}]
        parameters.append({"name": "format", "type": ["json"], "submodules": {"json": "json"}})
    elif path == "query":
        parameters = [
            {"name": kind, "type": list(names), "limit": 50, "submodules": {each: f"query+{each}" for each in names}}
            for kind, names in _MODULES.items()
        ]
        parameters.append({"name": "generator", "type": list(_MODULES["list"])})
    return {"name": name, "path": path, "prefix": prefix, "parameters": parameters} | (
        {"mustbeposted": True} if path in ("edit", "login") else {}
    )


@contextmanager
def open_little_bot_wiki() -> Iterator[LittleBotWiki]:
    wiki = LittleBotWiki()
    with served(wiki.answer) as wiki.base:
        yield wiki


def site_of(wiki: LittleBotWiki, folder: str) -> Any:
    """Pywikibot's site for a wiki; its files go into a folder of the operator's, and nothing waits."""
    name = "little" + "".join(chr(ord("a") + int(digit)) for digit in wiki.base.rpartition(":")[2])

    class Family(family.SingleSiteFamily):  # type: ignore[misc]
        code = "en"
        domain = wiki.base.removeprefix("http://")

        def protocol(self, code: str) -> str:
            return "http"

        def scriptpath(self, code: str) -> str:
            return "/w"

    Family.name = name
    config.base_dir = folder
    (Path(folder) / "throttle.ctrl").touch()  # One process has all sites, and pywikibot reads what it wrote.
    config.put_throttle = config.minthrottle = config.noisysleep = 0
    config.max_retries, config.retry_wait, config.retry_max = 1, 0, 0
    config.usernames[name]["en"] = BOT
    return pywikibot.Site("en", Family(), user=BOT)
