"""Sorting texts by number when memory cannot hold them: buckets of neighbouring ids, written to a temporary file.

Only the ids of one bucket are compared, so that the work grows no faster than the number of texts. Memory depends on
the budget and on the largest single id, never on the number of texts.
"""

import heapq
import marshal
import os
import struct
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import IO, Final, NamedTuple, Self, cast

from weboid.errors import SourceError

Groups = list[tuple[int, list[str]]]
"""Ids in ascending order, each with all of its texts, which are in no order."""
_BUCKET_BITS: Final = 9
"""Ids that differ in no higher bit share a bucket: few enough buckets to be fast, each far smaller than the budget."""
_TEXT_BYTES: Final = 150
"""About how much memory Python's objects take around each text."""
_MARSHAL: Final = 2
"""The last version that does not look for texts that are the same object; it is faster, and there are none."""
_HEAD: Final = struct.Struct("<qq")


class IdSorter:
    """Takes texts (without lone surrogates), each with a 64-bit id, and returns them id by id. A context manager.

    ``memory_bytes`` bounds what is held before it is written to a file in ``folder`` (None: the system's).
    """

    def __init__(self, memory_bytes: int, folder: Path | None = None, bucket_bits: int = _BUCKET_BITS) -> None:
        self._memory_bytes = memory_bytes
        self._folder = folder
        self._bucket_bits = bucket_bits
        self._ids: defaultdict[int, list[int]] = defaultdict(list)
        self._texts: defaultdict[int, list[str]] = defaultdict(list)
        self._held_bytes = 0
        self._file: IO[bytes] | None = None
        self._ends = [0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def add(self, ids: Iterable[int], texts: list[str]) -> None:
        """Takes more texts and their ids; raises SourceError when the temporary file cannot grow."""
        bits, bucket_ids, bucket_texts = self._bucket_bits, self._ids, self._texts
        for number, text in zip(ids, texts, strict=True):
            bucket = number >> bits
            bucket_ids[bucket].append(number)
            bucket_texts[bucket].append(text)
        self._held_bytes += sum(map(len, texts)) + _TEXT_BYTES * len(texts)
        if self._held_bytes > self._memory_bytes:
            self._spill()

    def groups(self) -> Iterator[Groups]:
        """Everything in order of ids, some at a time; to be called once, after the last ``add``."""
        if self._file:
            self._spill()
            yield from self._merged(self._file)
            return
        for bucket in sorted(self._ids):
            yield _grouped([(self._ids.pop(bucket), self._texts.pop(bucket))])

    def _spill(self) -> None:
        if not self._ids:
            return
        try:
            if not self._file:
                self._file = cast(IO[bytes], tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115 (closed on exit)
            for bucket in sorted(self._ids):
                packed = marshal.dumps((self._ids[bucket], self._texts[bucket]), _MARSHAL)
                self._file.write(_HEAD.pack(bucket, len(packed)) + packed)
            self._file.flush()
            self._ends.append(self._file.tell())
        except OSError as error:
            raise SourceError(
                f"cannot write a temporary file in {self._folder or tempfile.gettempdir()}: {error.strerror}; "
                "sorting takes about as much room as the unpacked dump"
            ) from error
        self._ids.clear()
        self._texts.clear()
        self._held_bytes = 0

    def _merged(self, file: IO[bytes]) -> Iterator[Groups]:
        runs = (_blocks(file, start, end) for start, end in zip(self._ends, self._ends[1:], strict=False))
        for _, same in groupby(heapq.merge(*runs), itemgetter(0)):
            blocks = list(same)
            unpacked = (block.unpacked(file) for block in blocks)
            if self._bucket_bits and sum(block.packed_bytes for block in blocks) > self._memory_bytes:
                yield from self._split(unpacked)
            else:
                yield _grouped(unpacked)

    def _split(self, blocks: Iterable[tuple[list[int], list[str]]]) -> Iterator[Groups]:
        """The groups of a bucket that is larger than the memory budget: every id becomes a bucket of its own."""
        with IdSorter(self._memory_bytes, self._folder, bucket_bits=0) as finer:
            for ids, texts in blocks:
                finer.add(ids, texts)
            yield from finer.groups()


class _Block(NamedTuple):
    """A bucket's share of a run, and its place in the file."""

    bucket: int
    start: int
    packed_bytes: int

    def unpacked(self, file: IO[bytes]) -> tuple[list[int], list[str]]:
        packed = os.pread(file.fileno(), self.packed_bytes, self.start)
        return cast(tuple[list[int], list[str]], marshal.loads(packed))


def _blocks(file: IO[bytes], start: int, end: int) -> Iterator[_Block]:
    while start < end:
        bucket, packed_bytes = _HEAD.unpack(os.pread(file.fileno(), _HEAD.size, start))
        start += _HEAD.size
        yield _Block(bucket, start, packed_bytes)
        start += packed_bytes


def _grouped(blocks: Iterable[tuple[list[int], list[str]]]) -> Groups:
    found: defaultdict[int, list[str]] = defaultdict(list)
    for ids, texts in blocks:
        for number, text in zip(ids, texts, strict=True):
            found[number].append(text)
    return sorted(found.items())
