"""Spam lists in the format of MediaWiki's extension SpamBlacklist (L-3): which lines can be run, which URLs they match.

A line is a regular expression for the text after ``//`` and any characters of a host name, case-insensitive, anywhere
in a URL. Strangers write these lines, so only RE2 runs them, in bounded memory and in one pass over a URL.
``wiki/spamlist`` fetches the lists, ``feed/spam`` applies them.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, Final

import ada_url
import re2  # type: ignore[import-untyped]

MAX_LIST: Final = 2 << 20
"""Length of a list that is read: by default, no page of MediaWiki is longer (2 MiB)."""

MAX_LINES: Final = 100_000
MAX_LINE: Final = 4_096  # bytes; MediaWiki joins lines into expressions of this size
MAX_REPORTED: Final = 1_000
"""Unusable lines that are reported one by one."""

BLOCKED: Final = "\x01"
"""The beginning of a line that is no expression, but a domain which is spam with all below it: on no page of a wiki."""

_HOST: Final = re.compile(r"(?<=//)[A-Za-z0-9._-]+")
_LINE_MEMORY: Final = 64 << 10
_FILTER_MEMORY: Final = 64 << 20
_MAX_WIDE: Final = 250_000
"""Program steps of all lines of a list with repetitions or classes: so many may be active for each byte of a URL."""

_TRIMMED: Final = " \t\n\r\0\v"
_PLAIN: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
_PLAIN_ESCAPES: Final = (r"\.", r"\b", r"\-")
_WIDE: Final = frozenset("*+{[.")
_WIDE_ESCAPES: Final = frozenset("dDwWsSCpPxX")
_HARMLESS: Final = (
    "https://www.bibliothek-am-see.de/katalog/band12.html",
    "http://history.univ-qxz.edu/~prof/",
    "https://fr.journalduport.fr/2019/06/un-article?id=7",
    "ftp://192.0.2.17:2121/pub/README",
    "http://kyoto.lg.jp/",
    "https://museo.gob.mx/colecci%C3%B3n/obra_44.pdf",
    "https://3zero.io",
    "http://vlast.ru/doc/9#top",
)
"""A line that matches more than half of these is taken to match nearly everything."""


@dataclass(frozen=True, slots=True)
class SpamLines:
    """A list: lines that RE2 can run, each once; and lines that it cannot, with the reason, shortened for display."""

    usable: tuple[str, ...]
    unusable: tuple[tuple[str, str], ...] = ()


def parse_lines(text: str) -> SpamLines:
    """The lines of a list, without comments (from ``#`` on), surrounding spaces and empty lines. Never raises.

    Takes some µs a line, seconds for the longest list; so a server runs it in a thread.
    """
    usable: list[str] = []
    unusable: list[tuple[str, str]] = []
    if len(text) > MAX_LIST:
        unusable.append((f"{len(text) - MAX_LIST} letters more", f"the list is longer than {MAX_LIST >> 20} MiB"))
    wide = 0
    lines = iter(dict.fromkeys(_lines(text[:MAX_LIST])))
    for line in islice(lines, MAX_LINES):
        steps, reason = _steps(line)
        if not reason and wide + steps > _MAX_WIDE:
            reason = "the lines before it hold too many repetitions and classes"
        if reason:
            unusable.append((line, reason))
        else:
            wide += steps
            usable.append(line)
    wild = _wild(usable)
    unusable += [(line, "matches nearly every URL") for line in usable if line in wild]
    if more := sum(1 for _ in lines):
        unusable.append((f"{more} more", f"the list has more than {MAX_LINES} lines"))
    reported = [(_shown(line), _shown(reason)) for line, reason in unusable[:MAX_REPORTED]]
    if len(unusable) > MAX_REPORTED:
        reported.append((f"{len(unusable) - MAX_REPORTED} more", "not listed one by one"))
    return SpamLines(tuple(line for line in usable if line not in wild), tuple(reported))


class SpamFilter:
    """Finds out if a URL is spam by black and white lines, as returned by `parse_lines`."""

    def __init__(
        self, black: Iterable[str] = (), white: Iterable[str] = (), *, base: "SpamFilter | None" = None
    ) -> None:
        """Takes some µs a line. `base`: a filter whose lines apply too, such as a farm's; its machines are shared.

        `refused` are lines that cannot be run after all, for example with another version of RE2.
        """
        self.refused: list[str] = []
        # Sorted lines share their beginnings, so the machine is much smaller. White lines cut out what they match, and
        # the first line that matches counts, so they keep their order.
        lines = set(black)
        blocked = {line for line in lines if line.startswith(BLOCKED)}
        self._blocked: set[bytes] = set(base._blocked if base else ())
        self._blocked.update(line.removeprefix(BLOCKED).encode(errors="replace") for line in blocked)
        self._black: list[Any] = [*(base._black if base else ()), *self._machines(sorted(lines - blocked))]
        self._white: list[Any] = [*(base._white if base else ()), *self._machines(list(white))]

    def __bool__(self) -> bool:
        """True if there are any black lines, so that anything can be spam."""
        return bool(self._black or self._blocked)

    def is_spam(self, *forms: str) -> bool:
        """True if a URL is spam in any of these forms: as written on a page, and its normal form.

        Hosts in punycode are compared as Unicode, too. A white line, as in MediaWiki, removes what it matches.
        """
        return bool(self) and any(self._is_blocked(text) or self._matches(text) for text in _texts(forms))

    def _is_blocked(self, text: bytes) -> bool:
        """As in MediaWiki, white lines change nothing for these. No host is as long as what is read."""
        labels = re.split(b"[/:]", text.partition(b"//")[2][:300])[0].split(b".") if self._blocked else []
        return any(b".".join(labels[first:]) in self._blocked for first in range(len(labels)))

    def _matches(self, text: bytes) -> bool:
        if not any(machine.search(text) for machine in self._black):
            return False
        for machine in self._white:
            text = machine.sub(b"", text)
        return not self._white or any(machine.search(text) for machine in self._black)

    def _machines(self, lines: Sequence[str]) -> Iterator[Any]:
        """One machine for all lines, or as few machines as memory allows."""
        if not lines:
            return
        try:
            yield _compiled(lines, _FILTER_MEMORY)
        except (re2.error, UnicodeEncodeError):
            middle = len(lines) // 2
            if not middle:
                self.refused += lines
                return
            yield from self._machines(lines[:middle])
            yield from self._machines(lines[middle:])


def _lines(text: str) -> Iterator[str]:
    for line in text.split("\n"):
        bare = line.partition("#")[0].strip(_TRIMMED)
        # In PHP "0" counts as empty.
        if bare and bare != "0":
            yield bare


def _steps(line: str) -> tuple[int, str]:
    """The steps of a line that may be active at once (0 = few), and why it cannot be run (empty = it can)."""
    if len(line) > MAX_LINE or len(line.encode(errors="replace")) > MAX_LINE:
        return 0, f"longer than {MAX_LINE} bytes"
    if line.endswith("\\"):
        return 0, "ends with a backslash"
    if "\0" in line:
        return 0, "holds a zero byte"
    if line.startswith(BLOCKED) or _is_plain(line):
        return 0, ""
    try:
        # Compiled by itself, too: `a)|(b` is valid only between our brackets.
        re2.compile(line.encode(), _options(_LINE_MEMORY))
        steps = _compiled([line], _LINE_MEMORY).programsize
        return steps if _is_wide(line) else 0, ""
    except re2.error as error:
        return 0, _reason(error)
    except UnicodeEncodeError:
        return 0, "is not valid Unicode"


def _is_plain(line: str) -> bool:
    """True if a line has only letters, digits, ``-``, ``_`` and plain escapes, so that it is valid without a test."""
    for escape in _PLAIN_ESCAPES:
        line = line.replace(escape, "")
    return _PLAIN.issuperset(line)


def _is_wide(line: str) -> bool:
    """True if a line has repetitions or classes; without them only few of its steps can be active at once."""
    first, *escaped = line.split("\\")
    return bool(_WIDE & set(first)) or any(part[:1] in _WIDE_ESCAPES or _WIDE & set(part[1:]) for part in escaped)


def _reason(error: Exception) -> str:
    message = error.args[0] if error.args else ""
    text = message.decode(errors="replace") if isinstance(message, bytes) else str(message)
    # "missing )" is followed by the whole expression, including our part of it.
    return f"RE2: {text.partition(': (?:https')[0]}"


def _wild(lines: Sequence[str]) -> set[str]:
    """The lines that match nearly everything. A thousand are tested at once, since there is hardly ever one."""
    if not lines or not _matches_nearly_all(lines):
        return set()
    if len(lines) == 1:
        return {lines[0]}
    parts = [lines[start : start + 1_000] for start in range(0, len(lines), 1_000)]
    if len(parts) == 1:
        middle = len(lines) // 2
        parts = [lines[:middle], lines[middle:]]
    return set[str]().union(*map(_wild, parts))


def _matches_nearly_all(lines: Sequence[str]) -> bool:
    spam = SpamFilter(lines)
    return sum(spam.is_spam(url) for url in _HARMLESS) > len(_HARMLESS) // 2


def _compiled(lines: Iterable[str], memory: int) -> Any:
    """The machine of some lines; raises re2.error, and UnicodeEncodeError for lone surrogates."""
    fragments = "|".join(f"(?:{_unescaped(line)})" for line in lines)
    return re2.compile(rf"(?:https?:)?//+[a-z0-9_\-.]*(?:{fragments})".encode(), _options(memory))


def _options(memory: int) -> Any:
    options = re2.Options()
    options.max_mem = memory
    options.case_sensitive = False
    options.never_capture = True
    options.log_errors = False
    # MediaWiki's expressions match bytes.
    options.encoding = re2.Options.Encoding.LATIN1
    return options


def _unescaped(line: str) -> str:
    """The line without the backslashes before slashes, as MediaWiki reads it."""
    *parts, last = line.split("/")
    return "".join(f"{part.rstrip(chr(92))}/" for part in parts) + last


def _texts(forms: Iterable[str]) -> Iterator[bytes]:
    seen = set()
    for form in forms:
        if form in seen:
            continue
        seen.add(form)
        # As in MediaWiki: a full-width dot counts as a dot.
        text = form if form.isascii() else form.replace("．", ".")
        yield text.encode(errors="replace")
        if "xn--" in text:
            yield _readable(text).encode(errors="replace")


def _readable(url: str) -> str:
    return _HOST.sub(lambda host: ada_url.idna_to_unicode(host[0]), url, count=1)


def _shown(text: str) -> str:
    """The text as one line of printable characters, at most 200 of the original."""
    return "".join(letter if letter.isprintable() else "�" for letter in text[:200]) + ("…" if len(text) > 200 else "")
