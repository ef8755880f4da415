"""Soft 404s: documents that are sent with a success code and report that nothing was found (C-11, U-7).

Only strong evidence counts, and a document whose URL itself is about such errors is never a soft 404.
``core/signs/missing_words`` has the words of the languages; ``core/observe/facing`` compares with made-up URLs.
"""

import re
from enum import IntEnum
from functools import lru_cache
from typing import Final
from urllib.parse import unquote, urlsplit

from weboid.core.document.document import Document
from weboid.core.document.fingerprint import words as words_in
from weboid.core.document.folding import first_of, folded, without, words_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.missing_words import (
    COMMON,
    NUMBERS,
    SEPARATOR,
    Vocabulary,
    names_work,
    spaceless,
    speakers,
    spoken,
    vocabularies,
)
from weboid.core.signs.suspicion import Suspicion

_LONG_PAGE_WORDS: Final = 600
"""A longer document must report in a heading, not only in its title, that nothing was found."""
_SHORT_PAGE_WORDS: Final = 200
_TINY_PAGE_WORDS: Final = 80
_SENTENCE_WORDS: Final = 25
"""At most so many words has a document that consists of one such sentence."""
_FEW_CHARS: Final = 500
"""A document with fewer characters outside of links is a site's frame around nothing."""
_MAX_SEGMENT: Final = 200
_BEGINNING: Final = 1_500
"""Characters at the beginning of a text that may confirm a title of kind `Saying.BARE`."""

_OWN_NAME: Final = re.compile(
    r"(?<![0-9])4(?:04|10)(?![0-9])|not[^a-z]{0,3}found|error|missing|nicht[^a-z]{0,3}gefunden|introuvable|no[^a-z]{0,3}encontrad"
)
# The last segment of a path, without its extension and punctuation, and without 404; …
_MISSING_NAMES: Final = words_of(
    "notfound pagenotfound filenotfound contentnotfound errorpage error errors fehler fehlerseite seitenichtgefunden "
    "nichtgefunden paginanoencontrada paginanotrovata paginanaoencontrada paginanietgevonden nietgevonden "
    "pageintrouvable missing invalidpage genericerror generalerror errorfilenotfound notfoundpage "
    "photounavailable photounavailablel imageunavailable imagenotfound pagenotfounderror"
)
# … what says nothing without it.
_CODE_NAMES: Final = words_of("e err erreur erro http page redirect custom status") | {""}
_ERROR_FIELD: Final = re.compile(
    r"(?:^|&)(?:(aspxerrorpath)=|(err(?:or)?(?:[_-]?(?:code|no))?|status[_-]?code)=(?:404|410)(?:&|$))", re.IGNORECASE
)
_CODES: Final = ("404", "410")
_CODE: Final = re.compile(r"(?<![0-9])4(?:04|10)(?![0-9])")
_PROGRAM_FAULT: Final = re.compile(
    r"(?:php )?((?:fatal|parse) error(?= ?:)|uncaught(?= \w*(?:error|exception)\b)|warning(?= ?: (?:mysql|pdo))"
    r"|error establishing a database connection|(error processing ssi file|(?:500 )?internal server error"
    r"|50[234] (?:bad gateway|service (?:temporarily )?unavailable|gateway time-?out))(?=\W*(?:\Z|the proxy server"
    r"|the server (?:encountered an|is temporarily|didn.t|returned an)|no server is|an internal server error occurred"
    r"|nginx|openresty)))",
    re.IGNORECASE,
)
"""The beginning of a page whose program has failed, or, as the second group, of one that a server sends for it."""
_FOOT: Final = re.compile(r"\s(?:©|copyright\b|powered by\b).*", re.IGNORECASE | re.DOTALL)
"""What stands beneath a page, about who made its program or owns the site."""
_SENTENCE: Final = re.compile(r"[^.!?©@0-9]{20,400}[.!?](?=\s|$)")
_READ_CHARS: Final = 4_000
_TELLING_CHARS: Final = 4
_TELLING_WORDS: Final = 8
_TELLING_SENTENCES: Final = 2
"""A page with so many sentences of so many words, a third of them not those of error pages, is about something."""


class Saying(IntEnum):
    """The clearness with which a short text says that something is missing."""

    NOTHING = 0
    BARE = 1
    """A number or a phrase that could be a name as well: ``404``, ``Not found``."""
    PLAIN = 2
    """A sentence that says nothing else: ``Page not found``."""


def redirect_suspicion(asked: str, final: str) -> Suspicion | None:
    """The suspicion by a redirect to the URL of an error page, from a URL that is not about errors itself."""
    if says_missing(asked):
        return None
    end = urlsplit(final)
    name = re.sub(r"\.[a-z0-9]{1,5}$|[^a-z0-9.]", "", unquote(end.path).lower().rstrip("/").rpartition("/")[2])
    name = name.replace(".", "")
    before, code, after = name.partition("404")
    if name in _MISSING_NAMES or (code and before + after in _MISSING_NAMES | _CODE_NAMES):
        return Suspicion(Reason.SOFT_404, (f"redirect:{name}",))
    if field := _ERROR_FIELD.search(end.query):
        return Suspicion(Reason.SOFT_404, (f"redirect:{field[1] or field[2]}",))
    return None


def says_missing(url: str) -> bool:
    """True if a URL itself is about missing pages, so that a document about them is what was requested."""
    parts = urlsplit(url)
    return _OWN_NAME.search(unquote(f"{parts.path}?{parts.query}").lower()) is not None


def document_suspicion(asked: str, document: Document) -> Suspicion | None:
    """The suspicion by the text of a document that was sent with a success code; `asked` is the requested URL."""
    if document.is_article or says_missing(asked):
        return None
    words = len(document.words)
    if fault := _PROGRAM_FAULT.match(document.text if words > _TINY_PAGE_WORDS else document.own_text):
        is_name = fault[2] and not _PROGRAM_FAULT.match(document.title or fault[0])
        if words > _TINY_PAGE_WORDS or is_name or set(folded(fault[2] or "").split()) & set(folded(asked).split()):
            if not fault[2]:
                return None  # a long page
        else:
            return Suspicion(Reason.SOFT_404, (f"program:{fault[1].lower()}",))
    heading = max((saying(heading) for heading in document.headings), default=Saying.NOTHING)
    title, place = _title_saying(document.title)
    if title and is_in_path(asked, next(iter(SEPARATOR.split(document.title)), "")):
        return None
    signals = ["title"] if _title_counts(title, place, heading, document) else []
    match heading:
        case Saying.PLAIN if words < _SHORT_PAGE_WORDS:
            signals.append("heading")
        case Saying.BARE if words < _TINY_PAGE_WORDS and _says_state(document.text):
            signals.append("heading")
    is_short = words <= _TINY_PAGE_WORDS and len(words_in(_FOOT.sub("", document.text))) <= _SENTENCE_WORDS
    if is_short and (_is_all_it_says(document) or _is_number_and_title(document)):
        signals.append("text")
    if not signals or names_work(document.title) or _is_by_someone(document.title) or _tells_of_something(document):
        return None
    return Suspicion(Reason.SOFT_404, tuple(signals))


def hints_at_missing(document: Document) -> bool:
    """True if a title, a heading or the beginning of a text may say that something is missing, as its code 404 does."""
    names = (document.title, *document.headings)
    return _says_state(document.text) or any(_title_saying(each)[0] or _CODE.search(each) for each in names)


def _is_by_someone(title: str) -> bool:
    """True if the author of a work follows what says that something is missing: ``Page not found by Ann Mill``."""
    return any(by and saying(name) for name, by, _ in (part.partition(" by ") for part in SEPARATOR.split(title)))


def _is_all_it_says(document: Document) -> bool:
    """True if the text outside of links says that something is missing, and nothing else but what it is called."""
    if saying(document.text) is Saying.PLAIN:
        return True
    text = rest = folded(_FOOT.sub("", document.own_text))
    if saying(text) is Saying.BARE and not text.isdigit():
        return not document.headings
    for part in (document.title, *document.headings):
        rest = without((folded(part),), rest)[0]
        if saying(part) or set(folded(part).split()) <= COMMON:
            text = without((folded(part),), text)[0]
    return Saying.PLAIN in (saying(text), saying(rest))


def _tells_of_something(document: Document) -> bool:
    """True if the text outside of links has sentences that are about something else."""
    said = folded(" ".join((document.title, *document.headings)))
    codes = spoken(said.split(), speakers())
    if not codes:
        return False
    text = document.own_text
    for heading in document.headings:
        text = text.replace(heading, "", 1)
    if any(first_of(vocabularies()[code].states, folded(text)) for code in codes):
        return False
    known = frozenset().union(*(vocabularies()[code].known for code in codes))
    telling = 0
    for sentence in _SENTENCE.findall(text[:_READ_CHARS]):
        words = folded(sentence).split()
        others = sum(1 for word in words if len(word) >= _TELLING_CHARS and word not in known)
        telling += len(words) >= _TELLING_WORDS and others >= len(words) // 3
    return telling >= _TELLING_SENTENCES


def _title_counts(title: Saying, place: int, heading: Saying, document: Document) -> bool:
    """True if a title that says it, in the segment at `place`, is said of the document; `heading` is what those say."""
    words = len(document.words)
    match title:
        case Saying.PLAIN:
            if heading or words < _SHORT_PAGE_WORDS or (place == 0 and words < _LONG_PAGE_WORDS):
                return True
            # The last segment of a title is the name of the site, so it is weaker evidence.
            return len(document.own_text) < _FEW_CHARS or any(_title_saying(each)[0] for each in document.headings)
        case Saying.BARE:
            # A heading that is a mere number could be that of a bus line.
            in_words = any(saying(each) and not folded(each).isdigit() for each in document.headings)
            if heading is Saying.PLAIN or (heading and words < _SHORT_PAGE_WORDS and in_words):
                return True
            return words < _TINY_PAGE_WORDS and (bool(heading) or _says_state(document.text))
        case _:
            return False


def _is_number_and_title(document: Document) -> bool:
    """True if the text is the code and the title and nothing else, in any language: the page of many frameworks."""
    title = folded(document.title)
    return bool(title) and folded(document.text) in [f"{code} {title}" for code in _CODES]


@lru_cache(maxsize=4_096)
def saying(text: str) -> Saying:
    """The clearness of a title, a heading or a sentence about something missing, in any language of the table."""
    phrase = folded(text[: _MAX_SEGMENT + 1])
    if not phrase or len(phrase) > _MAX_SEGMENT:
        return Saying.NOTHING
    words = set(phrase.split())
    if words <= COMMON:
        return Saying.BARE if words & NUMBERS else Saying.NOTHING
    found = max(
        (_spaced_saying(phrase, vocabularies()[code]) for code in spoken(words, speakers())), default=Saying.NOTHING
    )
    return found or (Saying.NOTHING if phrase.isascii() else _spaceless_saying(phrase))


def _spaced_saying(phrase: str, vocabulary: Vocabulary) -> Saying:
    rest, states = without(vocabulary.states, phrase)
    if not states:
        return Saying.NOTHING
    rest, nouns = without(vocabulary.nouns, rest)
    words = set(without(vocabulary.asides, rest)[0].split())
    if not words <= vocabulary.fillers | COMMON:
        return Saying.NOTHING
    whole = nouns or words & NUMBERS or not vocabulary.sentences.isdisjoint(states)
    return Saying.PLAIN if whole else Saying.BARE


def _spaceless_saying(phrase: str) -> Saying:
    rest = phrase.replace(" ", "")
    for whole, asides in spaceless().values():
        if (sentence := next((sentence for sentence in whole if sentence in rest), None)) is None:
            continue
        left = rest.replace(sentence, "", 1)
        for word in asides:
            left = left.replace(word, "")
        if not left.strip("0123456789"):
            return Saying.PLAIN
    return Saying.NOTHING


def _title_saying(title: str) -> tuple[Saying, int]:
    """The clearness of a title's clearest segment, and the segment's index; -1 for the last of several.

    A segment that follows nothing but others that say it, such as a number, counts as the first.
    """
    segments = [segment for segment in SEPARATOR.split(title) if folded(segment)]
    best, place, leads = saying(title), 0, True
    for index, segment in enumerate(segments):
        found = saying(segment)
        if found > best:
            is_last = index == len(segments) - 1
            best, place = found, 0 if leads else -1 if is_last else index
        leads = leads and bool(found)
    return best, place


def is_in_path(url: str, title: str) -> bool:
    """True if the path of a URL has all words of a title: then they are the document's subject."""
    path = set(folded(unquote(urlsplit(url).path)).split())
    words = set(folded(title).split())
    return bool(words) and words <= path


def _says_state(text: str) -> bool:
    beginning = folded(text[:_BEGINNING])
    if any(first_of(vocabulary.states, beginning) for vocabulary in vocabularies().values()):
        return True
    dense = beginning.replace(" ", "")
    return any(sentence in dense for whole, _ in spaceless().values() for sentence in whole)
