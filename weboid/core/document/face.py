"""A host's not-found face: the looks of its answers for made-up URLs, in a few bytes (C-11).

``core/url/made_up`` makes the URLs, ``core/observe/facing`` concludes. If a comparison is uncertain, the document
counts as genuine. A face holds no text. Stored faces must stay comparable within `KEPT_DAYS`, so a change of the hashes
or of the packed form needs a migration that empties the table.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from hashlib import blake2b
from typing import Final
from urllib.parse import urlsplit

from weboid.core.document.document import Document
from weboid.core.document.fingerprint import distance, fingerprint, words
from weboid.core.url.made_up import MadeUp, url_words

HONEST_DAYS: Final = 56
"""Days for which a host is believed to say of what is missing that it is."""
KEPT_DAYS: Final = 28
"""Days for which everything else about its answers is believed."""
MOST_PLACES: Final = 10
"""Answers that are kept of one host; the oldest are dropped first."""
_MOST_NEAR: Final = 4
"""Directories and programs of a host that are asked, at most."""
_ENOUGH_HONEST: Final = 2
"""A host that was honest in so many directories and in none was not is believed everywhere."""

SAME_BITS: Final = 3
"""Two answers with the same document differ by at most so many bits, because times and counters change."""
_SHORT_WORDS: Final = 25
"""Shorter texts are the same only if they are equal, and if nothing but text is on the page, as far as known."""
_TINY_WORDS: Final = 8
_FEW_LETTERS: Final = 3
_EXTENSIONS: Final = frozenset({"html", "shtml", "xhtml", "aspx"})
_FILLED_IN: Final = re.compile(rb"<(?:script|i?frame|embed|object|canvas|video|audio)\b", re.IGNORECASE)
_SHOWN: Final = re.compile(rb"<(?:img|svg|picture|input|area)\b", re.IGNORECASE)
_SAME_WORDS: Final = 50
"""One word in so many may be more or fewer."""


class Kind(IntEnum):
    """The kind of an answer for a made-up URL. The numbers are stored.

    UNCLEAR = it proves nothing: a refusal, a failure, no answer. BLANK = a document that cannot be compared.
    """

    UNCLEAR = 0
    HONEST = 1
    BLANK = 2
    PAGE = 3


class Role(IntEnum):
    """The role of a URL that was requested, as in Probes; REAL = it is not made up. The numbers are stored."""

    NEAR = 0
    REAL = 1
    FAR = 2


@dataclass(frozen=True, slots=True)
class Look:
    """The look of an answer: hashes of where a redirect led (0 = nowhere else) and of its title, its fingerprint.

    `words` is the number of words behind the fingerprint, which of a short text is a hash of all of it. All are 0
    unless it was a page.
    """

    kind: Kind
    moved: int = 0
    title: int = 0
    words: int = 0
    fingerprint: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a host at a place on a day."""

    place: int
    role: Role
    day: int
    look: Look

    def is_fresh(self, day: int) -> bool:
        """True if it is still believed on `day`."""
        return 0 <= day - self.day < (HONEST_DAYS if self.look.kind is Kind.HONEST else KEPT_DAYS)


@dataclass(frozen=True, slots=True)
class Face:
    """All that is known of a host's answers, the newest last."""

    answers: tuple[Answer, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.answers)

    @property
    def learned(self) -> int:
        """The day of its newest answer."""
        return max(answer.day for answer in self.answers)

    def look(self, asked: MadeUp | None, day: int) -> Look | None:
        """The look of the answer for a made-up URL; None if that is not known any more."""
        return None if asked is None else self._look_at(asked.place, day)

    def _look_at(self, place: int, day: int) -> Look | None:
        return next((one.look for one in self.answers if one.place == place and one.is_fresh(day)), None)

    def with_answer(self, asked: MadeUp, role: Role, look: Look, day: int) -> "Face":
        """The face with one more answer."""
        others = [one for one in self.answers if one.place != asked.place]
        return Face((*others, Answer(asked.place, role, day, look))[-MOST_PLACES:])

    def of_day(self, day: int) -> "Face":
        """The face as far as it was seen on a day."""
        return Face(tuple(one for one in self.answers if one.day == day))

    def is_settled(self, near: int | None, day: int) -> bool:
        """True if the document at the place `near` needs no judgement: its host is honest, or nothing is asked."""
        if near is None:
            return True
        look = self._look_at(near, day)
        if look is not None:
            return look.kind < Kind.BLANK or (look.kind is Kind.BLANK and not look.moved)
        return not self.takes_more(day)

    def takes_more(self, day: int) -> bool:
        """True if one more directory or program of the host is asked."""
        near = [one.look.kind for one in self.answers if one.role is Role.NEAR and one.is_fresh(day)]
        if len(near) >= _ENOUGH_HONEST and set(near) == {Kind.HONEST}:
            return False
        return len(near) < _MOST_NEAR


NO_FACE: Final = Face()


class Seen:
    """A document as it was reached from a URL, to be compared with what a host answers for made-up ones."""

    def __init__(self, document: Document, asked: str, named: Iterable[str], body: bytes = b"") -> None:
        self.document = document
        self._body = body
        self._named = frozenset(named) | (url_words(_path(document.url)) if document.url != asked else frozenset())
        self.moved = _moved(asked, document.url)

    @cached_property
    def _plain(self) -> Look:
        return _look(self.document, frozenset(), self.moved, self._body)

    @cached_property
    def _without_names(self) -> Look:
        return _look(self.document, self._named, self.moved, self._body)

    @property
    def is_comparable(self) -> bool:
        """True if it can be like any answer at all."""
        is_page = not self.document.is_article and _shown(self.document, frozenset(), self._body) is not None
        return bool(self.moved) or is_page

    def is_like(self, look: Look | None, *, wherever: bool = False) -> bool:
        """True if it is the same as an answer: both ended on the same URL, or title and text are the same.

        Words of URLs do not count, because a document may repeat its own. A page that stands at its own URL is unlike
        one to which a redirect led, but for `wherever`.
        """
        if look is None or look.kind < Kind.BLANK:
            return False
        if look.moved and self.moved == look.moved:
            return True
        if look.moved and not self.moved and not wherever:
            return False
        if self.document.is_article or Kind.BLANK in (look.kind, self._plain.kind):
            return False
        return _is_same(self._plain, look) or _is_same(self._without_names, look)

    def names(self, names: Iterable[str]) -> bool:
        """True if title or headings have one of these words of the URL: then it may be what the URL names."""
        titled = {word for text in (self.document.title, *self.document.headings) for word in words(text)}
        return not titled.isdisjoint(_distinctive(names))

    def mentions(self, names: Iterable[str]) -> bool:
        """True if the text has one of these words anywhere; also if none of them is distinctive."""
        distinctive = _distinctive(names)
        return not distinctive or self.names(names) or not distinctive.isdisjoint(self.document.words)


def _distinctive(names: Iterable[str]) -> set[str]:
    """The words of a URL that are no abbreviations, articles or extensions."""
    return {name for name in names if len(name) > _FEW_LETTERS or not name.isascii()} - _EXTENSIONS


def look_of(document: Document, made_up: MadeUp, body: bytes = b"") -> Look:
    """The look of the document in the beginning of a body that a host sent for a made-up URL."""
    return _look(document, made_up.invented, _moved(str(made_up.url), document.url), body)


def _look(document: Document, left_out: frozenset[str], moved: int, body: bytes) -> Look:
    shown = _shown(document, left_out, body)
    if shown is None:
        return Look(Kind.BLANK, moved)
    text, titled = shown
    if len(text) < _SHORT_WORDS:
        shape = _hash(" ".join(text), 8)
    else:
        shape = (document.fingerprint if len(text) == len(document.words) else fingerprint(" ".join(text))) or 0
    return Look(Kind.PAGE, moved, _hash(" ".join(titled), 3), len(text), shape)


def _shown(document: Document, left_out: frozenset[str], body: bytes) -> tuple[list[str], list[str]] | None:
    """The words of a document and those of its title and heading, for a look; None if it cannot be compared."""
    text = [word for word in document.words if word not in left_out] if left_out else list(document.words)
    titled = [word for part in (document.title, *document.headings[:1]) for word in words(part) if word not in left_out]
    if document.is_shell or not text or (len(text) < _SHORT_WORDS and not _is_all(document, text, body)):
        return None
    return text, titled


def _is_all(document: Document, text: list[str], body: bytes) -> bool:
    """True if a short text is all of a page: nothing is filled in, and next to a tiny text stands no picture."""
    # What scripts fill in has no heading yet.
    if document.refresh or (_FILLED_IN.search(body) and not (document.headings and len(text) >= _TINY_WORDS)):
        return False
    return len(text) >= _TINY_WORDS or not _SHOWN.search(body)


def _is_same(one: Look, other: Look) -> bool:
    """True if two pages have the same title and, but for times and counters, the same text."""
    if one.title != other.title or Kind.BLANK in (one.kind, other.kind):
        return False
    fewer, more = sorted((one.words, other.words))
    if fewer < _SHORT_WORDS:
        return (one.words, one.fingerprint) == (other.words, other.fingerprint)
    return more - fewer <= max(1, fewer // _SAME_WORDS) and distance(one.fingerprint, other.fingerprint) <= SAME_BITS


def _moved(asked: str, final: str) -> int:
    """The hash of where a redirect led; 0 if nowhere, or if the path is still the same (other scheme, host, slash)."""
    if not final or _path(asked).rstrip("/").lower() == _path(final).rstrip("/").lower():
        return 0
    return _hash(final.partition("://")[2], 4) or 1


def _path(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path


def _hash(text: str, size: int) -> int:
    return int.from_bytes(blake2b(text.encode(errors="replace"), digest_size=size).digest(), "big")


_SHORT_BYTES: Final = 5
_LOOK_BYTES: Final = (4, 3, 2, 8)
"""Bytes of a look's numbers: moved, title, words, fingerprint."""


def packed_face(face: Face) -> bytes:
    """The stored form: five bytes an answer, and seventeen more for one with a document."""
    parts = []
    for one in face.answers:
        parts.append(
            bytes((one.role << 4 | one.look.kind,)) + one.place.to_bytes(2, "big") + one.day.to_bytes(2, "big")
        )
        if one.look.kind >= Kind.BLANK:
            numbers = (one.look.moved, one.look.title, one.look.words, one.look.fingerprint)
            parts += [number.to_bytes(size, "big") for number, size in zip(numbers, _LOOK_BYTES, strict=True)]
    return b"".join(parts)


def unpacked_face(packed: bytes) -> Face:
    """The inverse of `packed_face`."""
    answers: list[Answer] = []
    while packed:
        head, packed = packed[:_SHORT_BYTES], packed[_SHORT_BYTES:]
        kind, numbers = Kind(head[0] & 15), []
        if kind >= Kind.BLANK:
            for size in _LOOK_BYTES:
                numbers.append(int.from_bytes(packed[:size], "big"))
                packed = packed[size:]
        place, day = int.from_bytes(head[1:3], "big"), int.from_bytes(head[3:], "big")
        answers.append(Answer(place, Role(head[0] >> 4), day, Look(kind, *numbers)))
    return Face(tuple(answers))
