"""Compares a document with the answer for a made-up sibling URL, which shows how its host answers for nothing (C-11).

If the comparison is uncertain, the document counts as genuine.
"""

import re
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote, urlsplit

from weboid.core.document.document import Document
from weboid.core.document.fingerprint import distance, fingerprint, words
from weboid.core.url.urls import MAX_URL, Url

_NAME_LETTERS: Final = 16
_EXTENSION: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_ROOT: Final = re.compile(r"/(?:(?:index|default|home)\.[a-z]{2,5})?", re.IGNORECASE)

SAME_BITS: Final = 3
"""Two responses with the same document differ by at most so many bits, because times and counters change."""
_COMPARABLE_WORDS: Final = 8
_SHORT_WORDS: Final = 25


def is_same_page(page: Document, sibling: Document) -> bool:
    """Whether a document and the answer for its made-up sibling are the same: then the document proves nothing.

    They are if both ended on the same URL, or if title and text are the same except for words of the URLs. Documents
    that scripts fill in and nearly empty ones are never the same, because it is unknown what people see there.
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
    """A made-up URL in the same directory and with the same extension; always the same for the same URL and salt.

    None if a comparison would prove nothing: a site's start page may answer for every URL, even if it selects content
    by its query, and protocols other than HTTP report reliably what is missing.
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
