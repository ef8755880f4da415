"""Validation of a remote crawler's results before they are written (O-1).

Types and most bounds are declared with the calls, and columns refuse what is too large for them; these rules follow
from several values. A row that could not be read again as it was would break every answer that needs it.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Final, TypeVar

from weboid.core.document.face import MOST_PLACES, packed_face, unpacked_face
from weboid.core.document.portrait import TITLE_WORDS, packed_portrait, unpacked_portrait
from weboid.core.observe.observation import Observation
from weboid.core.record import mime
from weboid.core.record.days import LAST_DAY, NEVER_DUE
from weboid.core.record.history import LIMIT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.streak import Streak, packed_evidence, unpacked_evidence
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import MAX_URL, normal
from weboid.core.verdict.partial_loss import Contacts, HostGroup
from weboid.remote.http.messages import BadMessage
from weboid.store.results.record import Checked

_LONGEST_TARGET: Final = 4 * MAX_URL
_LONGEST_NAME: Final = 2_000
"""Characters of the name of a group of hosts: those of some name servers."""
_MOST_DOMAINS: Final = 1_000
_SCHEMES: Final = ("http://", "https://", "ftp://", "ftps://", "sftp://")

_Value = TypeVar("_Value")
_Packed = TypeVar("_Packed")


def require_valid_checks(checks: Sequence[Checked]) -> None:
    """Raises BadMessage for checks that are impossible, or could not be read again (D-458)."""
    if not all(map(_is_possible, checks)):
        raise BadMessage("a check is impossible")


def require_valid_contacts(written: Sequence[tuple[HostGroup, int, Contacts]]) -> None:
    """Raises BadMessage for contacts of groups, on a day, that are longer than any."""
    require_valid_groups(group for group, *_ in written)
    if any(len(seen.failed) > _MOST_DOMAINS for *_, seen in written):
        raise BadMessage("a group of hosts is too large")


def require_valid_groups(groups: Iterable[HostGroup]) -> None:
    """Raises BadMessage for groups of hosts with longer names than any."""
    if any(len(group.name) > _LONGEST_NAME for group in groups):
        raise BadMessage("the name of a group of hosts is too long")


def _is_possible(checked: Checked) -> bool:
    return (
        checked.host.key == checked.url.key[:2]
        # Those that are never due are others' to visit.
        and 0 <= checked.due < NEVER_DUE
        and 0 <= checked.day < NEVER_DUE
        and _is_streak(checked.host_before.streak)
        and _is_streak(checked.host_after.streak)
        and (checked.seen is None or (_is_record(checked.record) and _is_observation(checked.seen)))
    )


def _is_observation(seen: Observation) -> bool:
    portrait, face = seen.portrait, seen.face
    return (
        len(portrait.title if portrait else ()) <= TITLE_WORDS
        and len(face.answers if face else ()) <= MOST_PLACES
        and _is_readable(portrait, packed_portrait, unpacked_portrait)
        and _is_readable(face, packed_face, unpacked_face)
        and (seen.meant is None or _is_normal(seen.meant))
    )


def _is_record(record: UrlRecord) -> bool:
    return (
        record.reason is not None
        and (record.mime is None or record.mime in mime.KEYWORDS)
        and min(record.size_kib or 0, record.http or 0) >= 0
        and (record.target is None or _is_target(record.target, record.reason))
        and 0 < len(record.history) <= LIMIT
        and all(0 <= each.first <= each.last <= LAST_DAY for each in record.history)
        and _is_streak(record.streak)
    )


def _is_target(target: str, reason: Reason | None) -> bool:
    """True for a possible target of a redirect: out of the web any text, as a browser writes URLs."""
    is_text = reason is Reason.REDIRECT_TO_SCHEME and target.isascii() and target.isprintable()
    return len(target) <= _LONGEST_TARGET and (is_text or target.startswith(_SCHEMES))


def _is_normal(url: str) -> bool:
    try:
        return normal(url) == url
    except InvalidUrl:
        return False


def _is_streak(streak: Streak) -> bool:
    return (
        streak.strikes >= 0
        and not (streak.strikes and None in (streak.since, streak.until))
        and all(0 <= (day or 0) <= LAST_DAY for day in (streak.since, streak.until))
        and _is_readable(streak.evidence, packed_evidence, unpacked_evidence)
    )


def _is_readable(value: _Value | None, pack: Callable[[_Value], _Packed], unpack: Callable[[_Packed], _Value]) -> bool:
    """True if a value can be stored, and read again as it was."""
    try:
        return value is None or unpack(pack(value)) == value
    except (ValueError, OverflowError, LookupError, TypeError, RecursionError):
        return False
