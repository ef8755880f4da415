"""Fetching the spam lists of a wiki and of its farm, which are pages of wikis (L-3).

Reading their lines belongs to ``core/url/spam_lines``. A missing page is an empty list; a page that cannot be read is
an error, so that no list is taken as empty because a wiki could not answer.
"""

import asyncio
import json
from dataclasses import dataclass
from typing import Final

from weboid.core.url.classify import classify
from weboid.core.url.spam_lines import BLOCKED
from weboid.errors import SourceError
from weboid.wiki.action import ActionApi

BLACK_TITLE: Final = "MediaWiki:Spam-blacklist"
WHITE_TITLE: Final = "MediaWiki:Spam-whitelist"
DOMAINS_TITLE: Final = "MediaWiki:BlockedExternalDomains.json"
"""The blocked domains of AbuseFilter, which Wikimedia's wikis have used since 2023."""
GLOBAL_TITLE: Final = "Spam blacklist"
"""The title of Wikimedia's list for all its wikis, on Meta."""


@dataclass(frozen=True, slots=True)
class ListTexts:
    """The wikitext of a black and a white list."""

    black: str
    white: str = ""


async def fetch_local_lists(api: ActionApi) -> ListTexts:
    """A wiki's own lists, the black one with its blocked domains. Raises SourceError."""
    black, listed = await fetch_text(api, BLACK_TITLE), await fetch_text(api, DOMAINS_TITLE)
    try:
        hosts = await asyncio.to_thread(_blocked_hosts, listed or "[]")
    except (ValueError, RecursionError) as error:
        raise SourceError(f"{api.url}: {DOMAINS_TITLE} is no list of domains; the one before stays in force") from error
    return ListTexts("\n".join([black, *(BLOCKED + host for host in hosts)]), await fetch_text(api, WHITE_TITLE))


def _blocked_hosts(listed: str) -> list[str]:
    """As MediaWiki reads them: a URL's host, and nothing without a dot. Raises ValueError, RecursionError."""
    items = json.loads(listed)
    items = [*items.values()] if isinstance(items, dict) else items
    if not isinstance(items, list):
        raise ValueError("neither a list nor an object")
    names = (str(each.get("domain", "")).strip() for each in items if isinstance(each, dict))
    urls = (classify(name if "//" in name else f"https://{name}", None).url for name in names)
    return [url.host for url in urls if url]


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
