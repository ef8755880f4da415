"""Bot walls: answers that demand a proof of being human instead of sending the document (U-5, U-7).

The vendors are in ``botwall.toml``; login and consent walls belong to ``core/signs/login_walls``. A wall is a refusal,
never a failure; and a vendor's script in a document with its own text is no wall.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, Final
from urllib.parse import urlsplit

import re2  # type: ignore[import-untyped]
from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded, phrases, segments
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import Marks, table_of

_REFUSALS: Final = frozenset({401, 403, 405, 406, 409, 415, 418, 420, 428, 429, 444, 468, 493})
"""The codes of refusals. With other codes a vendor's name is no wall: it may report that the host behind it is down."""
CODES: Final = _REFUSALS | {200, 202, 203, 247, 400, 436, 500, 503, 504, 512, 521}
"""The codes that walls use. Not 404 and 410: these are statements of the server behind the wall."""
_TEXT_WORDS: Final = 150
"""A document sent with success that has more words is the document itself, unless a mark is unique."""
_REFUSED_WORDS: Final = 1_000
"""The same of what is not sent with success: it is not the document anyway, so that its words may be many."""
_CAPTCHA_WORDS: Final = 60
_OWN_FORM: Final = re.compile(
    rb"<textarea(?![^>]{0,200}captcha)|<input\b[^>]{0,300}?\stype\s*+=\s*+[\"']?(?:password|email|text|tel|search)\b"
)
"""Fields that a person fills in: a captcha next to them guards a form, not the document."""
_RAW: Final = (b"script", b"style", b"noscript", b"iframe", b"title")

_OWN_TITLES: Final = phrases("attention required cloudflare|please wait cloudflare")
"""Titles of pages with long explanations; specimen KqSMea8/ISI-PROJECT2:HtmlRobotsFiles/opinieblog.pl."""


class Vendor(Struct, frozen=True, forbid_unknown_fields=True):
    """The signs by which one vendor's walls are recognised; any one of them is enough.

    `headers` are (name, part of the value in lower case) that only a wall has; `guarding` ones are in all answers of a
    guarded host, so they count only with a refusal code. `ends` are where visitors are redirected, whatever code is
    sent there (some send 404): a part of a path, or a host and all below it; ``//`` begins one with another behind it.
    All others are bytes of the body in lower case. `unique` ones are the beginning of an element with its quotation
    marks, which neither a text nor JSON can hold: no other document has them, however long it is. `marks` stand in tags
    and scripts, `sayings` in the text; both count in short documents only. `refusals` count only with a refusal code,
    for living pages of guarded hosts have them, too.
    """

    name: str
    headers: tuple[tuple[str, str], ...] = ()
    guarding: tuple[tuple[str, str], ...] = ()
    ends: tuple[str, ...] = ()
    unique: Marks = Marks()
    marks: Marks = Marks()
    sayings: Marks = Marks()
    refusals: Marks = Marks()


class Walls(Struct, frozen=True, forbid_unknown_fields=True):
    """Titles and demands of walls of all vendors, and the vendors, last the captchas, which may stand in any form."""

    titles: Phrases
    demands: Phrases
    vendor: tuple[Vendor, ...]


walls: Final = partial(table_of, __file__, Walls)


@dataclass(frozen=True, slots=True)
class _Shortcuts:
    """The signs of all vendors together, unique marks with the vendor's name: nearly every answer has none of them."""

    headers: frozenset[str]
    any_header: frozenset[str]
    ends: re.Pattern[str]
    unique: dict[bytes, str]
    values: Any
    """What follows an equals sign in the unique marks: RE2 looks for all at once, however many there are."""
    marks: Any
    """The same with the sayings."""


@cache
def _shortcuts() -> _Shortcuts:
    vendors = walls().vendor
    headers = frozenset(name for vendor in vendors for name, _ in vendor.headers)
    return _Shortcuts(
        headers,
        headers | frozenset(name for vendor in vendors for name, _ in vendor.guarding),
        re.compile("|".join(re.escape(end) for vendor in vendors for end in vendor.ends)),
        unique := {mark: vendor.name for vendor in vendors for mark in vendor.unique},
        re2.compile(b"=(?:%b)" % b"|".join(re.escape(mark.partition(b"=")[2]) for mark in unique)),
        re2.compile(b"|".join(re.escape(mark) for vendor in vendors for mark in (*vendor.marks, *vendor.sayings))),
    )


def wall_by_headers(code: int, headers: Mapping[str, str], final: str) -> Suspicion | None:
    """The wall recognised by headers or by the final URL, None if there is none; `headers` have lower-case names."""
    guards = code in _REFUSALS and code != 401  # 401 is what the host behind the guard says of a login
    all_vendors = _shortcuts()
    names = all_vendors.any_header if guards else all_vendors.headers
    is_named = code in CODES and not headers.keys().isdisjoint(names)
    if not is_named and not all_vendors.ends.search(final.lower()):
        return None
    _, host, path, *_ = urlsplit(final.lower())
    place = re.split("/https?:", f"//{host}{path}", maxsplit=1)[0]  # what follows is what an archive has a copy of
    for vendor in walls().vendor:
        signs = vendor.headers + vendor.guarding if guards else vendor.headers
        for name, part in signs if is_named else ():
            if name in headers and part in headers[name].lower():
                return _wall(vendor.name, f"header:{name}")
        if any(_is_at(end, place) for end in vendor.ends):
            return _wall(vendor.name, "redirect")
    return None


def _is_at(end: str, place: str) -> bool:
    """True if ``//``, a host and a path have an end: its words whole, its host where hosts are."""
    if end.startswith("//"):
        return re.match(rf"{re.escape(end)}[^/]+\.", place) is not None
    lead = ".*" if end.startswith("/") else r"//(?:[^/]*\.)?"
    return re.match(rf"{lead}{re.escape(end)}(?:(?<=/)|(?![\w-]))", place) is not None


def wall_by_content(code: int, body: bytes, document: Document) -> Suspicion | None:
    """The wall recognised by the bounded beginning of a body, and the document read from it; None if there is none."""
    if code not in CODES or not body:
        return None
    page = body.lower()
    may_be_unique = _shortcuts().values.search(page)
    if may_be_unique and (mark := next(filter(page.__contains__, _shortcuts().unique), None)):
        return _wall(_shortcuts().unique[mark], "page")
    if folded(document.title) in _OWN_TITLES and _in_markup(b"captcha-bypass", page):
        return _wall("cloudflare", "title")
    words = len(document.words)
    if code <= 299:
        return _instead(page, document) if words <= _TEXT_WORDS and not document.is_article else None
    return _refusal(code, page, document) if words <= _REFUSED_WORDS else None


def _instead(page: bytes, document: Document) -> Suspicion | None:
    """The wall that was sent in place of the document, with a code of success."""
    for vendor in walls().vendor if _shortcuts().marks.search(page) else ():
        if any(_in_markup(mark, page) for mark in vendor.marks) or _has_any(page, vendor.sayings):
            return _wall(vendor.name, "page")
    is_titled = any(folded(part) in walls().titles for part in segments(document.title))
    if is_titled and len(document.words) < _CAPTCHA_WORDS:
        for vendor in walls().vendor[:-1]:
            if any(_in_markup(mark, page) for mark in vendor.refusals):
                return _wall(vendor.name, "title", "page")
    if not (demand := _demand(document)):
        return None
    if is_titled and not document.asks_password:
        return _wall("unnamed", "title", f"demand:{demand}")
    is_short = len(document.words) < _CAPTCHA_WORDS and not _OWN_FORM.search(page)
    if is_short and _has_any(page, walls().vendor[-1].refusals):
        return _wall("unnamed", f"demand:{demand}")
    return None


def _refusal(code: int, page: bytes, document: Document) -> Suspicion | None:
    for vendor in walls().vendor:
        refusals = vendor.refusals if code in _REFUSALS else ()
        if _has_any(page, (*vendor.marks, *vendor.sayings, *refusals)):
            return _wall(vendor.name, "page")
    words = len(document.words)
    demand = _demand(document) if words <= _TEXT_WORDS else None
    if first_of(walls().titles, folded(document.title)) and (demand or words < _CAPTCHA_WORDS):
        return _wall("unnamed", "title", *([f"demand:{demand}"] if demand else []))
    return _wall("unnamed", f"demand:{demand}") if demand else None


def _has_any(page: bytes, marks: Iterable[bytes]) -> bool:
    return any(map(page.__contains__, marks))


def _in_markup(mark: bytes, page: bytes) -> bool:
    """True if the first occurrence of a mark is in a tag or in a script and the like, not in a text about it."""
    place = page.find(mark)
    if place < 0:
        return False
    opened = page.rfind(b"<", 0, place)
    if opened > page.rfind(b">", 0, place):
        return True
    return any(page.rfind(b"<" + name, 0, place) > page.rfind(b"</" + name, 0, place) for name in _RAW)


def _demand(document: Document) -> str | None:
    """The phrase with which a document demands a human."""
    shown = f"{document.title} {' '.join(document.headings)} {document.text} {document.unscripted_text}"
    return first_of(walls().demands, folded(shown[:4_000]))


def _wall(name: str, *signals: str) -> Suspicion:
    return Suspicion(Reason.BOT_WALL, (f"vendor:{name}", *signals))
