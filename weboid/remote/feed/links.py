"""Pages and their links as a remote feeder sends them, and as they are read here (O-1).

One law: keys are not sent but computed from the URLs (D-448), and links that are not watched (L-3) are refused:
whatever a remote feeder sends, the store has no URL under another one's key, and none that nobody would check.
"""

from collections.abc import Iterable, Sequence
from typing import Annotated, Final

from msgspec import Meta, Struct

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import Url
from weboid.mechanism.slices import Steps
from weboid.remote.feed.batches import Page, Title
from weboid.remote.http.messages import BadMessage
from weboid.store.pages.page import Added, PageUrls

MOST_LINKS: Final = 500_000
"""Links of one page, and of all of a message."""
_MOST_URL: Final = 20_000
"""Characters of a link as a page gives it, as ``feed/events`` takes them."""
_SLICE: Final = 50

Link = Annotated[str, Meta(max_length=_MOST_URL)]
Links = Annotated[list[Link], Meta(max_length=MOST_LINKS)]
NamespaceNumber = Annotated[int, Meta(ge=-(2**31), le=2**31 - 1)]
Revision = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class SentPage(Struct, frozen=True, array_like=True):
    """A page with its watched links in normal form, and those that are spam as it gives them."""

    page: Page
    namespace: NamespaceNumber
    title: Title
    latest: Revision
    mark: Revision | None
    urls: Links
    spam: Links


class SentAdded(Struct, frozen=True, array_like=True):
    """The links that an edit added to a page."""

    page: Page
    urls: Links
    spam: Links


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
