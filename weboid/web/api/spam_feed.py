"""The feed of a wiki's pages with new spam (W-12), by the day on which a page was first met with it."""

from urllib.parse import urlsplit

from aiohttp import web

from weboid.store.pages.spam import list_newest_spam
from weboid.web.api.changes import MOST_CHANGES, dated
from weboid.web.formats import atom
from weboid.web.formats.atom import AtomEntry, AtomFeed
from weboid.web.http.respond import sent
from weboid.web.request.parameters import namespace_of, only
from weboid.web.request.route import address_of
from weboid.web.service import ServiceHandlers, given_in, machine_words
from weboid.web.words import phrases


class SpamFeed(ServiceHandlers):
    async def feed(self, request: web.Request) -> web.Response:
        """The pages on which spam was met last, newest first, with the number of these links."""
        given, service = given_in(request), self._service
        say, namespace = machine_words(given), namespace_of(given)
        name, wiki = await service.find_wiki(given)
        async with service.pool.viewing() as conn:
            pages = await list_newest_spam(conn, wiki.wiki, namespace=namespace, limit=MOST_CHANGES)
        public, language = service.public_url, {"lang": say.language.code} if {"lang", "uselang"} & given.keys() else {}
        tag = f"tag:{urlsplit(public).hostname},2017:spam/{name}"
        chosen = only(given, "namespace")
        query = {"dbname": str(name), **chosen, **language}
        newest = max((page.day or 0 for page in pages), default=0)
        feed = AtomFeed(
            id=f"{tag}?namespace={namespace}" if chosen else tag,
            title=say.text("weboid-list-spam", str(name)),
            link=public + address_of("spam-pages", **query),
            itself=public + address_of("spam-feed", **query),
            lang=say.language.bcp47,
            day=newest,
            entries=tuple(
                AtomEntry(
                    id=f"{tag}/{page.page}/{page.day}",
                    title=phrases.visible(page.title),
                    link=public + address_of("link-info", dbname=str(name), pageid=str(page.page), **language),
                    summary=say.text("weboid-count-spam", page.links),
                    day=page.day or 0,
                )
                for page in pages
            ),
        )
        return dated(request, sent(request, atom.bytes_of(feed), atom.CONTENT_TYPE), newest, service.today())
