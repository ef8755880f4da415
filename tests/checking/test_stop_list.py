"""The stop list: hosts that are not contacted because their owners demand it (C-17)."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep

import pytest

from weboid.checking import stop_list
from weboid.checking.stop_list import StopList
from weboid.errors import ConfigError


@pytest.fixture(autouse=True)
def looks_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stop_list, "_LOOK_S", 0.0)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "stop.txt"
    path.write_text("example.org\n", encoding="utf-8")
    return path


_numbers: Iterator[int] = iter(range(1, 1_000))


def rewrite(file: Path, content: str | bytes) -> None:
    """Writes a file whose time says so, also where the clock of the disk is coarse."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    os.utime(file, ns=(1, next(_numbers)))


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]


def test_a_host_and_all_below_it_are_held_an_address_alone_and_by_an_empty_list_nobody() -> None:
    stop = StopList(["example.org", "BÜCHER.example."])
    assert stop.holds("example.org")
    assert stop.holds("a.b.example.org")
    assert stop.holds("www.xn--bcher-kva.example")
    assert not stop.holds("notexample.org")
    assert not stop.holds("org")
    assert not stop.holds("")
    assert not StopList(["192.0.2.7", "2001:db8::1"]).holds("7.192.0.2")
    assert not StopList([]).holds("example.org")


@pytest.mark.parametrize(
    ("written", "host"),
    [
        ("192.0.2.7", "192.0.2.7"), ("2001:DB8::0:1", "2001:db8::1"), ("[2001:db8::1]", "2001:db8::1"),
        (".example.net", "example.net"), ("*.example.net", "www.example.net"),
        ("xn--bcher-kva.example", "xn--bcher-kva.example"), ("www.%65xample.net", "www.example.net"),
    ],
)  # fmt: skip
def test_a_host_may_be_written_as_in_a_url_or_a_log(written: str, host: str) -> None:
    assert StopList([written]).holds(host)


def test_a_file_is_honoured_as_soon_as_it_changes(file: Path) -> None:
    rewrite(file, "# who asked us to\nexample.org  # in May\r\n\n")
    stop = StopList(["always.example"], file)
    assert stop.holds("www.example.org")
    rewrite(file, "\ufeffother.example\n")
    assert stop.holds("other.example")
    assert not stop.holds("example.org")
    assert stop.holds("always.example")


def test_a_file_that_takes_the_place_of_another_is_honoured(file: Path) -> None:
    stop = StopList([], file)
    before = os.stat(file)
    new = file.with_name("new")
    new.write_bytes(b"example.com\n")
    os.utime(new, ns=(before.st_atime_ns, before.st_mtime_ns))
    new.replace(file)
    assert stop.holds("example.com")


def test_nobody_is_let_go_while_the_file_is_being_written(file: Path) -> None:
    stop = StopList([], file)
    rewrite(file, "")
    assert stop.holds("example.org")
    rewrite(file, "new.exa")
    assert stop.holds("example.org")
    rewrite(file, "new.example\nexample.org\n")
    assert stop.holds("new.example")
    assert stop.holds("example.org")
    assert len(stop) == 2


def test_the_file_is_looked_at_once_a_second(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 50.0
    monkeypatch.setattr(stop_list, "_LOOK_S", 1.0)
    monkeypatch.setattr(stop_list, "monotonic", lambda: now)
    stop = StopList([], file)
    rewrite(file, "other.example\n")
    now = 50.9
    assert not stop.holds("other.example")
    now = 51.0
    assert stop.holds("other.example")


def test_a_bad_line_is_reported_once_and_costs_only_itself(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    rewrite(file, b"not a host\nexample.org\nhttp://x\nl\xe4tin.example\nlast.example")
    stop = StopList([], file)
    assert stop.holds("example.org")
    assert stop.holds("last.example")
    assert len(warnings(caplog)) == 1
    assert "'not a host', 'http://x'" in warnings(caplog)[0]
    rewrite(file, "not a host\nmore.example\n-.-\n")
    for _ in range(3):
        assert stop.holds("more.example")
    assert len(warnings(caplog)) == 2
    assert "'-.-'" in warnings(caplog)[1]
    assert "'not a host'" not in warnings(caplog)[1]


def test_a_million_bad_lines_are_one_warning(file: Path, caplog: pytest.LogCaptureFixture) -> None:
    rewrite(file, "example.org\n" + "x\n" * 10_000 + "y" * 10_000)
    assert StopList([], file).holds("example.org")
    assert len(warnings(caplog)) == 1
    assert len(warnings(caplog)[0]) < 1_000


def test_a_bad_name_in_the_configuration_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    assert StopList(["no host", "example.org"]).holds("example.org")
    assert "'no host'" in warnings(caplog)[0]


@pytest.mark.parametrize("content", [None, b"\xff\xfe\xfa", "example.org".encode("utf-16"), "a folder"])
def test_a_file_that_cannot_be_read_any_more_changes_nothing(
    file: Path, caplog: pytest.LogCaptureFixture, content: bytes | str | None
) -> None:
    stop = StopList([], file)
    if isinstance(content, bytes):
        rewrite(file, content)
    else:
        file.unlink()
        if content:
            file.mkdir()
    for _ in range(5):
        assert stop.holds("example.org")
    assert sum("its earlier content stays in force" in warning for warning in warnings(caplog)) == 1
    if file.is_dir():
        file.rmdir()
    rewrite(file, "back.example\n")
    assert stop.holds("back.example")
    assert not stop.holds("example.org")


def test_a_list_that_was_never_there_is_an_error(tmp_path: Path) -> None:
    for file in (tmp_path / "absent", tmp_path):
        with pytest.raises(ConfigError, match="must exist"):
            StopList([], file)


def test_a_large_file_is_read_in_a_thread(file: Path) -> None:
    stop = StopList([], file)
    rewrite(file, "".join(f"www.site{number}.example\n" for number in range(20_000)))
    end = monotonic() + 60
    while stop.holds("example.org") and monotonic() < end:
        sleep(0.01)
    assert stop.holds("www.site19999.example")
    assert not stop.holds("example.org")
    assert len(stop) == 20_000
