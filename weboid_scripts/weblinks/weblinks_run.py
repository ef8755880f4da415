"""One run of ``weboid_weblinks``: pages in batches, what is known or scanned of their links, lines, reports, a table.

Of a batch no more than its links are in memory, and nothing is reported of links of which nothing is known.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass
from datetime import datetime
from itertools import chain, islice
from typing import Any, Final
from urllib.parse import quote

import pywikibot
from pywikibot import config, pagegenerators

from weboid.core.url.farms import BUILT_IN
from weboid.core.wikitext.settings import WikiSettings
from weboid_scripts.client import MOST_PAGES
from weboid_scripts.common.options import SETTINGS_PAGE
from weboid_scripts.common.run_page import RunPage
from weboid_scripts.common.saving import Saver
from weboid_scripts.common.wiki_settings import read_settings
from weboid_scripts.weblinks.dead_links import LinkStanding, judged
from weboid_scripts.weblinks.link_lines import Counts, link_line
from weboid_scripts.weblinks.links_found import FoundLink, links_found
from weboid_scripts.weblinks.scan_memory import Scan, ScanMemory
from weboid_scripts.weblinks.scanning import Scanner, open_scanner
from weboid_scripts.weblinks.talk_pages import JudgedPage, TalkPages
from weboid_scripts.weblinks.weblinks_options import WeblinksOptions

_SCANNED_AT_ONCE: Final = 100
"""Pages whose links are scanned together: enough for many domains in parallel, few enough to see something soon."""
_READ_AT_ONCE: Final = 50
"""Pages in one request to the wiki."""
_FAILS: Final = frozenset({LinkStanding.DEAD, LinkStanding.RECENT, LinkStanding.FAILING, LinkStanding.IGNORED})
_WIKITEXT: Final = "wikitext"


@dataclass(frozen=True, slots=True)
class _LinkedPage:
    page: int
    title: str
    links: tuple[FoundLink, ...]


class WeblinksRun:
    """A run over pages of one wiki; `now` gives the moment in UTC. Raises WeboidError and pywikibot's errors."""

    def __init__(
        self,
        site: Any,
        options: WeblinksOptions,
        memory: ScanMemory,
        *,
        connections: int,
        now: Callable[[], datetime],
    ) -> None:
        self._site = site
        self._options = options
        self._memory = memory
        self._connections = max(1, connections)
        self._now = now
        self._dbname = options.common.dbname(site)
        self._account = str(site.username())
        self._client = None if options.rule.by_scans else options.common.client(site)
        # Of a farm of somebody's own only its domains are not known here.
        self._farm = next((farm for farm in BUILT_IN if farm.name == options.common.farm), None)
        self._counts = Counts()
        self._talk: TalkPages | None = None
        self._is_reported = False

    def run(self, pages: Iterable[Any]) -> None:
        """Looks at all pages; prints lines and, at the end, the table, also of a run that was broken off."""
        try:
            with asyncio.Runner() as runner:
                stack = AsyncExitStack()
                try:
                    self._batches(pages, runner, runner.run(self._open_scanner(stack)))
                finally:
                    runner.run(stack.aclose())
        finally:
            pywikibot.stdout(self._counts.table())

    async def _open_scanner(self, stack: AsyncExitStack) -> Scanner | None:
        if not self._options.scan:
            return None
        return await stack.enter_async_context(
            open_scanner(
                self._memory,
                connections=self._connections,
                contact=f"{self._site.hostname()} User:{quote(self._account)}",
                apis=[self._site.base_url(self._site.apipath())],
                now=self._now,
            )
        )

    def _batches(self, pages: Iterable[Any], runner: asyncio.Runner, scanner: Scanner | None) -> None:
        read = iter(pagegenerators.PreloadingGenerator(pages, groupsize=_READ_AT_ONCE, quiet=True))
        at_once = MOST_PAGES if scanner is None else _SCANNED_AT_ONCE
        while first := next(read, None):
            # Before each batch anew, as people may change them, or stop the bot by them.
            settings = read_settings(self._site, self._options.common, self._dbname).settings
            batch = self._linked(chain([first], islice(read, at_once - 1)), settings)
            answers = self._answers(batch)
            scans: dict[str, Scan] = {}
            if scanner is not None:
                scans = runner.run(scanner.scan(link for each in batch for link in each.links))
            rule, now = self._options.rule, self._now()
            found = [
                JudgedPage(
                    each.page, each.title, tuple(judged(each.links, answers.get(each.page, {}), scans, rule, now))
                )
                for each in batch
            ]
            self._show(found)
            self._memory.note_pages(
                self._dbname,
                (
                    (each.page, any(link.standing in _FAILS for link in of.links))
                    for each, of in zip(batch, found, strict=True)
                ),
            )
            if self._may_report(settings):
                self._counts.talk.update(self._talk_pages().report(found, settings))

    def _linked(self, pages: Iterable[Any], settings: WikiSettings) -> list[_LinkedPage]:
        """The links of those of these pages that are wikitext; their texts are not kept."""
        linked = []
        for page in pages:
            if page.site != self._site or not page.exists() or page.isRedirectPage() or page.content_model != _WIKITEXT:
                continue
            links = links_found(page.text, settings, self._farm, now=self._now(), bot=self._account)
            linked.append(_LinkedPage(page.pageid, page.title(), tuple(links)))
        return linked

    def _answers(self, batch: Iterable[_LinkedPage]) -> dict[int, dict[str, Mapping[str, Any]]]:
        """The answers of Weboid for the links of these pages, by page and normal form."""
        pages = [each.page for each in batch if each.links]
        if self._client is None or not pages:
            return {}
        return {
            page["id"]: {link["normal"]: link for link in page["links"] if isinstance(link.get("normal"), str)}
            for page in self._client.pages(self._dbname, pages)
        }

    def _show(self, found: Iterable[JudgedPage]) -> None:
        for page in found:
            self._counts.pages += 1
            for link in page.links:
                self._counts.links[link.standing] += 1
                if (line := link_line(page.title, link)) is not None:
                    pywikibot.stdout(line)

    def _may_report(self, settings: WikiSettings) -> bool:
        if not self._options.talk:
            return False
        if settings.options.run and settings.options.talk != "never":
            return True
        if not self._is_reported:
            self._is_reported = True
            pywikibot.warning(
                f"Nothing is written on talk pages: the settings of {self._dbname} do not allow it. If its "
                f'community wants that, "options" in {SETTINGS_PAGE} have to say "talk": "beside" (docs/settings.md).'
            )
        return False

    def _talk_pages(self) -> TalkPages:
        """The talk pages; the bot logs in only when it may have to write."""
        if self._talk is None:
            saver = None
            if not config.simulate:
                self._site.login()
                saver = Saver(self._site, self._account, rate=self._options.rate)
            run_page = RunPage(self._site, self._options.run_page or f"User:{self._account}/Run", self._account)
            self._talk = TalkPages(
                self._site, self._dbname, self._memory, account=self._account, saver=saver, run_page=run_page
            )
        return self._talk
