"""The log on standard error (O-5): a record is one line of its kind, whatever strangers have put into it."""

import json
import logging
import sys
from pathlib import Path

import pytest
from support.commands import Place

from weboid.cli.console import PartConsole
from weboid.cli.logs import JsonLines, TextLines

HOSTILE = 'a\r\n2026-01-01T00:00:00.000Z ERROR weboid: forged "}\x1b[2J\u202e\u2028\x00\ud800'
DAY = "2017-07-20"


def place(folder: Path, database: str, **environ: str) -> Place:
    return Place(folder, environ={"WEBOID_DATABASE": database, **environ})


def record(*, traceback: bool = False) -> logging.LogRecord:
    made = logging.LogRecord("weboid.x", logging.WARNING, __file__, 1, "of %s", (HOSTILE,), None)
    made.created = 1_700_000_000.0625
    if traceback:
        try:
            raise ValueError(HOSTILE)
        except ValueError:
            made.exc_info = sys.exc_info()
    return made


def test_a_record_for_people_is_one_line() -> None:
    line = TextLines().format(record())
    assert line.startswith("2023-11-14T22:13:20.062Z WARNING weboid.x: of a<U+000D><U+000A>2026")
    assert line.isprintable()


def test_the_lines_of_a_traceback_are_indented() -> None:
    first, *others = TextLines().format(record(traceback=True)).split("\n")
    assert first.isprintable()
    assert len(others) > 2
    assert all(line.startswith("    ") and line.isprintable() for line in others)


@pytest.mark.parametrize("traceback", [False, True])
def test_a_record_for_programs_is_one_object_in_one_line(traceback: bool) -> None:
    line = JsonLines("crawl").format(record(traceback=traceback))
    assert line.isascii()
    assert line.isprintable()
    told = json.loads(line)
    assert told.pop("message") == f"of {HOSTILE}"
    assert ("forged" in told.pop("exc", "")) is traceback
    assert told == {"time": "2023-11-14T22:13:20.062Z", "level": "warning", "part": "crawl", "logger": "weboid.x"}


def test_what_a_part_prints_is_one_line_too(capsys: pytest.CaptureFixture[str]) -> None:
    PartConsole().print(HOSTILE, markup=False)
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    assert told.strip().isprintable()


@pytest.mark.parametrize("by_option", [True, False])
async def test_all_that_a_part_says_is_json_where_that_is_wanted(
    database: str, tmp_path: Path, by_option: bool
) -> None:
    here = place(tmp_path, database, **({} if by_option else {"WEBOID_LOG": "json"}))
    done = await here.run(*(["--log", "json"] if by_option else []), "maintain", "--day", "200")
    assert (done.status, done.out) == (0, "")
    entries = [json.loads(line) for line in done.err.splitlines()]
    assert {(entry["part"], entry["level"]) for entry in entries} == {("maintain", "info")}
    assert any(entry["message"].startswith(f"{DAY}: 0 URLs and 0 hosts deleted") for entry in entries)


async def test_an_error_that_ends_the_program_is_json_too(tmp_path: Path) -> None:
    done = await place(tmp_path, "host=/nowhere").run("--log", "json", "maintain")
    assert done.status == 2
    (entry,) = [json.loads(line) for line in done.err.splitlines()]
    assert (entry["level"], entry["part"]) == ("error", "maintain")
    assert entry["message"].startswith("weboid: ")


async def test_no_line_of_a_part_has_a_number_for_a_day(database: str, tmp_path: Path) -> None:
    done = await place(tmp_path, database).run("maintain", "--day", "200")
    assert done.status == 0
    assert "day 200" not in done.err
    assert f"{DAY}: working links are checked every" in done.err
