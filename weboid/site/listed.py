"""Finds the URLs that the sitemaps of a site list."""

from collections import Counter
from typing import Final

from weboid.net.fetch import Single
from weboid.site.reading import Target, resolved
from weboid.site.rules import WEB, RulesOfOrigins, fetch_file
from weboid.site.sitemaps import MOST_BYTES, is_index, is_sitemap, locations_of, unpacked
from weboid.site.start import SiteSessions

_MOST_URLS: Final = 200_000
_MOST_SITEMAPS: Final = 1_000
_MOST_TOTAL: Final = 500_000_000
"""Bytes of all sitemaps, unpacked; one at a time is in memory."""


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
        self._found: dict[str, str] = {}
        self._indexed: dict[str, str] = {}
        self._left = _MOST_TOTAL
        self.left_out: Counter[str] = Counter()

    @property
    def published_at(self) -> str:
        """The host whose URLs are looked for at the start; empty if it is the start's own."""
        return self._published[0] if self._published and self._published != self._server else ""

    async def read_all(self, rules: RulesOfOrigins) -> bool:
        """Reads the sitemaps that the robots.txt of the start names, else the one at the usual place; False if there is
        none."""
        named = (await rules.of(self._start, self._sessions.own, Single(self._sessions.start.headers))).sitemaps
        wanted = [target.form for each in named[:_MOST_SITEMAPS] if (target := self._target(each)).form]
        if self._sessions.start.is_own:
            wanted = [here for url in wanted if (here := self._here(url))]
        return any([await self.read(url) for url in wanted or [str(self._start._replace(path="/sitemap.xml"))]])

    async def read(self, url: str) -> bool:
        """Reads the sitemap at a URL; False if there is none."""
        return self.take(await self._body(url))

    def take(self, body: bytes) -> bool:
        """Reads the text of a sitemap; False if it is none."""
        if is_sitemap(body):
            self._take(body, self._indexed if is_index(body) else self._found)
        return is_sitemap(body)

    async def urls(self) -> list[str]:
        """The URLs that all sitemaps list, each once; those of another server than the start's are left out.

        An index leads to sitemaps, but not to another index.
        """
        for url in list(self._indexed)[:_MOST_SITEMAPS]:
            body = await self._body(url)
            if is_sitemap(body) and not is_index(body):
                self._take(body, self._found)
        return list(self._found.values())

    async def _body(self, url: str) -> bytes:
        """The text at a URL; empty if there is none, or enough was read."""
        if self._left <= 0 or len(self._found) >= _MOST_URLS:
            self.left_out["sitemap-cut"] += 1
            return b""
        start = self._sessions.start
        form = start.parse(url)
        single = Single(start.headers if start.is_origin_of(form) else {}, lambda _: MOST_BYTES)
        answer = await fetch_file(self._sessions.of(form), str(form), single)
        body = unpacked(answer.body) if answer and answer.code and 200 <= answer.code <= 299 else b""
        self._left -= len(body)
        return body

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
