"""Histories of pages in memory, told as pywikibot's site tells those of MediaWiki's API (prop=revisions).

One law: it answers nothing that api.php of MediaWiki 1.43 would not answer; anything else asked of it is an error.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from typing import Any, Final

from pywikibot.exceptions import APIError, ServerError

BOT: Final = "WeboidBot"
_BEGIN: Final = datetime(2026, 11, 1, tzinfo=UTC)


@dataclass
class _Saved:
    page: int
    revision: int
    parent: int
    user: str
    text: str
    comment: str
    tags: tuple[str, ...]
    is_hidden: bool = False

    def told(self, properties: set[str]) -> dict[str, Any]:
        told: dict[str, Any] = {"revid": self.revision, "parentid": self.parent}
        if "tags" in properties:
            moment = _BEGIN + timedelta(minutes=self.revision)
            told |= {"user": self.user, "comment": self.comment, "tags": list(self.tags)}
            told["timestamp"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
            told |= {"sha1hidden": True} if self.is_hidden else {"sha1": sha1(self.text.encode()).hexdigest()}
        if "content" in properties:
            slot = {"texthidden": True} if self.is_hidden else {"content": self.text}
            told["slots"] = {"main": {"contentmodel": "wikitext", **slot}}
        return told


class _Request:
    def __init__(self, site: "LittleHistory", question: dict[str, Any]) -> None:
        self._site = site
        self._question = question

    def submit(self) -> dict[str, Any]:
        return self._site.answer(self._question)


@dataclass
class LittleHistory:
    """A wiki; `part` revisions of a history are told at a time, `asked` is every question that came."""

    part: int = 500
    is_silent: bool = False
    saved: list[_Saved] = field(default_factory=list)
    asked: list[dict[str, Any]] = field(default_factory=list)

    def revise(self, page: int, user: str, text: str, comment: str = "", *tags: str) -> int:
        """Saves a page; returns the number of the revision."""
        revision = 1000 + len(self.saved)
        parent = next((each.revision for each in reversed(self.saved) if each.page == page), 0)
        self.saved.append(_Saved(page, revision, parent, user, text, comment, tags))
        return revision

    def hide(self, revision: int) -> None:
        """Hides the text of a revision."""
        next(each for each in self.saved if each.revision == revision).is_hidden = True

    def delete(self, page: int) -> None:
        """Deletes a page with its revisions."""
        self.saved = [each for each in self.saved if each.page != page]

    def username(self) -> str:
        return BOT

    def simple_request(self, **question: Any) -> _Request:
        return _Request(self, question)

    def answer(self, question: dict[str, Any]) -> dict[str, Any]:
        self.asked.append(question)
        if self.is_silent:
            raise ServerError("no answer")
        assert question.pop("action") == "query"
        assert question.pop("prop") == "revisions"
        assert question.pop("formatversion") == 2
        properties = set(str(question["rvprop"]).split("|"))
        if "revids" in question:
            return self._by_revision(_numbers(question["revids"]), properties)
        pages = _numbers(question["pageids"])
        if "rvlimit" in question:
            [page] = pages
            return self._history(page, question, properties)
        told = []
        for page in pages:
            last = next((each for each in reversed(self.saved) if each.page == page), None)
            gone = {"pageid": page, "missing": True}
            told.append(gone if last is None else {"pageid": page, "revisions": [last.told(properties)]})
        return {"batchcomplete": True, "query": {"pages": told}}

    def _by_revision(self, revisions: list[int], properties: set[str]) -> dict[str, Any]:
        found = [each for each in self.saved if each.revision in revisions]
        bad = set(revisions) - {each.revision for each in found}
        query: dict[str, Any] = (
            {"badrevids": {str(each): {"revid": each, "missing": True} for each in bad}} if bad else {}
        )
        if found:
            query["pages"] = [
                {"pageid": page, "revisions": [each.told(properties) for each in found if each.page == page]}
                for page in dict.fromkeys(each.page for each in found)
            ]
        return {"batchcomplete": True, "query": query}

    def _history(self, page: int, question: dict[str, Any], properties: set[str]) -> dict[str, Any]:
        start, is_newer = question["rvstartid"], question["rvdir"] == "newer"
        if all(each.revision != start for each in self.saved):
            raise APIError("nosuchrevid", f"There is no revision with ID {start}.")
        start = int(str(question.get("rvcontinue", start)))
        ordered: Iterable[_Saved] = self.saved if is_newer else reversed(self.saved)
        wanted = [
            each
            for each in ordered
            if each.page == page and (each.revision >= start if is_newer else each.revision <= start)
        ]
        most = self.part if question["rvlimit"] == "max" else min(self.part, int(question["rvlimit"]))
        told: dict[str, Any] = {
            "query": {"pages": [{"pageid": page, "revisions": [each.told(properties) for each in wanted[:most]]}]}
        }
        if len(wanted) > most:
            told["continue"] = {"rvcontinue": str(wanted[most].revision), "continue": "||"}
        return told


def _numbers(given: str) -> list[int]:
    numbers = [int(each) for each in given.split("|")]
    assert len(numbers) <= 50, "toomanyvalues"
    return numbers
