"""Validation of a remote crawler's results before they are written (O-1).

Types and most bounds are declared with the calls; these rules follow from several values, or from how they are stored.
A row that could not be read again as it was would break every answer that needs it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from weboid.core.document.face import MOST_PLACES, Face, packed_face, unpacked_face
from weboid.core.document.portrait import TITLE_WORDS, Portrait, packed_portrait, unpacked_portrait
from weboid.core.record import mime
from weboid.core.record.days import LAST_DAY, NEVER_DUE
from weboid.core.record.history import LIMIT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.streak import Streak, packed_evidence, unpacked_evidence
from weboid.core.url.urls import MAX_URL
from weboid.core.verdict.partial_loss import Contacts, HostGroup
from weboid.remote.http.messages import BadMessage
from weboid.store.results.record import Checked

_LARGEST: Final = 2**31 - 1
_LARGEST_SMALL: Final = 2**15 - 1
_LONGEST_TARGET: Final = 4 * MAX_URL
_LONGEST_NAME: Final = 2_000
"""Characters of the name of a group of hosts: those of some name servers."""
_MOST_DOMAINS: Final = 1_000
_SCHEMES: Final = ("http://", "https://", "ftp://", "ftps://", "sftp://")

_Value = TypeVar("_Value")
_Packed = TypeVar("_Packed")


def require_valid_checks(checks: Sequence[Checked]) -> None:
    """Raises BadMessage, which names the fault, for checks that are impossible, or could not be read again (D-458)."""
    for checked in checks:
        record, seen = checked.record, checked.seen
        _require(checked.host.key == checked.url.key[:2], "a URL of another host")
        # Those that are never due are others' to visit.
        _require(0 <= checked.due < NEVER_DUE and 0 <= checked.day < NEVER_DUE, "an impossible day")
        _require(
            _is_streak(checked.host_before.streak) and _is_streak(checked.host_after.streak), "an impossible streak"
        )
        if seen is not None:
            is_filled, days = 0 < len(record.history) <= LIMIT, [(each.first, each.last) for each in record.history]
            _require(is_filled and all(0 <= first <= last <= LAST_DAY for first, last in days), "an impossible history")
            _require(_is_streak(record.streak), "an impossible streak")
            _require(_is_record(record), "an impossible record")
            _require(seen.portrait is None or _is_portrait(seen.portrait), "an impossible portrait")
            _require(seen.face is None or _is_face(seen.face), "an impossible face")


def require_valid_contacts(written: Sequence[tuple[HostGroup, int, Contacts]]) -> None:
    """Raises BadMessage for contacts of groups, on a day, that are longer than any."""
    require_valid_groups(group for group, *_ in written)
    _require(all(len(seen.failed) <= _MOST_DOMAINS for *_, seen in written), "too large a group of hosts")


def require_valid_groups(groups: Iterable[HostGroup]) -> None:
    """Raises BadMessage for groups of hosts with longer names than any."""
    _require(all(len(group.name) <= _LONGEST_NAME for group in groups), "too long a name of a group of hosts")


def _require(is_valid: bool, fault: str) -> None:
    if not is_valid:
        raise BadMessage(f"the message has {fault}")


def _is_record(record: UrlRecord) -> bool:
    is_known = record.reason is not None and (record.mime is None or record.mime in mime.KEYWORDS)
    return (
        is_known
        and 0 <= (record.size_kib or 0) <= _LARGEST
        and 0 <= (record.http or 0) <= _LARGEST_SMALL
        and (record.target is None or _is_target(record.target, record.reason))
    )


def _is_target(target: str, reason: Reason | None) -> bool:
    """True for a possible target of a redirect: out of the web any text, as a browser writes URLs."""
    is_text = reason is Reason.REDIRECT_TO_SCHEME and target.isascii() and target.isprintable()
    return len(target) <= _LONGEST_TARGET and (is_text or target.startswith(_SCHEMES))


def _is_streak(streak: Streak) -> bool:
    return (
        (not streak.strikes or (streak.since is not None and streak.until is not None))
        and 0 <= streak.strikes <= _LARGEST_SMALL
        and 0 <= (streak.since or 0) <= LAST_DAY
        and 0 <= (streak.until or 0) <= LAST_DAY
        and _is_readable(streak.evidence, packed_evidence, unpacked_evidence)
    )


def _is_portrait(portrait: Portrait) -> bool:
    return len(portrait.title) <= TITLE_WORDS and _is_readable(portrait, packed_portrait, unpacked_portrait)


def _is_face(face: Face) -> bool:
    return len(face.answers) <= MOST_PLACES and _is_readable(face, packed_face, unpacked_face)


def _is_readable(value: _Value, pack: Callable[[_Value], _Packed], unpack: Callable[[_Packed], _Value]) -> bool:
    """True if a value can be stored, and read again as it was."""
    try:
        return unpack(pack(value)) == value
    except (ValueError, OverflowError, LookupError, TypeError, RecursionError):
        return False
