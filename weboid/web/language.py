"""Languages: which there are, their directions and fallbacks, and which one a request gets (W-11).

The messages themselves are in ``messages``. One law: codes are MediaWiki's; what Babel and HTML call a language stands
in ``i18n/languages.json``, so that nothing is asked over the network.
"""

import json
import re
from dataclasses import dataclass
from functools import cache
from typing import Final

from weboid.assets import asset
from weboid.web.problem import Problem

DEFAULT: Final = "en"
_CODE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,4}", re.I)
_RANGE: Final = re.compile(r"\s*([a-z]{2,3}(?:-[a-z0-9]{1,8})*)\s*(?:;\s*q=([01](?:\.[0-9]{0,3})?))?\s*", re.I)
_MOST_RANGES: Final = 20


@dataclass(frozen=True, slots=True)
class Language:
    """`bcp47` is for HTML, `locale` for Babel; `fallbacks` come before English, nearest first."""

    code: str
    bcp47: str
    autonym: str
    direction: str
    locale: str
    fallbacks: tuple[str, ...]


@cache
def languages() -> dict[str, Language]:
    """All languages that can be asked for, by code."""
    given = json.loads((asset("i18n") / "languages.json").read_text(encoding="utf-8"))
    return {
        code: Language(
            code, row["bcp47"], row["autonym"], row["dir"], row.get("locale", code), tuple(row.get("fallbacks", ()))
        )
        for code, row in given.items()
    }


def requested_language(code: str) -> Language:
    """The language of that code, or the nearest shorter one (``de-at`` → ``de``), else English.

    A language that is not there is no error, because pages pass on their readers' (``uselang``); raises Problem for
    what is no code at all.
    """
    if not _CODE.fullmatch(code):
        raise Problem(400, "lang")
    return _nearest(code) or languages()[DEFAULT]


def accepted_language(header: str) -> Language:
    """The best of an Accept-Language header (RFC 9110 §12.5.4), English if none fits."""
    wanted = []
    for place, text in enumerate(header.split(",")[:_MOST_RANGES]):
        if (match := _RANGE.fullmatch(text)) and (quality := float(match[2] or 1)) > 0:
            wanted.append((-quality, place, match[1]))
    for _, _, code in sorted(wanted):
        if language := _nearest(code):
            return language
    return languages()[DEFAULT]


def _nearest(code: str) -> Language | None:
    code = code.lower()
    while code:
        if language := languages().get(code):
            return language
        code = code.rpartition("-")[0]
    return None
