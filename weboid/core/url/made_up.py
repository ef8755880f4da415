"""Made-up URLs of a host, which do not exist: the answers to them are its not-found face (C-11).

The meaning of the answers belongs to ``core/document/face`` and ``core/observe/facing``.
One law: a made-up URL has no id and no slug of the URL that it is made from
(`test_made_up_urls_are_urls_of_the_same_site_and_share_no_id_and_no_slug`).
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import count
from string import ascii_lowercase
from typing import Final
from urllib.parse import unquote

from weboid.core.url.urls import MAX_URL, Url, front_page

_ROOT: Final = re.compile(r"/(?:(?:index|default|home)\.[a-z]{2,5})?", re.IGNORECASE)
_FRONT: Final = re.compile(r"(?:index|default|main)\.[a-z]{2,5}", re.IGNORECASE)
"""A program that answers all URLs of its site: the rest of the path names the document."""
_EXTENSION: Final = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,4}$")
_FILES: Final = frozenset({".htm", ".html", ".xhtml", ".shtml", ".txt", ".pdf", ".xml", ".jpg", ".png", ".gif"})
"""Extensions of documents: a query behind them does not name the document."""
_DIRECTORY: Final = re.compile(r"~?[A-Za-z][A-Za-z_-]{0,19}")
"""A possible directory. With digits it may be an id, with an extension a program that ignores what follows."""
_PROGRAM: Final = re.compile(r"[A-Za-z]{2,12}")
_LOCALE: Final = re.compile(r"[a-z]{2}(?:[-_][a-z]{2,4})?", re.IGNORECASE)
_NUMBER: Final = re.compile(r"[0-9]{2}")
_ESCAPE: Final = re.compile(r"%(?:[0-9A-F]{2})?")
_PIECE: Final = re.compile(r"[A-Za-z0-9]+")
_WORD: Final = re.compile(r"[^\W\d_]+")
_LETTERS: Final = (5, 12)
"""The fewest and the most letters of a made-up word."""
_DIGITS: Final = (7, 9)
"""The fewest and the most digits of a made-up number: too large for an id that is in use, and no overflow."""
_SEGMENTS: Final = 6
_CHARS: Final = 40
"""Characters of a segment that are imitated."""


@dataclass(frozen=True, slots=True)
class MadeUp:
    """A URL to ask, and the number of its place, by which the answer is remembered.

    `invented` are the words of its path: a document has them only where it repeats its own URL.
    """

    url: Url
    place: int
    invented: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Probes:
    """The URLs of a host that may be asked to judge the document at a URL, as far as needed.

    `near` is made up in the directory `top` of the URL, or for its program; `bare` is the program without parameters,
    None for a document that is found by its path. `far` shares nothing with the URL; None if `near` shares nothing
    already. `root` is the front page; `is_front`: the URL is of the front page itself, with a query. `named` are the
    words by which the URL names its document, `shared` those that `near` has, too.
    """

    near: MadeUp
    root: MadeUp
    bare: MadeUp | None = None
    far: MadeUp | None = None
    top: str = "/"
    is_front: bool = False
    named: frozenset[str] = frozenset()
    shared: frozenset[str] = frozenset()


def probes_of(url: Url) -> Probes | None:
    """The URLs that may be asked to judge the document at a URL, always the same; None if they would prove nothing.

    That is so at front pages, and for protocols other than HTTP, which report reliably what is missing.
    """
    path, _, query = url.path.partition("?")
    by_query = _is_named_by_query(url.scheme, path, query)
    if by_query is None:
        return None
    probes = _by_query(url, path, query) if by_query else _by_path(url, path)
    return probes if len(str(probes.near.url)) <= MAX_URL else None


def near_place(url: Url) -> int | None:
    """The place of ``probes_of(url).near``, without making anything up; None where nothing made up proves anything.

    Of a URL that is nearly too long it is given even if its probes would be too long.
    """
    path, _, query = url.path.partition("?")
    by_query = _is_named_by_query(url.scheme, path, query)
    if by_query is None:
        return None
    if by_query:
        return _place(url, "query", path, _names(query))
    kept, _, extension = _parts(path)
    return _place(url, "near", *kept, extension)


def _is_named_by_query(scheme: str, path: str, query: str) -> bool | None:
    """True if a URL names its document by its query, not by its path; None where nothing made up proves anything."""
    if not scheme.startswith("http"):
        return None
    if _is_program(path) and any(_NUMBER.search(field.partition("=")[2]) for field in _fields(query)):
        return True
    return None if _ROOT.fullmatch(path) or not path.strip("/") else False


def url_words(path: str) -> frozenset[str]:
    """The words of a path and its query in lower case."""
    return frozenset(_WORD.findall(unquote(path).lower()))


def _by_path(url: Url, path: str) -> Probes:
    kept, rest, extension = _parts(path)
    chances = _chances(str(url))
    made = [_imitated(segment, chances) for segment in (*rest[:-1], rest[-1].removesuffix(extension))]
    ending = f"{extension}{'/' if path.endswith('/') else ''}"
    near = url._replace(path=f"/{'/'.join(kept + made)}{ending}")
    shared = url_words("/".join((*kept, extension)))
    return Probes(
        MadeUp(near, _place(url, "near", *kept, extension), url_words(near.path) - shared),
        _root(url),
        far=_far(url) if kept else None,
        top=f"/{'/'.join(kept)}/" if kept else "/",
        named=url_words(url.path) - shared,
        shared=shared,
    )


def _by_query(url: Url, path: str, query: str) -> Probes:
    """For a program whose parameters name the document: the same program, the same names, all values made up."""
    chances = _chances(str(url))
    fields = [field.partition("=") for field in _fields(query)]
    near = url._replace(
        path=f"{path}?{'&'.join(f'{name}={_imitated(value, chances)}' for name, _, value in fields if value)}"
    )
    names = _names(query)
    shared = url_words(f"{path}?{names}")
    return Probes(
        MadeUp(near, _place(url, "query", path, names), url_words(near.path) - shared),
        _root(url),
        bare=MadeUp(url._replace(path=path), _place(url, "real", path)),
        far=_far(url),
        is_front=_ROOT.fullmatch(path) is not None,
        named=url_words(url.path) - shared,
        shared=shared,
    )


def _parts(path: str) -> tuple[list[str], list[str], str]:
    """The segments of a path that name no document, those that do, and the extension of the last one."""
    segments = [segment for segment in path.split("/") if segment]
    kept, rest = segments[: (top := _top(segments))], segments[top:][-_SEGMENTS:]
    return kept, rest, found[0] if (found := _EXTENSION.search(rest[-1])) else ""


def _names(query: str) -> str:
    return "&".join(sorted(field.partition("=")[0] for field in _fields(query)))


def _root(url: Url) -> MadeUp:
    return MadeUp(front_page(url), _place(url, "real", "/"))


def _far(url: Url) -> MadeUp:
    """A URL of the same site that is unlike all others, the same for all of them."""
    chances = _chances(f"{url.scheme} {url.host} {url.port}")
    path = f"/{_imitated('abcdefgh', chances)}/{_imitated('abcdefghij', chances)}-{_imitated('1234567', chances)}"
    return MadeUp(url._replace(path=path), _place(url, "far"), url_words(path))


def _top(segments: list[str]) -> int:
    """The number of first segments that name a section of the site; the last one always names the document."""
    top = 0
    for pattern in (_FRONT, _LOCALE, _DIRECTORY):
        if top < len(segments) - 1 and pattern.fullmatch(segments[top]):
            top += 1
    return top


def _is_program(path: str) -> bool:
    name = path.rpartition("/")[2]
    if extension := _EXTENSION.search(name):
        return extension[0].lower() not in _FILES
    return not name or _PROGRAM.fullmatch(name) is not None


def _fields(query: str) -> list[str]:
    return re.split("[&;]", query)


def _imitated(text: str, chances: Iterator[int]) -> str:
    """A text with other letters and digits in the same order; at least some letters if there are none."""

    def other(match: re.Match[str]) -> str:
        piece = match[0]
        letters, digits = len(piece.rstrip("0123456789")), sum(map(str.isdigit, piece))
        word = _drawn(ascii_lowercase, letters, _LETTERS, chances) if letters else ""
        return word + (f"9{_drawn('0123456789', digits, _DIGITS, chances)[1:]}" if digits else "")

    made = _PIECE.sub(other, _ESCAPE.sub("a", text[:_CHARS]))
    return made if made != text else _drawn(ascii_lowercase, 0, _LETTERS, chances)


def _drawn(alphabet: str, length: int, limits: tuple[int, int], chances: Iterator[int]) -> str:
    bounded = max(limits[0], min(length, limits[1]))
    return "".join(alphabet[next(chances) % len(alphabet)] for _ in range(bounded))


def _chances(seed: str) -> Iterator[int]:
    """Bytes without end, always the same for a seed."""
    for number in count():
        yield from blake2b(f"{number} {seed}".encode()).digest()


def _place(url: Url, *parts: str) -> int:
    """The number of a place at a host, in two bytes; ports are places apart."""
    text = " ".join((str(url.port), *parts)).lower()
    return int.from_bytes(blake2b(text.encode(), digest_size=2).digest(), "big")
