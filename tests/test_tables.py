"""Tables that people extend who know no Python: every one has the form that its module reads."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weboid
from weboid.assets import toml_next_to

_TABLES = sorted((Path(weboid.__file__).parent / "core").rglob("*.toml"))


def lists_in(value: Any, place: str = "") -> Iterator[tuple[str, list[Any]]]:
    """The lists of texts in a table, each with its place."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from lists_in(inner, f"{place}.{key}")
    elif isinstance(value, list):
        if any(isinstance(inner, dict | list) for inner in value):
            for number, inner in enumerate(value):
                yield from lists_in(inner, f"{place}[{number}]")
        else:
            yield place, value


def test_every_table_is_next_to_the_module_that_reads_it() -> None:
    assert len(_TABLES) == 17
    reading = ("toml_next_to(__file__)", "table_of, __file__")
    assert all(
        any(call in table.with_suffix(".py").read_text(encoding="utf-8") for call in reading) for table in _TABLES
    )


@pytest.mark.parametrize("table", _TABLES, ids=lambda path: path.stem)
def test_every_entry_is_a_text_and_is_there_once(table: Path) -> None:
    for place, listed in lists_in(tomllib.loads(table.read_text(encoding="utf-8"))):
        assert all(isinstance(each, str) and each == each.strip() for each in listed), place
        if not place.endswith(("headers[0]", "guarding[0]", "guarding[1]")):
            assert len(set(listed)) == len(listed), (place, sorted(each for each in listed if listed.count(each) > 1))


def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    (tmp_path / "words.toml").write_text('[[row]]\nname = "a\n', encoding="utf-8")
    with pytest.raises(ValueError, match=r"words\.toml: .*line 2"):
        toml_next_to(str(tmp_path / "words.py"))
