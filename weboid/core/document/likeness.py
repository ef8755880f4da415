"""Whether two pages are the same, and whether a page is still the one it was (C-11).

Here are also the made-up siblings that show how a host answers for what it does not have.
One law: what cannot be told apart for certain is the living page.
"""

import re
from dataclasses import dataclass
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote, urlsplit

from weboid.core.document.document import Document
from weboid.core.document.fingerprint import distance, fingerprint, words
from weboid.core.document.folding import folded
from weboid.core.url.urls import MAX_URL, Url

_NAME_LETTERS: Final = 16
_EXTENSION: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_ROOT: Final = re.compile(r"/(?:(?:index|default|home)\.[a-z]{2,5})?", re.IGNORECASE)

SAME_BITS: Final = 3
"""At most so many bits apart are two sendings of the same page; times and counters change that much."""
FAR_BITS: Final = 24
"""So many bits apart have two pages nothing in common; 32 is the average of unrelated ones."""
_COMPARABLE_WORDS: Final = 8
_SHORT_WORDS: Final = 25
_REPLACED_WORDS: Final = 40
"""A shorter page says too little of itself to be called another one."""


@dataclass(frozen=True, slots=True)
class Portrait:
    """What is remembered of a page to know it again; `words` is the number of those that made the fingerprint."""

    title: str
    language: str | None
    author: str | None
    fingerprint: int | None
    words: int


def portrait_of(document: Document) -> Portrait:
    """The portrait of a page."""
    return Portrait(document.title, document.language, document.author, document.fingerprint, len(document.words))


def is_replaced(earlier: Portrait, now: Portrait) -> bool:
    """Whether something else stands where a page stood: text far from the earlier and not one word of the title kept.

    A page that moved on (a newer issue, a new design) keeps some of its title, a page in one more language its author.
    """
    if earlier.fingerprint is None or now.fingerprint is None or min(earlier.words, now.words) < _REPLACED_WORDS:
        return False
    before, after = set(words(folded(earlier.title))), set(words(folded(now.title)))
    if not before or not after or before & after:
        return False
    if earlier.author is not None and earlier.author == now.author:
        return False
    return distance(earlier.fingerprint, now.fingerprint) >= FAR_BITS


def is_same_page(page: Document, sibling: Document) -> bool:
    """Whether a page and the answer for its made-up sibling are the same page: then the page proves nothing.

    Both ended on the same URL, or title and text are the same but for the address itself. Pages that scripts fill in
    and nearly empty ones are never the same: what people see there is not known.
    """
    if page.url and page.url == sibling.url:
        return True
    if page.is_shell or sibling.is_shell or page.is_article:
        return False
    echoed = _path_words(page.url) | _path_words(sibling.url)
    one = [word for word in page.words if word not in echoed]
    other = [word for word in sibling.words if word not in echoed]
    if min(len(one), len(other)) < _COMPARABLE_WORDS or _title(page, echoed) != _title(sibling, echoed):
        return False
    if min(len(one), len(other)) < _SHORT_WORDS:
        return one == other
    first, second = fingerprint(one), fingerprint(other)
    return first is not None and second is not None and distance(first, second) <= SAME_BITS


def sibling_of(url: Url, salt: int) -> Url | None:
    """A URL that nobody has, in the same directory and with the same extension; the same for the same URL and salt.

    None where a comparison would prove nothing: a site's start page may well answer for everything, also if it chooses
    by its query, and other protocols than HTTP know what they have.
    """
    path = url.path.partition("?")[0]
    directory, _, name = path.rstrip("/").rpartition("/")
    if not url.scheme.startswith("http") or _ROOT.fullmatch(path):
        return None
    digest = blake2b(f"{salt} {url}".encode(), digest_size=_NAME_LETTERS).digest()
    made_up = "".join(chr(ord("a") + byte % 26) for byte in digest)
    extension = found[0] if (found := _EXTENSION.search(name)) else ""
    sibling = Url(
        url.scheme, url.host, url.port, f"{directory}/{made_up}{extension}{'/' if path.endswith('/') else ''}"
    )
    return sibling if len(str(sibling)) <= MAX_URL else None


def _title(document: Document, echoed: set[str]) -> list[str]:
    return [word for word in words(document.title) if word not in echoed]


def _path_words(url: str) -> set[str]:
    parts = urlsplit(url)
    return set(words(unquote(f"{parts.path} {parts.query}")))
