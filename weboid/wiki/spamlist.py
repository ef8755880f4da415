"""Fetching the spam lists of a wiki and of its farm, which are pages of wikis (L-3).

Reading their lines belongs to ``core/url/spam_lines``. A missing page is an empty list; a page that cannot be read is
an error, so that no list is taken as empty because a wiki could not answer.
"""

from dataclasses import dataclass
from typing import Final

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
        case {"pages": [{"missing": True}]}:
            return ""
        case {"pages": [{"revisions": [{"slots": {"main": {"content": str(text)}}}, *_]}]}:
            return text
        case _:
            raise SourceError(
                f"{api.url} does not return the text of {title!r}; what was fetched before stays in force"
            )
