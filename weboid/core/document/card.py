"""Reads what a link card shows of a document, in the document's own words (R-8, R-12).

These are texts of strangers: who shows them says so, and isolates them. They are bounded, on one line, and without
characters that a reader would not see or that would reverse what stands around.
"""

import json
import re
from codecs import getincrementaldecoder
from collections.abc import Iterable
from html import unescape
from typing import Any, Final, NamedTuple
from unicodedata import combining

from weboid.core.document.charset import decoder_of
from weboid.core.document.document import Words, document_from
from weboid.core.document.language import UNKNOWN, code_of, language_of, number_of
from weboid.core.document.markup import collapsed
from weboid.core.document.reading import MarkupReader

TITLE_BYTES: Final = 250
AUTHOR_BYTES: Final = 100
DESCRIPTION_BYTES: Final = 250

UNSEEN: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u200e\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e0fff]"
)
"""Controls, bidi controls, zero-width and filler characters, tags, lone surrogates. Joiners are none of these, as
Persian and emoji need them."""
_READ: Final = 4_000
"""Characters of a text that are looked at."""
_MOST_MARKS: Final = 4
"""Combining marks on one letter: no script has more, and hundreds of them cover the lines around."""
_MOST_AUTHORS: Final = 3
_ENOUGH_WORDS: Final = 250
"""A text with fewer may be a menu in another language than the page, so that what is declared counts more."""
_AUTHORS: Final = ("dc.creator", "dcterms.creator", "author", "article:author", "byl", "sailthru.author")
_DESCRIPTIONS: Final = ("description", "og:description", "twitter:description", "dc.description")
_LANGUAGES: Final = ("language", "dc.language", "content-language", "og:locale")
_TAG: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{2,8}){0,2}(?![a-z0-9])", re.IGNORECASE)
_ELEMENT: Final = re.compile(r"</?[a-zA-Z][^<>]{0,200}>")
_ADDRESS: Final = re.compile(r"https?:|www\.|@|#/schema/", re.IGNORECASE)
_BY: Final = re.compile(r"(?:by|von|par|por|di|door)[: ]\s*+(?=\w)", re.IGNORECASE)
_SIGNED: Final = re.compile(r"""<a\b[^<>]{0,300}?\brel=["']?author\b[^<>]{0,300}>\s*+([^<>]{2,80})</a""", re.IGNORECASE)
_LINKED_DATA: Final = re.compile(
    r"<script[^<>]{0,300}?application/ld\+json[^<>]{0,300}>(.*?)(?:</script|\Z)", re.IGNORECASE | re.DOTALL
)
_PARTS: Final = re.compile(
    r"<!--.*?(?:-->|\Z)|<(script|style|template|textarea)\b.*?(?:</\1|\Z)|<(?:(?P<heading>h[1-6])|(?P<picture>img))\b",
    re.IGNORECASE | re.DOTALL,
)


class CardText(NamedTuple):
    """The words of a document about itself, and the numbers of its parts, as far as it was read."""

    title: str = ""
    author: str = ""
    description: str = ""
    language: str = ""
    """A tag such as ``pt-br``: that of the text where it is plain, else as declared."""
    headings: int = 0
    links: int = 0
    pictures: int = 0


def card_text(body: bytes, content_type: str = "", language: str = "") -> CardText:
    """The texts of an HTML document, by its beginning; `language` is that of its header. Never raises."""
    content_type = _readable(body, content_type)
    reading = MarkupReader(content_type)
    reading.feed(body)
    reading.finish()
    meta: dict[str, list[str]] = {"content-language": [language]}
    for attributes in (telling.attributes for telling in reading.telling if telling.name == "meta"):
        key = (attributes.get(each, "").lower() for each in ("name", "property", "itemprop", "http-equiv"))
        if text := collapsed(attributes.get("content", "")[:_READ]):
            meta.setdefault(next(filter(None, key), ""), []).append(text)
    document = document_from(reading)
    data, decoder = decoder_of(body, content_type)
    markup = decoder.decode(data)
    parts = [found.lastgroup for found in _PARTS.finditer(markup)]
    tags = (_TAG.match(text.replace("_", "-")) for name in _LANGUAGES for text in meta.get(name, ()))
    declared = document.language or next((found[0].lower() for found in tags if found), "")
    return CardText(
        plain(document.title or next(iter(document.headings), ""), TITLE_BYTES),
        plain(_authors(meta, markup), AUTHOR_BYTES),
        plain(next((meta[name][0] for name in _DESCRIPTIONS if name in meta), ""), DESCRIPTION_BYTES),
        _language(declared, document.words),
        parts.count("heading"),
        document.links,
        parts.count("picture"),
    )


def plain(text: str, most: int) -> str:
    """A stranger's text on one line, of at most so many bytes of UTF-8."""
    kept, marks = [], 0
    for char in collapsed(UNSEEN.sub("", collapsed(_ELEMENT.sub(" ", text[:_READ])))):
        marks = marks + 1 if combining(char) else 0
        kept += [char] if marks <= _MOST_MARKS else []
    whole = "".join(kept).encode()
    return whole.decode() if len(whole) <= most else f"{whole[: most - 3].decode(errors='ignore').rstrip()}…"


def _readable(body: bytes, content_type: str) -> str:
    """The content type with the charset that the bytes have: what is valid in UTF-8 is in no older charset."""
    with_charset = "text/html; charset=utf-8"
    try:
        is_utf8 = not getincrementaldecoder("utf-8")().decode(body).isascii()
    except UnicodeDecodeError:
        return content_type
    return with_charset if is_utf8 else content_type


def _authors(meta: dict[str, list[str]], markup: str) -> str:
    """The names of the authors, by the first of the ways that names any; "" if nobody is named, or too many are."""
    if found := _names(meta.get("citation_author", ())):
        return "; ".join(found)
    linked = _linked_authors(markup)
    persons = [name for name, is_person in linked.items() if is_person]
    for given in (persons, *(meta.get(name, ()) for name in _AUTHORS), linked):
        if found := _names(given):
            return ", ".join(found)
    signed = _names(unescape(found[1]) for found in _SIGNED.finditer(markup))
    return signed[0] if len(signed) == 1 else ""


def _names(given: Iterable[str]) -> list[str]:
    names = (_BY.sub("", collapsed(text), count=1) if _BY.match(text) else collapsed(text) for text in given)
    return list(dict.fromkeys(name for name in names if name and not _ADDRESS.search(name)))[:_MOST_AUTHORS]


def _linked_authors(markup: str) -> dict[str, bool]:
    """The authors of the first thing in linked data that has any (schema.org, JSON-LD): whether each is a person."""
    nodes: list[dict[str, Any]] = []
    for found in _LINKED_DATA.finditer(markup):
        try:
            data = _listed(json.loads(found[1]))
        except (ValueError, RecursionError):
            continue
        for node in (each for each in data if isinstance(each, dict)):
            nodes += [each for each in (node, *_listed(node.get("@graph"))) if isinstance(each, dict)]
    by_id = {str(node["@id"]): node for node in nodes if "@id" in node and "name" in node}
    for node in nodes:
        authors = [each if isinstance(each, dict) else {"name": each} for each in _listed(node.get("author"))]
        known = [each if each.get("name") else by_id.get(str(each.get("@id")), {}) for each in authors]
        names = [(name, each.get("@type") == "Person") for each in known for name in _listed(each.get("name"))]
        if found_names := {unescape(name[:_READ]): person for name, person in names if isinstance(name, str)}:
            return found_names
    return {}


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _language(declared: str, words: Words) -> str:
    """The language of a text: the declared one, unless the text is plainly in another (D-116)."""
    spoken = language_of(words)
    is_known = bool(declared) and (number_of(declared) in (spoken, UNKNOWN) or len(words) < _ENOUGH_WORDS)
    return declared if spoken == UNKNOWN or is_known else code_of(spoken)
