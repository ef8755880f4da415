"""Finds the URLs that the sitemaps of a site list."""

from collections import Counter
from collections.abc import Iterable
from typing import Final

from weboid.net.fetch import Single
from weboid.site.reading import Target, resolved
from weboid.site.rules import WEB, RulesOfOrigins, fetch_file
from weboid.site.sitemaps import MOST_BYTES, is_index, is_sitemap, locations_of, unpacked
from weboid.site.walk import SiteSessions

_MOST_URLS: Final = 200_000
_MOST_SITEMAPS: Final = 1_000


class SitemapListing:
    """The URLs that sitemaps list, and what is left out of them.

    The sitemaps of a folder, or of a site on the user's own network, name the server where it is published: what they
    list is looked for at the start, under the same path. Which server that is, the first URL says.
    """

    def __init__(self, sessions: SiteSessions) -> None:
        self._sessions = sessions
        self._start = sessions.start.url
        self._server = (self._start.host, self._start.port)
        self._published = None if sessions.start.is_own else self._server
        self.left_out: Counter[str] = Counter()

    @property
    def published_at(self) -> str:
        """The host whose URLs are looked for at the start; empty if it is the start's own."""
        return self._published[0] if self._published and self._published != self._server else ""

    async def of_site(self, rules: RulesOfOrigins) -> list[bytes]:
        """The sitemaps that the robots.txt of the start names, else the one at the usual place."""
        named = (await rules.of(self._start, self._sessions.own, Single(self._sessions.start.headers))).sitemaps
        wanted = [target.form for each in named[:_MOST_SITEMAPS] if (target := self._target(each)).form]
        if self._sessions.start.is_own:
            wanted = [here for url in wanted if (here := self._here(url))]
        bodies = [await self.at(url) for url in wanted or [str(self._start._replace(path="/sitemap.xml"))]]
        return [body for body in bodies if body]

    async def at(self, url: str) -> bytes:
        """The text of a sitemap; empty if there is none."""
        start = self._sessions.start
        form = start.parse(url)
        single = Single(start.headers if start.is_origin_of(form) else {}, lambda _: MOST_BYTES)
        answer = await fetch_file(self._sessions.of(form), str(form), single)
        body = unpacked(answer.body) if answer and answer.code and 200 <= answer.code <= 299 else b""
        return body if is_sitemap(body) else b""

    async def urls(self, bodies: Iterable[bytes]) -> list[str]:
        """The URLs that sitemaps list, each once; those of another server than the start's are left out.

        An index leads to sitemaps, but not to another index.
        """
        found: dict[str, str] = {}
        indexed: dict[str, str] = {}
        for body in bodies:
            self._take(body, indexed if is_index(body) else found)
        for url in list(indexed)[:_MOST_SITEMAPS]:
            body = await self.at(url)
            if body and not is_index(body):
                self._take(body, found)
        return list(found.values())

    def _take(self, body: bytes, found: dict[str, str]) -> None:
        for written in locations_of(body):
            target = self._target(written)
            if not target.form.startswith(WEB):
                self.left_out["sitemap-invalid"] += 1
            elif not (here := self._here(target.form)):
                self.left_out["sitemap-other-server"] += 1
            elif len(found) >= _MOST_URLS:
                self.left_out["sitemap-cut"] += 1
                return
            else:
                found.setdefault(here, target.url if here == target.form else here)

    def _target(self, written: str) -> Target:
        return resolved(str(self._start._replace(path="/")), written.partition("#")[0])

    def _here(self, url: str) -> str:
        """The URL at the start; empty if another server is meant."""
        form = self._sessions.start.parse(url)
        server = (form.host, form.port)
        self._published = self._published or server
        if server not in (self._server, self._published):
            return ""
        return str(self._start._replace(path=form.path)) if server != self._server else url
