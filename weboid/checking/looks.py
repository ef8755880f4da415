"""Looks at a URL for its card: polite as checks are, but no check (R-8, C-3, C-15, C-17).

The beginning of a page is read, and of a file only the header, as far as robots.txt allows. Turns at hosts are shared
with all crawlers, so a look may have to wait.
"""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Final

from weboid.checking.checker import Checker
from weboid.checking.slots import StoreSlots
from weboid.checking.turns import SharedTurns
from weboid.config import Config
from weboid.core.document.card import CardText, card_text
from weboid.core.document.document import is_html
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome
from weboid.net.fetch import fetch_answer
from weboid.net.outbound import open_session
from weboid.store.db.pool import Pool
from weboid.store.urls.card import StoredCard

READ_BYTES: Final = 65_536
AT_ONCE: Final = 40
"""Looks that a process makes at the same time."""
_ANSWER_S: Final = 10.0

Look = Callable[[str, bool], Awaitable[StoredCard]]
"""A look at an http or https URL in normal form, which may be a file's; raises NotAsked."""


@asynccontextmanager
async def open_looks(config: Config, pool: Pool) -> AsyncIterator[Look]:
    """The way out for looks: with the guard, the stop list and the turns of crawlers, and tighter limits."""
    net = replace(config.net, body_bytes=READ_BYTES, text_bytes=0, answer_s=_ANSWER_S, connections=AT_ONCE)
    turns = SharedTurns(StoreSlots(pool), config.crawl.delay)
    async with open_session(net) as session:
        checker = Checker(session, turns, config.crawl, own_farms=config.own_farms)

        async def look(url: str, is_file: bool) -> StoredCard:
            if not await checker.may_look(url):
                return StoredCard()
            answer = await fetch_answer(
                session, url, turn=checker.turn, get_only=not is_file, may_read=checker.may_look
            )
            return card_of(answer, may_read=answer.final == url or await checker.may_look(answer.final))

        try:
            yield look
        finally:
            await turns.close()


def card_of(answer: RawResponse, *, may_read: bool) -> StoredCard:
    """The card that a server's answer gives; no text of an answer that is no success."""
    seen = observation_of(answer, read_body=False)
    kind, body = answer.headers.get("content-type", ""), answer.body
    text = CardText()
    if may_read and seen.outcome is Outcome.WORKING and is_html(kind, body):
        text = card_text(body, kind, answer.headers.get("content-language", ""))
    return StoredCard(
        text,
        answer.code,
        seen.mime,
        seen.size_kib,
        answer.final if answer.final != answer.url else "",
        answer.headers.get("content-disposition", "").lower().startswith("attachment"),
        0 < len(body) < READ_BYTES,
    )
