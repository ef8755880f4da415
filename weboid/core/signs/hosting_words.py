"""The pages that servers, panels and hosting services show where nobody has put a site, or has lost it, from
``hosting_words.toml``; ``core/signs/hosting`` judges by them.
"""

from collections.abc import Iterable
from functools import cache
from typing import Any, NamedTuple

from weboid.assets import toml_next_to
from weboid.core.document.folding import phrases
from weboid.core.signs.missing_words import Vocabulary, by_word, dense, vocabulary


class DefaultPage(NamedTuple):
    """The default page of one product: folded titles or headings, folded sayings of its text, bytes of its markup."""

    name: str
    titles: frozenset[str]
    sayings: tuple[str, ...]
    marks: tuple[bytes, ...]


@cache
def _hosting() -> dict[str, Any]:
    return toml_next_to(__file__)


@cache
def weak_titles() -> frozenset[str]:
    """Folded titles that other pages have, too; so are all of the default page ``hosting``."""
    return frozenset(phrases(_hosting()["weak"]))


@cache
def default_pages() -> tuple[DefaultPage, ...]:
    """The default pages of all products."""
    return tuple(_default_page(**page) for page in _hosting()["default"])


def _default_page(
    name: str, titles: Iterable[str] = (), sayings: Iterable[str] = (), marks: Iterable[str] = ()
) -> DefaultPage:
    return DefaultPage(name, frozenset(phrases(titles)), phrases(sayings), tuple(mark.encode() for mark in marks))


@cache
def suspensions() -> dict[str, Vocabulary]:
    """By language, how it is said that an account or a site is suspended."""
    return {code: vocabulary(**words) for code, words in _hosting()["suspended"].items()}


@cache
def suspenders() -> dict[str, frozenset[str]]:
    """The codes of these languages by the longest word of each state."""
    return by_word(suspensions())


@cache
def spaceless_suspensions() -> tuple[str, ...]:
    """The same as whole phrases, in languages without spaces."""
    return dense(_hosting()["suspended_spaceless"])
