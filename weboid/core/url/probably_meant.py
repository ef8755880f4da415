"""Typical sources of error in links, and the URL that was probably meant (L-9): by rule, from the text alone.

It is an offer to editors, never a verdict. The rules ask for signs that hardly any real URL has; a look at the
corrected URL says if it works.
"""

import re
from enum import StrEnum
from typing import Final, NamedTuple

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import Url, parse


class TypicalError(StrEnum):
    """A typical source of error; the value is its word in every interface."""

    SCHEME = "doubled-scheme"
    WWW = "doubled-www"
    ESCAPED = "escaped-twice"
    LINE_BREAK = "line-break"
    MARKUP = "markup"
    WORDS = "words"
    TAIL = "tail"


class ProbablyMeant(NamedTuple):
    """The URL that was probably meant, and the errors that were corrected for it, in the order of `TypicalError`."""

    url: Url
    errors: tuple[TypicalError, ...]


_LONGEST: Final = 2_000
"""Characters; the rules look at a text more than once."""
_SPACE: Final = "(?:%20|%C2%A0|%E3%80%80|%E2%80%8[B-F]|[ \u00a0])"
_FILE: Final = r"\.(?:s?html?|xhtml|php[345]?|aspx?|jspx?|cfm|pdf|docx?|xlsx?|pptx?|txt|xml|jpe?g|png|gif|mp[34])"
_RULES: Final = tuple(
    (error, re.compile(pattern, re.IGNORECASE), to)
    for error, pattern, to in (
        # http://http://…, http://https//…, http:http://…: the inner scheme was pasted over the outer one.
        (TypicalError.SCHEME, r"^(?:https?|ftp):/*(?=(?:https?|ftp):?//)", ""),
        (TypicalError.SCHEME, r"^(https?|ftp)//", r"\1://"),
        (TypicalError.WWW, r"(?<=://)(?:w{3,4}\.+){2,}|(?<=://)w{4,5}\.", "www."),
        (TypicalError.ESCAPED, r"&(?:amp;)+|&#0*38;", "&"),
        (TypicalError.LINE_BREAK, r"(?:%0D|%0A|%09|[\t\r\n])+", ""),
        # Template parameters, tags, and the ends of links, templates and italics, with all that follows.
        (TypicalError.MARKUP, r"(?:\||%7C)(?:[a-z]+(?:-[a-z]+)?(?:=|%3D)|[^?]*(?:\]|%5D){2}).*$", ""),
        (TypicalError.MARKUP, r"(?<!=)(?:<|%3C)/?(?:ref|br|small|span|nowiki|i|b)(?:/|%2F|%20|>|%3E|$).*$", ""),
        (TypicalError.MARKUP, r"(?:(?:\]|%5D){2}|(?:\]|%5D)(?=[.,;:(]|%20)|'{2,}).*$", ""),
        (TypicalError.WORDS, rf"{_SPACE}+$", ""),
        (TypicalError.WORDS, rf"(?<!=)(?:(?<=/)|(?:({_FILE})[.,;:]*)){_SPACE}.*$", r"\1"),
    )
)
_ESCAPED_TWICE: Final = re.compile(r"%(?:25)+(?=[0-9A-F]{2})", re.IGNORECASE)
_MARK: Final = re.compile(
    r"(?:[.,;:!?*|'\"<>()\[\]{}]|%2[27C]|%3[CE]|%5[BD]|%7[BCD]|%C2%(?:AB|BB)|%E2%80%(?:9[89CD]|A6)|%E3%80%8[12]"
    r"|%EF%BC%8C|\u00ab|\u00bb|[\u2018-\u201d]|\u2026|\u3001|\u3002|\uff0c)$",
    re.IGNORECASE,
)
_PAIRS: Final = (
    "() [] {} <> %5b%5d %7b%7d %3c%3e %e2%80%98%e2%80%99 %e2%80%9c%e2%80%9d %c2%ab%c2%bb "
    "\u2018\u2019 \u201c\u201d \u00ab\u00bb"
)
_OPENED_BY: Final = {pair[len(pair) // 2 :]: pair[: len(pair) // 2] for pair in _PAIRS.split()}
_QUOTES: Final = frozenset({"'", '"', "%22", "%27"})


def probably_meant(written: str) -> ProbablyMeant | None:
    """The URL that was probably meant by a link as written, or in normal form; None if no rule knows better.

    Never one with less than a host, and never the front page instead of a page.
    """
    text, errors = written.strip(), []
    if len(text) > _LONGEST:
        return None
    for error, pattern, to in _RULES:
        corrected = pattern.sub(to, text)
        if corrected != text:
            text = corrected
            errors.append(error)
    path, mark, query = text.partition("?")
    # In a query it is the escaping of a URL within the URL.
    if (corrected := _ESCAPED_TWICE.sub("%", path)) != path:
        text = corrected + mark + query
        errors.append(TypicalError.ESCAPED)
    if (corrected := _without_tail(text)) != text:
        text = corrected
        errors.append(TypicalError.TAIL)
    try:
        meant = parse(text)
    except InvalidUrl:
        return None
    if not errors or _is_same(written, meant) or (meant.path == "/" and _has_path(written)):
        return None
    return ProbablyMeant(meant, tuple(dict.fromkeys(errors)))


def _without_tail(text: str) -> str:
    """The text without the punctuation, quotation marks and brackets at its end that it does not open itself."""
    while match := _MARK.search(text):
        mark, before = match[0].lower(), text[: match.start()]
        opened = before.lower().count(_OPENED_BY.get(mark, mark))
        if (mark in _OPENED_BY and opened > before.lower().count(mark)) or (mark in _QUOTES and opened % 2):
            break
        text = before
    return text


def _is_same(written: str, meant: Url) -> bool:
    try:
        return parse(written) == meant
    except InvalidUrl:
        return False


def _has_path(written: str) -> bool:
    return bool(re.search(r"[^/:]/+.*\w", written))
