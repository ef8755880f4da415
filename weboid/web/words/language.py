"""Languages: their codes, directions and fallbacks, and the one that a request gets (W-11).

Codes are MediaWiki's; the codes of Babel and HTML are in ``i18n/languages/languages.json``.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from weboid.assets import asset
from weboid.web.request.problem import Problem

DEFAULT: Final = "en"
QQX: Final = "qqx"
"""The language that shows keys instead of messages."""
_CODE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}", re.I)
_RANGE: Final = re.compile(r"([a-z]{2,3}(?:-[a-z0-9]{1,8})*)(?:\s*;\s*q=([01](?:\.[0-9]{0,3})?))?", re.I)
"""Without white space around it: two adjacent runs of it could be split in thousands of ways (backtracking)."""
_MOST_RANGES: Final = 20
_OLD: Final = {"iw": "he", "in": "id", "ji": "yi", "jw": "jv"}
"""Codes that ISO 639 has withdrawn, and that some browsers and systems still send."""


@dataclass(frozen=True, slots=True)
class Language:
    """One language. `bcp47` is for HTML, `locale` for Babel; `fallbacks` come before English, nearest first.

    `relative` is Babel's locale for days in words, if its own has none.
    """

    code: str
    bcp47: str
    autonym: str
    direction: str
    locale: str
    fallbacks: tuple[str, ...]
    relative: str | None = None


@cache
def languages() -> dict[str, Language]:
    """All languages that a request can give, by code."""
    given = json.loads((asset("i18n") / "languages" / "languages.json").read_text(encoding="utf-8"))
    return {
        code: Language(
            code, row["bcp47"], row["autonym"], row["dir"], row["locale"], tuple(row["fallbacks"]), row.get("relative")
        )
        for code, row in given.items()
    }


@cache
def written() -> frozenset[str]:
    """The codes of the languages that have messages of their own."""
    return frozenset(path.stem for path in asset("i18n").glob("*.json") if path.stem in languages())


def offered_languages(current: Language) -> list[Language]:
    """The languages that a page offers: those that have messages of their own and its current one, sorted by autonym.

    The others are some hundred codes that would all show the words of another; in an address each of them works.
    """
    codes = {*written(), current.code}
    return sorted((languages()[code] for code in codes), key=lambda language: language.autonym.casefold())


def shown_language(language: Language) -> Language:
    """The language whose words a page in that language shows: it, its nearest fallback that has messages, or English.

    So that `lang`, direction and dates of a page are those of its text.
    """
    if language.code == QQX:
        return language
    return languages()[next((code for code in (language.code, *language.fallbacks) if code in written()), DEFAULT)]


def requested_language(code: str) -> Language:
    """The language of that code, or the nearest shorter one (``de-at`` → ``de``), else English.

    An unknown language is not an error, because pages pass on the language of their readers (``uselang``). Raises
    Problem for what is not a code at all.
    """
    if not _CODE.fullmatch(code):
        raise Problem(400, "lang")
    return _nearest(code) or languages()[DEFAULT]


def accepted_language(header: str) -> Language:
    """The best of an Accept-Language header (RFC 9110 §12.5.4) that we have words in, English if there is none."""
    accepted = []
    for place, text in enumerate(header.split(",")[:_MOST_RANGES]):
        if (match := _RANGE.fullmatch(text.strip())) and (quality := float(match[2] or 1)) > 0:
            accepted.append((-quality, place, match[1]))
    for _, _, code in sorted(accepted):
        if (language := _nearest(code)) and _has_words(language):
            return language
    return languages()[DEFAULT]


def _has_words(language: Language) -> bool:
    english = language.code.partition("-")[0] == DEFAULT
    return english or not written().isdisjoint((language.code, *language.fallbacks))


def _nearest(code: str) -> Language | None:
    """The language by MediaWiki's code, else by BCP 47 tag, shortened from the end until one fits (RFC 4647 §3.4)."""
    first, hyphen, rest = code.lower().partition("-")
    code = _OLD.get(first, first) + hyphen + rest
    while code:
        if known := languages().get(code) or _by_tag().get(code):
            return known
        code = code.rpartition("-")[0]
    return None


@cache
def _by_tag() -> dict[str, Language]:
    """The languages by BCP 47 tag in lower case; of several with one tag, one that has messages of its own."""
    by_tag: dict[str, Language] = {}
    for language in languages().values():
        tag = language.bcp47.lower()
        if tag not in by_tag or language.code in written():
            by_tag[tag] = language
    return by_tag
