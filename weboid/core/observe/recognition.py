"""Takes the portrait of the document that an answer shows, and decides if it shows anything new (C-11).

``core/verdict/newcomers`` decides what follows for a host from the portraits of its URLs.
"""

from dataclasses import replace
from typing import Final
from urllib.parse import urlsplit

from weboid.core.document.document import Document
from weboid.core.document.folding import folded
from weboid.core.document.language import UNKNOWN, language_of, number_of
from weboid.core.document.portrait import BLANK, Portrait, is_replaced, portrait_of, title_hashes
from weboid.core.observe.check_request import CheckRequest
from weboid.core.signs.trades import trade_in
from weboid.core.url.hosts import registrable_domain

_OWN_WORDS: Final = 150
"""A document with fewer words may be a wall, a notice or a page for the time of repairs."""
_TRADE_WORDS: Final = 3
"""A page that a trade's title names needs no more words to be another one."""
_SHORTEST_NAME: Final = 4
_SPELLINGS: Final = (("ae", "a"), ("oe", "o"), ("ue", "u"))


def new_portrait(request: CheckRequest, document: Document) -> Portrait | None:
    """The portrait of the document that a check found, if it shows something new."""
    if not request.recognises or (not request.portrays and is_known(document, request.earlier)):
        return None
    now = portrait_in(document, request.url, request.earlier)
    return now if adds_to(request.earlier, now, portrays=request.portrays) else None


def portrait_in(document: Document, asked: str, earlier: Portrait | None = None) -> Portrait:
    """The portrait of the document that stands at the URL `asked`, where `earlier` was taken."""
    in_trade = trade_in(document.title) is not None
    now = portrait_of(document, _TRADE_WORDS) if in_trade else portrait_of(document)
    if now == BLANK:
        return BLANK
    is_own = earlier is not None and is_replaced(earlier, now) and _is_own(document, asked, earlier)
    return replace(now, in_trade=in_trade, is_own=is_own)


def is_known(document: Document, earlier: Portrait | None) -> bool:
    """True if a portrait of the document would add nothing to the earlier one, as its title alone shows."""
    if earlier is None or earlier.newcomer is not None or set(earlier.title).isdisjoint(title_hashes(document)):
        return False
    return earlier.language != UNKNOWN or language_of(document.words) == UNKNOWN


def adds_to(earlier: Portrait | None, now: Portrait, *, portrays: bool) -> bool:
    """True if a portrait shows more than the earlier one. `portrays`: it is the turn of a first or a fresh one."""
    if earlier is None:
        return portrays
    if now == BLANK:
        return False
    has_changed = earlier.newcomer is not None or is_replaced(earlier, now)
    is_known = earlier != BLANK and earlier.language == UNKNOWN != now.language
    return portrays or has_changed or is_known


def _is_own(document: Document, asked: str, earlier: Portrait) -> bool:
    """True if a document has much text, and nothing that binds it to what was there: the name of the domain in it,
    the domain itself after a redirect, or the word that it can be had in the earlier language, too.
    """
    domain = registrable_domain(urlsplit(asked).hostname or "")
    if len(document.words) < _OWN_WORDS or registrable_domain(urlsplit(document.url).hostname or domain) != domain:
        return False
    if earlier.language in {number_of(tag) for tag in document.alternates} - {UNKNOWN}:
        return False
    name = _plain(domain.partition(".")[0])
    return len(name) < _SHORTEST_NAME or name not in _plain(f"{document.title} {document.text}")


def _plain(text: str) -> str:
    """A text without spaces, and with umlauts as in the names of domains and as in texts."""
    text = folded(text).replace(" ", "")
    for long, short in _SPELLINGS:
        text = text.replace(long, short)
    return text
