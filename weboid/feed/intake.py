"""Selecting, from the links of a page, the URLs that are watched (L-3).

One law: only WATCHED URLs are stored; all other links are only reported in answers (U-9).
"""

from collections.abc import Iterable

from weboid.core.url.classify import UrlClass, classify
from weboid.core.url.farms import Farm
from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.spam_lines import SpamFilter
from weboid.core.url.urls import Url
from weboid.feed.spam_filters import NO_SPAM
from weboid.store.pages.page import PageUrls
from weboid.wiki.source import PageLinks


def page_urls(page: PageLinks, farm: Farm, spam: SpamFilter = NO_SPAM) -> PageUrls:
    """The page with its watched URLs, each once even if the page has several forms of it."""
    urls, unwanted = watched_urls(page.urls, farm, spam)
    return PageUrls(page.page, page.namespace, page.title, page.latest, page.mark, urls, unwanted)


def watched_urls(links: Iterable[str], farm: Farm, spam: SpamFilter) -> tuple[dict[UrlKey, Url], dict[UrlKey, str]]:
    """The URLs among these links that are watched (L-3), and those that are spam, as given.

    A URL is spam if any form of it is.
    """
    urls: dict[UrlKey, Url] = {}
    unwanted: dict[UrlKey, str] = {}
    for text in links:
        link = classify(text, farm)
        if link.kind is not UrlClass.WATCHED or link.url is None:
            continue
        key = key_of(link.url)
        if spam and spam.is_spam(text, str(link.url)):
            unwanted.setdefault(key, text)
        else:
            urls[key] = link.url
    return ({key: url for key, url in urls.items() if key not in unwanted} if unwanted else urls), unwanted
