"""Arguments and results of a feeder's calls: their bounds, and how they are sent and read (O-1).

Keys are not sent but computed from the URLs (D-448), and links that are not watched (L-3) are refused: whatever a
remote feeder sends, the store has no URL under another one's key, and none that nobody would check. In conversions
``here`` is the server's `FeederRights`.
"""

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Annotated, Any, Final, TypeVar

from msgspec import Meta, Struct

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm, WikiName
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamLines, parse_lines
from weboid.core.url.urls import Url, parse
from weboid.core.wikitext.titles import Namespace
from weboid.mechanism.slices import Steps, in_slices
from weboid.remote.feed.batches import CategorisedPage, JudgedPages, NamedPage, Stamp, StreamMove, WikiEvents
from weboid.remote.http.messages import BadMessage
from weboid.remote.http.rpc import Wire
from weboid.store.pages.page import Added, PageUrls
from weboid.store.pages.page_pass import KnownPage
from weboid.store.pages.pending import NO_CONTROLS, Page, Pending, Title
from weboid.store.pages.spam import ListKind, SpamBatch, SpamUses

MOST_PAGES: Final = 500
"""Pages of one message."""
MOST_LISTED: Final = 1_000
_MOST_LINKS: Final = 500_000
"""Links of one page, and of all of a message."""
_MOST_URL: Final = 20_000
"""Characters of a link as a page gives it, as ``feed/events`` takes them."""
_SLICE: Final = 50
_MOST_EVENTS: Final = 2_000
"""Wikis, and pages of each, that one batch of events touches: it has 500 events."""
_MOST_LINES: Final = 200_000

_Value = TypeVar("_Value")

Wiki = Annotated[int, Meta(ge=0, le=2**31 - 1), Wire(check="farm_of")]
"""A wiki that the token may feed, and whose farm the server has."""
FarmCode = Annotated[int, Meta(ge=0, le=2**15 - 1)]
Dbname = Annotated[str, Meta(max_length=64)]
OwnLists = Annotated[Dbname, Wire(resolve=lambda of, here, before: here.own_lists(before["farm"], of))]
"""A name whose lists the token may write: of a wiki that it may feed, or of a farm if that is the one with the list."""
Limit = Annotated[int, Meta(ge=1, le=MOST_LISTED)]
Plan = Annotated[str, Meta(max_length=1_000_000)]
_Depth = Annotated[int, Meta(ge=0, le=1_000)]
Trees = Annotated[Mapping[Title, _Depth], Meta(max_length=1_000_000)]
WatchText = Annotated[Annotated[str, Meta(max_length=4 << 20)] | None, Wire(check="require_watch_list")]
Link = Annotated[str, Meta(max_length=_MOST_URL)]
_Links = Annotated[list[Link], Meta(max_length=_MOST_LINKS)]
_Given = Annotated[list[Annotated[Link, Meta(pattern=NO_CONTROLS)]], Meta(max_length=_MOST_LINKS)]
_LinksByPage = Annotated[dict[Page, _Links], Meta(max_length=MOST_LISTED)]
_NamespaceNumber = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Revision = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Line = Annotated[str, Meta(max_length=100_000)]


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
    spam: _Given


class _SentAdded(Struct, frozen=True, array_like=True):
    """The links that an edit added to a page."""

    page: Page
    urls: _Links
    spam: _Given


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


def _by_key(links: Iterable[str], farm: Farm, value: Callable[[Url, str], _Value]) -> Steps[dict[UrlKey, _Value]]:
    """The links, or their URLs, by key, in steps. Raises BadMessage if one is not, or could not be, watched."""
    found: dict[UrlKey, _Value] = {}
    for number, text in enumerate(links):
        link = classify(text, farm)
        if link.kind is not UrlClass.WATCHED or link.url is None:
            raise BadMessage("a link is not watched")
        found.setdefault(key_of(link.url), value(link.url, text))
        if number % _SLICE == 0:
            yield
    return found


def _links_of(sent: _SentPage | _SentAdded, farm: Farm) -> Steps[Added]:
    urls = yield from _by_key(sent.urls, farm, lambda url, _: url)
    spam = yield from _by_key(sent.spam, farm, lambda _, text: text)
    return urls, spam


def _require_few(sent: Iterable[_SentPage | _SentAdded]) -> None:
    if sum(len(page.urls) + len(page.spam) for page in sent) > _MOST_LINKS:
        raise BadMessage("the message has too many links")


def _sent_links(urls: Mapping[UrlKey, Url], spam: Mapping[UrlKey, str]) -> tuple[list[str], list[str]]:
    return [*map(str, urls.values())], [*spam.values()]


def _encode_judged(pages: JudgedPages) -> dict[str, Any]:
    read = [
        (page.page, page.namespace, page.title, page.latest, page.mark, *_sent_links(page.urls, page.spam))
        for page in pages.read
    ]
    return {"pages": read, "gone": pages.gone, "stamp": pages.stamp, "as_of": pages.as_of}


async def _resolve_judged(sent: dict[str, Any], here: Any, before: Mapping[str, Any]) -> JudgedPages:
    farm = await here.farm_of(before["wiki"])
    _require_few(sent["pages"])
    await here.require_moments([sent["as_of"]] if sent["as_of"] else [])
    read = []
    for page in sent["pages"]:
        urls, spam = await in_slices(_links_of(page, farm))
        if urls.keys() & spam.keys():
            raise BadMessage("a link is watched and spam on one page")
        read.append(PageUrls(page.page, page.namespace, page.title, page.latest, page.mark, urls, spam))
    return JudgedPages(read, sent["gone"], sent["stamp"], sent["as_of"])


def _judged(most: int) -> Wire:
    fields = {
        "pages": Annotated[list[_SentPage], Meta(max_length=most)],
        "gone": Annotated[list[Page], Meta(max_length=MOST_LISTED)],
        "stamp": Stamp | None,
        "as_of": Annotated[datetime, Meta(tz=True)] | None,
    }
    return Wire(fields, encode=_encode_judged, resolve=_resolve_judged)


def _encode_events(events: Sequence[WikiEvents]) -> list[dict[str, Any]]:
    return [
        {field: getattr(each, field) for field in _SentEvents.__struct_fields__}
        | {"added": [(page, *_sent_links(*links)) for page, links in each.added.items()]}
        for each in events
    ]


def _moments_of(sent: _SentEvents) -> Iterable[datetime]:
    yield from chain(sent.gone.values(), sent.later.values(), sent.later_titles.values())
    yield from (page.moment for page in sent.named)
    yield from (page.moment for page in sent.categorised)


async def _resolve_events(sent: list[_SentEvents], here: Any, _: Mapping[str, Any]) -> list[WikiEvents]:
    _require_few(added for each in sent for added in each.added)
    events = []
    for each in sent:
        farm = await here.farm_of(each.wiki)
        await here.require_moments(_moments_of(each))
        fields = {field: getattr(each, field) for field in _SentEvents.__struct_fields__}
        fields["added"] = {added.page: await in_slices(_links_of(added, farm)) for added in each.added}
        events.append(WikiEvents(**fields))
    return events


def _encode_lists(fetched: Mapping[ListKind, SpamLines]) -> dict[str, Any]:
    return {kind.name.lower(): _FetchedList([*lines.usable], [*lines.unusable]) for kind, lines in fetched.items()}


async def _resolve_lists(sent: dict[str, _FetchedList], here: Any, _: Mapping[str, Any]) -> dict[ListKind, SpamLines]:
    """Leaves out lines that this program cannot run, either."""
    fetched = {}
    for kind in ListKind:
        given = sent[kind.name.lower()]
        parsed = await asyncio.to_thread(parse_lines, "\n".join(given.usable))
        fetched[kind] = SpamLines(parsed.usable, (*given.unusable, *parsed.unusable))
    return fetched


def _encode_stretch(batch: SpamBatch | None) -> _SentStretch | None:
    if batch is None:
        return None
    uses = {page: [str(batch.urls[key]) for key in keys if key in batch.urls] for page, keys in batch.uses.items()}
    return _SentStretch(batch.last, uses, {page: list(found.values()) for page, found in batch.spam.items()})


def _decode_stretch(sent: _SentStretch | None) -> SpamBatch | None:
    if sent is None:
        return None
    used = {page: [(key_of(url), url) for url in map(parse, texts)] for page, texts in sent.uses.items()}
    uses = {page: [key for key, _ in found] for page, found in used.items()}
    spam = {page: {key_of(parse(text)): text for text in texts} for page, texts in sent.spam.items()}
    return SpamBatch(sent.last, uses, spam, dict(link for found in used.values() for link in found))


def _links_by_page(put: Callable[[Any], list[str]], value: Callable[[Url, str], Any]) -> Wire:
    """Links of a wiki by page, sent as text and read as a `value` of them."""

    async def take(sent: dict[int, list[str]], here: Any, before: Mapping[str, Any]) -> dict[int, Any]:
        farm = await here.farm_of(before["wiki"])
        return {page: await in_slices(_by_key(found, farm, value)) for page, found in sent.items()}

    return Wire(_LinksByPage, lambda pages: {page: put(found.values()) for page, found in pages.items()}, resolve=take)


async def _resolve_name(sent: dict[str, str], here: Any, before: Mapping[str, Any]) -> WikiName:
    name = WikiName(sent["dbname"], before["farm"].name)
    here.require_wiki(name)
    return name


FarmName = Annotated[
    Farm,
    Wire(
        Annotated[str, Meta(max_length=32)],
        encode=lambda farm: farm.name,
        resolve=lambda name, here, _: here.farm_named(name),
    ),
]
DbName = Annotated[
    WikiName,
    Wire(
        {"dbname": Annotated[str, Meta(pattern=r"^[a-z0-9_-]{1,64}\Z")]},
        encode=lambda name: {"dbname": name.dbname},
        resolve=_resolve_name,
    ),
]
Api = Annotated[
    str | None,
    Wire(
        Annotated[str, Meta(max_length=2_000)] | None,
        resolve=lambda api, here, before: here.api_of(before["farm"], before["name"], api),
    ),
]
Namespaces = Annotated[Sequence[Namespace], Meta(max_length=5_000)]
MetPages = Annotated[
    Sequence[KnownPage],
    Wire(
        Annotated[list[_MetPage], Meta(max_length=MOST_PAGES)],
        encode=lambda pages: [(page.page, page.namespace, page.title, page.mark) for page in pages],
    ),
]
WalkedPages = Annotated[JudgedPages, _judged(MOST_PAGES)]
WaitedPages = Annotated[JudgedPages, _judged(MOST_LISTED)]
DonePages = Annotated[Sequence[Pending], Meta(max_length=MOST_LISTED)]
HandedPages = Annotated[DonePages, Wire(check="require_seen")]
SortedPages = Annotated[Collection[Page], Wire(Annotated[list[Page], Meta(max_length=MOST_LISTED)], encode=sorted)]
Titles = Annotated[Collection[Title], Wire(Annotated[list[Title], Meta(max_length=MOST_LISTED)], encode=sorted)]
EventBatch = Annotated[
    Sequence[WikiEvents],
    Wire(Annotated[list[_SentEvents], Meta(max_length=_MOST_EVENTS)], encode=_encode_events, resolve=_resolve_events),
]
OwnMove = Annotated[StreamMove | None, Wire(check="require_move")]
FetchedLists = Annotated[
    Mapping[ListKind, SpamLines],
    Wire({"black": _FetchedList, "white": _FetchedList}, encode=_encode_lists, resolve=_resolve_lists),
]
SpamStretch = Annotated[SpamBatch | None, Wire(_SentStretch | None, encode=_encode_stretch, decode=_decode_stretch)]
NowSpam = Annotated[SpamUses, _links_by_page(list, lambda _, text: text)]
NoSpam = Annotated[
    Mapping[int, Mapping[UrlKey, Url]], _links_by_page(lambda urls: [*map(str, urls)], lambda url, _: url)
]
