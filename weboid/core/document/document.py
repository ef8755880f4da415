"""Parses a linked document: title, headings, text, language, author, links and sources (C-11).

Any bytes give a document, in time linear in their number, and at most `MAX_BODY` of them are read. ``core/signs`` and
``core/observe/content`` judge it.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final
from urllib.parse import urljoin, urlsplit

from weboid.core.document.fingerprint import fingerprint, words
from weboid.core.document.folding import words_of
from weboid.core.document.markup import collapsed
from weboid.core.document.reading import MAX_TITLE, MarkupReader, Pieces, Telling

MAX_SKIMMED: Final = 32_768
"""Bytes that are kept at most of what follows the beginning (``core/document/skim``)."""
MAX_BODY: Final = 65_536 + MAX_SKIMMED
"""Bytes of a document that are read: of a longer one its beginning, and what was skimmed of the rest."""
_MAX_SOURCES: Final = 60
_MAX_ALTERNATES: Final = 60
_MAX_URL: Final = 2_000
_REFRESH_S: Final = 10
_AT_ONCE_S: Final = 1
_FEW_WORDS: Final = 40
"""A document with more words is more than its script."""

_HTML: Final = re.compile(r"text/html|application/xhtml\+xml|application/vnd\.wap\.xhtml\+xml", re.IGNORECASE)
_LOOKS_HTML: Final = re.compile(rb"[\s\xef\xbb\xbf\0]*+<(?:!doctype html|html|head|title|body|!--|meta|frameset)", re.I)
_ABSOLUTE: Final = re.compile(r"https?://[a-zA-Z0-9.:-]+/[!-Z^-~]*+(?<![?#])")
"""URLs that are resolved already, and can be split."""
_ORIGIN: Final = re.compile(r"(https?:)(//[a-zA-Z0-9.:-]++)(?=[/?#]|\Z)")
_ROOTED: Final = re.compile(r"(//[a-zA-Z0-9.:-]++)?+/(?![/.])(?:[!\"$-.0-:<->@-Z^-~]|/(?!\.))*+(?:\?[!\"$-Z^-~]++)?+")
"""References, with or without a host, that are resolved by what they leave out alone."""
_LANGUAGE: Final = re.compile(r"[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}", re.IGNORECASE)
# As in HTML, "shared declarative refresh steps": a quote ends the URL only if one began it.
_REFRESH: Final = re.compile(
    r"\s*+(?=[0-9.])([0-9]{0,4})[0-9.]*+[\s;,]++(?:url\s*+=\s*+)?+(?:\"([^\"]*+)|'([^']*+)|(.*+))",
    re.IGNORECASE | re.DOTALL,
)
_SCRIPT_TYPE: Final = re.compile(r"\s*(?:|module|[a-z/-]*(?:java|ecma)script[0-9.]*)\s*", re.IGNORECASE)
"""Types of what browsers run; all others are data."""
_FORWARD: Final = re.compile(
    r"""\s*+(?:<!--[^\n]*+\n\s*+)?+
    (?:(?:window|document|self|top|parent)\s*+\.\s*+)?+location\s*+
    (?:(?:\.\s*+href\s*+)?+=|\.\s*+(?:replace|assign)\s*+(?P<call>\())\s*+
    (?P<quote>["'])(?P<url>(?:[^"'\\\s]|\\/)++)(?P=quote)\s*+(?(call)\)\s*+);?+
    \s*+(?://\s*+)?+(?:-->)?+\s*+""",
    re.VERBOSE,
)
_FRAMESET: Final = words_of("html head title meta link style base frameset frame noframes")
"""Elements that show nothing but frames: browsers ignore a frame among others."""
_AUTHORS: Final = ("author", "article:author", "dc.creator", "dcterms.creator", "citation_author", "parsely-author")


@dataclass(frozen=True, slots=True)
class Words:
    """Words in one string, separated by spaces: a string of each takes eight times as much memory."""

    joined: str = ""
    count: int = 0

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[str]:
        return iter(self.joined.split())


@dataclass(frozen=True)
class Document:
    """One document as it was read. Texts have single spaces. URLs are absolute and can be split, but may be invalid.

    `sources` are URLs of frames and scripts.
    """

    url: str = ""
    title: str = ""
    headings: tuple[str, ...] = ()
    text: str = ""
    unscripted_text: str = ""
    """The text that is shown only if no scripts run (``noscript``)."""
    language: str | None = None
    author: str | None = None
    canonical: str | None = None
    refresh: str | None = None
    """The target of ``meta refresh``, if it names a URL and acts within ten seconds."""
    forward: str | None = None
    """Where browsers go on at once: by ``meta refresh``, or by a script or a frame that is all of its page."""
    sources: tuple[str, ...] = ()
    alternates: tuple[str, ...] = ()
    """The languages in which it says that it can be had, too."""
    links: int = 0
    pieces: Pieces = field(default=Pieces(), repr=False, compare=False)
    """The text as it was read."""
    asks_password: bool = False
    is_article: bool = False
    """Its metadata has a publication time or a citation title: error pages do not have these."""
    is_shell: bool = False
    """Scripts fill it in, so its text without scripts is not what people see."""
    is_page: bool = False
    """It was read from a body; without one, a document is empty and proves nothing."""
    words: Words = field(default=Words(), repr=False)

    @cached_property
    def own_text(self) -> str:
        """The text outside of links: of most documents nobody asks for it."""
        return self.pieces.unlinked()

    @cached_property
    def fingerprint(self) -> int | None:
        """The fingerprint of the text; None if there are fewer than three words."""
        return fingerprint(self.words.joined)


def is_html(content_type: str, body: bytes | bytearray) -> bool:
    """True if an answer is an HTML document: by its type, or by its first bytes if no type is given."""
    if content_type.strip():
        return bool(_HTML.match(content_type.strip()))
    return bool(_LOOKS_HTML.match(body[:512]))


def document_of(body: bytes, content_type: str = "", url: str = "") -> Document:
    """The document in the beginning of a body; `url` is where it came from, to resolve relative URLs."""
    reading = MarkupReader(content_type)
    reading.feed(body[:MAX_BODY])
    reading.finish()
    return document_from(reading, url)


def document_from(reading: MarkupReader, url: str = "") -> Document:
    """The document that was read; `url` as above. It is made once, and what was read is not kept in addition."""
    if reading.made is None:
        teller = _Teller(url)
        for telling in reading.telling:
            teller.take(telling)
        reading.made = teller.document(reading)
        reading.forget()
    made: Document = reading.made
    return made


class _Teller:
    """Builds a `Document` from what was read, and from the elements that say something more."""

    def __init__(self, url: str) -> None:
        self._url = self._base = url
        self._meta: dict[str, str] = {}
        self._title = self._language = self._canonical = self._refresh = self._forward = ""
        self._scripts: set[str] = set()
        self._unscripted: list[str] = []
        self._sources: list[str] = []
        self._alternates: list[str] = []
        self._frames: list[str] = []
        self._has_base = self._asks_password = False

    def take(self, telling: Telling) -> None:
        """Takes what an element says by its attributes, or by a content that is no text of the page."""
        attributes, content = telling.attributes, telling.content
        match telling.name:
            case "meta":
                self._take_meta(attributes)
            case "link":
                self._take_link(attributes)
            case "title":
                self._title = self._title or collapsed("".join(content))[:MAX_TITLE]
            case "script" if not attributes.get("src") and _SCRIPT_TYPE.fullmatch(attributes.get("type", "")):
                script = _FORWARD.fullmatch("".join(content)[: 2 * _MAX_URL])
                self._scripts.add(script["url"].replace("\\/", "/") if script else "")
            case "noscript":
                self._unscripted += [*content, " "]
            case "base" if not self._has_base:
                self._has_base = "href" in attributes
                self._base = self._absolute(attributes.get("href", "")) or self._base
            case "html":
                self._language = attributes.get("lang") or attributes.get("xml:lang") or ""
            case "input":
                self._asks_password |= attributes.get("type", "").lower() == "password"
            case "iframe" | "frame" | "embed" | "script" if len(self._sources) < _MAX_SOURCES and (
                source := self._absolute(attributes.get("src", ""))
            ):
                self._sources.append(source)
            case "frameset" if "onload" in attributes:
                self._scripts.add("")
        if telling.name == "frame" and (source := attributes.get("src", "").strip()) not in ("", "about:blank"):
            self._frames.append(source)

    def _take_meta(self, attributes: Mapping[str, str]) -> None:
        content = attributes.get("content", "")
        is_refresh = attributes.get("http-equiv", "").lower() == "refresh" and not self._refresh
        if is_refresh and len(content) <= _MAX_URL and (refresh := refresh_of(content)):
            self._refresh = self._absolute(refresh[1])
            self._forward = self._refresh if refresh[0] <= _AT_ONCE_S else ""
        name = (attributes.get("name") or attributes.get("property") or attributes.get("itemprop") or "").lower()
        if name and content:
            self._meta.setdefault(name, content[:_MAX_URL])

    def _take_link(self, attributes: Mapping[str, str]) -> None:
        relations = attributes.get("rel", "").lower().split()
        if "canonical" in relations:
            self._canonical = self._canonical or self._absolute(attributes.get("href", ""))
        language = attributes.get("hreflang", "").lower()
        if "alternate" in relations and _LANGUAGE.fullmatch(language) and len(self._alternates) < _MAX_ALTERNATES:
            self._alternates.append(language)

    def _absolute(self, reference: str) -> str:
        reference = reference.strip()
        if not reference or len(reference) > _MAX_URL:
            return ""
        if _ABSOLUTE.fullmatch(reference):
            return reference
        if (rooted := _ROOTED.fullmatch(reference)) and (origin := _ORIGIN.match(self._base)):
            return f"{origin[1]}{'' if rooted[1] else origin[2]}{reference}"
        try:
            absolute = urljoin(self._base, reference)
            urlsplit(absolute)
        except ValueError:  # a bracket that is no IPv6 address
            return ""
        return absolute

    def document(self, reading: MarkupReader) -> Document:
        """The document, once all elements are taken."""
        text = reading.text()
        found_words = words(text)
        language = self._language or self._meta.get("language", "") or self._meta.get("dc.language", "")
        found = _LANGUAGE.fullmatch(language.strip().replace("_", "-"))
        if not self._sources and len(self._scripts) == 1 and len(found_words) <= _FEW_WORDS:
            self._forward = self._forward or self._absolute(*self._scripts)
        is_frame_alone = len(self._frames) == 1 and {"frameset"} <= reading.names <= _FRAMESET and not found_words
        if is_frame_alone and not self._scripts and not self._refresh:
            self._forward = self._absolute(*self._frames)
        author = next((self._meta[name] for name in _AUTHORS if name in self._meta), "")
        return Document(
            url=self._url,
            title=self._title or collapsed(self._meta.get("og:title", ""))[:MAX_TITLE],
            headings=tuple(reading.headings),
            text=text,
            unscripted_text=collapsed("".join(self._unscripted)),
            language=found[0].lower() if found else None,
            author=collapsed(author)[:MAX_TITLE] or None,
            canonical=self._canonical or None,
            refresh=self._refresh or None,
            forward=self._forward or None,
            sources=tuple(self._sources),
            alternates=tuple(self._alternates),
            links=reading.links,
            pieces=reading.whole,
            asks_password=self._asks_password,
            is_article="article:published_time" in self._meta or "citation_title" in self._meta,
            is_shell=reading.is_shell,
            is_page=True,
            words=Words(" ".join(found_words), len(found_words)),
        )


def refresh_of(content: str) -> tuple[int, str] | None:
    """The seconds and the target of a ``Refresh``; None if it acts too late or only reloads the document."""
    match = _REFRESH.match(content)
    if match is None or int(match[1] or 0) > _REFRESH_S:
        return None
    target = (match[2] or match[3] or match[4] or "").strip()
    return (int(match[1] or 0), target) if target else None


def header_forward(refresh: str) -> str | None:
    """The target of the header ``Refresh``, not yet absolute; None if browsers do not go there at once."""
    found = refresh_of(refresh)
    return found[1] if found and found[0] <= _AT_ONCE_S else None
