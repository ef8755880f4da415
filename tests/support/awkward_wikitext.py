"""Wikitext that parsers stumble over, and random pages made of it; and pages in which everything stands in everything:
links in labels, citations in citations, references in parameters, marks between all of them."""

import random
from typing import Final

from weboid.assets import toml_next_to

_CASES = toml_next_to(__file__)
_FRAGMENTS: Final = (*_CASES["fragments"], "\ud800")
_RARELY: Final = ("<!--", "{{nobots}}", "<noinclude>", "<includeonly>[%s A]</includeonly>")
_URLS: list[str] = _CASES["urls"]


def awkward_page(dice: random.Random) -> str:
    parts = [dice.choice(_FRAGMENTS) for _ in range(dice.randrange(1, 14))]
    if dice.random() < 0.1:
        parts.insert(dice.randrange(len(parts) + 1), dice.choice(_RARELY))
    return "".join(_filled(part, dice) + dice.choice(("", " ", "\n")) for part in parts)


def _filled(part: str, dice: random.Random) -> str:
    pieces = part.split("%s")
    return pieces[0] + "".join(dice.choice(_URLS) + piece for piece in pieces[1:])


_ADDRESSES: list[str] = _CASES["addresses"]
_MOST_DEPTH: Final = 4

# ``%u`` is an address, ``%i`` anything that stands in a line.
_LEAVES: list[str] = _CASES["leaves"]
_NESTS: list[str] = _CASES["nests"]
_BLOCKS: list[str] = _CASES["blocks"]


def nested_page(dice: random.Random) -> str:
    """A random page of one to four blocks, in which things stand in each other four deep at most."""
    return "".join(_nested(dice.choice(_BLOCKS), dice, 0) for _ in range(dice.randrange(1, 5)))


def _nested(form: str, dice: random.Random, depth: int) -> str:
    first, *others = form.split("%")
    return first + "".join(_piece(other[0], dice, depth) + other[1:] for other in others)


def _piece(kind: str, dice: random.Random, depth: int) -> str:
    if kind == "u":
        return dice.choice(_ADDRESSES)
    is_leaf = depth == _MOST_DEPTH or dice.random() < 0.3
    inner = _nested(dice.choice(_LEAVES if is_leaf else _NESTS), dice, depth + 1)
    return (
        inner
        + dice.choice(("", "", " "))
        + (_nested(dice.choice(_LEAVES), dice, depth + 1) if dice.random() < 0.2 else "")
    )
