"""Asks for documents of a site, unless a run remembers what became of them; a 304 brings back the page that is kept."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Final, NamedTuple

from weboid.core.document.document import is_html
from weboid.core.observe.observation import Observation, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UrlRecord
from weboid.core.record.status import status_of
from weboid.robot.orders import Orders
from weboid.robot.queues import WantedDocument
from weboid.robot.statistics import Outcome
from weboid.site.keep import Remembered, RunMemory
from weboid.site.reading import SitePage, kept_page, page_again, page_of
from weboid.store.site.entry import KeptPage

_NOT_MODIFIED: Final = 304

Ask = Callable[[Mapping[str, str]], Awaitable[RawResponse]]
"""Sends one request with further headers."""


class SiteDocument(NamedTuple):
    """An answered or failed request for a URL: a redirect with its `location`, a page, or something else."""

    seen: Observation
    page: SitePage | None = None
    outcome: Outcome = "downloaded"
    not_modified: bool = False

    @property
    def code(self) -> int | None:
        """Of HTTP; None if there was no answer."""
        return self.seen.http or None

    @property
    def location(self) -> str:
        """The target of a redirect, absolute; empty if it is none."""
        return str(self.seen.target or "")


class Recall:
    """Asks for documents, with their anchors if `with_anchors`."""

    def __init__(self, memory: RunMemory | None, *, with_anchors: bool) -> None:
        self._memory = memory
        self._with_anchors = with_anchors

    def has(self, entry: WantedDocument) -> bool:
        """True if a document takes no request: this run has it, or one as new as the orders of its task want it."""
        orders = entry.task.orders
        return self._memory is not None and not orders.needs_source and self._memory.is_done(entry.url, orders)

    async def document(self, entry: WantedDocument, ask: Ask) -> SiteDocument:
        """A document that a task wants; raises what `ask` raises, and StoreAway."""
        url, orders = entry.url, entry.task.orders
        if self._memory is None:
            return self._document(url, orders, await ask({}), None)[0]
        before = await self._memory.known(url)
        if self.has(entry):
            page = page_again(url, before.page) if before.page else None
            return SiteDocument(_seen_again(before.record), page, "hits")
        conditions = {} if orders.needs_source else self._conditions(before)
        answer = await ask(conditions)
        document, kept = self._document(url, orders, answer, before.page if conditions else None)
        is_whole = answer.method != "HEAD" and not (document.page and document.page.is_cut)
        await self._memory.note(url, document.seen, before, kept, is_whole=is_whole)
        return document

    def _document(
        self, url: str, orders: Orders, answer: RawResponse, before: KeptPage | None
    ) -> tuple[SiteDocument, KeptPage | None]:
        seen = _seen_in(answer)
        if before and answer.code == _NOT_MODIFIED:
            return SiteDocument(seen, page_again(url, before), not_modified=True), before
        is_page = answer.code is not None and 200 <= answer.code <= 299 and answer.method != "HEAD"
        if not is_page or not is_html(answer.headers.get("content-type", ""), answer.body):
            return SiteDocument(seen, None, "failed" if answer.code is None else "downloaded"), None
        page = page_of(url, answer.body, answer.headers, orders, with_anchors=self._with_anchors)
        return SiteDocument(seen, page), kept_page(page, answer.headers) if self._memory else None

    def _conditions(self, before: Remembered) -> dict[str, str]:
        """The headers of a conditional request; none if more is wanted of the page than is kept."""
        page = before.page
        if page is None or (self._with_anchors and not page.ids):
            return {}
        conditions = {"If-None-Match": page.etag, "If-Modified-Since": page.modified}
        return {name: value for name, value in conditions.items() if value}


def _seen_in(answer: RawResponse) -> Observation:
    """The observation in one answer: a document is not judged, as it is the user's own."""
    if answer.code is None or (not answer.hops and answer.code > 299 and answer.code != _NOT_MODIFIED):
        return observation_of(answer)
    if answer.hops:
        return Observation(status_of(answer.code), Reason.MOVED, answer.hops[0].location, http=answer.code)
    code = 200 if answer.code == _NOT_MODIFIED else answer.code
    return Observation(status_of(code), Reason.OK, http=code)


def _seen_again(record: UrlRecord) -> Observation:
    assert record.reason
    return Observation(record.history[0].status, record.reason, record.target, http=record.http)
