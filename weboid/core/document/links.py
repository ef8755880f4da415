"""Finds every link of a whole document, with its place (R-6): those in ``noscript`` and ``noframes``, too.

Markup is cut into tags as HTML5 does it (tokenization, WHATWG HTML 13.2.5), by expressions that never go back, so in
linear time; no tree is built, whence no nesting is too deep. What only a script shows (``template``) is left out.
"""

import re
from collections.abc import Iterator, Mapping
from html import unescape
from html.entities import html5
from typing import Final, NamedTuple

from weboid.core.document.folding import words_of
from weboid.core.document.markup import collapsed

_NAME: Final = r"[^\t\n\f />][^\t\n\f />=]*+"
_EQUALS: Final = r"[\t\n\f ]*+=[\t\n\f ]*+"
_UNQUOTED: Final = r"[^\t\n\f >\"'][^\t\n\f >]*+"
_TAG: Final = re.compile(
    r"<(?:!--(?:-?>|.*?(?:--!?>|\Z))|(?:[!?]|/(?![a-zA-Z]))[^>]*+(?:>|\Z)"
    r"|(?P<end>/?)(?P<name>[a-zA-Z][^\t\n\f />]*+)(?P<attributes>(?:[\t\n\f /]++|"
    rf"{_NAME}(?:{_EQUALS}(?:\"[^\"]*+(?:\"|\Z)|'[^']*+(?:'|\Z)|{_UNQUOTED})?+)?+)*+)(?P<close>>?))",
    re.DOTALL,
)
_ATTRIBUTE: Final = re.compile(rf"({_NAME})(?:{_EQUALS}(?:\"([^\"]*+)\"|'([^']*+)'|({_UNQUOTED}))?+)?+")
_SCRIPT_TOKEN: Final = re.compile(r"<!(?=--)|-->|</?script(?=[\t\n\f />])", re.IGNORECASE)
_ENDS: Final = {
    name: re.compile(rf"</{name}(?=[\t\n\f />])", re.IGNORECASE)
    for name in ("style", "textarea", "title", "xmp", "iframe", "noembed")
}
_CDATA_END: Final = re.compile(r"\]\]>")
_IS_NAMED: Final = re.compile(r"\b(?:id|name)\b", re.IGNORECASE)
_REFERENCE: Final = re.compile(r"&(#[xX]?[0-9a-fA-F]++;?|[a-zA-Z0-9]++;|[a-zA-Z0-9]++(?!=))")
_REFRESH: Final = re.compile(
    r"\s*+[\d.]++(?:\s*+[;,]|\s)\s*+(?:url\s*+=\s*+)?+(?:\"([^\"]*+)|'([^']*+)|(.++))", re.I | re.S
)
_DESCRIPTORS: Final = re.compile(r"(?:[^,(]|\([^)]*+\)?+)*+,?+")
_URL_OF_SET: Final = re.compile(r"[\t\n\f\r ,]*+([^\t\n\f\r ]++)")
_ZEROS: Final = re.compile(r"(?<=&#)0{8,}+(?=[0-9])|(?<=&#[xX])0{8,}+(?=[0-9a-fA-F])")
_MANY_DIGITS: Final = re.compile(r"&#(?:[0-9]{8,}+|[xX][0-9a-fA-F]{8,}+);?")
_SPACE: Final = "".join(map(chr, range(33)))
_LINE_BREAKS: Final = str.maketrans("", "", "\t\n\r")

_IMAGE: Final = {"src": "img", "srcset": "srcset"}
_KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    **{name: {"src": name} for name in ("embed", "frame", "iframe", "script")},
    **{name: {"src": "media", "poster": "media"} for name in ("audio", "track", "video")},
    **{name: {"href": name} for name in ("area", "base")},
    "a": {"href": "a", "xlink:href": "a"},
    "form": {"action": "form"},
    "image": _IMAGE,
    "img": _IMAGE,
    "input": {"src": "img"},
    "link": {"href": "link", "imagesrcset": "srcset"},
    "meta": {"content": "refresh"},
    "object": {"data": "object"},
    "source": {"src": "source", "srcset": "srcset"},
}
"""Of each element the attributes that have a link, and its kind."""
_READ: Final = frozenset(attribute for kinds in _KINDS.values() for attribute in kinds) | words_of(
    "alt http-equiv id method name rel title type"
)
_BREAK_OUT: Final = words_of(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var"
)
"""Elements of HTML that end an ``svg`` or ``math`` in which they occur (13.2.6.5)."""
_WITH_HTML: Final = {
    "svg": words_of("desc foreignobject title"),
    "math": words_of("annotation-xml mi mn mo ms mtext"),
}
"""Elements in which there is HTML again (13.2.6, integration points)."""
_DEEPEST: Final = 100
"""Of these in each other."""


class DocumentLink(NamedTuple):
    """A link as it stands in a document."""

    kind: str
    """`a`, `area`, `base`, `embed`, `form`, `frame`, `iframe`, `img`, `link`, `media`, `object`, `refresh`, `script`,
    `source` or `srcset`.
    """
    url: str
    """As written, references decoded; relative to the first link of kind `base`, if there is one."""
    line: int
    column: int
    """Both from 1, of the beginning of the tag; the column in characters."""
    text: str = ""
    rel: str = ""


def links_of(markup: str, anchors: set[str] | None = None) -> Iterator[DocumentLink]:
    """Every link of a document, in order of their ends; an empty value is none, but for ``a`` and ``form``.

    To `anchors` comes what fragments can name: ids of elements, and names of ``a`` (WHATWG HTML 7.4.6.3).
    """
    markup = markup.replace("\r\n", "\n").replace("\r", "\n") if "\r" in markup else markup
    line, line_start, counted, at = 1, 0, 0, 0
    open_links: list[DocumentLink] = []
    words: list[str] = []
    templates, is_in_form = 0, False
    foreign: list[str] = []
    while (tag := _TAG.search(markup, at)) is not None:
        start, before, at = tag.start(), at, tag.end()
        is_foreign = bool(foreign) and foreign[-1] in _WITH_HTML
        if open_links:
            words.append(markup[before:start])
        if tag["name"] is None:
            if is_foreign and markup.startswith("<![CDATA[", start):
                at = _after(_CDATA_END, markup, start, is_kept=False)
            continue
        if not tag["close"]:
            break  # the document ends within a tag
        name = tag["name"].lower()
        if open_links and name == "a":
            yield from _with_text(open_links, words)
        if tag["end"]:
            templates -= name == "template" and templates > 0
            is_in_form = is_in_form and name != "form"
            if name in foreign:
                del foreign[len(foreign) - 1 - foreign[::-1].index(name) :]
            elif is_foreign and name in ("br", "p"):
                _break_out(foreign)
            continue
        if name == "template":
            templates += 1
        elif is_foreign and name in _BREAK_OUT:
            _break_out(foreign)
            is_foreign = False
        elif name in _WITH_HTML or (is_foreign and name in _WITH_HTML[foreign[-1]]):
            foreign += [name] if len(foreign) < _DEEPEST and not tag["attributes"].endswith("/") else []
        if anchors is not None and _IS_NAMED.search(tag["attributes"]):
            given = _attributes(tag["attributes"])
            anchors.update(filter(None, (given.get("id"), given.get("name") if name == "a" else None)))
        if name in _KINDS and not (templates or (name == "form" and is_in_form) or (is_foreign and name != "a")):
            attributes = _attributes(tag["attributes"])
            line += markup.count("\n", counted, start)
            line_start = markup.rfind("\n", counted, start) + 1 or line_start
            counted = start
            found = _links(name, attributes, (line, start - line_start + 1))
            if name == "a":
                open_links = list(found)
            else:
                words += [f" {attributes.get('alt', '')} "] if open_links else []
                yield from found
            is_in_form = is_in_form or name == "form"
        at = at if is_foreign else _end_of_text(name, markup, at)
    yield from _with_text(open_links, words)


def _break_out(foreign: list[str]) -> None:
    """Ends the ``svg`` and ``math`` of which the innermost are open."""
    while foreign and foreign[-1] in _WITH_HTML:
        foreign.pop()


def _links(name: str, attributes: Mapping[str, str], place: tuple[int, int]) -> Iterator[DocumentLink]:
    if (
        (name == "input" and attributes.get("type", "").lower() != "image")
        or (name == "form" and attributes.get("method", "").lower() in ("post", "dialog"))
        or (name == "meta" and attributes.get("http-equiv", "").lower() != "refresh")
    ):
        return
    text = collapsed(attributes.get("alt") or attributes.get("title") or "")
    for attribute, kind in _KINDS[name].items():
        if attribute == "xlink:href" and "href" in attributes:
            continue  # SVG 2
        if (value := attributes.get(attribute)) is not None:
            for url in (
                _urls_of_set(value) if kind == "srcset" else (_refreshed(value) if kind == "refresh" else value,)
            ):
                if (url := url.strip(_SPACE).translate(_LINE_BREAKS)) or kind in ("a", "form"):
                    yield DocumentLink(kind, url, *place, text, attributes.get("rel", ""))


def _with_text(links: list[DocumentLink], words: list[str]) -> Iterator[DocumentLink]:
    text = collapsed(_unescaped("".join(words))) if links else ""
    yield from [link._replace(text=text or link.text) for link in links]
    links.clear()
    words.clear()


def _attributes(written: str) -> dict[str, str]:
    """The attributes of a tag that are read here; of several with one name the first counts."""
    attributes: dict[str, str] = {}
    for found in _ATTRIBUTE.finditer(written):  # `findall` would take 256 MB for 10⁶
        name = found[1].lower()
        if name in _READ and name not in attributes:
            value = found[2] or found[3] or found[4] or ""
            attributes[name] = _REFERENCE.sub(_character, value) if "&" in value else value
    return attributes


def _character(reference: re.Match[str]) -> str:
    """The character of a reference in an attribute, where ``&copy=`` is none."""
    name = reference[1]
    return _unescaped(reference[0]) if name.startswith("#") else html5.get(name, reference[0])


def _unescaped(text: str) -> str:
    """The text without references; one of very many digits is no character (`int` refuses more than 4,300)."""
    return unescape(_MANY_DIGITS.sub("\ufffd", _ZEROS.sub("", text)) if "&#" in text else text)


def _urls_of_set(value: str) -> Iterator[str]:
    at = 0
    while (found := _URL_OF_SET.match(value, at)) is not None:
        url = found[1].rstrip(",")
        at = found.end()
        if url == found[1] and (descriptors := _DESCRIPTORS.match(value, at)):
            at = descriptors.end()
        yield url


def _refreshed(content: str) -> str:
    found = _REFRESH.match(content)
    return (found[1] or found[2] or found[3] or "") if found else ""


def _end_of_text(name: str, markup: str, at: int) -> int:
    """The end of what follows a tag and is no markup."""
    if name == "script":
        return _end_of_script(markup, at)
    if name in _ENDS:
        return _after(_ENDS[name], markup, at, is_kept=True)
    return len(markup) if name == "plaintext" else at


def _end_of_script(markup: str, at: int) -> int:
    """The end of a script, which is not that of a script written in a comment in it (13.2.5.29)."""
    is_comment = is_nested = False
    for token in _SCRIPT_TOKEN.finditer(markup, at):
        if token[0] == "-->":
            is_comment = is_nested = False
        elif token[0] == "<!":
            is_comment = True
        elif token[0][1] != "/":
            is_nested = is_comment
        elif not is_nested:
            return token.start()
        else:
            is_nested = False
    return len(markup)


def _after(end: re.Pattern[str], markup: str, at: int, *, is_kept: bool) -> int:
    """The end of a text that is no markup: before or after the tag that ends it, else that of the document."""
    found = end.search(markup, at)
    return len(markup) if found is None else found.start() if is_kept else found.end()
