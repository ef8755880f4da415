import random
from collections import defaultdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.errors import SourceError
from weboid.wiki.external_sort import IdSorter

IDS = st.integers(0, 2000) | st.integers(-5, 10**10)
PIECES = st.lists(st.lists(st.tuples(IDS, st.text(st.characters(codec="utf-8"), max_size=12))))


def sorted_out(
    pieces: list[list[tuple[int, str]]], memory_bytes: int, folder: Path | None = None
) -> list[tuple[int, list[str]]]:
    with IdSorter(memory_bytes, folder) as sorter:
        for piece in pieces:
            sorter.add([number for number, _ in piece], [text for _, text in piece])
        return [(number, sorted(texts)) for groups in sorter.groups() for number, texts in groups]


def expected(pieces: list[list[tuple[int, str]]]) -> list[tuple[int, list[str]]]:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for piece in pieces:
        for number, text in piece:
            groups[number].append(text)
    return [(number, sorted(texts)) for number, texts in sorted(groups.items())]


@given(PIECES, st.integers(0, 2000))
def test_texts_come_back_with_their_ids_in_order(pieces: list[list[tuple[int, str]]], memory_bytes: int) -> None:
    assert sorted_out(pieces, memory_bytes) == expected(pieces)


def test_many_runs_are_merged_and_leave_no_file_and_a_folder_must_be_writable(tmp_path: Path) -> None:
    chance = random.Random(3)
    pieces = [[(chance.randrange(4_000), f"{chance.random()}" * 3) for _ in range(400)] for _ in range(20)]
    assert sorted_out(pieces, 1 << 17, tmp_path) == expected(pieces)
    assert list(tmp_path.iterdir()) == []
    with IdSorter(0, tmp_path / "missing") as sorter, pytest.raises(SourceError, match="cannot write a temporary file"):
        sorter.add([1], ["a"])


def test_a_bucket_larger_than_memory_is_held_an_id_at_a_time() -> None:
    pieces = [[(number, f"{turn} {'x' * 100}") for number in range(60)] for turn in range(50)]
    with IdSorter(1 << 15) as sorter:
        for piece in pieces:
            sorter.add([number for number, _ in piece], [text for _, text in piece])
        sizes = [len(groups) for groups in sorter.groups()]
    assert sizes == [1] * 60
    assert sorted_out(pieces, 1 << 15) == expected(pieces)
    longer = [[(2, "b" * 300_000)], [(1, "a"), (2, "c" * 200_000)]]
    assert sorted_out(longer, 0) == expected(longer), "a text longer than memory is kept whole"
