"""Folds texts for the search for phrases: removes case, accents and punctuation, from phrases and texts alike."""

import re
from collections.abc import Iterable
from typing import Final
from unicodedata import combining, normalize

_GAP: Final = re.compile(r"[\W_]+")
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:]+\s+|\s*[|»«•]\s*|(?<=\S):\s")


def folded(text: str) -> str:
    """The words of a text, case-folded, with single spaces between them and without diacritics."""
    if not text.isascii():
        text = normalize("NFKD", text.casefold()).replace("ı", "i")
        for mark in filter(combining, set(text)):
            text = text.replace(mark, "")
    return _GAP.sub(" ", text.casefold()).strip()


def phrases(listed: str | Iterable[str]) -> tuple[str, ...]:
    """The folded phrases of a list, or of a text where ``|`` separates them, the longest first: it is found first."""
    each = listed.split("|") if isinstance(listed, str) else listed
    return tuple(sorted({folded(phrase) for phrase in each} - {""}, key=lambda phrase: (-len(phrase), phrase)))


def segments(title: str) -> tuple[str, ...]:
    """A title as a whole, and the segments between its separators, such as that with the name of the site."""
    return (title, *_SEPARATOR.split(title))


def words_of(text: str) -> frozenset[str]:
    """The words of a list separated by spaces, unchanged."""
    return frozenset(text.split())


def first_of(candidates: Iterable[str], text: str) -> str | None:
    """The first of some folded phrases that a folded text contains; only whole words, in scripts with spaces."""
    padded = f" {text} "
    for phrase in candidates:
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
    return any(
        "\u3040" <= char <= "\u30ff" or "\u3400" <= char <= "\u9fff" or "\u0e00" <= char <= "\u0eff" for char in text
    )
