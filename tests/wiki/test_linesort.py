import itertools
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.errors import SourceError
from weboid.wiki.linesort import LineSorter

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=12))


@given(st.lists(LINES), st.integers(0, 200))
def test_lines_come_back_sorted_whatever_the_memory(pieces: list[list[str]], memory_chars: int) -> None:
    with LineSorter(memory_chars) as sorter:
        for piece in pieces:
            sorter.add(piece)
        found = list(itertools.chain.from_iterable(sorter.blocks()))
    assert found == sorted(itertools.chain.from_iterable(pieces))


def test_many_runs_of_many_blocks_are_merged(tmp_path: Path) -> None:
    lines = [f"{number * 7919 % 100_003:06d} {'x' * 90}" for number in range(100_003)]
    with LineSorter(1 << 20, tmp_path) as sorter:
        for start in range(0, len(lines), 1000):
            sorter.add(lines[start : start + 1000])
        blocks = list(sorter.blocks())
    assert list(itertools.chain.from_iterable(blocks)) == sorted(lines)
    assert len(blocks) > 1
    assert list(tmp_path.iterdir()) == []


def test_a_line_longer_than_a_block_is_kept_whole() -> None:
    lines = ["b" * 300_000, "a", "c" * 200_000]
    with LineSorter(0) as sorter:
        for line in lines:
            sorter.add([line])
        assert list(itertools.chain.from_iterable(sorter.blocks())) == sorted(lines)


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with (
        LineSorter(0, tmp_path / "missing") as sorter,
        pytest.raises(SourceError, match="cannot write a temporary file"),
    ):
        sorter.add(["a"])
