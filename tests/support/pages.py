"""Pages for tests of content: made up, minimal, and as long as a test wants them.

One law: a page of `words` words has that many different words, so that its text is a text and no repetition.
"""

import itertools
import re

_SYLLABLES = ("ka", "lo", "mi", "ne", "pu", "ra", "si", "to", "ve", "zu")


def prose(words: int, start: int = 0) -> str:
    """A text of so many words that mean nothing, no two alike; another `start` gives other words."""
    numbers = itertools.islice(itertools.count(start), words)
    return " ".join("".join(_SYLLABLES[int(digit)] for digit in f"{number:05d}") for number in numbers)


def page(title: str = "", *, body: str = "", head: str = "", lang: str = "en") -> bytes:
    """A page in UTF-8 with a title, what else is in its head, and a body."""
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8"><title>{title}</title>{head}</head>'
        f"<body>{body}</body></html>"
    ).encode()


def filled(text: str) -> str:
    """The text with so many words for each ``{prose 60}`` in it."""
    return re.sub(r"\{prose (\d+)\}", lambda found: prose(int(found[1])), text)
