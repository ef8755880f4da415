"""Reads revisions of a wiki's pages, many in one request: what the wiki says of them, and texts only where needed.

What is missing or hidden in an answer is left out, never made up.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from typing import Any, Final

from weboid_scripts.common.wiki_query import WikiRefuses, WikiSilent, ask, pages_of

AT_ONCE: Final = 50
"""Revisions or pages in one request, the most that the API gives everybody."""
_MOST_LATER: Final = 5_000
_MOST_PARTS: Final = 200
_PAST_ALL: Final = 2**63
_FACTS: Final = "ids|user|comment|tags|sha1|timestamp"


class RevisionLost(WikiSilent):
    """The wiki does not have this revision, as after its page was deleted."""


@dataclass(frozen=True, slots=True)
class RevisionFacts:
    """The data of a revision; `user`, `comment` and `sha1` (40 hexadecimal digits) are empty if hidden."""

    revision: int
    parent: int
    user: str
    comment: str
    tags: frozenset[str]
    sha1: str
    moment: datetime


class RevisionReader:
    """Revisions of one wiki. Everything raises WikiSilent where the wiki, or the way to it, fails."""

    def __init__(self, site: Any) -> None:
        self._site = site

    def newest(self, pages: Iterable[int]) -> dict[int, RevisionFacts]:
        """The newest revision of each page, by the page's number; pages that are gone are left out."""
        found = {}
        for some in _parts(sorted(set(pages)), AT_ONCE):
            for page in self._pages(pageids=_joined(some), rvprop=_FACTS):
                for facts in _facts(page):
                    found[int(page["pageid"])] = facts
        return found

    def texts(self, revisions: Iterable[int]) -> dict[int, str]:
        """The wikitext of each revision; those that are deleted or hidden are left out."""
        found = {}
        for some in _parts(sorted(set(revisions)), AT_ONCE):
            for page in self._pages(revids=_joined(some), rvprop="ids|content", rvslots="main"):
                for each in _revisions(page):
                    text = _text(each)
                    if text is not None:
                        found[int(each["revid"])] = text
        return found

    def since(self, page: int, revision: int) -> list[RevisionFacts]:
        """A revision of a page and the (at most 5,000) later ones, the oldest first."""
        return list(islice(self._history(page, rvstartid=revision, rvdir="newer", rvlimit="max"), _MOST_LATER))

    def until(self, page: int, revision: int) -> list[RevisionFacts]:
        """A revision of a page and the last ones before it, 50 together, the newest first."""
        history = self._history(page, rvstartid=revision, rvdir="older", rvlimit=AT_ONCE)
        return list(islice(history, AT_ONCE))

    def _history(self, page: int, **more: str | int) -> Iterator[RevisionFacts]:
        for part in self._pages(pageids=str(page), rvprop=_FACTS, **more):
            yield from _facts(part)

    def _pages(self, **parameters: str | int) -> Iterator[dict[str, Any]]:
        """The pages of an answer, part by part: one page may come several times, each time with other revisions."""
        going_on: dict[str, str] = {}
        for _ in range(_MOST_PARTS):
            try:
                answer = ask(self._site, prop="revisions", **{**parameters, **going_on})
            except WikiRefuses as error:
                if error.code == "nosuchrevid":
                    raise RevisionLost(str(error)) from None
                raise
            query = answer.get("query")
            if not isinstance(query, dict) or not (isinstance(query.get("pages"), list) or query.get("badrevids")):
                raise WikiSilent(f"{self._site} gives an answer that is none.")
            yield from (page for page in pages_of(answer) if isinstance(page.get("pageid"), int))
            if not isinstance(answer.get("continue"), dict):
                return
            going_on = answer["continue"]


def _revisions(page: dict[str, Any]) -> Iterator[dict[str, Any]]:
    found = page.get("revisions")
    for each in found if isinstance(found, list) else ():
        if isinstance(each, dict) and isinstance(each.get("revid"), int) and 0 < each["revid"] < _PAST_ALL:
            yield each


def _facts(page: dict[str, Any]) -> Iterator[RevisionFacts]:
    for each in _revisions(page):
        tags = each.get("tags")
        yield RevisionFacts(
            each["revid"],
            int(each.get("parentid") or 0),
            str(each.get("user") or ""),
            str(each.get("comment") or ""),
            frozenset(str(tag) for tag in tags) if isinstance(tags, list) else frozenset(),
            str(each.get("sha1") or ""),
            _moment(each.get("timestamp")),
        )


def _moment(given: Any) -> datetime:
    try:
        return datetime.fromisoformat(str(given)).astimezone(UTC)
    except ValueError:
        raise WikiSilent("The wiki gives a revision without a time that can be read.") from None


def _text(revision: dict[str, Any]) -> str | None:
    slots = revision.get("slots")
    main = slots.get("main") if isinstance(slots, dict) else revision  # as wikis before 1.32 say it
    text = main.get("content") if isinstance(main, dict) else None
    return text if isinstance(text, str) else None


def _parts(numbers: list[int], size: int) -> Iterator[list[int]]:
    for start in range(0, len(numbers), size):
        yield numbers[start : start + size]


def _joined(numbers: list[int]) -> str:
    return "|".join(map(str, numbers))
