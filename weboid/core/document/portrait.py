"""Portraits: some twenty bytes kept of a document, to know whether another one has replaced it (C-11).

If the comparison is uncertain, the document counts as unchanged. ``core/verdict/newcomers`` concludes from several
portraits of a host. A portrait holds no text. Stored portraits must stay comparable, so the hashes and the packed forms
never change their meaning.
"""

from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Final

from weboid.core.document.document import Document
from weboid.core.document.fingerprint import distance, words
from weboid.core.document.folding import folded, words_of
from weboid.core.document.language import UNKNOWN, language_of

FAR_BITS: Final = 24
"""Two documents that differ by so many bits have nothing in common; 32 is the average of unrelated ones."""
NEAR_BITS: Final = 20
"""Two that differ by fewer are alike. Of unrelated ones some hundredths differ by less than `FAR_BITS`, hardly any by
less than this.
"""
REPLACED_WORDS: Final = 40
"""A shorter document has too little text to be called a different one."""
TITLE_WORDS: Final = 6
"""So many words of a title are kept: from a longer one half of them from its beginning, half from its end."""

_WORD_BITS: Final = 12
_HEAD: Final = 11
"""Bytes of the packed form before the title."""
_FORM: Final = 251
"""The first byte of the packed form. Below it is the first form: words in eighths, author, fingerprint, title."""
_WITH_NEWCOMER: Final = 252
_IN_TRADE: Final = 0x80
_IS_OWN: Final = 0x40
_SPACELESS: Final = ("\u0e00", "\uac00")
"""The first letters of scripts whose words are single letters (``fingerprint.words``), and of Hangul after them."""
# Words that unrelated titles share, and that say nothing. Those of one or two letters are left out anyway.
_COMMON: Final = words_of(
    "and are but for from has how not our out that the this was with you your "
    "aus das dem den der des die ein eine fur mit und vom von zum zur "
    "aux ces dans les par pas pour qui sur une con del las los por que una "
    "alla che col dal della delle gli nel per sul com das dos nas nos para pelo uma "
    "een het met van voor att det ett for och som till der til og "
    "dla jest nie oraz pod przez как для или над под при что это"
)


@dataclass(frozen=True, slots=True)
class Portrait:
    """The memory of a document: hashes of its title's words and of its author (0 = none), its fingerprint.

    `language` is that of its text, by number; `in_trade`: its title is of a trade of those who buy given-up domains;
    `is_own`, of a newcomer alone: it has much text, and nothing of it says that it belongs to what was there before.
    """

    title: tuple[int, ...] = ()
    author: int = 0
    fingerprint: int = 0
    language: int = UNKNOWN
    in_trade: bool = False
    is_own: bool = False
    newcomer: "Newcomer | None" = None
    """The document found in its place the last time, if it was another one."""


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Another document in the place of the one that is remembered, as it was found first, on day `since`."""

    portrait: Portrait
    since: int


BLANK: Final = Portrait()
"""The portrait of a document that cannot be compared: too short, without a title, or filled in by scripts."""


def portrait_of(document: Document, fewest: int = REPLACED_WORDS) -> Portrait:
    """The portrait of a document as it is now; BLANK with fewer words than `fewest`."""
    hashes = title_hashes(document)
    if document.is_shell or not hashes or len(document.words) < fewest or document.fingerprint is None:
        return BLANK
    author = 0 if document.author is None else 1 + _hash(document.author) % 255
    # Not of the language that the document declares (D-116).
    return Portrait(hashes, author, document.fingerprint, language_of(document.words))


def title_hashes(document: Document) -> tuple[int, ...]:
    """The hashes of the words of its title that a portrait keeps."""
    title = _distinctive(document.title)
    if len(title) > TITLE_WORDS:
        title = title[: TITLE_WORDS // 2] + title[-TITLE_WORDS // 2 :]
    return tuple(_hash(word) % (1 << _WORD_BITS) for word in title)


def is_replaced(earlier: Portrait, now: Portrait) -> bool:
    """True if another document is now at the same URL: its text is far from the earlier and its title shares no word.

    A document that was updated (a newer issue, a new design) keeps some of its title, a translated one its author.
    """
    if not (earlier.title and now.title) or set(earlier.title) & set(now.title):
        return False
    if earlier.author and earlier.author == now.author:
        return False
    return distance(earlier.fingerprint, now.fingerprint) >= FAR_BITS


def is_alike(earlier: Portrait, now: Portrait) -> bool:
    """True if a word of the title, the author or the text is the same; False also where nobody can tell."""
    if set(earlier.title) & set(now.title) or (earlier.author and earlier.author == now.author):
        return True
    return distance(earlier.fingerprint, now.fingerprint) < NEAR_BITS


def packed_portrait(portrait: Portrait) -> bytes:
    """The stored form: form, language, author, fingerprint, 12 bits for a word of the title; none if BLANK.

    With a newcomer it is two of these, the first with its length before it, the day between them.
    """
    if portrait.newcomer is not None:
        own, other = packed_portrait(replace(portrait, newcomer=None)), packed_portrait(portrait.newcomer.portrait)
        return bytes((_WITH_NEWCOMER, len(own))) + own + portrait.newcomer.since.to_bytes(2, "big") + other
    if portrait == BLANK:
        return b""
    title = 0
    for number in portrait.title:
        title = title << _WORD_BITS | number
    bits = _WORD_BITS * len(portrait.title)
    # Filled up at the end: the length says how many words there are.
    title <<= -bits % 8
    kind = portrait.language | _IN_TRADE * portrait.in_trade | _IS_OWN * portrait.is_own
    return (
        bytes((_FORM, kind, portrait.author))
        + portrait.fingerprint.to_bytes(8, "big")
        + title.to_bytes((bits + 7) // 8, "big")
    )


def unpacked_portrait(packed: bytes) -> Portrait:
    """The inverse of `packed_portrait`; it reads the first form, too, which had no language."""
    if not packed:
        return BLANK
    if packed[0] == _WITH_NEWCOMER:
        end = 2 + packed[1]
        since = int.from_bytes(packed[end : end + 2], "big")
        newcomer = Newcomer(unpacked_portrait(packed[end + 2 :]), since)
        return replace(unpacked_portrait(packed[2:end]), newcomer=newcomer)
    if packed[0] < _FORM:
        packed = bytes((_FORM, UNKNOWN)) + packed[1:]
    bits = 8 * (len(packed) - _HEAD)
    title = int.from_bytes(packed[_HEAD:], "big") >> bits % _WORD_BITS
    count = bits // _WORD_BITS
    hashes = tuple(title >> _WORD_BITS * (count - 1 - place) & ((1 << _WORD_BITS) - 1) for place in range(count))
    kind = packed[1]
    return Portrait(
        hashes,
        packed[2],
        int.from_bytes(packed[3:_HEAD], "big"),
        kind & (_IS_OWN - 1),
        in_trade=bool(kind & _IN_TRADE),
        is_own=bool(kind & _IS_OWN),
    )


def _distinctive(title: str) -> list[str]:
    """The words of a title that two unrelated ones do not share; in scripts without spaces, pairs of letters."""
    found = words(folded(title))
    distinctive = [word for word in found if len(word) > 2 and word not in _COMMON]
    pairs = [one + other for one, other in pairwise(found) if _is_letter(one) and _is_letter(other)]
    return list(dict.fromkeys(distinctive + pairs))


def _is_letter(word: str) -> bool:
    return len(word) == 1 and _SPACELESS[0] <= word < _SPACELESS[1]


def _hash(text: str) -> int:
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=8).digest(), "big")
