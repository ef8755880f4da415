"""Reads a service's replies to index requests, in any dialect, into the captures of a URL (A-2).

Two voices, by dialect: CDX and availability (Wayback Machine); CDX and TimeMap (pywb, whose CDX answers an unknown
collection as it answers an unknown URL, with 200 and nothing; its TimeMap tells them apart by the type of its 404);
TimeMap and TimeGate (services without CDX). Wikiwix has one voice only, and so never a NONE.
A TimeMap of 200 without captures and availability without snapshots are `EMPTY`: cut or failing answers look alike.
One law: NONE comes only from a whole, well-formed reply that says so
(`test_no_recorded_answer_becomes_none_when_it_is_cut_or_comes_with_another_code`).
"""

from typing import Final

from weboid.core.archive.addresses import index_request, is_in_other_archive, second_request
from weboid.core.archive.captures import Capture, Listing, ServiceReply
from weboid.core.archive.dialects import replies
from weboid.core.archive.dialects.cdx import Rows, rows_of
from weboid.core.archive.dialects.link_format import TimeMap, is_link_format, links_of, memento_at, timemap_of
from weboid.core.archive.dialects.one_copy import available_of, wikiwix_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.services import ArchiveService, Dialect
from weboid.core.url.spellings import as_meant
from weboid.core.url.urls import Url

ONE_VOICE: Final = "one-voice"
"""The reason of an UNKNOWN that was a NONE of one voice only."""
CUT: Final = "cut-short"

_NONE: Final = Listing(LookupOutcome.NONE)
_NEIGHBOURS: Final = frozenset({"first", "last", "prev", "next"})
_EXCLUDED: Final = Listing(LookupOutcome.EXCLUDED, why="blocked-site")


def listing_of(service: ArchiveService, reply: ServiceReply, url: Url) -> Listing:
    """Reads the reply to ``addresses.index_request``. Never raises.

    ERROR for ``bad-request`` is a fault of the request, not of the service.
    """
    if refusal := replies.refusal_of(reply):
        return refusal
    asked = index_request(service, url, None)
    match service.dialect:
        case Dialect.WAYBACK | Dialect.PYWB:
            return _cdx(service, reply, url, asked)
        case Dialect.TIMEMAP | Dialect.PERMA:
            return _timemap(service, reply, url, asked)
        case Dialect.WIKIWIX:
            listing = _json_only(reply) or wikiwix_of(reply.body, url)
            return listing if _own(service, listing.captures) == listing.captures else replies.unknown("elsewhere")


def second_listing_of(service: ArchiveService, reply: ServiceReply, url: Url) -> Listing:
    """Reads the reply to ``addresses.second_request``. Never raises."""
    if refusal := replies.refusal_of(reply):
        return refusal
    asked = second_request(service, url) or ""
    match service.dialect:
        case Dialect.WAYBACK:
            return _json_only(reply) or available_of(reply.body, url)
        case Dialect.PYWB:
            return _timemap(service, reply, url, asked)
        case Dialect.TIMEMAP | Dialect.PERMA:
            return _timegate(service, reply, url, asked)
        case Dialect.WIKIWIX:
            return replies.unknown("no-second-voice")


def combined(first: Listing, second: Listing | None) -> Listing:
    """The listing by two independent voices of a service; `second` None = not asked, or there is none.

    The second voice need only be asked if the first says NONE, or UNKNOWN for `EMPTY`. The result is NONE only for two
    NONE, or for NONE and `EMPTY`; all else that finds nothing is UNKNOWN.
    """
    if first.outcome not in (LookupOutcome.NONE, LookupOutcome.UNKNOWN):
        return first
    if second is None:
        return replies.unknown(ONE_VOICE) if first.outcome is LookupOutcome.NONE else first
    if second.outcome not in (LookupOutcome.NONE, LookupOutcome.UNKNOWN):
        return second
    voices = (first, second)
    if not all(voice.outcome is LookupOutcome.NONE or voice.why == replies.EMPTY for voice in voices):
        return next(voice for voice in voices if voice.outcome is LookupOutcome.UNKNOWN and voice.why != replies.EMPTY)
    return _NONE if any(voice.outcome is LookupOutcome.NONE for voice in voices) else replies.unknown(replies.EMPTY)


def _cdx(service: ArchiveService, reply: ServiceReply, url: Url, asked: str) -> Listing:
    text = replies.text_of(reply.body)
    if reply.code == 404:
        # pywb over compressed indexes: {"message": "No Captures found for: …"}
        message = replies.json_of(text)
        says_none = isinstance(message, dict) and replies.says_absent(str(message.get("message", "")))
        return _NONE if says_none else replies.error("not-found")
    if reply.code != 200:
        return replies.error("redirected")
    if not text:
        return _nothing(reply, "json")
    if is_link_format(text):
        return _timemap(service, reply, url, asked)
    if replies.is_markup(text):
        return _markup(reply)
    rows = rows_of(text)
    if rows is None:
        return replies.error("error-object" if text.startswith("{") else "unreadable")
    return _of_rows(rows, url, is_cut=rows.is_cut or reply.is_cut)


def _of_rows(rows: Rows, url: Url, *, is_cut: bool) -> Listing:
    if rows.captures:
        meant = (capture._replace(original=as_meant(capture.original, str(url))) for capture in rows.captures)
        return Listing(LookupOutcome.FOUND, tuple(meant), CUT if is_cut else "")
    if is_cut:
        return replies.error(CUT)
    if rows.blocked:
        return _EXCLUDED
    if rows.bad:
        return replies.unknown("bad-rows")
    return replies.unknown("more-pages") if rows.resume_key else _NONE


def _nothing(reply: ServiceReply, expected: str) -> Listing:
    """A reply of 200 without a body. Only services that write text can mean it; `expected` is what others must send."""
    kind = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    promised = "0" if "content-encoding" in reply.headers else reply.headers.get("content-length", "0").strip()
    if reply.is_cut or (promised not in ("", "0") and not reply.body):
        return replies.error(CUT)
    if "html" in kind:
        return replies.error("html")
    is_text = kind.startswith("text/") or (kind.startswith("application/") and kind != f"application/{expected}")
    return _NONE if is_text else replies.unknown("no-body")


def _markup(reply: ServiceReply) -> Listing:
    return _EXCLUDED if replies.is_excluded(reply) else replies.error("html")


def _timemap(service: ArchiveService, reply: ServiceReply, url: Url, asked: str) -> Listing:
    text = replies.text_of(reply.body)
    if reply.code == 404:
        return _absent(service, reply, text)
    if reply.code != 200:
        return replies.error("redirected")
    if not text:
        listing = _nothing(reply, "link-format")
        return replies.unknown(replies.EMPTY) if listing.outcome is LookupOutcome.NONE else listing
    timemap = timemap_of(text, base=asked, url=str(url)) or _memento_json(text, url)
    if timemap is None:
        if replies.is_markup(text):
            return _markup(reply)
        rows = rows_of(text)
        return _of_rows(rows, url, is_cut=rows.is_cut or reply.is_cut) if rows else replies.error("unreadable")
    is_cut = timemap.is_cut or reply.is_cut
    if captures := _own(service, timemap.captures):
        return Listing(LookupOutcome.FOUND, captures, CUT if is_cut else "")
    if is_cut:
        return replies.error(CUT)
    if timemap.captures:
        return replies.unknown("elsewhere")
    if timemap.bad:
        return replies.unknown("bad-rows")
    return replies.unknown("more-pages" if timemap.more else replies.EMPTY)


def _memento_json(text: str, url: Url) -> TimeMap | None:
    """A TimeMap in the JSON form of Time Travel and MemGator."""
    data = replies.json_of(text) if text.startswith("{") else None
    mementos = data.get("mementos") if isinstance(data, dict) else None
    listed = mementos.get("list") if isinstance(mementos, dict) else None
    if not isinstance(data, dict) or not isinstance(listed, list):
        return None
    named = data.get("original_uri")
    original = replies.original_of(as_meant(named, str(url))) if isinstance(named, str) else None
    original = original or str(url)
    addresses = [memento.get("uri") for memento in listed if isinstance(memento, dict)]
    captures = [memento_at(address, original) for address in addresses if isinstance(address, str)]
    good = tuple(capture for capture in captures if capture)
    return TimeMap(good, original, bad=len(listed) - len(good))


def _timegate(service: ArchiveService, reply: ServiceReply, url: Url, asked: str) -> Listing:
    """A TimeGate that was asked without a moment. A 200 proves nothing: framed replay sends it for everything, with a
    link to a copy that never was; links to first or last captures, or to an address of its own, are statements."""
    if reply.code == 404:
        return _absent(service, reply, replies.text_of(reply.body))
    if reply.code != 200:
        capture = memento_at(replies.location_of(reply, asked) or "", str(url))
        captures = _own(service, (capture,)) if capture else ()
        return Listing(LookupOutcome.FOUND, captures) if captures else replies.unknown("elsewhere")
    if replies.is_excluded(reply):
        return _EXCLUDED
    header = reply.headers.get("link", "")
    timemap = timemap_of(header, base=asked, url=str(url))
    is_statement = service.dialect is Dialect.PERMA or any(
        "memento" in link.relations and not _NEIGHBOURS.isdisjoint(link.relations) for link in links_of(header)
    )
    captures = _own(service, timemap.captures) if timemap and is_statement else ()
    return Listing(LookupOutcome.FOUND, captures) if captures else replies.unknown("unproved")


def _absent(service: ArchiveService, reply: ServiceReply, text: str) -> Listing:
    """Reads a 404 of a TimeMap or TimeGate. One that only says "not found" may be of a wrong base, and one of an
    aggregator may mean that all archives failed, though it counts 0 captures as Perma does."""
    if replies.says_no_collection(text):
        return replies.unknown("no-collection")
    is_timemap = "link-format" in reply.headers.get("content-type", "")
    is_perma = service.dialect is Dialect.PERMA and (
        reply.headers.get("x-memento-count", "").strip() == "0" or text.startswith("404 page not found")
    )
    return _NONE if is_timemap or is_perma or replies.says_absent(text) else replies.unknown("not-found")


def _json_only(reply: ServiceReply) -> Listing | None:
    """The listing of a reply that cannot be one JSON value; None if it may be one."""
    if reply.code != 200:
        return replies.error("not-found" if reply.code == 404 else "redirected")
    text = replies.text_of(reply.body)
    if replies.is_markup(text):
        return _markup(reply)
    if not text:
        return replies.error("no-body")
    return replies.error(CUT) if reply.is_cut or (text.startswith("{") and replies.json_of(text) is None) else None


def _own(service: ArchiveService, captures: tuple[Capture, ...]) -> tuple[Capture, ...]:
    """The captures that are not in another archive, as an aggregator's may be, among them barred ones (A-2). Their
    addresses are dropped where they follow from moment and original."""
    own = (capture for capture in captures if not is_in_other_archive(service, capture.address or ""))
    return tuple(capture._replace(address=None) if service.is_raw else capture for capture in own)
