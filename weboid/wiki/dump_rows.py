"""A reader of one table's rows from a file that mysqldump or mariadb-dump wrote, plain or compressed.

The rows are interpreted by ``wiki/dump``. Both layouts are read: all tuples of an INSERT on one very long line
(Wikimedia) and one tuple a line. One compiled pattern splits a piece of text at a time and gives columns, not rows:
nothing here is done row by row in Python. Either every row of the table is returned exactly as it was dumped, or
SourceError says where the file is damaged.
"""

import bz2
import codecs
import gzip
import itertools
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Final, cast

from weboid.errors import SourceError

Columns = Sequence[list[str]]
"""Some rows as columns: one list per chosen column, all of the same length. NULL reads as ''."""
_CHUNK_BYTES: Final = 1 << 18
"""Much more or less is slower: the data made of a chunk should fit into the processor's cache."""
_LONGEST_CHARS: Final = 1 << 20
"""No header and no row is longer: the widest value that is read is a BLOB of 64 KiB."""
_ANY_STRING: Final = r"[^'\\]*+(?:(?:\\.|'')[^'\\]*+)*+"
_USUAL_STRING: Final = r"[^']*+(?:(?:(?<=\\)'|'')[^']*+)*+"
"""The same, twice as fast, for a text without escaped backslashes: there a backslash before a quote escapes it."""
_INTEGER_TYPES: Final = frozenset({"tinyint", "smallint", "mediumint", "int", "bigint"})
_FOREIGN: Final = "-"
"""A mark in place of the beginning of an unfinished line that is of another statement."""
_BEGINNING_OF_ROWS: Final = re.compile(r"(?:[IiRr].{0,200})?")
_COLUMN: Final = re.compile(r"^\s*`([^`]+)` (\w+)", re.MULTILINE)
_ESCAPE: Final = re.compile(r"\\(.)|''", re.DOTALL)
_SAVED: Final = "SET @OLD_SQL_NOTES="
"""In the head of a dump, which restores this variable in its last lines, where ``gzip`` may end a file in order."""
_RESTORED: Final = "=@OLD_SQL_NOTES"
_ESCAPED: Final = {"0": "\0", "b": "\b", "n": "\n", "r": "\r", "t": "\t", "Z": "\x1a"}


def list_columns(
    path: Path, table: str, chosen: Sequence[str], progress: Callable[[int], None] = lambda _: None
) -> Iterator[Columns]:
    """The chosen columns of a table, some thousand rows at a time; bytes that are not UTF-8 become U+FFFD.

    ``progress`` is called with the number of bytes of the file that have been read. Raises SourceError for a file that
    cannot be read, is damaged or cut off, or lacks the table or a column.
    """
    texts = _texts(path, progress)
    head = ""
    created = re.compile(rf"CREATE TABLE (?:IF NOT EXISTS )?`{table}` \((.*?)^\)[^\n]*\n", re.DOTALL | re.MULTILINE)
    while not (found := created.search(head)):
        text = next(texts, None)
        if text is None or len(head) > _LONGEST_CHARS:
            raise SourceError(f"{path}: no CREATE TABLE `{table}` at its beginning; is it the dump of that table?")
        head += text
    columns = dict(_COLUMN.findall(found[1]))
    if missing := [name for name in chosen if name not in columns]:
        raise SourceError(
            f"{path}: table `{table}` has no column {', '.join(missing)} (it has {', '.join(columns)}); "
            "the dump must come from MediaWiki 1.41 or later"
        )
    yield from _Reader(path, table, columns, chosen).read(head[found.end() :], texts)


def database_of(path: Path) -> str:
    """The database that the head of a dump names, without the ``_p`` of replicas, or "". Raises SourceError."""
    found = re.search(r"(?m)^-- Host: .*?Database: (\S+?)(?:_p)?\s*$", next(_texts(path, lambda _: None), ""))
    return found[1] if found else ""


class _Reader:
    """Splits the statements of one table into columns."""

    def __init__(self, path: Path, table: str, columns: dict[str, str], chosen: Sequence[str]) -> None:
        self._path = path
        self._insert = f"INSERT INTO `{table}` VALUES"
        self._unread = re.compile(
            rf"(?m)^(?!{self._insert})(?i:insert|replace)\b[^(\n;]*?[`\".\s]{table}[`\"]?(?i:\s*\(|\s+values?\s*\()"
        )
        order = [name for name in columns if name in chosen]
        self._picked = [order.index(name) + 1 for name in chosen]
        self._width = len(order) + 1
        self._any_row, self._usual_row = (
            re.compile(
                rf"\s*(?:{re.escape(self._insert)}\s*)?"
                rf"\({','.join(_pattern(kind, name in chosen, string) for name, kind in columns.items())}\)\s*[,;]\s*",
                re.DOTALL,
            )
            for string in (_ANY_STRING, _USUAL_STRING)
        )

    def read(self, rest: str, texts: Iterator[str]) -> Iterator[Columns]:
        inside, open_ended = False, False  # inside our statements; after a comma that promises another row
        for text in itertools.chain([""], texts):
            rest += text
            while True:
                if not inside:
                    rest, inside = self._from_insert(rest)
                    if not inside:
                        break
                before = rest
                columns, rest = self._split(before)
                if columns[0]:
                    yield columns
                    used = len(before) - len(rest)
                    open_ended = before[max(0, used - 8) : used].rstrip().endswith(",")
                inside = not rest or rest.startswith(("(", self._insert))
                if inside:
                    break
            if len(rest) > _LONGEST_CHARS:
                raise SourceError(f"{self._path}: a row that cannot be read: {rest[:80]!r} …")
        if open_ended or rest.removeprefix(_FOREIGN):
            raise SourceError(f"{self._path}: ends in the middle of a row ({rest[:80]!r}); fetch it again")

    def _from_insert(self, rest: str) -> tuple[str, bool]:
        """The text from the table's next INSERT on and True; or what must be kept of other statements, and False."""
        found = re.search(f"^{re.escape(self._insert)}", rest, re.MULTILINE)
        if other := self._unread.search(rest, 0, found.start() if found else len(rest)):
            raise SourceError(f"{self._path}: {other[0]!r} is of no layout that is read; use mysqldump's own one")
        if found:
            return rest[found.start() :], True
        # A string never contains a raw line feed, so other statements can be dropped line by line. For a line that goes
        # on in the next chunk a mark is kept, so that its remainder is not taken as the beginning of a line.
        line = rest[rest.rfind("\n") + 1 :]
        return line if _BEGINNING_OF_ROWS.fullmatch(line) else _FOREIGN, False

    def _split(self, text: str) -> tuple[Columns, str]:
        """The columns of the complete rows at the beginning of a text, and the rest of it."""
        row = self._any_row if "\\\\" in text else self._usual_row
        parts = row.split(text)
        if any(parts[: -1 : self._width]):
            # There is something between two rows: nothing after it can be trusted.
            end = 0
            for found in row.finditer(text):
                if found.start() != end:
                    break
                end = found.end()
            parts = [*row.split(text[:end])[:-1], text[end:]]
        return [_plain(parts[first : -1 : self._width]) for first in self._picked], cast(str, parts[-1]).lstrip()


def _pattern(kind: str, chosen: bool, string: str) -> str:
    # The most frequent alternative comes first.
    if not chosen:
        return rf"(?:[-+.\deE]++|(?:_binary )?'{string}'|NULL)"
    return r"(?:(-?\d{1,10}+)|NULL)" if kind in _INTEGER_TYPES else f"(?:(?:_binary )?'({string})'|NULL)"


def _plain(values: Sequence[str | None]) -> list[str]:
    """Values without NULLs and escapes. Their joined text is searched first: most have none, or only quotes."""
    try:
        joined = "\n".join(cast(list[str], values))
        strings = cast(list[str], values)
    except TypeError:  # quicker than to look for None
        strings = [value or "" for value in values]
        joined = "\n".join(strings)
    if "\\" not in joined and "'" not in joined:
        return strings
    first, *escaped = joined.split("\\")
    if joined.count("'") == len(escaped) and all(map(str.startswith, escaped, itertools.repeat("'"))):
        plain = "".join((first, *escaped)).split("\n")
        if len(plain) == len(strings):
            return plain
    return [_ESCAPE.sub(_unescaped, value) if "\\" in value or "'" in value else value for value in strings]


def _unescaped(escape: re.Match[str]) -> str:
    character = escape[1]
    return "'" if character is None else _ESCAPED.get(character, character)


def _texts(path: Path, progress: Callable[[int], None]) -> Iterator[str]:
    """The decompressed text of a file in chunks."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    before, is_open = "", False
    try:
        with path.open("rb") as packed:
            try:
                with _unpacked(packed) as plain:
                    while chunk := plain.read(_CHUNK_BYTES):
                        progress(packed.tell())
                        text = decoder.decode(chunk)
                        is_open = (is_open or _SAVED in text) and _RESTORED not in before + text
                        before = text[-len(_RESTORED) :]
                        yield text
            except (EOFError, OSError, zlib.error) as error:
                raise SourceError(f"{path}: damaged near byte {packed.tell()}: {error}; fetch it again") from error
    except OSError as error:
        raise SourceError(f"{path}: cannot be read: {error.strerror or error}") from error
    if is_open:
        raise SourceError(f"{path}: ends before the dump does, though not damaged; make or fetch it again")


def _unpacked(packed: IO[bytes]) -> IO[bytes]:
    """A reader of the decompressed content, whose format is recognised by its first bytes, not by the file's name."""
    magic = packed.read(3)
    packed.seek(0)
    if magic.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=packed))
    return cast(IO[bytes], bz2.BZ2File(packed)) if magic == b"BZh" else packed
