"""The trades of those who buy domains that were given up, by what their titles say: gambling, pills, loans (C-11).

A title alone proves nothing, for there are honest pages about all of this: it counts where another page was before, or
where the text offers it in several ways and the URL speaks of nothing of the kind.
"""

import re
from functools import cache, partial
from typing import Final
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded, is_spaceless
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import table_of

_OFFERS: Final = 3
"""So many different phrases of those who sell it: a report has one or two."""
_READ_CHARS: Final = 4_000
_SHORTEST_WORD: Final = 4
_HINTS: Final = re.compile(
    "casin|kasin|kasyn|kazin|slot|poker|bet|gambl|judi|togel|bahis|bonus|pharm|pill|sex|porn|loan|escort|essay"
)
"""Parts of URLs that speak of such a trade."""

# Brands of gambling have a number: slot88, togel 4d, 1xbet, bet365.
_NUMBERED: Final = re.compile(
    r"(?:^| )(?:[a-z]{0,12}(?:bet|toto|qq)[0-9]{2,4}|[a-z]{0,12}(?:slots?|togel) ?[0-9]{2,4}|[0-9]{1,3}xbet)(?: |$)"
)


class TradeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words for gambling, and for all other such trades."""

    gambling: Phrases
    others: Phrases
    strong: Phrases


_words: Final = partial(table_of, __file__, TradeWords)


def trade_in(title: str) -> str | None:
    """The words of a title that name such a trade."""
    text = folded(title)
    if found := _NUMBERED.search(text):
        return found[0].strip()
    named = first_of(_words().gambling, text) or first_of(_words().others, text)
    return named or next(filter(text.__contains__, _korean()), None)


@cache
def _korean() -> tuple[str, ...]:
    """Phrases in Korean, which has spaces, but joins such words with others. Folded, its letters stand one by one."""
    return tuple(phrase for phrase in (*_words().gambling, *_words().others) if "\u1100" <= phrase[0] <= "\u11ff")


def trade_suspicion(asked: str, document: Document) -> Suspicion | None:
    """The suspicion that a stranger sells such things at a URL that speaks of something else (D-490)."""
    if document.is_article or (named := trade_in(document.title)) is None:
        return None
    parts = urlsplit(asked)
    place = unquote(f"{parts.hostname} {parts.path} {parts.query}").lower()
    if _HINTS.search(place) or not _words_of(document.title).isdisjoint(_words_of(place)):
        return None
    shown = folded(f"{document.title} {' '.join(document.headings)} {document.text[:_READ_CHARS]}")
    offers = sum(phrase in shown and _stands_in(phrase, shown) for phrase in _words().strong)
    return Suspicion(Reason.REPLACED, (f"trade:{named}",)) if offers >= _OFFERS else None


def _stands_in(phrase: str, text: str) -> bool:
    return f" {phrase} " in f" {text} " or is_spaceless(phrase) or "\u1100" <= phrase[0] <= "\u11ff"


def _words_of(text: str) -> set[str]:
    return {word for word in folded(text).split() if len(word) >= _SHORTEST_WORD or is_spaceless(word)}
