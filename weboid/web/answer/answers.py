"""Answers to queries for the links of pages as they are now (W-10), in stages through which data flows one way.

`query` selects the links of an answer, which `live` reads from the wiki; `lookup` finds what the store has on them,
`report` concludes their verdicts, and `page` makes the payload that the formats write.
"""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import replace
from hashlib import sha256
from itertools import chain
from typing import Final

import msgspec

from weboid.core.record.policy import Policy
from weboid.core.url.farms import Farm
from weboid.core.url.keys import key_of
from weboid.core.url.urls import Url
from weboid.core.verdict.kept_copies import Services
from weboid.core.verdict.link_report import Extent
from weboid.mechanism.slices import in_slices
from weboid.store.db.pool import Pool
from weboid.web.answer.live import LiveReader
from weboid.web.answer.live_cache import LivePageCache
from weboid.web.answer.live_hints import LiveHints
from weboid.web.answer.live_spam import LiveSpam
from weboid.web.answer.lookup import LinkLookup, LookedUp, live_links
from weboid.web.answer.notify_feeder import FeederNotifier
from weboid.web.answer.query import LinkSelector, SelectedLinks
from weboid.web.answer.report import PageAnswer, report
from weboid.web.answer.target_pages import TargetPages
from weboid.web.answer.wiki_names import Wikis
from weboid.web.answer.wiki_namespaces import WikiNamespaces
from weboid.web.request.parameters import PageQuery
from weboid.web.request.problem import Problem


def setup_of(policy: Policy, services: Services, farms: Iterable[Farm]) -> str:
    """A text that differs with the settings on which answers depend; all processes with the same ones have the same."""
    made_of = (policy, sorted(services.items()), list(farms))
    return sha256(msgspec.json.encode(made_of, order="deterministic")).hexdigest()


class Answers:
    """Finds the answers to queries. `services` make the addresses of archived copies."""

    def __init__(
        self,
        pool: Pool,
        live: LiveReader,
        wikis: Wikis,
        policy: Policy,
        services: Services,
        today: Callable[[], int],
        spam: LiveSpam,
        targets: TargetPages,
    ) -> None:
        self.namespaces: Final = WikiNamespaces(pool, live)
        self.pool: Final = pool
        self.live: Final = live
        self.wikis: Final = wikis
        self.services: Final = services
        self.hints: Final = LiveHints(targets, policy)
        self.setup: Final = setup_of(policy, services, wikis.farms)
        self._policy = policy
        self._today = today
        self._selector = LinkSelector(pool, LivePageCache(live), self.namespaces)
        self._lookup = LinkLookup(pool, self.namespaces, spam, self.hints)
        self.notifier: Final = FeederNotifier(pool)

    async def select(self, query: PageQuery, many: Callable[[], Awaitable[None]] | None = None) -> SelectedLinks:
        """The links of an answer, as `LinkSelector.select`; raises NotFound for an unknown wiki, StoreError."""
        wiki, farm = await self.wikis.find(query.wiki)
        return await self._selector.select(query, wiki, farm, self._today(), many)

    async def look_up(self, selected: SelectedLinks, extent: Extent = Extent.ALL) -> LookedUp:
        """As `LinkLookup.look_up`; notifies the feeder of the pages. Raises StoreError."""
        self.notify_feeder(selected)
        return await self._lookup.look_up(selected, extent)

    def notify_feeder(self, selected: SelectedLinks) -> None:
        """Begins to hand in the pages that the wiki returned."""
        self.notifier.notify(selected.wiki.wiki, selected.requested, selected.day)

    async def report(self, found: LookedUp, extent: Extent = Extent.ALL, at: int | None = None) -> PageAnswer:
        """The answer that is made of what was looked up, with distances of copies to a citation on the day `at`."""
        answer = await report(found, self._policy, self.services, extent)
        return answer if at is None else answer.cited_on(at)

    async def find_link(self, query: PageQuery, url: Url) -> tuple[PageAnswer, int]:
        """The answer about the part of a page that has this link, the last part if none has; and the links looked at.

        Raises NotFound, StoreError; Problem 503 if none has it and the wiki is silent: then nobody knows.
        """
        normal, key, looked = str(url), key_of(url), 0
        while True:
            selected = await self.select(query)
            looked += selected.links
            links = chain.from_iterable((await in_slices(live_links(selected))).values())
            stored = (key in page.keys or key in page.spam for page in selected.pages)
            is_found = any(stored) or any(keyed.normal == normal for keyed in links)
            if selected.next is None and selected.is_silent and not is_found:
                raise Problem(503, "wiki-silent")
            if selected.next is None or is_found:
                answer = await self.report(await self.look_up(selected))
                return replace(answer, next=None), looked
            query = replace(query, begin=selected.next)
