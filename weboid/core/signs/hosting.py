"""Detects the pages that servers, panels and hosting services show where there is no site: defaults and suspensions.

The words are in ``hosting.toml``; domains that are parked or for sale belong to ``core/signs/parked``. A title or
heading has to say it as a whole, and something else of the page has to confirm it.
"""

import re
from functools import cache, partial
from typing import Any, Final
from urllib.parse import urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded, segments, without
from weboid.core.record.reasons import Reason
from weboid.core.signs.missing_words import Vocabulary, by_word, dense, names_work, spoken
from weboid.core.signs.soft404 import is_in_path
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import Marks, table_of

_LONG_WORDS: Final = 450
"""The longest default page that has no title of its own; one that has may have any length."""
_SUSPENDED_WORDS: Final = 200
_FEW_WORDS: Final = 60
"""A page with fewer words that is titled so says nothing else."""
_HARDLY_WORDS: Final = 12
"""The same of a title that other pages have, too."""
_READ_CHARS: Final = 2_500
_MORE_WORDS: Final = 2
_TWICE_WORDS: Final = 300
"""A page without such a title that has no more words may say two such sentences instead."""
_TELLING_CHARS: Final = 5
_MAX_SEGMENT: Final = 150
_VERSION: Final = re.compile(r"(?: [0-9]+)+$")


class DefaultPage(Struct, frozen=True, forbid_unknown_fields=True):
    """The default page of one product: titles or headings, sayings of its text, bytes of its markup."""

    name: str
    titles: Phrases = Phrases()
    sayings: Phrases = Phrases()
    marks: Marks = Marks()


class HostingWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Titles that other pages have, too; default pages; words for suspended accounts and sites."""

    weak: Phrases
    default: tuple[DefaultPage, ...]
    suspended: dict[str, dict[str, Any]]
    suspended_spaceless: tuple[str, ...]
    suspended_marks: Marks
    maintenance: Phrases
    construction: Phrases


hosting_words: Final = partial(table_of, __file__, HostingWords)


@cache
def _default_titles() -> frozenset[str]:
    return frozenset().union(*(default.titles for default in hosting_words().default))


@cache
def _default_sayings() -> Phrases:
    return Phrases(saying for default in hosting_words().default for saying in default.sayings)


@cache
def suspensions() -> dict[str, Vocabulary]:
    """The words for a suspended account or site, by language."""
    return {code: Vocabulary(**words) for code, words in hosting_words().suspended.items()}


@cache
def _codes_by_word() -> dict[str, frozenset[str]]:
    return by_word(suspensions())


@cache
def _spaceless_suspensions() -> tuple[str, ...]:
    return dense(hosting_words().suspended_spaceless)


def hosting_suspicion(asked: str, document: Document, body: bytes) -> Suspicion | None:
    """The suspicion that a document is no site's own; `asked` is the requested URL, `body` its beginning."""
    words = len(document.words)
    is_long = words > _LONG_WORDS and folded(document.title) not in _default_titles()
    if is_long or not document.is_page or document.is_article:
        return None
    if is_in_path(asked, document.title) or names_work(document.title):
        return None
    host = urlsplit(asked).hostname or ""
    titles, page = _titles(document, host), body.lower()
    if words <= _SUSPENDED_WORDS:
        if mark := next((mark for mark in hosting_words().suspended_marks if mark in page), None):
            return Suspicion(Reason.SUSPENDED, (f"mark:{mark.decode()}",))
        first_sentence = document.own_text.partition(".")[0][:_MAX_SEGMENT]
        if (found := _suspended(titles or [folded(first_sentence)])) and not _has_subject(document, found):
            return Suspicion(Reason.SUSPENDED, (f"title:{found}",))
    shown = folded(f"{document.title} {' '.join(document.headings)} {document.text[:_READ_CHARS]}")
    if words <= _FEW_WORDS and (phrase := first_of(hosting_words().maintenance, shown)):
        return Suspicion(Reason.MAINTENANCE, (f"phrase:{phrase}",))
    built = set(titles).intersection(hosting_words().construction)
    if built and words < _HARDLY_WORDS and urlsplit(asked).path.strip("/"):
        return Suspicion(Reason.PLACEHOLDER, (f"title:{min(built)}",))
    may_be_default = not _default_titles().isdisjoint(titles) or first_of(_default_sayings(), shown)
    if not may_be_default and not any(mark in page for default in hosting_words().default for mark in default.marks):
        return None
    owned = folded(host) in map(folded, (document.title, *document.headings))
    for default in hosting_words().default:
        titled = set(default.titles).intersection(titles)
        saying = first_of(default.sayings, shown)
        marks = sum(mark in page for mark in default.marks)
        signals = ["title"] * bool(titled) + ["saying"] * bool(saying) + ["mark"] * min(marks, 2)
        if saying and words <= _TWICE_WORDS:
            others = tuple(other for other in default.sayings if other not in saying)
            signals += ["saying"] * bool(first_of(others, shown))
        signals += ["own-name"] * (owned and bool(signals))
        is_weak = not saying and (default.name == "hosting" or titled.issubset(hosting_words().weak))
        has_subject = all(_has_subject(document, title) for title in titled)
        if is_weak and titled and (has_subject or _names_more(document.title, titled, host)):
            continue
        if words > _LONG_WORDS and (is_weak or folded(document.title) not in default.titles):
            continue
        if len(signals) > 1 or (signals and words < (_HARDLY_WORDS if is_weak else _FEW_WORDS)):
            return Suspicion(Reason.PLACEHOLDER, (f"default:{default.name}", *signals))
    return None


def _names_more(title: str, titled: set[str], host: str) -> bool:
    """True if a title has two words more than a default page's name and the host's own: ``Coming soon: The River``."""
    own = (folded(host), folded(host.removeprefix("www.")))
    return len(without((*titled, *own), _VERSION.sub("", folded(title)))[0].split()) >= _MORE_WORDS


def _titles(document: Document, host: str) -> list[str]:
    """Title and headings, as wholes and by segments, without the host's own name and a version."""
    own = {folded(host), folded(host.removeprefix("www."))} - {""}
    found = []
    for text in (document.title, *document.headings):
        for segment in segments(text):
            phrase, _ = without(tuple(own), folded(segment[:_MAX_SEGMENT]))
            found += [phrase, _VERSION.sub("", phrase)]
    return [phrase for phrase in dict.fromkeys(found) if phrase]


def _has_subject(document: Document, said: str) -> bool:
    """True if the title has more than what is said, and the text outside of links speaks of it again."""
    others = {word for word in folded(document.title).split() if len(word) >= _TELLING_CHARS} - set(said.split())
    text = document.own_text
    for heading in (document.title, *document.headings):
        text = text.replace(heading, "", 1)
    return not others.isdisjoint(folded(text).split())


def _suspended(titles: list[str]) -> str | None:
    """The title or heading that says nothing but that an account or site is suspended."""
    for title in titles:
        unspaced = title.replace(" ", "")
        if any(_says(title, suspensions()[code]) for code in spoken(title.split(), _codes_by_word())):
            return title
        if not title.isascii() and any(phrase in unspaced for phrase in _spaceless_suspensions()):
            return title
    return None


def _says(phrase: str, vocabulary: Vocabulary) -> bool:
    rest, states = without(vocabulary.states, phrase)
    if not states:
        return False
    rest, nouns = without(vocabulary.nouns, rest)
    return bool(nouns) and set(without(vocabulary.asides, rest)[0].split()) <= vocabulary.fillers
