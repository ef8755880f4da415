"""From what a page links to, to the URLs that are watched because of it (L-3).

One law: only WATCHED URLs come in; whatever else a page links to is told in answers, never stored (U-9).
"""

from weboid.core.classify import UrlClass, classify
from weboid.core.farms import Farm
from weboid.core.keys import key_of
from weboid.store.page import PageUrls
from weboid.wiki.source import PageLinks


def page_urls(page: PageLinks, farm: Farm) -> PageUrls:
    """The page with its watched URLs, each once however many forms of it the page holds."""
    urls = {}
    for text in page.urls:
        link = classify(text, farm)
        if link.kind is UrlClass.WATCHED and link.url is not None:
            urls[key_of(link.url)] = link.url
    return PageUrls(page.page, page.namespace, page.title, page.latest, page.mark, urls)
