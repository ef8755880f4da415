"""Pages and their links as they are sent by a feeder elsewhere, and what is taken of them (O-1).

One law: keys are not sent but computed from the URLs (D-448), and links that are not watched (L-3) are refused:
whatever a feeder elsewhere sends, the store has no URL under another one's key, and none that nobody would check.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weboid.central.feed.feed_core import Stamp
from weboid.central.http.messages import BadMessage
from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url
from weboid.mechanism.slices import Steps
from weboid.store.pages.page import Added, PageUrls

MOST_PAGES: Final = 500
"""Pages of one message."""
MOST_LINKS: Final = 500_000
"""Links of one page, and of all of a message."""
MOST_TITLE: Final = 1_000
_MOST_URL: Final = 20_000
"""Characters of a link as a page gives it, as ``feed/events`` takes them."""
_SLICE: Final = 50

Wiki = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Page = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Title = Annotated[str, Meta(max_length=MOST_TITLE)]
Text = Annotated[str, Meta(max_length=_MOST_URL)]
Texts = Annotated[list[Text], Meta(max_length=MOST_LINKS)]
_Big = Annotated[int, Meta(ge=0, le=2**63 - 1)]
_Namespace = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
_Lines = Annotated[tuple[Annotated[str, Meta(max_length=200)], ...], Meta(max_length=10)]


class SentStamp(Struct, frozen=True, array_like=True):
    farm: _Lines
    own: _Lines


class SentPage(Struct, frozen=True, array_like=True):
    """A page with its watched links in normal form, and those that are spam as it gives them."""

    page: Page
    namespace: _Namespace
    title: Title
    latest: _Big
    mark: _Big | None
    urls: Texts
    spam: Texts


class SentAdded(Struct, frozen=True, array_like=True):
    """The links that an edit added to a page."""

    page: Page
    urls: Texts
    spam: Texts


class MetPage(Struct, frozen=True, array_like=True):
    """A page that matches the criteria, without its links."""

    page: Page
    namespace: _Namespace
    title: Title
    mark: _Big | None


def sent_stamp(stamp: Stamp | None) -> SentStamp | None:
    """A stamp as it is sent."""
    return SentStamp(stamp.farm, stamp.own) if stamp else None


def stamp_of(sent: SentStamp | None) -> Stamp | None:
    """A stamp that was sent."""
    return Stamp(sent.farm, sent.own) if sent else None


def sent_pages(pages: Iterable[PageUrls]) -> list[SentPage]:
    """Pages as they are sent."""
    return [
        SentPage(
            page.page,
            page.namespace,
            page.title,
            page.latest,
            page.mark,
            [str(url) for url in page.urls.values()],
            list(page.spam.values()),
        )
        for page in pages
    ]


def sent_added(added: Mapping[int, Added]) -> list[SentAdded]:
    """Links that edits added as they are sent."""
    return [SentAdded(page, [*map(str, urls.values())], [*spam.values()]) for page, (urls, spam) in added.items()]


def require_few(sent: Sequence[SentPage | SentAdded]) -> None:
    """Raises BadMessage for more links than any message may have."""
    if sum(len(page.urls) + len(page.spam) for page in sent) > MOST_LINKS:
        raise BadMessage("the message has too many links")


def pages_of(sent: Sequence[SentPage], farm: Farm) -> Steps[list[PageUrls]]:
    """Pages that were sent, in steps. Raises BadMessage."""
    pages = []
    for each in sent:
        urls = yield from watched(each.urls, farm)
        spam = yield from spam_of(each.spam, farm)
        if urls.keys() & spam.keys():
            raise BadMessage("a link is watched and spam on one page")
        pages.append(PageUrls(each.page, each.namespace, each.title, each.latest, each.mark, urls, spam))
    return pages


def added_of(sent: Sequence[SentAdded], farm: Farm) -> Steps[dict[int, Added]]:
    """Links that were sent by page, in steps. Raises BadMessage."""
    added: dict[int, Added] = {}
    for each in sent:
        urls = yield from watched(each.urls, farm)
        spam = yield from spam_of(each.spam, farm)
        added[each.page] = urls, spam
    return added


def watched(links: Iterable[str], farm: Farm) -> Steps[dict[UrlKey, Url]]:
    """The URLs of links that are watched, by key, in steps. Raises BadMessage if one is not."""
    urls: dict[UrlKey, Url] = {}
    for number, text in enumerate(links):
        url = _url(text, farm)
        urls[key_of(url)] = url
        if number % _SLICE == 0:
            yield
    return urls


def spam_of(links: Iterable[str], farm: Farm) -> Steps[dict[UrlKey, str]]:
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
