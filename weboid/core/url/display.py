"""Text for people: what nobody sees is written out; a host in punycode may have its Unicode form alongside (L-6).

The scripts that a label may mix are those of the level "highly restrictive" of UTS 39 (5.2), with fewer characters that
have no script. A label that only looks like another word (аррӏе) passes; this is why punycode is always shown, too.
"""

import re
from functools import lru_cache
from typing import Final

import idna
import re2  # type: ignore[import-untyped]

from weboid.core.url.hosts import InvalidUrl, host_form

_PREFIX: Final = "xn--"
_PLAIN: Final = r"\p{Inherited}0-9-"
_JAPANESE: Final = r"\p{Han}\p{Hiragana}\p{Katakana}ー・"
_ALONE: Final = (
    "Armenian Bengali Cyrillic Devanagari Ethiopic Georgian Greek Gujarati Gurmukhi Hebrew Kannada Khmer Lao Malayalam "
    "Myanmar Oriya Sinhala Tamil Telugu Thaana Thai Tibetan"
)
_SETS: Final = (
    *(rf"\p{{{script}}}" for script in _ALONE.split()),
    r"\p{Arabic}\x{0660}-\x{0669}",
    r"\p{Latin}·",
    rf"\p{{Latin}}{_JAPANESE}",
    r"\p{Latin}\p{Han}\p{Bopomofo}",
    r"\p{Latin}\p{Han}\p{Hangul}",
)
"""The scripts of one label: one recommended script (UAX 31, table 5), or Han with the scripts usual with it."""
_UNMIXED: Final = re2.compile("|".join(f"[{_PLAIN}{scripts}]+" for scripts in _SETS))
_OF_KANA: Final = re2.compile(r"[^ー・]*|.*[\p{Hiragana}\p{Katakana}].*")
"""The marks of kana look like a dash and a dot to most readers: allowed only in a label that has kana."""
_MISLEADING: Final = re.compile("[\u200c\u200d\u0334-\u0338\ufe00-\ufe0f]")
"""Invisible characters, and strokes over a letter; IDNA refuses all others of these kinds."""
_HIDDEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff]"
)


def plain(text: object) -> str:
    """The text with characters that are invisible or move the cursor replaced by their codes; XML allows all others."""
    return _HIDDEN.sub(lambda match: f"<U+{ord(match[0]):04X}>", str(text))


def many(number: int, what: str) -> str:
    """The number with its English noun: “1 page”, “1,169 pages”."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def unicode_host(host: str) -> str | None:
    """The Unicode form of a host in normal form, to be shown alongside it.

    None if it has none, if a label mixes scripts or hides something, if it is not valid in IDNA 2008 (RFC 5891), or if
    it is a name of both directions that could be read in another order (RFC 5893).
    """
    return _unicode_host(host) if _PREFIX in host else None


@lru_cache(maxsize=4_096)
def _unicode_host(host: str) -> str | None:
    try:
        labels = [idna.ulabel(label) if label.startswith(_PREFIX) else label for label in host.split(".")]
        if any(map(_is_right_to_left, labels)):
            for label in labels:
                idna.check_bidi(label, check_ltr=True)
        shown = ".".join(labels)
        is_same = host_form(shown) == host
    except (idna.IDNAError, InvalidUrl, UnicodeError):
        return None
    return shown if shown != host and is_same and all(map(_is_plain, labels)) else None


def _is_plain(label: str) -> bool:
    is_unmixed = _UNMIXED.fullmatch(label) is not None and _OF_KANA.fullmatch(label) is not None
    return label.isascii() or (is_unmixed and not _MISLEADING.search(label))


def _is_right_to_left(label: str) -> bool:
    return re2.search(r"[\p{Arabic}\p{Hebrew}\p{Thaana}]", label) is not None
