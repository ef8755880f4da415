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
from weboid.core.record.days import LAST_DAY
from weboid.core.record.reasons import Reason
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, normal, text_form
from weboid.core.verdict.partial_loss import Contacts, HostGroup
from weboid.remote.crawl.sightings import Sighting
from weboid.remote.http.messages import BadMessage

_LONGEST_NAME: Final = 2_000
"""Characters of the name of a group of hosts: those of some name servers."""
_MOST_DOMAINS: Final = 1_000
_LARGEST_KIB: Final = 2**31 - 1
_LARGEST_CODE: Final = 999

_Value = TypeVar("_Value")
_Packed = TypeVar("_Packed")


def require_valid_sightings(sightings: Sequence[Sighting]) -> None:
    """Raises BadMessage for sightings that are impossible, or could not be read again (D-458)."""
    if len({each.key for each in sightings}) < len(sightings) or not all(map(_is_possible, sightings)):
        raise BadMessage("a check is impossible")


def require_valid_contacts(written: Sequence[tuple[HostGroup, int, Contacts]]) -> None:
    """Raises BadMessage for contacts of groups, on a day, that are longer than any."""
    require_valid_groups(group for group, *_ in written)
    if any(len(seen.failed) > _MOST_DOMAINS for *_, seen in written):
        raise BadMessage("a group of hosts is too large")


def require_valid_groups(groups: Iterable[HostGroup]) -> None:
    """Raises BadMessage for groups of hosts with names that are none."""
    if any(len(name) > _LONGEST_NAME or not (name.isascii() and name.isprintable()) for _, name in groups):
        raise BadMessage("the name of a group of hosts is none")


def _is_possible(each: Sighting) -> bool:
    return 0 <= each.day <= LAST_DAY and (each.days > 0 if each.seen is None else _is_observation(each.seen))


def _is_observation(seen: Observation) -> bool:
    portrait, face = seen.portrait, seen.face
    return (
        (seen.mime is None or seen.mime in mime.KEYWORDS)
        and 0 <= (seen.size_kib or 0) <= _LARGEST_KIB
        and 0 <= (seen.http or 0) <= _LARGEST_CODE
        and (seen.target is None or _is_target(seen.target, seen.reason))
        and (seen.meant is None or _is_normal(seen.meant))
        and len(portrait.title if portrait else ()) <= TITLE_WORDS
        and len(face.answers if face else ()) <= MOST_PLACES
        and _is_readable(portrait, packed_portrait, unpacked_portrait)
        and _is_readable(face, packed_face, unpacked_face)
    )


def _is_target(target: Url | str, reason: Reason) -> bool:
    """True for a possible target of a redirect, as text: a URL in normal form, or what is said to be out of the web."""
    if isinstance(target, Url):
        return False
    return _is_normal(target) or (reason is Reason.REDIRECT_TO_SCHEME and text_form(target) == target != "")


def _is_normal(url: str) -> bool:
    try:
        return normal(url) == url
    except InvalidUrl:
        return False


def _is_readable(value: _Value | None, pack: Callable[[_Value], _Packed], unpack: Callable[[_Packed], _Value]) -> bool:
    """True if a value can be stored, and read again as it was."""
    try:
        return value is None or unpack(pack(value)) == value
    except (ValueError, OverflowError, LookupError, TypeError, RecursionError):
        return False
