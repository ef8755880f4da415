"""Reports as dictionaries, for JSON, JavaScript, XML and ``weboid show`` (W-1, W-8); ``docs/api.md`` describes them."""

from enum import StrEnum
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any, Final

from weboid.core.archive.addresses import stamp_of
from weboid.core.archive.copies import snapshots_as_json
from weboid.core.record.days import iso
from weboid.core.record.history import Entry
from weboid.core.record.reasons import status_outcome
from weboid.core.record.status import Status, http_code
from weboid.core.url.archives import Snapshot
from weboid.core.url.link_kind import LinkOrigin
from weboid.core.verdict.link_report import COPY_WANTED, LinkReport, PageReport
from weboid.core.verdict.verdict import Grounds, Verdict

FROZEN: Final = "frozen"
"""The flag of a link that bots leave alone, as a repair was reverted and nobody has released it (B-6)."""
VERSION: Final = 2
"""The version of all documents for machines: they grow by new keys only; a change of one counts it up."""


class RevertReason(StrEnum):
    """The probable reason of a revert, as a stable word of journals, reports and ``POST /api/reverts`` (B-6)."""

    VANDALISM_REVERT = "vandalism-revert"
    """Others were meant: the page was restored to what it had been before the text that we edited."""
    WHOLE_PAGE = "whole-page"
    """All of our edit was undone, without a word why."""
    LINK_WORKS = "link-works"
    WRONG_COPY = "wrong-copy"
    STYLE = "style"
    """Our text stands there in another form."""
    LINK_REMOVED = "link-removed"
    UNKNOWN = "unknown"


def link_as_json(link: LinkReport) -> dict[str, Any]:
    """The one dictionary form of a link: days as ISO dates, unknown things None (U-2, U-4); no codes (D-476)."""
    # At once: to read eighteen fields one by one takes ten times as long.
    given, kind, _, normal, found, record, due, invalid, odd = link[:9]
    claims, grounds, copies, origin, is_frozen, meant, flags, hints, is_repaired = link[9:]
    (verdict, reason, since), (history, streak, _, target, mime, size_kib, http, _) = found, record
    number, code, state, _ = _status_values(history[0].status if history else link.status)
    origin_kind, interwiki = _origin_values(origin)
    # No ** of other dictionaries, which would make each of them first: that took a seventh of its time.
    return {
        "normal": normal,
        "host_unicode": link.host_unicode,
        "given": list(given),
        "kind": origin_kind,
        "interwiki": interwiki,
        "class": kind.value,
        "verdict": verdict.word,
        "reason": reason.word if reason else invalid and invalid.value,
        "since": _iso(since),
        "status": number,
        "http": code if http is None else http or None,
        "state": state,
        "checked": _iso(history[0].last) if history else None,
        "next_check": _iso(due),
        "strikes": streak.strikes,
        "evidence": None if grounds is None else _grounds_as_json(grounds),
        "target": target,
        "mime": mime,
        "size_kib": size_kib,
        "suspicious": odd,
        "hints": [{"kind": hint.kind.value, "since": _iso(hint.since)} for hint in hints],
        "flags": sorted(flags | {FROZEN} if is_frozen else flags),
        "reported": _iso(claims.reported),
        "assumed": _iso(claims.assumed),
        "replacement": claims.replacement,
        "probably_meant": meant,
        "repaired": is_repaired,
        "archives": list(claims.archives) if copies is None else [each.address for each in copies.snapshots],
        "archived": None if copies is None else copies.state.value,
        "snapshots": snapshots_as_json(copies),
        "copy_of": None if (copy := link.cited_copy) is None else _copy_as_json(copy),
        "history": list(map(_entry_as_json, history)),
    }


@lru_cache(1_024)
def _origin_values(origin: LinkOrigin | None) -> tuple[str | None, dict[str, str] | None]:
    if origin is None or origin.interwiki is None:
        return origin and origin.kind.value, None
    prefix, title = origin.interwiki
    return origin.kind.value, {"prefix": prefix, "title": title}


def _copy_as_json(copy: Snapshot) -> dict[str, Any]:
    """A copy by its address; ``weboid normalize --json`` gives the same."""
    return {
        "service": copy.archive.name,
        "original": None if copy.original is None else str(copy.original),
        "stamp": None if copy.taken is None else f"{stamp_of(copy.taken):014}",
    }


def page_as_json(page: PageReport) -> dict[str, Any]:
    """The dictionary form of a page but for its links; `counts` is over all of them, by verdict, `repaired` over those
    of which the page offers a copy already."""
    counts = {verdict.word: 0 for verdict in Verdict}
    repaired = {verdict.word: 0 for verdict in sorted(COPY_WANTED, key=attrgetter("value"), reverse=True)}
    for link in page.links:
        counts[link.finding.verdict.word] += 1
        if link.is_repaired:
            repaired[link.finding.verdict.word] += 1
    return {
        "wiki": str(page.wiki),
        "id": page.page,
        "namespace": page.namespace,
        "title": page.title,
        "prefixed_title": page.prefixed_title,
        "revision": page.revision,
        "live": page.live,
        "read": iso(page.read),
        "part": None if (part := page.part) is None else {"from": part.first, "to": part.end, "of": part.total},
        "counts": counts,
        "repaired": repaired,
    }


def state_word(status: Status) -> str:
    """The stable word of a status, e.g. ``dns-gone``: also where HTTP has no code for it."""
    return status.name.lower().replace("_", "-")


@cache
def _status_values(status: Status) -> tuple[int, int | None, str, str]:
    """The status byte (U-4), the HTTP code of its group or None, its word, and its outcome's."""
    return int(status), http_code(status), state_word(status), status_outcome(status).value


def _entry_as_json(entry: Entry) -> dict[str, Any]:
    status, first, last = entry
    number, code, state, outcome = _status_values(status)
    return {"status": number, "http": code, "state": state, "outcome": outcome, "first": iso(first), "last": iso(last)}


def _grounds_as_json(grounds: Grounds) -> dict[str, Any]:
    streak = grounds.streak
    return {
        "strikes": streak.strikes,
        "missing_days": streak.evidence.missing_width,
        "since": _iso(streak.since),
        "until": _iso(streak.until),
        "days": grounds.days,
        "needs_days": grounds.needs_days,
        "of_host": grounds.of_host,
        "host_answers": grounds.host_answers,
    }


_iso: Final = lru_cache(8_192)(lambda day: None if day is None else iso(day))
