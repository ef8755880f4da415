"""Detects parked and for-sale domains by several signals together (C-11, U-7).

The names and phrases are in ``parked.toml``. The kinds of signals are independent of each other: whose service it is
(``market``, ``parking``, ``lander``, ``numbered-host``), what the text says (``sale-phrase``, ``parked-phrase``),
whether it names the domain (``own-name``), whether it has little text (``thin``), and whether it advertises
(``commerce``). Two kinds are needed, and a document with much text of its own is parked only if a redirect led to
another domain.
"""

import re
from collections.abc import Iterator
from functools import lru_cache, partial
from typing import Final
from urllib.parse import unquote, urlsplit

from ada_url import idna_to_unicode
from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded, without, words_of
from weboid.core.record.reasons import Reason
from weboid.core.signs.suspicion import Suspicion
from weboid.core.signs.tables import Marks, table_of
from weboid.core.url.hosts import registrable_domain

_LONG_WORDS: Final = 250
_OFFER_WORDS: Final = 600
"""The same of a page of which the title offers the domain that a heading names."""
_THIN_CHARS: Final = 400
"""Characters outside of links; the document of a parked domain rarely has more."""
_READ_CHARS: Final = 4_000
_FEW_WORDS: Final = 60
_TITLE_WORDS: Final = 4
_TELLING_CHARS: Final = 4
_MARKET_TITLE: Final = re.compile(
    r"[\w-]+(?:\.[\w-]{2,})+ (?:domain )?is for sale\W+(?:buy (?:with|at|on) )?"
    r"(hugedomains|epik|afternic|sedo|atom|squadhelp|brandbucket|domainmarket|dynadot|buydomains|efty|uniregistry)\b",
    re.IGNORECASE,
)
"""Titles of the markets' pages, under whatever name; specimens bbsetup/public-bugbounty-data:foxycart (HugeDomains),
nrjones8/robots-dot-txt-archive-bot:data/non_dotgov_gov_urls/tunicacounty.com (Epik).
"""
# The hosts to which parking services send a visitor of the bare domain: ww1.example.com, ww25.example.com.
_NUMBERED: Final = re.compile(r"ww[0-9]{1,2}\.")
_BETWEEN: Final = words_of("is may be domain name now the ist est este dominio domaine website site")
_BEHIND: Final = words_of(
    "at on by via now from contact inquire make buy hugedomains afternic sedo dan godaddy atom domain"
)


class ParkedWords(Struct, frozen=True, forbid_unknown_fields=True):
    """Registrable domains, parts of URLs, bytes of documents, and phrases; the table explains each."""

    markets: frozenset[str]
    parking: frozenset[str]
    parking_marks: tuple[str, ...]
    lander_scripts: Marks
    lander_marks: Marks
    generic_sale: Phrases
    generic_parked: Phrases
    tails: Phrases
    commerce: Phrases
    sale: Phrases
    parked: Phrases


parked_words: Final = partial(table_of, __file__, ParkedWords)


def parked_suspicion(asked: str, final: str, document: Document, body: bytes) -> Suspicion | None:
    """The suspicion that the document at URL `final`, reached from URL `asked`, is of a domain parked or for sale.

    `body` is the beginning of the answer's body, empty if it was not requested.
    """
    domain = registrable_domain(_host(asked))
    stayed = registrable_domain(_host(final)) == domain
    if domain in parked_words().markets or domain in parked_words().parking or document.is_article:
        return None
    if found := _MARKET_TITLE.match(document.title):
        return Suspicion(Reason.FOR_SALE, (f"market-title:{found[1].lower()}", "title"))
    if stayed and len(document.words) > _LONG_WORDS and not _is_long_offer(domain, document):
        return None
    page, text = body.lower(), document.text.lower().encode()
    if script := next((mark for mark in parked_words().lander_scripts if mark in page and mark not in text), None):
        return Suspicion(Reason.PARKED, (f"lander:{script.decode()}", "script"))  # others only quote these bytes
    thin = document.is_page and len(document.own_text) < _THIN_CHARS and not document.is_shell
    services = list(_services(domain, final, document))
    if thin:
        services += _faint_services(asked, final, page)
    offered = _is_offered(domain, document)
    own_name = offered or _is_named(domain, final, document)
    shown = folded(f"{document.title} {' '.join(document.headings)} {document.text[:_READ_CHARS]}")
    # "Domain example.com is parked" says what "Domain is parked" says.
    unnamed = " ".join(without(_names(domain), shown)[0].split())
    sale, parked = _phrases_in(unnamed, generic=bool(services) or own_name)
    if (sale or parked) and not services and not own_name and _is_quoted(document):
        return None
    speaks = bool(sale or parked)
    titled = speaks and _is_titled(document)
    if not (services or speaks or offered) or sum((bool(services), speaks, own_name, thin, titled)) < 2:
        return None
    signals = [*services, *sale, *parked]
    signals += [f"own-name:{domain}"] * own_name + ["thin"] * thin + ["title"] * titled
    signals += [f"commerce:{wish}" for wish in (first_of(parked_words().commerce, shown),) if wish]
    market = any(signal.startswith("market") for signal in services)
    return Suspicion(Reason.FOR_SALE if sale or offered or market else Reason.PARKED, tuple(signals))


def offers_trade(document: Document) -> bool:
    """True if a document speaks as those of parked domains do, and others too: it proves nothing alone."""
    words = parked_words()
    shown = folded(f"{document.title} {' '.join(document.headings)} {document.text[:_READ_CHARS]}")
    known = (words.commerce, words.sale, words.generic_sale, words.parked, words.generic_parked)
    return any(first_of(phrases, shown) for phrases in known)


def _is_quoted(document: Document) -> bool:
    """True if only headings speak of the domain, under a title and above a text of several words about it."""
    titled = folded(document.title)
    text = folded(document.text[:_READ_CHARS])
    for heading in document.headings:
        text = without((folded(heading),), text)[0]
    if any(_phrases_in(each, generic=True) != ([], []) for each in (titled, text)):
        return False
    others = {word for word in titled.split() if len(word) >= _TELLING_CHARS}
    return len(titled.split()) >= _TITLE_WORDS and not others.isdisjoint(text.split())


def _is_titled(document: Document) -> bool:
    """True if the title says it in other words than the text, or the document has hardly a text."""
    title, text = folded(document.title), folded(document.text[:_READ_CHARS])
    known = parked_words().sale + parked_words().parked
    named = first_of(parked_words().sale, title) or first_of(parked_words().parked, title)
    others = [other for other in known if named and other not in named and named not in other]
    return named is not None and (len(document.words) < _FEW_WORDS or first_of(tuple(others), text) is not None)


def _phrases_in(text: str, *, generic: bool) -> tuple[list[str], list[str]]:
    """The signals that a text offers the domain, or calls it unused; also `generic` phrases, about any domain."""
    words = parked_words()
    offer = first_of(words.sale, text) or (first_of(words.generic_sale, text) if generic else None)
    emptiness = first_of(words.parked, text) or (first_of(words.generic_parked, text) if generic else None)
    return [f"sale-phrase:{offer}"] * bool(offer), [f"parked-phrase:{emptiness}"] * bool(emptiness)


def _services(domain: str, final: str, document: Document) -> Iterator[str]:
    """Signals of the services that deliver the document by a redirect, in a frame or with a script."""
    arrived, known = registrable_domain(_host(final)), parked_words()

    def is_parking(url: str) -> bool:
        return registrable_domain(_host(url)) in known.parking or any(mark in url for mark in known.parking_marks)

    if is_parking(final):
        yield f"parking:{arrived}"
    elif arrived in known.markets:
        yield f"market:{arrived}"
    refreshed = registrable_domain(_host(document.refresh or ""))
    sources = (source for source in document.sources if is_parking(source))
    if (source := next(sources, None)) is not None:
        yield f"parking:{_host(source)}"
    elif refreshed != domain and (refreshed in known.parking or refreshed in known.markets):
        yield f"{'parking' if refreshed in known.parking else 'market'}:{refreshed}"


def _faint_services(asked: str, final: str, page: bytes) -> Iterator[str]:
    """Signals of services that a genuine site could have, too: they count only if a document has little text."""
    if _NUMBERED.match(_host(final)) and not _NUMBERED.match(_host(asked)):
        yield f"numbered-host:{_host(final)}"
    yield from (f"lander:{mark.decode()}" for mark in parked_words().lander_marks if mark in page)


def _is_offered(domain: str, document: Document) -> bool:
    """True if a title or heading offers the domain by its own name: ``example.com is for sale``."""
    titles = [f" {folded(text)} " for text in (document.title, *document.headings)]
    behind = [text.split(f" {name} ", 1)[1] for name in _names(domain) for text in titles if f" {name} " in text]
    return any(_begins_with_offer(text.split()) for text in behind)


def _is_long_offer(domain: str, document: Document) -> bool:
    """True if a title says that the domain is for sale and nothing else, and a heading is the domain's own name."""
    said = folded(document.title) in parked_words().generic_sale + parked_words().sale
    named = any(folded(heading) in _names(domain) for heading in document.headings)
    return said and named and len(document.words) <= _OFFER_WORDS


def _begins_with_offer(words: list[str]) -> bool:
    """True if some words offer what precedes them, and not, as in ``for sale: boats``, what follows."""
    while words:
        for tail in parked_words().tails:
            length = len(tail.split())
            if words[:length] == tail.split() and (length > 2 or not words[length:] or words[length] in _BEHIND):
                return True
        if words[0] not in _BETWEEN:
            return False
        words = words[1:]
    return False


def _is_named(domain: str, final: str, document: Document) -> bool:
    """True if the domain's own name is where a landing page has it: in title or headings, or in another site's URL."""
    if registrable_domain(_host(final)) != domain:
        parts = urlsplit(final)
        if domain in unquote(f"{_host(final)}{parts.path}?{parts.query}").lower():
            return True
    titles = [f" {folded(text)} " for text in (document.title, *document.headings)]
    return any(f" {name} " in text for name in _names(domain) for text in titles)


@lru_cache(64)
def _names(domain: str) -> tuple[str, ...]:
    """The forms of a domain in a folded text: as given, in Unicode if it is in punycode, and with ``www.``."""
    shown = idna_to_unicode(domain) if "xn--" in domain else domain
    return tuple(dict.fromkeys((folded(domain), folded(shown), folded(f"www.{shown}"))))


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or ""
    except ValueError:  # a bracket that is no IPv6 address
        return ""
