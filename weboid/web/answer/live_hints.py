"""Hints of links that no check has looked at: missing pages of the own farm (L-3), old facts of hosts (C-6)."""

from collections.abc import Mapping, Set
from dataclasses import dataclass
from itertools import chain

from weboid.core.record.policy import Policy
from weboid.core.record.record import UNKNOWN_HOST
from weboid.core.url.classify import UrlClass
from weboid.core.url.keys import UrlKey
from weboid.core.url.urls import Url
from weboid.core.verdict.hints import MISSING_PAGE, LinkHint, host_hints
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey
from weboid.store.pages.linked import LinkedUrl
from weboid.store.urls.host_traits import list_failing, list_specials
from weboid.web.answer.live_spam import LinksByPage
from weboid.web.answer.query import SelectedLinks
from weboid.web.answer.target_pages import TargetPages

HintsByForm = dict[str, tuple[LinkHint, ...]]
"""Hints by the normal form of a link."""


@dataclass(frozen=True, slots=True)
class LiveHints:
    """Finds hints; `policy` says when a host is dead."""

    targets: TargetPages
    policy: Policy

    async def of_targets(self, selected: SelectedLinks, links: LinksByPage) -> tuple[HintsByForm, bool]:
        """The links to wikis of the same farm whose page is missing there; and True if not all was known in time."""
        leading = {
            normal: link.url
            for link, normal, _ in chain.from_iterable(links.values())
            if link.kind is UrlClass.OWN_FARM and normal is not None and link.url is not None
        }
        missing, is_late = await self.targets.find_missing(selected.wiki, selected.farm, list(leading.values()))
        return {normal: (MISSING_PAGE,) for normal, url in leading.items() if url in missing}, is_late

    async def of_hosts(
        self, conn: Connection, links: LinksByPage, known: Mapping[UrlKey, LinkedUrl], working: Set[UrlKey], day: int
    ) -> HintsByForm:
        """Old facts of the hosts of links that have not been checked; no statement if all have been."""
        unchecked = {
            normal: (link.url, HostKey(key.bucket, key.host_key))
            for link, normal, key in chain.from_iterable(links.values())
            if key is not None and key not in working and ((found := known.get(key)) is None or found.is_untried)
            if link.kind is UrlClass.WATCHED
            if normal is not None and link.url is not None
        }
        return await self._of_unchecked(conn, unchecked, day) if unchecked else {}

    async def of_host(self, conn: Connection, url: Url, key: UrlKey, day: int) -> tuple[LinkHint, ...]:
        """The same of one URL that has not been checked."""
        found = await self._of_unchecked(conn, {"": (url, HostKey(key.bucket, key.host_key))}, day)
        return found.get("", ())

    async def _of_unchecked(
        self, conn: Connection, unchecked: Mapping[str, tuple[Url, HostKey]], day: int
    ) -> HintsByForm:
        names = {host: url.host for url, host in unchecked.values()}
        sights, failing = await list_specials(conn, names), await list_failing(conn, list(names))
        hints = {
            normal: host_hints(url, sights[host], failing.get(host, UNKNOWN_HOST), day, self.policy)
            for normal, (url, host) in unchecked.items()
        }
        return {normal: found for normal, found in hints.items() if found}
