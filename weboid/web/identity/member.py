"""Members: accounts on the provider's wiki, as an OAuth profile or its Action API describes them. Pure.

An answer that is not as MediaWiki documents it is an error, and nothing is concluded from it.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from weboid.config import PeopleConfig
from weboid.errors import ConfigError

_SUBJECT: Final = re.compile(r"[!-~]{1,100}")
_MOST_NAME: Final = 255
_OAUTH: Final = re.compile(r"(?<=/)rest\.php/oauth2/?$")


@dataclass(frozen=True, slots=True)
class Member:
    """A person who signed in, as the provider described them: `blocked` on the wiki or not, the number of `edits`."""

    subject: str
    name: str
    edits: int
    blocked: bool


@dataclass(frozen=True, slots=True)
class Confirmed:
    """An answer of the wiki on an account at a moment, in Unix time; no member = it is another account by now."""

    member: Member | None
    moment: int


def api_of(people: PeopleConfig) -> str:
    """The address of the Action API of the provider's wiki: as configured, else next to its OAuth; empty = it has none.

    Raises ConfigError for what is no address.
    """
    if not people.api:
        address, found = _OAUTH.subn("api.php", people.provider)
        return address if found else ""
    parts = urlsplit(people.api)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
        raise ConfigError("[people] api: it must be an address such as https://…/w/api.php")
    return people.api


def member_of_profile(profile: Mapping[str, Any]) -> Member:
    """The member of an OAuth profile; raises ValueError.

    MediaWiki's `sub` is the number of the central account; other providers give a text.
    """
    match profile:
        case {"sub": int(subject) | str(subject), "username": str(name), "editcount": int(edits), "blocked": bool(out)}:
            sub = str(subject)
            fit = not isinstance(subject, bool) and _is_count(edits)
            if fit and _SUBJECT.fullmatch(sub) and name.isprintable() and 0 < len(name.encode()) <= _MOST_NAME:
                return Member(sub, name, edits, out)
        case _:
            pass
    raise ValueError("a profile without sub, username, editcount and blocked as they should be")


def query_of(member: Member) -> dict[str, str]:
    """The query of a member for the Action API. Wikis without CentralAuth ignore what they do not know of it."""
    return {
        "action": "query",
        "format": "json",
        "formatversion": "2",
        "list": "users",
        "ususers": member.name,
        "usprop": "blockinfo|editcount|centralids",
        "meta": "globaluserinfo",
        "guiuser": member.name,
    }


def member_in(answer: Mapping[str, Any], known: Member) -> Member | None:
    """The member by an answer to `query_of`; None if the name belongs to no account or to another. Raises ValueError.

    A block of some pages or namespaces only is none; a lock or a suppression of the account is one.
    """
    match answer:
        case {"query": {"users": [{"name": known.name} as user], **found}} if "error" not in answer:
            central = found.get("globaluserinfo", {})
        case _:
            raise ValueError("an answer without this one user")
    if not isinstance(central, Mapping):
        raise ValueError("odd words about the central account")
    if _is_set(user, "missing") or _is_set(user, "invalid"):
        return None
    match user:
        case {"userid": int(local), "editcount": int(edits)} if _is_count(local) and local and _is_count(edits):
            pass
        case _:
            raise ValueError("a user without userid and editcount as they should be")
    if known.subject not in _subjects(local, user.get("centralids", {}), central):
        return None
    blocked = _is_blocked(user) or _is_set(user, "hidden") or _is_set(central, "locked") or _is_set(central, "hidden")
    return Member(known.subject, known.name, edits, blocked)


def _subjects(local: int, others: object, central: Mapping[str, Any]) -> set[str]:
    """The numbers of an account, of which OAuth gives one: that of the wiki, those of what unites several wikis.

    0 is said of an account that is not united; a wiki without other numbers may say an empty list.
    """
    if others == []:
        others = {}
    if not isinstance(others, Mapping):
        raise ValueError("odd central numbers of a user")
    numbers = [local, *others.values(), central.get("id", 0)]
    if not all(_is_count(number) for number in numbers):
        raise ValueError("odd numbers of a user")
    return {str(number) for number in numbers if number}


def _is_blocked(user: Mapping[str, Any]) -> bool:
    """True if there are any words of a block, unless it is a partial one (D-191)."""
    return any(name.startswith("block") for name in user) and user.get("blockpartial") is not True


def _is_set(about: Mapping[str, Any], name: str) -> bool:
    match about.get(name, False):
        case bool(value):
            return value
        case _:
            raise ValueError(f"{name!r} is neither true nor false")


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
