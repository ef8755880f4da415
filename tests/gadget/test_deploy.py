"""G-1: the gadget is saved on a wiki, which then loads it; what stands in the way is said in words."""

import itertools
import json
import os
import sqlite3
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from dataclasses import dataclass

import aiohttp
import pytest
from support.browser import needs_browser, open_browser
from support.mediawiki import ADMIN, MediaWiki, make_mediawiki
from support.ports import free_port
from support.wikireplay import Exchange, exchange, open_wiki_replay

from weboid.assets import asset
from weboid.errors import ConfigError, SourceError
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.gadget.build import built_gadget
from weboid.wiki.gadget.deployment import (
    DEFINITIONS,
    BotPassword,
    deploy_gadget,
    in_saving_order,
    merged_definitions,
    sign_in,
    with_consent,
)

real = pytest.mark.long
"""For tests with a real MediaWiki."""

_PASSWORD = "harbourlighthousebotpassword7777"
"""As long as MediaWiki wants those that are not made up by itself."""
_NAME = "Gadgeteer"
_GRANTS = ("createeditmovepage", "editsiteconfig")
_OWN_GRANTS = ("createeditmovepage", "editmycssjs")
"""What gadget/README.md names, without the basic rights, which Special:BotPasswords always grants."""
_TOO_FEW = {
    "changing": ("editsiteconfig", "editinterface", "editpage"),
    "interface": ("createeditmovepage", "editinterface"),
    "creating": ("createeditmovepage",),
    "ownpages": ("editmycssjs", "editpage"),
}
_PAGES = built_gadget(asset("gadget"), asset("i18n"))
_LINES = "\n".join(_PAGES.definitions)
_PARTS = [line[2 : line.index("[")] for line in _PAGES.definitions]
_ALL = len(_PAGES.pages) + len(_PAGES.descriptions) + 1


@dataclass(frozen=True)
class Ran:
    status: int
    out: str
    err: str


async def weboid_gadget(wiki: MediaWiki | str, *options: str, user: str, password: str = _PASSWORD) -> Ran:
    process = await create_subprocess_exec(
        *(sys.executable, "-m", "weboid", "gadget", "--deploy", wiki if isinstance(wiki, str) else wiki.api, *options),
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "WEBOID_NET_PERMIT": "127.0.0.0/8",
            "WEBOID_WIKI_USER": user,
            "WEBOID_WIKI_PASSWORD": password,
        },
        stdout=PIPE,
        stderr=PIPE,
    )
    out, err = await process.communicate()
    assert process.returncode is not None
    assert password not in out.decode() + err.decode()
    return Ran(process.returncode, out.decode(), err.decode())


def add_accounts(wiki: MediaWiki) -> None:
    wiki.run("createAndPromote", "--custom-groups=interface-admin", _NAME, _PASSWORD)
    for name, grants in {"gadget": _GRANTS, "own": _OWN_GRANTS, **_TOO_FEW}.items():
        wiki.run("createBotPassword", f"--appid={name}", f"--grants={','.join(('basic', *grants))}", _NAME, _PASSWORD)


def saved_pages(wiki: MediaWiki) -> list[str]:
    """The pages of the gadget that the wiki has, by the end of their title."""
    with closing(sqlite3.connect(wiki.database)) as connection:
        rows = connection.execute("SELECT page_title FROM page WHERE page_title LIKE '%eboid%' ORDER BY 1").fetchall()
    return [str(title) for (title,) in rows]


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    """A wiki with an interface administrator who has bot passwords for its gadgets, for her own pages, and for less."""
    with make_mediawiki() as made:
        add_accounts(made)
        made.start()
        yield made


@pytest.fixture(scope="module")
def bare_wiki(wiki: MediaWiki) -> Iterator[MediaWiki]:
    """Another wiki with the same accounts, in which nothing is saved."""
    with make_mediawiki() as made:
        add_accounts(made)
        made.start()
        yield made


@pytest.fixture
async def client() -> AsyncIterator[aiohttp.ClientSession]:
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as session:
        yield session


async def raw(client: aiohttp.ClientSession, wiki: MediaWiki, title: str) -> str:
    async with client.get(f"{wiki.url}/w/index.php", params={"title": title, "action": "raw"}) as response:
        return await response.text() if response.status == 200 else ""


async def load(client: aiohttp.ClientSession, wiki: MediaWiki) -> str:
    """The gadget as the wiki gives it to browsers."""
    question = {"modules": f"ext.gadget.{','.join(_PARTS)}", "lang": "en", "skin": "vector", "debug": "false"}
    async with client.get(f"{wiki.url}/w/load.php", params=question) as response:
        return await response.text()


@real
async def test_it_is_saved_once_and_the_wiki_loads_it_without_an_error(
    wiki: MediaWiki, client: aiohttp.ClientSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = f"{_NAME}@gadget"
    wiki.save("MediaWiki:Gadgets-definition", "== others ==\n* other[ResourceLoader]|other.js")
    dry = await weboid_gadget(wiki, "--dry-run", user=user)
    assert (dry.status, dry.err, dry.out.count("would create MediaWiki:")) == (0, "", _ALL - 1)
    assert "would change MediaWiki:Gadgets-definition" in dry.out
    assert await raw(client, wiki, "MediaWiki:Gadget-weboid.js") == ""

    first = await weboid_gadget(wiki, user=user)
    assert (first.status, first.err, first.out.count("created MediaWiki:")) == (0, "", _ALL - 1)
    for title, text in _PAGES.pages.items():
        saved = await raw(client, wiki, title)
        assert json.loads(saved) == json.loads(text) if title.endswith(".json") else saved == text.rstrip(), title
    definition = await raw(client, wiki, "MediaWiki:Gadgets-definition")
    assert definition == f"== others ==\n* other[ResourceLoader]|other.js\n\n== weboid ==\n{_LINES}"

    again = await weboid_gadget(wiki, user=user)
    assert (again.status, again.out) == (0, "everything is saved there already\n")

    monkeypatch.setenv("WEBOID_WIKI", json.dumps({"corpwiki@wmflabs": {"api": wiki.api}}))
    assert "--service https" in (await weboid_gadget("corpwiki@wmflabs", "--farm=wmflabs", user=user)).err
    named = await weboid_gadget("corpwiki@wmflabs", "--service=https://weboid.demo", user=user)
    assert "asks for testwiki@wmflabs, " in named.err
    saved = json.loads(await raw(client, wiki, "MediaWiki:Gadget-weboid-config.json"))
    assert (saved["service"], saved["farm"]) == ("https://weboid.demo", "wmflabs")

    async with client.get(f"{wiki.url}/wiki/Main_Page") as plain, client.get(f"{plain.url}?withgadget=weboid") as tried:
        assert ("ext.gadget.weboid" in await plain.text(), "ext.gadget.weboid" in await tried.text()) == (False, True)

    wiki.save("MediaWiki:Gadget-weboid-core.js", "mw.changed = 1;")
    wiki.save("MediaWiki:Gadget-weboid", "our own words")
    wiki.save("MediaWiki:Gadgets-definition", definition.replace("actions=view,edit,info", "skins=vector"))
    repaired = await weboid_gadget(wiki, "--default", user=user)
    assert repaired.out.splitlines()[:-1] == [
        "changed MediaWiki:Gadget-weboid-core.js",
        "changed MediaWiki:Gadget-weboid-config.json",
        "changed MediaWiki:Gadgets-definition",
    ]
    assert await raw(client, wiki, "MediaWiki:Gadget-weboid") == "our own words"
    definition = await raw(client, wiki, "MediaWiki:Gadgets-definition")
    assert "|skins=vector|" in definition
    assert "|default]" in definition

    module = await load(client, wiki)
    assert "weboid-core.js" in module
    assert not [sign for sign in ("Parse error", "Invalid JSON") if sign in module]


@real
async def test_without_rights_on_the_interface_it_becomes_a_script_of_ones_own(
    wiki: MediaWiki, client: aiohttp.ClientSession
) -> None:
    user = f"{_NAME}@own"
    refused = await weboid_gadget(wiki, "--languages", "en", user=user)
    assert refused.status == 2
    assert "it lacks editinterface" in refused.err
    assert "--user installs the gadget for this account alone" in refused.err
    done = await weboid_gadget(wiki, "--user", user=user)
    assert (done.status, done.out.splitlines()[0]) == (0, f"created User:{_NAME}/weboid.js")
    assert await raw(client, wiki, f"User:{_NAME}/weboid.js") == _PAGES.user_script.rstrip()
    assert (await weboid_gadget(wiki, "--user", user=user)).out == "everything is saved there already\n"


@real
@needs_browser
async def test_the_user_script_runs_from_its_first_file_to_its_last(wiki: MediaWiki) -> None:
    await weboid_gadget(wiki, "--user", user=f"{_NAME}@own")
    wiki.save("Away", "[http://3sat.de/ away]")
    script = f"{wiki.url}/w/index.php?title=User:{_NAME}/weboid.js&action=raw&ctype=text/javascript"
    errors: list[str] = []
    async with open_browser() as browser:
        page = await browser.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        # There is no service that marks anything: the settings are reached without a card.
        chosen = json.dumps({"dead": False, "doubtful": False})
        await page.add_init_script(f"localStorage.setItem( 'weboid-preferences', {json.dumps(chosen)} )")
        await page.goto(f"{wiki.url}/wiki/Away")
        await page.add_script_tag(url=script)
        await page.locator("#t-weboid-settings a").dispatch_event("click")
        await page.get_by_role("dialog").wait_for()
        styles = await page.evaluate(
            "[ ...document.querySelectorAll( 'style' ) ].map( ( style ) => style.textContent )"
        )
    assert errors == []
    assert all(any(name in style for style in styles) for name in (".weboid-mark", ".weboid-card"))


@real
async def test_an_account_that_cannot_be_used_is_said(wiki: MediaWiki) -> None:
    for user, password, said in (
        (f"{_NAME}@gadget", "w" * 32, "does not let Gadgeteer@gadget in: Failed"),
        (_NAME, _PASSWORD, "is no bot password's name"),
        ("", _PASSWORD, "set WEBOID_WIKI_USER and WEBOID_WIKI_PASSWORD"),
    ):
        ran = await weboid_gadget(wiki, user=user, password=password)
        assert (ran.status, ran.out, said in ran.err) == (2, "", True), ran.err


@real
async def test_grants_that_do_not_suffice_are_said_before_anything_is_saved(bare_wiki: MediaWiki) -> None:
    for name, options, lacking, grants in (
        ("changing", [], "createpage", '"Create, edit, and move pages"'),
        ("interface", ["--dry-run"], "editsitecss, editsitejs", '"Edit sitewide and user CSS/JS"'),
        (
            "creating",
            ["--dry-run"],
            "editinterface, editsitecss, editsitejs, editsitejson",
            '"Edit sitewide and user CSS/JS"',
        ),
        ("ownpages", ["--user", "--dry-run"], "createpage", '"Create, edit, and move pages"'),
        ("creating", ["--user"], "editmyuserjs", '"Edit your user CSS/JSON/JavaScript"'),
    ):
        ran = await weboid_gadget(bare_wiki, *options, user=f"{_NAME}@{name}")
        assert ran.status == 2
        assert f"it lacks {lacking}; the bot password needs the grants {grants} (Special:BotPasswords)" in ran.err
        assert "nothing was saved" in ran.err
        assert all(line.startswith("cannot create ") for line in ran.out.splitlines())
        assert saved_pages(bare_wiki) == []


@real
async def test_a_page_that_is_protected_is_said_before_anything_is_saved(bare_wiki: MediaWiki) -> None:
    protected, transcluded = "MediaWiki:Gadget-weboid-config.json", "MediaWiki:Gadget-weboid-card.css"
    bare_wiki.save(protected, "{}")
    bare_wiki.run("protect", "--user", ADMIN, protected)
    bare_wiki.save("Project:Kept", f"{{{{{transcluded}}}}}")
    bare_wiki.run("protect", "--user", ADMIN, "--cascade", "Project:Kept")
    for options in (["--dry-run"], []):
        ran = await weboid_gadget(bare_wiki, *options, user=f"{_NAME}@gadget")
        assert ran.status == 2
        config, styles = sorted(ran.out.splitlines())
        assert (config.startswith(f"cannot change {protected}: "), "(protectedpage)" in config) == (True, True)
        assert (styles.startswith(f"cannot create {transcluded}: "), "(cascadeprotected)" in styles) == (True, True)
        assert "may not save 2 of" in ran.err
        assert 'it lacks editprotected; the bot password needs the grants "Edit protected pages"' in ran.err
        assert saved_pages(bare_wiki) == ["Gadget-weboid-config.json"]


def test_a_definition_that_is_there_keeps_its_place_and_the_wikis_own_options() -> None:
    card = "* weboid-card[hidden]|c.js"
    new = f"== weboid ==\n* weboid[package|dependencies=c|skins=s]|a.js|b.js\n{card}"
    for before, after in [
        ("", new),
        ("* x[a]|x.js\n", f"* x[a]|x.js\n\n{new}"),
        ("* weboid[]|old.js\n* y|y.js", f"* weboid[package|dependencies=c]|a.js|b.js\n{card}\n* y|y.js"),
        (
            "== links ==\n** weboid [ default | rights=edit|dependencies=old ] | old.js\n== z ==",
            f"== links ==\n* weboid[package|dependencies=c|default|rights=edit]|a.js|b.js\n{card}\n== z ==",
        ),
        ("* weboid-other[]|x.js", f"* weboid-other[]|x.js\n\n{new}"),
        (f"{card}\n* weboid[]|a.js\n* z|z.js", f"* weboid[package|dependencies=c]|a.js|b.js\n{card}\n* z|z.js"),
    ]:
        lines = ["* weboid[package|dependencies=c|skins=s]|a.js|b.js", card]
        assert merged_definitions(before, lines) == merged_definitions(after, lines) == after
    lines = ["* weboid[package]|a.js"]
    once = merged_definitions(lines[0], lines, is_default=True)
    assert once == merged_definitions(once, lines, is_default=True) == "* weboid[package|default]|a.js"


def test_what_an_older_gadget_uses_changes_last_and_the_definition_after_that() -> None:
    titles = ["b", "new", DEFINITIONS, "a"]
    assert in_saving_order(titles, {"a", "b", DEFINITIONS}) == ["new", "b", "a", DEFINITIONS]
    assert in_saving_order(titles, {"a"})[-2:] == ["a", DEFINITIONS]


def test_a_wiki_that_demands_consent_keeps_it_whatever_is_deployed() -> None:
    after = '{"farm": "WMF", "consent": false}'
    kept = with_consent('{"consent": true, "farm": "old"}', after)
    assert json.loads(kept) == {"farm": "WMF", "consent": True}
    for before in ("", "[", "[]", '{"consent": 1}', '{"consent": false}', "{}", "null"):
        assert with_consent(before, after) == after
    demanded = '{"consent": true}'
    assert with_consent("", demanded) == demanded


_PATIENCE = ApiPatience(tries=2, timeout_s=5, first_pause_s=0.001)
_TOKEN = exchange({"meta": "tokens", "type": "login"}, {"query": {"tokens": {"logintoken": "t"}}})
_LOGIN = {"lgname": "A@b", "lgpassword": "p", "lgtoken": "t"}
_WHO = {"meta": "userinfo|siteinfo|tokens", "uiprop": "rights", "siprop": "general|extensions"}
_WHO |= {"type": "csrf", "assert": "user"}
_RIGHTS = ["editinterface", "editsitejs", "editsitecss", "editsitejson"]


def signed_in(extensions: list[str], name: str = "A", generator: str = "") -> list[Exchange]:
    """What a wiki with these extensions answers to somebody who signs in."""
    who: dict[str, object] = {"userinfo": {"name": name, "rights": _RIGHTS}, "tokens": {"csrftoken": "c"}}
    general = {"wikiid": "x", "lang": "en", "generator": generator}
    who |= {"general": general, "extensions": [{"name": each} for each in extensions]}
    return [_TOKEN, exchange(_LOGIN, {"login": {"result": "Success"}}), exchange(_WHO, {"query": who})]


async def refusal_of(client: aiohttp.ClientSession, *answers: Exchange) -> str:
    """Why the gadget is not saved by a wiki that answers so."""
    async with open_wiki_replay(answers) as replay:
        with pytest.raises(SourceError) as refused:
            await try_to_deploy(ActionApi(replay.url, client, "Weboid-test", _PATIENCE))
        return str(refused.value)


async def try_to_deploy(api: ActionApi) -> None:
    async for edit in deploy_gadget(await sign_in(api, BotPassword("A@b", "p")), _PAGES, "summary"):
        raise AssertionError(f"{edit.title} cannot have been saved")


async def test_a_wiki_without_the_extension_or_of_old_scripts_is_distinguished(client: aiohttp.ClientSession) -> None:
    assert "has no extension Gadgets" in await refusal_of(client, *signed_in(["Cite"]))
    for generator, is_old in (("MediaWiki 1.39.17", True), ("MediaWiki 1.42.0-wmf.14", False), ("x", False)):
        async with open_wiki_replay(signed_in(["Gadgets"], generator=generator)) as replay:
            account = await sign_in(ActionApi(replay.url, client, "Weboid-test", _PATIENCE), BotPassword("A@b", "p"))
        assert account.has_old_scripts == is_old, generator


def asked_pages(*answered: dict[str, object]) -> list[Exchange]:
    """What a wiki answers that says this of the pages of the gadget, in turn, of which it has none."""
    turn = itertools.cycle(answered)
    titles = [*_PAGES.pages, *_PAGES.descriptions, "MediaWiki:Gadgets-definition"]
    question = {"prop": "info|revisions", "rvprop": "ids|content", "rvslots": "main", "inprop": "protection"}
    question |= {"intestactions": "edit|create", "intestactionsdetail": "full"}
    return [
        exchange(
            {"titles": "|".join(some), **question},
            {"query": {"pages": [{"title": title, "missing": True, "protection": []} | next(turn) for title in some]}},
        )
        for some in (titles[at : at + 25] for at in range(0, len(titles), 25))
    ]


_LONG = {"code": "c" * 1_000, "text": "\x1b[2J\n\u202e" + "why " * 500}


async def test_what_a_wiki_says_of_a_page_is_shown_short_and_escaped() -> None:
    protected = [{"type": "edit", "level": f"\x1b{level}" * 100} for level in range(50)]
    said: dict[str, dict[str, object]] = {
        "<U+001B>[2J <U+202E>why why": {"actions": {"edit": [_LONG] * 20, "create": []}},
        ": c0; c1; c2; c3; c4\n": {"actions": {"edit": [{"code": f"c{n}"} for n in range(100)], "create": []}},
        ": the wiki does not say why\n": {"actions": {"edit": False, "create": True}},
        ": cantcreate\n": {"actions": {"edit": True, "create": [{"code": "cantcreate", "text": ""}]}},
        ": protectedpage\n": {"actions": {"edit": [{"code": "protectedpage"}], "create": []}, "protection": protected},
    }
    login = exchange({**_LOGIN, "lgpassword": _PASSWORD}, {"login": {"result": "Success"}})
    first, _, who = signed_in(["Gadgets"], name="A\x1b" * 10_000)
    async with open_wiki_replay([first, login, who, *asked_pages(*said.values())]) as replay:
        ran = await weboid_gadget(replay.url, user="A@b")
        assert [question.get("action") for question in replay.asked].count("edit") == 0
    assert (ran.status, ran.out.count("cannot create MediaWiki:")) == (2, _ALL)
    assert [why for why in said if why not in ran.out] == []
    assert ran.out.replace("\n", "").isprintable()
    assert max(map(len, ran.out.splitlines())) < 600
    assert f"may not save {_ALL} of {_ALL} pages: it lacks " in ran.err
    assert (len(ran.err) < 10_000, ran.err.count("\n"), "\x1b" in ran.err) == (True, 1, False)


async def test_a_wiki_that_lets_nobody_in_is_an_error_that_says_why(client: aiohttp.ClientSession) -> None:
    for body in [{"query": {}}, {"query": {"tokens": []}}, {"query": None}, {}]:
        assert "as no MediaWiki does" in await refusal_of(client, exchange({"meta": "tokens", "type": "login"}, body))
    throttled = exchange(_LOGIN, {"login": {"result": "Failed", "reason": "Wait 5 minutes"}})
    assert "A@b in: Failed (Wait 5 minutes)" in await refusal_of(client, _TOKEN, throttled)
    away = f"http://127.0.0.1:{free_port()}/w/api.php"
    for api, said in ((away, "cannot be reached"), ("http://wiki.example/w/api.php", "https")):
        with pytest.raises((SourceError, ConfigError), match=f"{api}.*{said}"):
            await sign_in(ActionApi(api, client, "Weboid-test", _PATIENCE), BotPassword("A@b", "p"))
