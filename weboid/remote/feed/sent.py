"""Arguments and results of a feeder's calls as they are sent, and as they are read here (O-1).

By ``here`` the server's own farms are meant (`FeederRights`).
"""

import asyncio
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamLines, parse_lines
from weboid.core.url.urls import Url, parse
from weboid.core.wikitext.titles import Namespace
from weboid.mechanism.slices import in_slices
from weboid.remote.feed import links
from weboid.remote.feed.batches import (
    MOST_PAGE,
    MOST_TITLE,
    CategorisedPage,
    JudgedPages,
    Move,
    NamedPage,
    Page,
    Stamp,
    StreamMove,
    Title,
    WikiEvents,
)
from weboid.remote.http.messages import BadMessage
from weboid.remote.http.rpc import Sent
from weboid.store.pages.page_pass import KnownPage
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import ListKind, SpamBatch, SpamUses

MOST_PAGES: Final = 500
"""Pages of one message."""
MOST_LISTED: Final = 1_000
_MOST_EVENTS: Final = 2_000
"""Wikis, and pages of each, that one batch of events touches: it has 500 events."""
_MOST_LINES: Final = 200_000
_MOST_STREAMS: Final = 2_000
_MOST_EVENT_ID: Final = 20_000
_MOST_PLACE: Final = 2_000
_MOST_STEP: Final = 2**15 - 1

Streams = Annotated[str, Meta(max_length=_MOST_STREAMS)]
_LinksByPage = Annotated[dict[Page, links.Links], Meta(max_length=MOST_LISTED)]
_Line = Annotated[str, Meta(max_length=100_000)]


class _MetPage(Struct, frozen=True, array_like=True):
    page: Page
    namespace: links.NamespaceNumber
    title: Title
    mark: links.Revision | None


class _SentEvents(Struct, frozen=True):
    """As `WikiEvents`, without keys."""

    wiki: Page
    stamp: Stamp | None
    added: Annotated[list[links.SentAdded], Meta(max_length=_MOST_EVENTS)]
    gone: Annotated[dict[Page, datetime], Meta(max_length=_MOST_EVENTS)]
    named: Annotated[list[NamedPage], Meta(max_length=_MOST_EVENTS)]
    moved: Annotated[list[Page], Meta(max_length=_MOST_EVENTS)]
    categorised: Annotated[list[CategorisedPage], Meta(max_length=_MOST_EVENTS)]
    later: Annotated[dict[Page, datetime], Meta(max_length=_MOST_EVENTS)]
    later_titles: Annotated[dict[Title, datetime], Meta(max_length=_MOST_EVENTS)]


class _FetchedList(Struct, frozen=True):
    """The lines of a list: those that can be run, and those that cannot, each with the reason."""

    usable: Annotated[list[_Line], Meta(max_length=_MOST_LINES)]
    unusable: Annotated[list[tuple[_Line, _Line]], Meta(max_length=_MOST_LINES)]


class _SentStretch(Struct, frozen=True):
    """As `SpamBatch`, without keys: by page the links that it uses, in normal form, and its spam."""

    last: int
    uses: dict[int, list[str]]
    spam: dict[int, list[str]]


def _put_judged(pages: JudgedPages) -> dict[str, Any]:
    return {"pages": links.sent_pages(pages.read), "gone": pages.gone, "stamp": pages.stamp}


async def _take_judged(sent: dict[str, Any], here: Any, before: Mapping[str, Any]) -> JudgedPages:
    farm = await here.farm_of(before["wiki"])
    links.require_few(sent["pages"])
    return JudgedPages(await in_slices(links.pages_of(sent["pages"], farm)), sent["gone"], sent["stamp"])


def _judged(most: int) -> Sent:
    fields = {
        "pages": Annotated[list[links.SentPage], Meta(max_length=most)],
        "gone": Annotated[list[Page], Meta(max_length=MOST_LISTED)],
        "stamp": Stamp | None,
    }
    return Sent(fields, put=_put_judged, take=_take_judged)


def _put_events(events: Sequence[WikiEvents]) -> list[dict[str, Any]]:
    return [
        {field: getattr(each, field) for field in _SentEvents.__struct_fields__}
        | {"added": [(page, [*map(str, urls.values())], [*spam.values()]) for page, (urls, spam) in each.added.items()]}
        for each in events
    ]


async def _take_events(sent: list[_SentEvents], here: Any, _: Mapping[str, Any]) -> list[WikiEvents]:
    links.require_few([added for each in sent for added in each.added])
    return [
        WikiEvents(
            **{field: getattr(each, field) for field in _SentEvents.__struct_fields__}
            | {"added": await in_slices(links.added_of(each.added, await here.farm_of(each.wiki)))}
        )
        for each in sent
    ]


def _put_lists(fetched: Mapping[ListKind, SpamLines]) -> dict[str, Any]:
    return {kind.name.lower(): _FetchedList([*lines.usable], [*lines.unusable]) for kind, lines in fetched.items()}


async def _take_lists(sent: dict[str, _FetchedList], here: Any, _: Mapping[str, Any]) -> dict[ListKind, SpamLines]:
    """Lines that this program cannot run either are none."""
    fetched = {}
    for kind in ListKind:
        given = sent[kind.name.lower()]
        parsed = await asyncio.to_thread(parse_lines, "\n".join(given.usable))
        fetched[kind] = SpamLines(parsed.usable, (*given.unusable, *parsed.unusable))
    return fetched


def _put_stretch(batch: SpamBatch | None) -> _SentStretch | None:
    if batch is None:
        return None
    uses = {page: [str(batch.urls[key]) for key in keys if key in batch.urls] for page, keys in batch.uses.items()}
    return _SentStretch(batch.last, uses, {page: list(found.values()) for page, found in batch.spam.items()})


def _read_stretch(sent: _SentStretch | None) -> SpamBatch | None:
    if sent is None:
        return None
    used = {page: [(key_of(url), url) for url in map(parse, texts)] for page, texts in sent.uses.items()}
    uses = {page: [key for key, _ in found] for page, found in used.items()}
    spam = {page: {key_of(parse(text)): text for text in texts} for page, texts in sent.spam.items()}
    return SpamBatch(sent.last, uses, spam, dict(link for found in used.values() for link in found))


async def _take_spam(sent: dict[int, list[str]], here: Any, before: Mapping[str, Any]) -> SpamUses:
    farm = await here.farm_of(before["wiki"])
    return {page: await in_slices(links.spam_of(found, farm)) for page, found in sent.items()}


async def _take_uses(sent: dict[int, list[str]], here: Any, before: Mapping[str, Any]) -> dict[int, dict[UrlKey, Url]]:
    farm = await here.farm_of(before["wiki"])
    return {page: await in_slices(links.watched(found, farm)) for page, found in sent.items()}


async def _take_farm(name: str, here: Any, _: Mapping[str, Any]) -> Farm:
    farm: Farm = here.farm_named(name)
    return farm


async def _take_name(sent: dict[str, str], here: Any, before: Mapping[str, Any]) -> WikiName:
    return WikiName(sent["dbname"], before["farm"].name)


async def _take_api(api: str | None, here: Any, before: Mapping[str, Any]) -> str | None:
    known: str | None = await here.api_of(before["farm"], before["name"], api)
    return known


def _require_names(namespaces: Sequence[Namespace]) -> None:
    if any(len(each.name) > MOST_TITLE for each in namespaces):
        raise BadMessage("the name of a namespace is too long")


def _require_pages(pages: Sequence[Pending]) -> None:
    if any(not 0 <= each.page <= MOST_PAGE or len(each.title) > MOST_TITLE for each in pages):
        raise BadMessage("a page is none")


def _require_step(move: Move) -> None:
    if any(not 0 <= each.step <= _MOST_STEP or len(each.place) > _MOST_PLACE for each in move):
        raise BadMessage("a position of a pass is none")


def _require_event_ids(move: StreamMove | None) -> None:
    positions = [each[:2] for each in (move.before, move.after) if each] if move else []
    if any(len(streams) > _MOST_STREAMS or len(last_id) > _MOST_EVENT_ID for streams, last_id in positions):
        raise BadMessage("a position of a stream is too long")


FarmName = Annotated[Farm, Sent(Annotated[str, Meta(max_length=32)], put=lambda farm: farm.name, take=_take_farm)]
DbName = Annotated[
    WikiName,
    Sent(
        {"dbname": Annotated[str, Meta(pattern=r"^[a-z0-9_-]{1,64}\Z")]},
        put=lambda name: {"dbname": name.dbname},
        take=_take_name,
    ),
]
Api = Annotated[str | None, Sent(Annotated[str, Meta(max_length=2_000)] | None, take=_take_api)]
Namespaces = Annotated[Sequence[Namespace], Meta(max_length=5_000), Sent(sound=_require_names)]
PassMove = Annotated[Move, Sent(sound=_require_step)]
MetPages = Annotated[
    Sequence[KnownPage],
    Sent(
        Annotated[list[_MetPage], Meta(max_length=MOST_PAGES)],
        put=lambda pages: [(page.page, page.namespace, page.title, page.mark) for page in pages],
    ),
]
WalkedPages = Annotated[JudgedPages, _judged(MOST_PAGES)]
WaitedPages = Annotated[JudgedPages, _judged(MOST_LISTED)]
DonePages = Annotated[Sequence[Pending], Meta(max_length=MOST_LISTED), Sent(sound=_require_pages)]
SortedPages = Annotated[Collection[Page], Sent(Annotated[list[Page], Meta(max_length=MOST_LISTED)], put=sorted)]
EventBatch = Annotated[
    Sequence[WikiEvents],
    Sent(Annotated[list[_SentEvents], Meta(max_length=_MOST_EVENTS)], put=_put_events, take=_take_events),
]
StreamsMove = Annotated[StreamMove | None, Sent(sound=_require_event_ids)]
FetchedLists = Annotated[
    Mapping[ListKind, SpamLines],
    Sent({"black": _FetchedList, "white": _FetchedList}, put=_put_lists, take=_take_lists),
]
SpamStretch = Annotated[SpamBatch | None, Sent(_SentStretch | None, put=_put_stretch, read=_read_stretch)]
NowSpam = Annotated[
    SpamUses,
    Sent(
        _LinksByPage,
        put=lambda pages: {page: list(found.values()) for page, found in pages.items()},
        take=_take_spam,
    ),
]
NoSpam = Annotated[
    Mapping[int, Mapping[UrlKey, Url]],
    Sent(
        _LinksByPage,
        put=lambda pages: {page: [*map(str, found.values())] for page, found in pages.items()},
        take=_take_uses,
    ),
]
