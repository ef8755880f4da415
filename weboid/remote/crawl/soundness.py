"""Refuses results of a remote crawler that no check can have, before they are written (O-1).

Types and most bounds are those of ``crawl/core``; this is what follows from several values, or from how they are
stored.
One law: what could not be read again as it was is refused, since one such row would break every answer that needs it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from weboid.core.document.face import MOST_PLACES, Face, packed_face, unpacked_face
from weboid.core.document.portrait import TITLE_WORDS, Portrait, packed_portrait, unpacked_portrait
from weboid.core.record import mime
from weboid.core.record.days import LAST_DAY, NEVER_DUE
from weboid.core.record.history import LIMIT, History
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


def require_sound(checks: Sequence[Checked]) -> None:
    """Raises BadMessage, which says what is wrong, for checks that could be no check's, or not be read again
    (D-458)."""
    for checked in checks:
        if checked.host.key != checked.url.key[:2]:
            raise BadMessage("a URL is not its host's")
        # Those that are never due are others' to visit.
        if not (0 <= checked.due < NEVER_DUE and 0 <= checked.day < NEVER_DUE):
            raise BadMessage("a day is none")
        _require_streak(checked.host_before.streak)
        _require_streak(checked.host_after.streak)
        if checked.seen is not None:
            _require_record(checked.record)
            _require_portrait(checked.seen.portrait)
            _require_face(checked.seen.face)


def require_sound_contacts(written: Sequence[tuple[HostGroup, int, Contacts]]) -> None:
    """Raises BadMessage for contacts of groups, on a day, that are longer than any."""
    require_sound_groups(group for group, *_ in written)
    if any(len(seen.failed) > _MOST_DOMAINS for *_, seen in written):
        raise BadMessage("a group of hosts is too large")


def require_sound_groups(groups: Iterable[HostGroup]) -> None:
    """Raises BadMessage for groups of hosts with longer names than any."""
    if any(len(group.name) > _LONGEST_NAME for group in groups):
        raise BadMessage("the name of a group of hosts is too long")


def _require_record(record: UrlRecord) -> None:
    _require_history(record.history)
    _require_streak(record.streak)
    is_known = record.reason is not None and (record.mime is None or record.mime in mime.KEYWORDS)
    is_bounded = (
        0 <= (record.size_kib or 0) <= _LARGEST
        and 0 <= (record.http or 0) <= _LARGEST_SMALL
        and (record.target is None or _is_target(record.target, record.reason))
    )
    if not (is_known and is_bounded):
        raise BadMessage("a record is none")


def _is_target(target: str, reason: Reason | None) -> bool:
    """True for a possible target of a redirect: out of the web any text, as a browser writes URLs."""
    is_text = reason is Reason.REDIRECT_TO_SCHEME and target.isascii() and target.isprintable()
    return len(target) <= _LONGEST_TARGET and (is_text or target.startswith(_SCHEMES))


def _require_history(history: History) -> None:
    if not 0 < len(history) <= LIMIT or not all(0 <= entry.first <= entry.last <= LAST_DAY for entry in history):
        raise BadMessage("a history is none")


def _require_streak(streak: Streak) -> None:
    is_whole = not streak.strikes or (streak.since is not None and streak.until is not None)
    is_bounded = all(
        0 <= (number or 0) <= bound
        for number, bound in ((streak.strikes, _LARGEST_SMALL), (streak.since, LAST_DAY), (streak.until, LAST_DAY))
    )
    if not (is_whole and is_bounded and _is_readable(streak.evidence, packed_evidence, unpacked_evidence)):
        raise BadMessage("a streak is none")


def _require_portrait(portrait: Portrait | None) -> None:
    if portrait is not None and (
        len(portrait.title) > TITLE_WORDS or not _is_readable(portrait, packed_portrait, unpacked_portrait)
    ):
        raise BadMessage("a portrait is none")


def _require_face(face: Face | None) -> None:
    if face is not None and (len(face.answers) > MOST_PLACES or not _is_readable(face, packed_face, unpacked_face)):
        raise BadMessage("a face is none")


def _is_readable(value: _Value, pack: Callable[[_Value], _Packed], unpack: Callable[[_Packed], _Value]) -> bool:
    """True if a value can be stored, and read again as it was."""
    try:
        return unpack(pack(value)) == value
    except (ValueError, OverflowError, LookupError, TypeError, RecursionError):
        return False
