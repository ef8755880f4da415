"""Saving the gadget on a wiki by its Action API, signed in with a bot password (G-1).

Only pages that differ are saved, and none if one of them cannot be; an interrupted deployment is repeated.
"""

import json
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlsplit

from weboid.errors import ConfigError, SourceError
from weboid.wiki.action import ActionApi, ApiRefusal
from weboid.wiki.gadget import permissions
from weboid.wiki.gadget.build import CONFIG, NAME, PREFIX, BuiltGadget

DEFINITIONS: Final = "MediaWiki:Gadgets-definition"

_CONFIG: Final = f"{PREFIX}{CONFIG}"
_TITLES_A_QUERY: Final = 25
"""MediaWiki tests 50 actions a query and leaves the rest to a continuation; we ask for two of each page."""
_MOST_NAME: Final = 255
"""Characters of an account's name and of a language's code that are kept; MediaWiki's are no longer."""
_MOST_NAMED: Final = 12
"""Rights that are named in an error, at most: levels of protection are the wiki's words."""
_OURS: Final = ("ResourceLoader", "package", "dependencies")
"""Options of the definition that belong to the code; a wiki may decide on all others."""
_DEFINED: Final = r"^\*+ *%s *\[(?P<options>[^\]\n]*)\].*$"
_REFUSALS: Final = {
    "articleexists": "somebody has just created it; run this again",
    "blocked": "the account is blocked",
    "cascadeprotected": "it is protected, and the account may not edit it",
    "editconflict": "somebody has just edited it; run this again",
    "protectedpage": "it is protected, and the account may not edit it",
}


@dataclass(frozen=True, slots=True)
class BotPassword:
    """A name with ``@`` in it and its password, as MediaWiki's Special:BotPasswords gives them."""

    name: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class PageEdit:
    """An edit that was made, or would be: the full title of the page, whether it is new, and why it cannot be made."""

    title: str
    is_new: bool
    refusals: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Page:
    """A page as it is: empty, with revision 0, where there is none; why it cannot be saved, and what protection demands
    of who saves it."""

    text: str
    revision: int
    refusals: tuple[str, ...]
    protection: frozenset[str]


@dataclass(frozen=True, slots=True)
class WikiAccount:
    """A signed-in account: its name and rights, as far as the bot password grants them, and what its wiki is like."""

    api: ActionApi
    name: str
    rights: frozenset[str]
    token: str = field(repr=False)
    wikiid: str
    language: str
    has_gadgets: bool
    has_old_scripts: bool  # before 1.42: none newer than ECMAScript 5, but by $wgResourceLoaderValidateJS

    async def fetch_pages(self, titles: list[str]) -> dict[str, _Page]:
        """The newest revisions of these pages, and whether they can be saved; raises SourceError."""
        found: dict[str, _Page] = {}
        for start in range(0, len(titles), _TITLES_A_QUERY):
            question = {
                "prop": "info|revisions",
                "titles": "|".join(titles[start : start + _TITLES_A_QUERY]),
                "rvprop": "ids|content",
                "rvslots": "main",
                **permissions.QUESTION,
            }
            answer = await self.api.fetch_answer(question)
            with _well_formed(self.api):
                asked = {entry["to"]: entry["from"] for entry in answer["query"].get("normalized", ())}
                for page in answer["query"]["pages"]:
                    found[asked.get(page["title"], page["title"])] = _page_of(page)
        with _well_formed(self.api):
            return {title: found[title] for title in titles}

    async def send_page(self, title: str, text: str, before: _Page, summary: str) -> None:
        """Saves a page unless somebody else has meanwhile; raises SourceError that says why it cannot be."""
        base = {"baserevid": str(before.revision)} if before.revision else {"createonly": "1"}
        edit = {
            "action": "edit", "title": title, "text": text, "summary": summary, "token": self.token, "assert": "user",
            "watchlist": "nochange", **base,
        }  # fmt: skip
        try:
            answer = await self.api.fetch_answer(edit, is_change=True)
        except ApiRefusal as refusal:
            raise SourceError(f"{title} was not saved: {_REFUSALS.get(refusal.code, refusal)}") from refusal
        match answer:
            case {"edit": {"result": "Success"}}:
                return
            case _:
                # What an extension has against it: a CAPTCHA, a filter.
                raise SourceError(f"{title} was not saved: {json.dumps(answer)[:300]}")


async def sign_in(api: ActionApi, password: BotPassword) -> WikiAccount:
    """Signs in; raises ConfigError for a password that cannot be used here, and SourceError."""
    address = urlsplit(api.url)
    if address.scheme != "https" and address.hostname not in {"127.0.0.1", "::1", "localhost"}:
        raise ConfigError(f"{api.url}: a password is sent by https only")
    if "@" not in password.name:
        raise ConfigError(f"{password.name!r} is no bot password's name, such as Name@weboid: see Special:BotPasswords")
    answer = await api.fetch_answer({"meta": "tokens", "type": "login"})
    with _well_formed(api):
        token = str(answer["query"]["tokens"]["logintoken"])
    login = {"action": "login", "lgname": password.name, "lgpassword": password.password, "lgtoken": token}
    answer = await api.fetch_answer(login, is_change=True)
    with _well_formed(api):
        result, reason = answer["login"]["result"], answer["login"].get("reason", "no reason is given")
    if result != "Success":
        raise SourceError(f"{api.url} does not let {password.name} in: {result} ({str(reason)[:300]})")
    question = {
        "meta": "userinfo|siteinfo|tokens", "uiprop": "rights", "siprop": "general|extensions", "type": "csrf",
        "assert": "user",
    }  # fmt: skip
    answer = await api.fetch_answer(question)
    with _well_formed(api):
        query = answer["query"]
        return WikiAccount(
            api,
            str(query["userinfo"]["name"])[:_MOST_NAME],
            frozenset(map(str, query["userinfo"]["rights"])),
            str(query["tokens"]["csrftoken"]),
            str(query["general"]["wikiid"])[:_MOST_NAME],
            str(query["general"]["lang"])[:_MOST_NAME],
            any(extension.get("name") == "Gadgets" for extension in query["extensions"]),
            re.match(r"MediaWiki 1\.([0-9]|[123][0-9]|4[01])\b", query["general"].get("generator", "")) is not None,
        )


async def deploy_gadget(
    account: WikiAccount, gadget: BuiltGadget, summary: str, *, is_default: bool = False, is_dry: bool = False
) -> AsyncIterator[PageEdit]:
    """Saves the pages that differ, the definition last, and yields each; with `is_dry` nothing is saved.

    Descriptions that are there stay, since a wiki may word them, and so does its demand for consent. `is_default`
    switches the gadget on for all readers. Raises SourceError. If any page cannot be saved, those are yielded with the
    reasons, and nothing is saved.
    """
    if not account.has_gadgets:
        raise SourceError(f"{account.api.url} has no extension Gadgets; --user installs the gadget as a user script")
    before = await account.fetch_pages([*gadget.pages, *gadget.descriptions, DEFINITIONS])
    described = {title: text for title, text in gadget.descriptions.items() if not before[title].revision}
    definitions = merged_definitions(before[DEFINITIONS].text, gadget.definitions, is_default=is_default)
    config = {_CONFIG: with_consent(before[_CONFIG].text, gadget.pages[_CONFIG])}
    pages = {**gadget.pages, **config, **described, DEFINITIONS: definitions}
    async for edit in _send_changed(account, pages, before, summary, is_dry):
        yield edit


def with_consent(before: str, after: str) -> str:
    """The gadget's configuration `after`; a wiki that has demanded its readers' consent in `before` keeps doing so."""
    try:
        demanded = json.loads(before)["consent"] is True
    except (ValueError, RecursionError, LookupError, TypeError):
        return after
    return json.dumps({**json.loads(after), "consent": True}, ensure_ascii=False, indent="\t") if demanded else after


async def deploy_user_script(
    account: WikiAccount, gadget: BuiltGadget, summary: str, *, is_dry: bool = False
) -> AsyncIterator[PageEdit]:
    """Saves the user script next to the account's own, if it differs, and yields it; otherwise as `deploy_gadget`."""
    pages = {f"User:{account.name}/{NAME}.js": gadget.user_script}
    async for edit in _send_changed(account, pages, await account.fetch_pages([*pages]), summary, is_dry):
        yield edit


def merged_definitions(text: str, definitions: Sequence[str], *, is_default: bool = False) -> str:
    """The wiki's definitions with ours: in place of those that are there, else in a section of their own at the end.

    Of the gadget's own line, the first of `definitions`, all options stay but those that belong to the code: whether
    and where the gadget runs is the wiki's decision (D-214). The lines of its hidden parts follow it.
    """
    line, *hidden = definitions
    for name in (each[2 : each.index("[")] for each in hidden):
        text = re.sub(f"{_DEFINED % re.escape(name)}\n?", "", text, flags=re.MULTILINE)
    text = text.rstrip()
    ours = re.fullmatch(_DEFINED % NAME, line)
    assert ours
    present = re.search(_DEFINED % NAME, text, re.MULTILINE)
    options = _options(ours["options"])
    if present:
        kept = [option for option in _options(present["options"]) if _key(option) not in _OURS]
        options = [option for option in options if _key(option) in _OURS] + kept
    if is_default and "default" not in options:
        options.append("default")
    merged = "\n".join([line.replace(ours["options"], "|".join(options)), *hidden])
    if present:
        return text[: present.start()] + merged + text[present.end() :]
    return f"{text}\n\n== {NAME} ==\n{merged}".lstrip()


def in_saving_order(titles: Iterable[str], present: Collection[str]) -> list[str]:
    """New pages first, which nothing uses yet, then those that are `present`, and the definition last.

    Between the first of these and the definition a wiki with an older gadget has no marks: of 42 saved pages over
    release 0.2.0 the last 15 (a warning on the console, and the article as it is).
    """
    return sorted(titles, key=lambda title: (title == DEFINITIONS, title in present))


async def _send_changed(
    account: WikiAccount, pages: Mapping[str, str], before: Mapping[str, _Page], summary: str, is_dry: bool
) -> AsyncIterator[PageEdit]:
    changed = {
        title: pages[title]
        for title in in_saving_order(pages, {title for title, page in before.items() if page.revision})
        if not _is_same(title, before[title].text, pages[title])
    }
    refused = [title for title in changed if before[title].refusals]
    for title in refused:
        yield PageEdit(title, not before[title].revision, before[title].refusals)
    if refused:
        raise SourceError(_advice(account, {title: before[title] for title in refused}, len(changed)))
    for title, text in changed.items():
        if not is_dry:
            await account.send_page(title, text, before[title], summary)
        yield PageEdit(title, is_new=not before[title].revision)


def _advice(account: WikiAccount, refused: Mapping[str, _Page], changed: int) -> str:
    """The rights that the account lacks to save the pages that the wiki refuses, of `changed` ones."""
    summary = f"nothing was saved, as {account.name} may not save {len(refused)} of {changed} pages"
    demanded = {
        right
        for title, page in refused.items()
        for right in permissions.rights_for(title, is_new=not page.revision) | page.protection
    }
    lacking = sorted(demanded - account.rights)
    if not lacking:
        return f"{summary}: see to what the wiki says of them, and run this again"
    grants = " and ".join(f'"{grant}"' for grant in permissions.grants_with(lacking))
    needed = f"the bot password needs the grants {grants} (Special:BotPasswords), and the account" if grants else "it"
    hint = (
        ", as interface administrators do; --user installs the gadget for this account alone"
        if "editinterface" in demanded
        else ""
    )
    return f"{summary}: it lacks {', '.join(lacking[:_MOST_NAMED])}; {needed} must have these rights in the wiki{hint}"


def _page_of(page: Mapping[str, Any]) -> _Page:
    text, revision = "", 0
    if revisions := page.get("revisions"):
        text, revision = str(revisions[0]["slots"]["main"]["content"]), int(revisions[0]["revid"])
    return _Page(
        text, revision, permissions.refusals_of(page, is_new=not revision), permissions.protection_rights(page)
    )


@contextmanager
def _well_formed(api: ActionApi) -> Iterator[None]:
    """Raises SourceError if the answer that is read in the block is not formed as MediaWiki forms it."""
    try:
        yield
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise SourceError(f"{api.url} answered as no MediaWiki does; is it the address of an api.php?") from error


def _is_same(title: str, before: str, after: str) -> bool:
    """Returns whether saving changes nothing: MediaWiki strips spaces at the end, and formats JSON in its own way."""
    if title.endswith(".json"):
        try:
            return bool(json.loads(before) == json.loads(after))
        except (ValueError, RecursionError):
            return False
    return before.rstrip() == after.rstrip()


def _options(text: str) -> list[str]:
    return [option.strip() for option in text.split("|") if option.strip()]


def _key(option: str) -> str:
    return option.partition("=")[0].strip()
