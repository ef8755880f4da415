"""Detects the pages that servers, panels and hosting services show where there is no site: defaults and suspensions.

The words are in ``core/signs/hosting_words``, domains that are parked or for sale in ``core/signs/parked``.
One law: a title or heading has to say it as a whole, and something else of the page has to confirm it.
"""

import re
from typing import Final
from urllib.parse import unquote, urlsplit

from weboid.core.document.document import Document
from weboid.core.document.folding import first_of, folded, without
from weboid.core.record.reasons import Reason
from weboid.core.signs.hosting_words import (
    default_pages,
    spaceless_suspensions,
    suspenders,
    suspensions,
    weak_titles,
)
from weboid.core.signs.missing_words import Vocabulary, spoken
from weboid.core.signs.suspicion import Suspicion

_LONG_WORDS: Final = 450
"""The longest default page has 413 (Caddy's)."""
_SUSPENDED_WORDS: Final = 200
_FEW_WORDS: Final = 60
"""A page with fewer words that is titled so says nothing else."""
_HARDLY_WORDS: Final = 12
"""The same of a title that other pages have, too."""
_READ_CHARS: Final = 2_500
_MAX_SEGMENT: Final = 150
_SEPARATOR: Final = re.compile(r"\s+[-–—|·•»«:]+\s+|\s*[|»«•]\s*|(?<=\S):\s")
_VERSION: Final = re.compile(r"(?: [0-9]+)+$")


def hosting_suspicion(asked: str, document: Document, body: bytes) -> Suspicion | None:
    """The suspicion that a document is no site's own; `asked` is the requested URL, `body` its beginning."""
    if not document.is_page or document.is_article or len(document.words) > _LONG_WORDS:
        return None
    if _names(asked, document.title):
        return None
    host = urlsplit(asked).hostname or ""
    titles = _titles(document, host)
    if len(document.words) <= _SUSPENDED_WORDS and (found := _suspended(titles)):
        return Suspicion(Reason.SUSPENDED, (f"title:{found}",))
    said = folded(f"{document.title} {' '.join(document.headings)} {document.text[:_READ_CHARS]}")
    words = len(document.words)
    owned = folded(host) in map(folded, (document.title, *document.headings))
    page = body.lower()
    for name, names, sayings, marks in default_pages():
        titled = names.intersection(titles)
        saying = first_of(sayings, said)
        signals = ["title"] * bool(titled) + ["saying"] * bool(saying) + ["mark"] * any(mark in page for mark in marks)
        signals += ["own-name"] * (owned and bool(signals))
        is_weak = not saying and (name == "hosting" or titled <= weak_titles())
        if len(signals) > 1 or (signals and words < (_HARDLY_WORDS if is_weak else _FEW_WORDS)):
            return Suspicion(Reason.PLACEHOLDER, (f"default:{name}", *signals))
    return None


def _titles(document: Document, host: str) -> list[str]:
    """What title and headings say, as wholes and by segments, without the host's own name and a version."""
    own = {folded(host), folded(host.removeprefix("www."))} - {""}
    found = []
    for text in (document.title, *document.headings):
        for part in (text, *_SEPARATOR.split(text)):
            phrase, _ = without(tuple(own), folded(part[:_MAX_SEGMENT]))
            found += [phrase, _VERSION.sub("", phrase)]
    return [phrase for phrase in dict.fromkeys(found) if phrase]


def _suspended(titles: list[str]) -> str | None:
    """The title or heading that says nothing but that an account or site is suspended."""
    for title in titles:
        dense = title.replace(" ", "")
        if any(_says(title, suspensions()[code]) for code in spoken(title.split(), suspenders())):
            return title
        if not title.isascii() and any(phrase in dense for phrase in spaceless_suspensions()):
            return title
    return None


def _says(phrase: str, vocabulary: Vocabulary) -> bool:
    rest, states = without(vocabulary.states, phrase)
    if not states:
        return False
    rest, nouns = without(vocabulary.nouns, rest)
    rest, _ = without(vocabulary.asides, rest)
    return bool(nouns) and set(rest.split()) <= vocabulary.fillers


def _names(asked: str, title: str) -> bool:
    """Whether the path has all words of the title: then they are the document's subject."""
    path = set(folded(unquote(urlsplit(asked).path)).split())
    words = set(folded(title).split())
    return bool(words) and words <= path
