"""Services, name servers and phrases of parked and for-sale domains, from ``parked_words.toml``.

How many of them are needed is decided in ``core/signs/parked``.
"""

from collections.abc import Iterable, Mapping
from functools import cache
from itertools import chain
from typing import NamedTuple

from weboid.assets import toml_next_to
from weboid.core.document.folding import phrases


class ParkedWords(NamedTuple):
    """Registrable domains, parts of URLs, bytes of documents, and folded phrases; the table explains each."""

    markets: frozenset[str]
    parking: frozenset[str]
    parking_marks: tuple[str, ...]
    lander_scripts: tuple[bytes, ...]
    lander_marks: tuple[bytes, ...]
    name_servers: frozenset[str]
    generic_sale: tuple[str, ...]
    generic_parked: tuple[str, ...]
    tails: tuple[str, ...]
    commerce: tuple[str, ...]
    sale: tuple[str, ...]
    parked: tuple[str, ...]


@cache
def parked_words() -> ParkedWords:
    """The table."""
    return _parked_words(**toml_next_to(__file__))


def _parked_words(
    markets: list[str],
    parking: list[str],
    parking_marks: list[str],
    lander_scripts: list[str],
    lander_marks: list[str],
    name_servers: list[str],
    sale: Mapping[str, list[str]],
    parked: Mapping[str, list[str]],
    **said: Iterable[str],
) -> ParkedWords:
    return ParkedWords(
        frozenset(markets),
        frozenset(parking),
        tuple(parking_marks),
        tuple(mark.encode() for mark in lander_scripts),
        tuple(mark.encode() for mark in lander_marks),
        frozenset(name_servers),
        sale=phrases(chain.from_iterable(sale.values())),
        parked=phrases(chain.from_iterable(parked.values())),
        **{name: phrases(listed) for name, listed in said.items()},
    )
