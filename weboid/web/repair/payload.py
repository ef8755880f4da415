"""A repaired page as the payload of ``/api/repair``; ``docs/api.md`` describes it."""

import re
from bisect import bisect_left
from collections.abc import Container, Iterator, Mapping
from typing import Any, Final, NamedTuple

from weboid.bot.answers import KnownCopy, key_of
from weboid.bot.pieces import EditedPiece
from weboid.bot.repair import LeftLink, LinkChange
from weboid.core.archive.captures import in_utc
from weboid.core.archive.copies import snapshots_as_json
from weboid.core.record.days import iso
from weboid.core.url.archives import snapshot_of
from weboid.core.url.farms import WMF
from weboid.core.verdict.link_report import LinkReport
from weboid.core.verdict.verdict import Verdict
from weboid.mechanism.slices import Steps, batches
from weboid.web.repair.job import MOST_LEFT
from weboid.web.repair.repair_words import change_words, left_words, summary_of
from weboid.web.repair.repairing import Repaired, edit_address
from weboid.web.words.messages import Messages

_NOTHING_TO_DO: Final = frozenset({"working", "permalive"})
_SOME: Final = 20
_BEYOND: Final = re.compile("[\U00010000-\U0010ffff]")
"""Characters of two code units."""


class _Unseen(NamedTuple):
    url: str
    normal: str
    why: str


def repaired_steps(repaired: Repaired, day: int, say: Messages, public_url: str) -> Steps[dict[str, Any]]:
    """The keys of a repaired page after the first ones, in steps."""
    result, wanted = repaired.result, repaired.wanted
    left = [each for each in result.left if each.why not in _NOTHING_TO_DO]
    left += [LeftLink(url, "repeats") for url in result.repeating]
    keys: dict[str, str | None] = {}
    for some in batches([*(each.url for each in result.changes), *(each.url for each in left)], _SOME):
        keys |= {url: key_of(url) for url in some}
        yield
    for unseen in _unseen(repaired, set(keys.values())):
        keys[unseen.url] = unseen.normal
        left.append(LeftLink(unseen.url, unseen.why))
    found = {url: None if key is None else repaired.links.get(key) for url, key in keys.items()}
    changes: list[dict[str, Any]] = []
    offsets = _Offsets(repaired.text)
    seen: set[int] = set()
    for number, (change, piece) in enumerate(zip(result.changes, result.pieces, strict=True)):
        if number % _SOME == 0:
            yield
        is_first = piece.start not in seen
        seen.add(piece.start)
        offset = offsets.of(piece.start)
        changes.append(_change_as_json(change, piece, found[change.url], day, say, offset, is_first=is_first))
    left_alone: list[dict[str, Any]] = []
    for alone in batches(list(dict.fromkeys(left))[:MOST_LEFT], _SOME):
        left_alone += [
            {"url": each.url, "why": each.why, "words": left_words(each.why, found[each.url], day, say)}
            for each in alone
        ]
        yield
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
        "left": left_alone,
        "kept_off": result.kept_off,
    }


def _change_as_json(
    change: LinkChange,
    piece: EditedPiece,
    link: LinkReport | None,
    day: int,
    say: Messages,
    offset: int,
    *,
    is_first: bool,
) -> dict[str, Any]:
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
        else [_offered(each) for each in snapshots_as_json(link.copies) if each["verified"] and each["taken"]],
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


def _unseen(repaired: Repaired, seen: Container[str | None]) -> Iterator[_Unseen]:
    """The dead links of the page that the engine has not seen, or was not allowed to look at."""
    why = "kept-off" if repaired.result.kept_off else "not-in-text" if repaired.settings.options.run else "switched-off"
    for normal, link in repaired.links.items():
        if link.finding.verdict is Verdict.DEAD and normal not in seen:
            yield _Unseen(link.given[0], normal, why)


class _Offsets:
    """Offsets in code units of UTF-16, as JavaScript counts them, of offsets that are requested in any order."""

    def __init__(self, text: str) -> None:
        self._beyond = [found.start() for found in _BEYOND.finditer(text)]

    def of(self, offset: int) -> int:
        return offset + bisect_left(self._beyond, offset)
