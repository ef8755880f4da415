"""A repaired page as the payload of ``/api/repair``; ``docs/api.md`` describes it."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from typing import Any, Final

from weboid.bot.answers import KnownCopy, key_of
from weboid.bot.pieces import EditedPiece
from weboid.bot.repair import LeftLink, LinkChange
from weboid.core.archive.captures import in_utc
from weboid.core.archive.copies import copies_as_json
from weboid.core.record.days import iso
from weboid.core.url.archives import snapshot_of
from weboid.core.url.farms import WMF
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.slices import Steps
from weboid.web.repair.job import MOST_LEFT
from weboid.web.repair.repair_words import change_words, left_words, summary_of
from weboid.web.repair.repairing import Repaired, edit_address, report_of
from weboid.web.words.messages import Messages

_NOTHING_TO_DO: Final = frozenset({"working", "permalive"})
_SOME: Final = 20


def repaired_steps(repaired: Repaired, day: int, say: Messages, public_url: str) -> Steps[dict[str, Any]]:
    """The keys of a repaired page after the first ones, in steps."""
    result, wanted = repaired.result, repaired.wanted
    changes: list[dict[str, Any]] = []
    offsets = _Offsets(repaired.text)
    seen: set[int] = set()
    for number, (change, piece) in enumerate(zip(result.changes, result.pieces, strict=True)):
        if number % _SOME == 0:
            yield
        is_first = piece.start not in seen
        seen.add(piece.start)
        changes.append(_change_as_json(change, piece, repaired, day, say, offsets.of(piece.start), is_first=is_first))
    yield
    left = []
    for number, each in enumerate(_left(repaired)):
        if number % _SOME == 0:
            yield
        left.append(
            {
                "url": each.url,
                "why": each.why,
                "words": left_words(each.why, report_of(repaired.links, each.url), day, say),
            }
        )
    return {
        "wiki": str(wanted.query.wiki),
        "page": repaired.page,
        "revision": wanted.revision,
        "wikitext": result.text,
        "changes": changes,
        "summary": summary_of(
            result.changes,
            repaired.settings,
            public_url + edit_address(wanted.query.wiki, repaired.page, wanted.revision),
            is_wikimedia=wanted.query.wiki.farm == WMF.name,
        ),
        "left": left,
        "kept_off": result.kept_off,
    }


def _change_as_json(
    change: LinkChange, piece: EditedPiece, repaired: Repaired, day: int, say: Messages, offset: int, *, is_first: bool
) -> dict[str, Any]:
    link = report_of(repaired.links, change.url)
    since = None if link is None else link.finding.since
    return {
        "url": change.url,
        "action": change.action.value,
        "why": change.why,
        "words": change_words(change.action, link, day, say),
        "offset": offset,
        "before": piece.before if is_first else None,
        "after": piece.after if is_first else None,
        "verdict": None if link is None else link.finding.verdict.word,
        "since": None if since is None else iso(since),
        "copy": None if change.copy is None else _copy_as_json(change.copy),
        "copies": []
        if link is None
        else [
            _offered(each) for each in copies_as_json(link.copies)["snapshots"] if each["verified"] and each["taken"]
        ],
    }


def _offered(snapshot: Mapping[str, Any]) -> dict[str, Any]:
    return {"address": snapshot["snapshot"], "archive": snapshot["title"], "taken": snapshot["taken"]}


def _copy_as_json(copy: KnownCopy) -> dict[str, Any]:
    snapshot = snapshot_of(copy.address)
    return {
        "address": copy.address,
        "archive": None if snapshot is None else snapshot.archive.title,
        "taken": in_utc(copy.taken).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def _left(repaired: Repaired) -> Iterator[LeftLink]:
    """The links that were left alone, but working ones, as the engine met them, then dead ones that it did not see."""
    result = repaired.result
    changed = {key_of(change.url) for change in result.changes}
    left = dict.fromkeys([*result.left, *(LeftLink(url, "repeats") for url in result.repeating)])
    seen = changed | {key_of(each.url) for each in left}
    why = "not-in-text" if repaired.settings.options.run else "switched-off"
    for normal, link in repaired.links.items():
        if link.finding.verdict is Verdict.DEAD and normal not in seen:
            left[LeftLink(link.given[0], "kept-off" if result.kept_off else why)] = None
    yield from [each for each in left if each.why not in _NOTHING_TO_DO][:MOST_LEFT]


class _Offsets:
    """Offsets in code units of UTF-16, as JavaScript counts them, of offsets that are requested in any order."""

    def __init__(self, text: str) -> None:
        self._beyond = [place for place, letter in enumerate(text) if letter > "\uffff"] if not text.isascii() else []

    def of(self, offset: int) -> int:
        return offset + bisect_left(self._beyond, offset)
