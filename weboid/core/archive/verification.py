"""Judges a copy that was replayed raw: the document that was cited, or a wall, a notice, a stranger's page (A-1).

The detectors are those that judge living pages (C-11), and some that would be too strict for these: of a copy there may
be a better one, and nobody can click a notice away in it. An archive's own notices are found before, by ``replay``.
"""

import re
import zlib
from datetime import datetime
from typing import Final

from weboid.core.archive.captures import Capture, ServiceReply, in_utc
from weboid.core.archive.rows.fitness import GOOD, RESERVE, Wish, wants_file
from weboid.core.document.document import Document, is_html
from weboid.core.document.fingerprint import distance
from weboid.core.document.language import UNKNOWN
from weboid.core.document.portrait import FAR_BITS, Portrait, is_replaced, portrait_of
from weboid.core.observe.content import content_suspicion
from weboid.core.observe.observation import RawResponse
from weboid.core.signs.notices import notice_in
from weboid.core.signs.trades import trade_in
from weboid.core.url.spellings import archived, file_extension, is_front, is_same_page
from weboid.core.url.urls import Url

READ_BYTES: Final = 65_536
"""Bytes of a copy that are read."""

_PREFIX: Final = "x-archive-orig-"
_OWN_HEADERS: Final[tuple[str, ...]] = ("content-type", "content-encoding")
"""Headers of a replay that are the original's own where archives prefix none."""
_FEWEST_BYTES: Final = 32
"""A shorter body is no document in any format, but at most a word about why there is none."""
_GZIP: Final = b"\x1f\x8b\x08"
_TEXT: Final = re.compile(r"text/|application/xhtml", re.IGNORECASE)
_UNREADABLE: Final = re.compile(r"[\x00-\x07\x10-\x12\x15-\x17\x1a\x1e\x1f]")
"""Signs that no text has in any coding: old ones have backspaces, escapes and shifts, others dashes and quotation marks
of which the lower byte alone was kept."""
_MOST_UNREADABLE: Final = 0.02
_STUB_WORDS: Final = 40
"""A document with more words that forwards has content of its own."""
_SCRIPT_STUB_WORDS: Final = 25
_STUB_BYTES: Final = 8_192
"""A stub that forwards by a script is shorter: in a longer document scripts have other uses for addresses."""
_SCRIPTED: Final = re.compile(
    rb"(?:\b(?:window|document|self|top|parent)\s*\.\s*)?\blocation(?:\s*\.\s*href)?\s*=\s*[\"'][^\"']"
    rb"|\blocation\s*\.\s*(?:replace|assign)\s*\(\s*[\"'][^\"']",
    re.IGNORECASE,
)
_SCRIPT: Final = re.compile(rb"<script\b[^>]{0,500}>(.{0,4000}?)</script", re.IGNORECASE | re.DOTALL)
_FRAMES: Final = re.compile(rb"<(?:frameset|iframe|object|embed|applet)\b", re.IGNORECASE)
_PDF: Final = b"%PDF-"


def verified(
    capture: Capture, reply: ServiceReply, wish: Wish, *, status: int | None, taken: datetime | None
) -> str | None:
    """The stable word why a capture does not show the cited page; None if it is good.

    `reply` is the archive's to the raw request; `status` and `taken` are the code and the moment of the copy as the
    archive states them (``Replayed`` has them).
    """
    if taken is None:
        return "no-moment"
    if not _is_moment(capture.taken, taken):
        return "other-moment"
    if status != GOOD and status not in RESERVE:
        return "status"
    asked = archived(capture.original) or wish.url
    answer = stored_response(reply, str(asked), GOOD)
    if len(answer.body.strip()) < _FEWEST_BYTES:
        return "empty"
    document = answer.document
    if wants_file(wish):
        return _wrong_file(answer, document, wish)
    return _wrong_page(answer, document, wish, asked) if document.is_page else None


def stored_response(reply: ServiceReply, url: str, status: int) -> RawResponse:
    """The answer of the original server as it is in the copy: `url` is the archived one, `status` its code."""
    headers = {name: reply.headers[name] for name in _OWN_HEADERS if name in reply.headers}
    headers |= {name.removeprefix(_PREFIX): value for name, value in reply.headers.items() if name.startswith(_PREFIX)}
    body = _plain_body(reply.body[:READ_BYTES], headers, url)
    if headers.get("content-type", "").lower().startswith("application/octet-stream") and is_html("", body):
        headers["content-type"] = "text/html"
    return RawResponse(url=url, final=url, method="GET", code=status, headers=headers, body=body)


def _plain_body(body: bytes, headers: dict[str, str], url: str) -> bytes:
    """The body, unpacked where the copy was stored packed and the client has not unpacked it; at most `READ_BYTES`.

    Archives have played such copies without the name of the coding.
    """
    is_text = _TEXT.match(headers.get("content-type", "")) and not url.lower().endswith(("gz", "gzip"))
    if not body.startswith(_GZIP) or not (is_text or "gzip" in headers.get("content-encoding", "").lower()):
        return body
    try:
        return zlib.decompressobj(wbits=zlib.MAX_WBITS | 16).decompress(body, READ_BYTES)
    except zlib.error:
        return body


def _is_moment(listed: datetime, played: datetime) -> bool:
    """True if a copy is the one that was listed. Some archives list days: then any moment of that day."""
    listed, played = in_utc(listed), in_utc(played)
    is_day = not (listed.hour or listed.minute or listed.second)
    return listed.date() == played.date() if is_day else listed == played


def _wrong_file(answer: RawResponse, document: Document, wish: Wish) -> str | None:
    """The reason if a body is not the cited file, but a page about it, or a notice."""
    if document.is_page or is_html("", answer.body):
        return "wrong-type"
    is_pdf = wish.mime == "pdf" or (wish.mime is None and file_extension(wish.url) == "pdf")
    # What is no PDF may still be it, packed or with something before it; a text is not.
    is_text = answer.body[:512].isascii() and b"\0" not in answer.body[:512]
    return "wrong-type" if is_pdf and is_text and _PDF not in answer.body[:1024] else None


def _wrong_page(answer: RawResponse, document: Document, wish: Wish, asked: Url) -> str | None:
    """The reason if a document is not the cited page."""
    if suspicion := content_suspicion(answer):
        return suspicion.reason.word
    if _forwards(answer.body, document, asked):
        return "forwards"
    is_script = not document.words and b"<script" in answer.body.lower() and not _FRAMES.search(answer.body)
    if is_script or _is_noise(document):
        return "no-content"
    if found := notice_in(str(asked), document):
        return found
    if wish.portrait is not None and _is_other(wish.portrait, document):
        return "replaced"
    return "in-trade" if _is_in_trade(document, wish) else None


def _forwards(body: bytes, document: Document, asked: Url) -> bool:
    """True if a document only leads to another page, by a refresh or a script."""
    if len(document.words) > _STUB_WORDS:
        return False
    if document.refresh is not None and not _reloads(document.refresh, asked):
        return True
    if len(document.words) > _SCRIPT_STUB_WORDS or len(body) > _STUB_BYTES or _FRAMES.search(body):
        return False
    return any(_SCRIPTED.search(script[1]) for script in _SCRIPT.finditer(body))


def _is_noise(document: Document) -> bool:
    """True if a document is none, but packed bytes."""
    return not document.title and len(_UNREADABLE.findall(document.text)) > _MOST_UNREADABLE * len(document.text)


def _reloads(target: str, asked: Url) -> bool:
    """True if a refresh of a front page leads to the same site's: many begin with a picture that leads on by itself."""
    form = archived(target.rpartition("if_/")[2])  # archives rewrite what they play in a frame
    return form is not None and is_same_page(form, asked) and is_front(asked)


def _is_other(known: Portrait, document: Document) -> bool:
    """True if a document is another one than that which is remembered.

    Strangers keep titles to be found by readers of the old page; then text and language give them away.
    """
    now = portrait_of(document)
    if is_replaced(known, now):
        return True
    is_far = distance(known.fingerprint, now.fingerprint) >= FAR_BITS
    return is_far and UNKNOWN not in (known.language, now.language) and known.language != now.language


def _is_in_trade(document: Document, wish: Wish) -> bool:
    """True if a title is of a trade of those who buy given-up domains, and neither the page nor its URL was."""
    if trade_in(document.title) is None or (wish.portrait is not None and wish.portrait.in_trade):
        return False
    return trade_in(re.sub(r"[^a-z0-9]+", " ", f"{wish.url.host} {wish.url.path}".lower())) is None
