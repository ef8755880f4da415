"""Fetching the spam lists of a wiki and of its farm, which are pages of wikis (L-3).

Reading their lines belongs to ``core/url/spam_lines``.
One law: a missing page is an empty list; a page that cannot be read is an error, so that no list is taken as empty
because a wiki could not answer.
"""

from dataclasses import dataclass
from typing import Any, Final

from weboid.errors import SourceError
from weboid.wiki.action import ActionApi

BLACK_TITLE: Final = "MediaWiki:Spam-blacklist"
WHITE_TITLE: Final = "MediaWiki:Spam-whitelist"
GLOBAL_TITLE: Final = "Spam blacklist"
"""The title of Wikimedia's list for all its wikis, on Meta."""


@dataclass(frozen=True, slots=True)
class ListTexts:
    """The wikitext of a black and a white list."""

    black: str
    white: str = ""


async def fetch_local_lists(api: ActionApi) -> ListTexts:
    """A wiki's own lists. Raises SourceError."""
    return ListTexts(await fetch_text(api, BLACK_TITLE), await fetch_text(api, WHITE_TITLE))


async def fetch_global_list(api: ActionApi, title: str = GLOBAL_TITLE) -> ListTexts:
    """The list of a whole farm, from the wiki that has it; there is no white list. Raises SourceError."""
    return ListTexts(await fetch_text(api, title))


async def fetch_text(api: ActionApi, title: str) -> str:
    """The newest wikitext of a page, "" if there is no such page. Raises SourceError."""
    question = {"titles": title, "prop": "revisions", "rvprop": "content", "rvslots": "main"}
    answer = await api.fetch_answer(question)
    match answer.get("query"):
        case {"pages": [dict(page)]}:
            return _text(page, title, api.url)
        case _:
            raise _unreadable(title, api.url)


def _text(page: dict[str, Any], title: str, url: str) -> str:
    match page:
        case {"missing": True}:
            return ""
        case {"revisions": [{"slots": {"main": {"content": str(text)}}}, *_]}:
            return text
        case _:
            raise _unreadable(title, url)


def _unreadable(title: str, url: str) -> SourceError:
    return SourceError(f"{url} does not return the text of {title!r}; what was fetched before stays in force")
