"""The reasons why an account may not save a page, in the wiki's words, and the rights and grants it lacks (G-1).

The wiki's own test of a page decides; rights only explain it, as wikis give and demand them in their own ways.
"""

from collections.abc import Iterable, Mapping
from typing import Any, Final

QUESTION: Final = {"inprop": "protection", "intestactions": "edit|create", "intestactionsdetail": "full"}
"""The parameters of ``prop=info`` for `refusals_of` and `protection_rights`."""
_MOST_REASONS: Final = 5
_MOST_LEVELS: Final = 10
_LONGEST_CODE: Final = 80
_LONGEST_REASON: Final = 200
_SITE_RIGHTS: Final = {
    "js": "editsitejs",
    "css": "editsitecss",
    "json": "editsitejson",
    "MediaWiki:Gadgets-definition": "editsitejs",  # counts as raw HTML
}
"""By the end of the title after the last dot."""
_INTERFACE: Final = "MediaWiki:"
_LEVEL_RIGHTS: Final = {"sysop": "editprotected", "autoconfirmed": "editsemiprotected"}
"""The rights for MediaWiki's own levels of protection; any other level is named like its right."""
_CREATING: Final = "Create, edit, and move pages"
_SITEWIDE: Final = "Edit sitewide and user CSS/JS"
_GRANTS: Final = {
    "edit": _CREATING,
    "createpage": _CREATING,
    "editinterface": _SITEWIDE,
    "editsitejs": _SITEWIDE,
    "editsitecss": _SITEWIDE,
    "editsitejson": _SITEWIDE,
    "editmyuserjs": "Edit your user CSS/JSON/JavaScript",
    "editprotected": "Edit protected pages",
    "editsemiprotected": "Basic rights",
}
"""The grant of Special:BotPasswords that has a right, as MediaWiki 1.43 words it (tried on one with each alone)."""


def refusals_of(page: Mapping[str, Any], *, is_new: bool) -> tuple[str, ...]:
    """The reasons why a page cannot be saved, in the wiki's words and bounded. `page` is of ``prop=info``.

    Raises LookupError, TypeError or ValueError for what MediaWiki does not answer.
    """
    reasons: dict[str, None] = {}
    for action in ("edit", "create") if is_new else ("edit",):
        match page["actions"][action]:
            case True:
                pass
            case False:
                reasons["the wiki does not say why"] = None
            case list(errors):
                reasons |= dict.fromkeys(map(_reason, errors))
            case _:
                raise ValueError(action)
    return tuple(reasons)[:_MOST_REASONS]


def protection_rights(page: Mapping[str, Any]) -> frozenset[str]:
    """The rights that the protection of a page demands; `page` and what is raised are as in `refusals_of`."""
    levels = [str(each["level"]) for each in page["protection"][:_MOST_LEVELS] if each["type"] in ("edit", "create")]
    return frozenset(_LEVEL_RIGHTS.get(level, level)[:_LONGEST_CODE] for level in levels)


def rights_for(title: str, *, is_new: bool) -> frozenset[str]:
    """The rights that MediaWiki demands, by default, of who saves a page of the interface or a script of their own."""
    rights = {"edit", "createpage"} if is_new else {"edit"}
    if title.startswith(_INTERFACE):
        site = _SITE_RIGHTS.get(title.rpartition(".")[2])
        return frozenset(rights | {"editinterface", *([site] if site else [])})
    return frozenset(rights | {"editmyuserjs"})


def grants_with(rights: Iterable[str]) -> list[str]:
    """The grants that a bot password needs to have these rights, by their English names."""
    return sorted({_GRANTS[right] for right in rights if right in _GRANTS})


def _reason(error: Mapping[str, Any]) -> str:
    code, text = str(error["code"])[:_LONGEST_CODE], " ".join(str(error.get("text", "")).split())
    short = text if len(text) <= _LONGEST_REASON else text[:_LONGEST_REASON] + " …"
    return f"{short} ({code})" if short else code
