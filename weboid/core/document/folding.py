"""Folds texts for the search for phrases: removes case, accents and punctuation, from phrases and texts alike."""

import re
from collections.abc import Iterable
from functools import cached_property, lru_cache
from typing import Final
from unicodedata import combining, normalize

_KEPT: Final = 64
"""Signs fold titles and beginnings of texts again and again: so many are kept."""
_KEPT_CHARS: Final = 5_000
_ASCII: Final = bytes(range(0x80))
_SPACED: Final = bytes(code if code >= 0x80 or chr(code).isalnum() else ord(" ") for code in range(256))
_SPACELESS: Final = re.compile("[\u3040-\u30ff\u3400-\u9fff\u0e00-\u0eff]")
_GAP_IN_LINE: Final = re.compile(r"(?:[^\w\n]|_)+")
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:]+\s+|\s*[|»«•]\s*|(?<=\S):\s")


class Phrases(tuple[str, ...]):
    """Folded phrases, the longest first, so that it is found first."""

    @cached_property
    def _places(self) -> dict[str, list[int]]:
        """The places of phrases by the longest word; those without spaces stand under none."""
        found: dict[str, list[int]] = {}
        for place, phrase in enumerate(self):
            found.setdefault("" if is_spaceless(phrase) else max(phrase.split(), key=len), []).append(place)
        return found

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self._places)

    def likely_in(self, text: str) -> Iterable[str]:
        """Those of which the longest word stands in a text, and all without spaces; in their order."""
        words = words_of(text) if len(text) <= _KEPT_CHARS else frozenset(text.split())
        found = self._known & words | self._known & {""}
        return map(self.__getitem__, sorted(place for word in found for place in self._places[word]))


def folded(text: str) -> str:
    """The words of a text, case-folded, with single spaces between them and without diacritics."""
    return _folded_again(text) if len(text) <= _KEPT_CHARS else _folded(text)


def _folded(text: str) -> str:
    text = _unaccented(text)
    for char in beyond_ascii(text.encode(errors="surrogatepass")):
        text = text if char.isalnum() else text.replace(char, " ")
    # As bytes in a fourth of the time that a pattern takes.
    return " ".join(text.encode(errors="surrogatepass").translate(_SPACED).decode(errors="surrogatepass").split())


def _unaccented(text: str) -> str:
    if not text.isascii():
        text = normalize("NFKD", text.casefold()).replace("ı", "i")
        for mark in filter(combining, beyond_ascii(text.encode(errors="surrogatepass"))):
            text = text.replace(mark, "")
    return text.casefold()


def beyond_ascii(encoded: bytes) -> set[str]:
    """The characters of a text in UTF-8 that are not in ASCII."""
    return set(encoded.translate(None, _ASCII).decode(errors="surrogatepass"))


_folded_again: Final = lru_cache(_KEPT)(_folded)


def phrases(listed: str | Iterable[str]) -> Phrases:
    """The folded phrases of a list, or of a text where ``|`` separates them; none has a line feed."""
    lines = listed.replace("|", "\n") if isinstance(listed, str) else "\n".join(listed)
    each = {line.strip() for line in _GAP_IN_LINE.sub(" ", _unaccented(lines)).split("\n")} - {""}
    return Phrases(sorted(sorted(each), key=len, reverse=True))


def segments(title: str) -> tuple[str, ...]:
    """A title as a whole, and the segments between its separators, such as that with the name of the site."""
    return (title, *_SEPARATOR.split(title))


@lru_cache(_KEPT // 4)
def words_of(text: str) -> frozenset[str]:
    """The words of a list separated by spaces, unchanged."""
    return frozenset(text.split())


def first_of(candidates: Iterable[str], text: str) -> str | None:
    """The first of some folded phrases that a folded text contains; only whole words, in scripts with spaces."""
    padded = f" {text} "
    for phrase in candidates.likely_in(text) if isinstance(candidates, Phrases) else candidates:
        if phrase in text and (f" {phrase} " in padded or is_spaceless(phrase)):
            return phrase
    return None


def without(candidates: Iterable[str], phrase: str) -> tuple[str, list[str]]:
    """A folded phrase without all folded candidates that it contains, and these."""
    padded, found = f" {phrase} ", []
    for candidate in candidates:
        if f" {candidate} " in padded:
            padded = padded.replace(f" {candidate} ", "  ")
            found.append(candidate)
    return padded.strip(), found


def is_spaceless(text: str) -> bool:
    """True if a text has characters of a script without spaces between words."""
    return _SPACELESS.search(text) is not None
