"""The trades of those who buy domains that were given up, by what their titles say: gambling, pills, loans (C-11).

A title alone proves nothing, for there are honest pages about all of this: it counts where another page was before.
"""

import re
from functools import partial
from typing import Final

from msgspec import Struct

from weboid.core.document.folding import first_of, folded
from weboid.core.signs.tables import Phrases, table_of

# Brands of gambling have a number: slot88, togel 4d, 1xbet, bet365.
_NUMBERED: Final = re.compile(
    r"(?:^| )(?:[a-z]{0,12}(?:bet|toto|qq)[0-9]{2,4}|[a-z]{0,12}(?:slots?|togel) ?[0-9]{2,4}|[0-9]{1,3}xbet)(?: |$)"
)


class TradeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The words for gambling, and for all other such trades."""

    gambling: Phrases
    others: Phrases


_words: Final = partial(table_of, __file__, TradeWords)


def trade_in(title: str) -> str | None:
    """The words of a title that name such a trade."""
    text = folded(title)
    if found := _NUMBERED.search(text):
        return found[0].strip()
    known = (*_words().gambling, *_words().others)
    # Korean has spaces, but joins such words with others. Folded, its letters stand one by one.
    korean = (phrase for phrase in known if "\u1100" <= phrase[0] <= "\u11ff" and phrase in text)
    return first_of(known, text) or next(korean, None)
