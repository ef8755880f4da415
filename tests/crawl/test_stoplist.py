"""Hosts that are not asked because they said so (C-17)."""

import logging
import os
from pathlib import Path

import pytest

from weboid.crawl import stoplist
from weboid.crawl.stoplist import StopList


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stoplist, "_LOOK_S", 0.0)


def test_a_host_and_all_below_it_are_held() -> None:
    stop = StopList(["example.org", "BÜCHER.example."])
    assert stop.holds("example.org")
    assert stop.holds("a.b.example.org")
    assert stop.holds("www.xn--bcher-kva.example")
    assert not stop.holds("notexample.org")
    assert not stop.holds("org")


def test_an_empty_list_holds_nobody() -> None:
    assert not StopList([]).holds("example.org")


def test_a_file_is_honoured_as_soon_as_it_changes(tmp_path: Path) -> None:
    file = tmp_path / "stop.txt"
    file.write_text("# who asked us to\nexample.org  # in May\n\n")
    stop = StopList([], file)
    assert stop.holds("www.example.org")
    file.write_text("other.example\n")
    os.utime(file, ns=(1, 1))  # also where the clock of the disk is coarse
    assert stop.holds("other.example")
    assert not stop.holds("example.org")


def test_a_bad_line_is_told_and_costs_only_itself(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "stop.txt"
    file.write_text("not a host\nexample.org\nhttp://x\n")
    assert StopList([], file).holds("example.org")
    assert "'not a host' is no host" in caplog.text


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa"])
def test_a_file_that_cannot_be_read_any_more_changes_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, content: bytes | None
) -> None:
    file = tmp_path / "stop.txt"
    file.write_text("example.org\n")
    stop = StopList([], file)
    assert stop.holds("example.org")
    if content is None:
        file.unlink()
    else:
        file.write_bytes(content)
    assert stop.holds("example.org")
    assert stop.holds("example.org")
    told = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(told) == 1
    file.write_text("back.example\n")
    assert stop.holds("back.example")
