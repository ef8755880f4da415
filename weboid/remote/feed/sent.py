"""Arguments and results of a feeder's calls as they are sent, and as they are read here (O-1).

One law: keys are not sent but computed from the URLs (D-448), and links that are not watched (L-3) are refused:
whatever a remote feeder sends, the store has no URL under another one's key, and none that nobody would check. By
``here`` the server's own farms are meant (`FeederRights`).
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Final

from msgspec import Meta, Struct

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamLines, parse_lines
from weboid.core.url.urls import Url, parse
from weboid.core.wikitext.titles import Namespace
from weboid.mechanism.slices import Steps, in_slices
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
from weboid.store.pages.page import Added, PageUrls
from weboid.store.pages.page_pass import KnownPage
from weboid.store.pages.pending import Pending
from weboid.store.pages.spam import ListKind, SpamBatch, SpamUses

MOST_PAGES: Final = 500
"""Pages of one message."""
MOST_LISTED: Final = 1_000
MOST_LINKS: Final = 500_000
"""Links of one page, and of all of a message."""
_MOST_URL: Final = 20_000
"""Characters of a link as a page gives it, as ``feed/events`` takes them."""
_MOST_EVENTS: Final = 2_000
"""Wikis, and pages of each, that one batch of events touches: it has 500 events."""
_MOST_LINES: Final = 200_000
_MOST_STREAMS: Final = 2_000
_MOST_EVENT_ID: Final = 20_000
_MOST_PLACE: Final = 2_000
_MOST_STEP: Final = 2**15 - 1
_SLICE: Final = 50

Link = Annotated[str, Meta(max_length=_MOST_URL)]
Streams = Annotated[str, Meta(max_length=_MOST_STREAMS)]
_Links = Annotated[list[Link], Meta(max_length=MOST_LINKS)]
_LinksByPage = Annotated[dict[Page, _Links], Meta(max_length=MOST_LISTED)]
_Line = Annotated[str, Meta(max_length=100_000)]
_NamespaceNumber = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Revision = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class _MetPage(Struct, frozen=True, array_like=True):
    page: Page
    namespace: _NamespaceNumber
    title: Title
    mark: _Revision | None


class _SentPage(Struct, frozen=True, array_like=True):
    """A page with its watched links in normal form, and those that are spam as it gives them."""

    page: Page
    namespace: _NamespaceNumber
    title: Title
    latest: _Revision
    mark: _Revision | None
    urls: _Links
    spam: _Links


class _SentAdded(Struct, frozen=True, array_like=True):
    page: Page
    urls: _Links
    spam: _Links


class _SentEvents(Struct, frozen=True):
    """As `WikiEvents`, without keys."""

    wiki: Page
    stamp: Stamp | None
    added: Annotated[list[_SentAdded], Meta(max_length=_MOST_EVENTS)]
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
    sent = [
        _SentPage(
            page.page,
            page.namespace,
            page.title,
            page.latest,
            page.mark,
            [str(url) for url in page.urls.values()],
            list(page.spam.values()),
        )
        for page in pages.read
    ]
    return {"pages": sent, "gone": pages.gone, "stamp": pages.stamp}


async def _take_judged(sent: dict[str, Any], here: Any, before: Mapping[str, Any]) -> JudgedPages:
    farm = await here.farm_of(before["wiki"])
    _require_few(sent["pages"])
    return JudgedPages(await in_slices(_pages_of(sent["pages"], farm)), sent["gone"], sent["stamp"])


def _judged(most: int) -> Sent:
    fields = {
        "pages": Annotated[list[_SentPage], Meta(max_length=most)],
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
    _require_few([added for each in sent for added in each.added])
    return [
        WikiEvents(
            **{field: getattr(each, field) for field in _SentEvents.__struct_fields__}
            | {"added": await in_slices(_added_of(each.added, await here.farm_of(each.wiki)))}
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
    return _SentStretch(batch.last, uses, {page: list(links.values()) for page, links in batch.spam.items()})


def _read_stretch(sent: _SentStretch | None) -> SpamBatch | None:
    if sent is None:
        return None
    used = {page: [(key_of(url), url) for url in map(parse, texts)] for page, texts in sent.uses.items()}
    uses = {page: [key for key, _ in links] for page, links in used.items()}
    spam = {page: {key_of(parse(text)): text for text in texts} for page, texts in sent.spam.items()}
    return SpamBatch(sent.last, uses, spam, dict(link for links in used.values() for link in links))


async def _take_spam(sent: dict[int, list[str]], here: Any, before: Mapping[str, Any]) -> SpamUses:
    farm = await here.farm_of(before["wiki"])
    return {page: await in_slices(_spam_of(links, farm)) for page, links in sent.items()}


async def _take_uses(sent: dict[int, list[str]], here: Any, before: Mapping[str, Any]) -> dict[int, dict[UrlKey, Url]]:
    farm = await here.farm_of(before["wiki"])
    return {page: await in_slices(_watched(links, farm)) for page, links in sent.items()}


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
        put=lambda pages: {page: list(links.values()) for page, links in pages.items()},
        take=_take_spam,
    ),
]
NoSpam = Annotated[
    Mapping[int, Mapping[UrlKey, Url]],
    Sent(
        _LinksByPage,
        put=lambda pages: {page: [*map(str, links.values())] for page, links in pages.items()},
        take=_take_uses,
    ),
]


def _require_few(sent: Sequence[_SentPage | _SentAdded]) -> None:
    """Raises BadMessage for more links than any message may have."""
    if sum(len(page.urls) + len(page.spam) for page in sent) > MOST_LINKS:
        raise BadMessage("the message has too many links")


def _pages_of(sent: Sequence[_SentPage], farm: Farm) -> Steps[list[PageUrls]]:
    """Pages that were sent, in steps. Raises BadMessage."""
    pages = []
    for each in sent:
        urls = yield from _watched(each.urls, farm)
        spam = yield from _spam_of(each.spam, farm)
        if urls.keys() & spam.keys():
            raise BadMessage("a link is watched and spam on one page")
        pages.append(PageUrls(each.page, each.namespace, each.title, each.latest, each.mark, urls, spam))
    return pages


def _added_of(sent: Sequence[_SentAdded], farm: Farm) -> Steps[dict[int, Added]]:
    """Links that were sent by page, in steps. Raises BadMessage."""
    added: dict[int, Added] = {}
    for each in sent:
        urls = yield from _watched(each.urls, farm)
        spam = yield from _spam_of(each.spam, farm)
        added[each.page] = urls, spam
    return added


def _watched(links: Iterable[str], farm: Farm) -> Steps[dict[UrlKey, Url]]:
    """The URLs of links that are watched, by key, in steps. Raises BadMessage if one is not."""
    urls: dict[UrlKey, Url] = {}
    for number, text in enumerate(links):
        url = _url(text, farm)
        urls[key_of(url)] = url
        if number % _SLICE == 0:
            yield
    return urls


def _spam_of(links: Iterable[str], farm: Farm) -> Steps[dict[UrlKey, str]]:
    """Links that are spam, by key, as they are given, in steps. Raises BadMessage if one would not be watched else."""
    spam: dict[UrlKey, str] = {}
    for number, text in enumerate(links):
        spam.setdefault(key_of(_url(text, farm)), text)
        if number % _SLICE == 0:
            yield
    return spam


def _url(text: str, farm: Farm) -> Url:
    link = classify(text, farm)
    if link.kind is not UrlClass.WATCHED or link.url is None:
        raise BadMessage("a link is not watched")
    return link.url
