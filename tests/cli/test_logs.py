import json
import logging
import re
import sys
import threading
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from support.commands import Place, open_place
from support.misbehaving import reply, serve
from support.sseserver import open_event_server

from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.logs import JsonLines, TextLines, begin_log, is_json, print_message
from weboid.demo.world import Code, Host, Page, Spell, World

WORLD = World({"site.demo": Host(paths={"/a": (Spell(0, Page()),), "/gone": (Spell(0, Code(404)),)})})
PAGES = {"Harbour": ["http://site.demo/a", "http://site.demo/gone"]}
HOSTILE = "a\r\n2026-01-01T00:00:00.000Z ERROR weboid: forged\x1b[2J\u202eb\u2028c\x00\ud800"
_DAY_NUMBER = re.compile(r"\bday \d{1,5}(?![-\d])")
_FIELDS = {"time", "level", "part", "host", "pid", "logger", "message"}


def _records(err: str | bytes) -> list[dict[str, Any]]:
    """The lines of standard error, each of it JSON with all fields and no internal day numbers."""
    text = err.decode("ascii") if isinstance(err, bytes) else err
    records = [json.loads(line) for line in text.splitlines()]
    assert records
    for record in records:
        assert set(record) - {"error"} == _FIELDS, record
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", record["time"])
        datetime.fromisoformat(record["time"])
        assert not _DAY_NUMBER.search(record["message"]), record
    return records


def _record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = (type(error), error, error.__traceback__) if error else None
    return logging.LogRecord("weboid.net", logging.WARNING, __file__, 1, message, args, info)


def _failed() -> BaseException:
    try:
        raise ValueError(HOSTILE)
    except ValueError as error:
        return error


@pytest.mark.parametrize("form", [JsonLines(), TextLines()])
def test_what_comes_from_outside_stays_in_its_line(form: logging.Formatter) -> None:
    line = form.format(_record("cannot read %s", HOSTILE))
    assert line.isprintable()
    assert "<U+000A>2026-01-01" in line
    assert "<U+202E>" in line


def test_a_trace_in_lines_for_people_is_indented_and_cannot_look_like_another_record() -> None:
    first, *others = TextLines().format(_record("failed", error=_failed())).split("\n")
    assert first.endswith("WARNING weboid.net: failed")
    assert any("forged" in line for line in others)
    assert all(line.startswith("    ") and line.isprintable() for line in others)


def test_an_exception_is_one_field_of_its_record() -> None:
    line = JsonLines().format(_record("failed", error=_failed()))
    assert line.isprintable()
    error = json.loads(line)["error"]
    assert error["type"] == "ValueError"
    assert error["text"].isprintable()
    assert "test_logs.py" in error["trace"]


@pytest.fixture
def in_json(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """This process logs in JSON, as a program with that option does."""
    for module, name in ((sys, "excepthook"), (sys, "unraisablehook")):
        monkeypatch.setattr(module, name, getattr(module, name))
    monkeypatch.setattr("threading.excepthook", threading.excepthook)
    begin_log("json", "crawl")
    yield
    begin_log("text")
    logging.captureWarnings(False)


@pytest.mark.usefixtures("in_json")
def test_in_json_the_console_of_a_part_logs_and_bars_are_shown_but_not_shown(
    caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    assert is_json()
    printed: list[str] = []
    console = ProcessConsole(printed.append)
    with bar(console) as shown:
        task = shown.add_task("reading", total=10)
        shown.update(task, completed=5)
    console.print("[bold]done[/bold]", highlight=False)
    console.print("odd", style="yellow", markup=False)
    console.print("wrong", style="red")
    print_message("ready")
    assert [(each.levelname, each.getMessage()) for each in caplog.records] == [
        ("INFO", "[bold]done[/bold]"),
        ("WARNING", "odd"),
        ("ERROR", "wrong"),
        ("INFO", "ready"),
    ]
    assert "reading: 5 of 10" in printed
    assert capfd.readouterr() == ("", "")


async def test_each_part_logs_json_alone(database: str, tmp_path: Path) -> None:
    async with open_place(tmp_path, WORLD, PAGES) as place:
        place.environ |= {"WEBOID_DATABASE": database, "WEBOID_LOG": "json"}
        fed = await place.run("--verbose", "feed", "pass", "--day", "100")
        crawled = await place.run("--log", "json", "crawl", "--once", "--day", "2017-04-11")
        maintained = await place.run("maintain", "--day", "100")
        archived = await place.run("archive", "--once", "--day", "100")
        async with open_event_server([]) as stream:
            followed = await place.run("feed", "events", "--once", "--farm", "wmflabs", "--url", stream.url)
        text = await place.run("--log", "text", "maintain", "--day", "101")
        parts = {"feed": fed, "crawl": crawled, "maintain": maintained, "archive": archived, "events": followed}
        for part, ran in parts.items():
            assert ran.status == 0, ran.err
            assert {record["part"] for record in _records(ran.err)} == {part}
        printed = [record["message"] for record in _records(crawled.err)]
        assert any(line.startswith("2017-04-11: 2 checks in ") for line in printed), printed
        assert "2017-04-12: " in text.err
        assert not re.search(_DAY_NUMBER.pattern + "|━", text.err)  # no bar either, which is a line of rubbish there
        with pytest.raises(ValueError):
            json.loads(text.err.splitlines()[0])


async def test_what_is_wrong_with_a_command_is_json_too(tmp_path: Path) -> None:
    for variable, call, status, about in (
        ("json", ("crawl", "--nothing"), 2, "--nothing"),
        ("json", ("--config", "no\nsuch.toml", "crawl"), 2, "such.toml"),
        ("json", ("feed", "pass"), 2, "no wiki"),
        ("json", ("health", "crawl"), 1, "no crawl runs"),
        ("", ("--log", "json", "--nothing"), 2, "--nothing"),
        ("text", ("--log", "text", "--log=json", "normalise"), 2, "normalise"),
    ):
        ran = await Place(tmp_path, environ={"WEBOID_LOG": variable}).run(*call)
        (record,) = _records(ran.err)
        assert (ran.status, record["level"]) == (status, "error"), ran
        assert about in record["message"]


@pytest.mark.parametrize("form", ["json", "text"])
async def test_what_a_wiki_says_stays_in_its_line(database: str, tmp_path: Path, form: str) -> None:
    body = json.dumps({"error": {"code": "readapidenied", "info": HOSTILE}}).encode()
    async with serve(lambda _: reply(200, body=body, kind="application/json")) as site:
        environ = {"WEBOID_DATABASE": database, "WEBOID_LOG": form, "WEBOID_NET_PERMIT": "127.0.0.0/8"}
        place = Place(tmp_path, environ=environ)
        place.watch("demowiki@wmflabs", site.url("/w/api.php"))
        ran = await place.run("feed", "pass", "--day", "100")
    assert ran.status == 2
    lines = ran.err.splitlines()
    assert all(line.isprintable() for line in lines), lines
    assert "<U+202E>" in ran.err
    assert not any(line.startswith("2026-01-01") for line in lines)
    if form == "json":
        _records(ran.err)
