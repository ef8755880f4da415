import os
import pwd
from pathlib import Path

import pytest

from weboid.config import load_config
from weboid.config.places import default_data, find_file, places, state_folder


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def test_a_home_that_cannot_be_looked_into_has_no_file_and_no_data(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    # The error that root gets, too; others get it for the home of root, which sudo and setpriv may leave in HOME.
    environ = {"HOME": "/" + 300 * "x", "XDG_CONFIG_DIRS": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    assert find_file(environ) is None
    file = write(tmp_path / "weboid" / "weboid.toml", "")
    assert find_file(environ) == file
    assert default_data(environ) == tmp_path / "weboid"


def test_the_first_file_that_is_there_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    environ = {"HOME": str(tmp_path / "home"), "XDG_CONFIG_DIRS": f"{tmp_path}/a:relative:{tmp_path}/b"}
    assert places(environ)[-1] == Path("/etc/weboid/weboid.toml")
    assert find_file(environ) is None
    candidates = [
        tmp_path / "b" / "weboid" / "weboid.toml",
        tmp_path / "a" / "weboid" / "weboid.toml",
        tmp_path / "home" / ".config" / "weboid" / "weboid.toml",
        here / "weboid.toml",
    ]
    for number, file in enumerate(candidates):
        write(file, f'contact = "{number}"')
        assert load_config(None, environ, search=True).contact == str(number)
    assert load_config(None, environ).contact == "", "who does not search finds none"
    assert load_config(None, {**environ, "WEBOID_CONFIG": "contact = 'text'"}, search=True).contact == "text"
    (here / "weboid.toml").unlink()
    write(tmp_path / "xdg" / "weboid" / "weboid.toml", 'contact = "xdg"')
    assert load_config(None, {**environ, "XDG_CONFIG_HOME": str(tmp_path / "xdg")}, search=True).contact == "xdg"
    assert load_config(None, {**environ, "XDG_CONFIG_HOME": "relative"}, search=True).contact == "2"


def test_data_are_where_the_system_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, xdg = tmp_path / "home", tmp_path / "xdg"
    environ = {"HOME": str(home)}
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    usual = home / ".local" / "share" / "weboid"
    assert default_data(environ) == usual
    assert default_data({**environ, "XDG_DATA_HOME": "relative"}) == usual
    assert default_data({**environ, "XDG_DATA_HOME": str(xdg)}) == xdg / "weboid"
    usual.mkdir(parents=True)
    assert default_data({**environ, "XDG_DATA_HOME": str(xdg)}) == usual, "what is there already is found"
    (xdg / "weboid").mkdir(parents=True)
    assert default_data({**environ, "XDG_DATA_HOME": str(xdg)}) == xdg / "weboid"
    of_systemd = {**environ, "STATE_DIRECTORY": "/var/lib/links:/var/lib/more"}
    assert default_data(of_systemd) == Path("/var/lib/links")
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert default_data({**environ, "XDG_DATA_HOME": str(xdg)}) == Path("/var/lib/weboid")
    assert default_data(of_systemd) == Path("/var/lib/links")


def test_a_user_id_without_an_account_has_no_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_account(_uid: int) -> None:
        raise KeyError

    monkeypatch.setattr(pwd, "getpwuid", no_account)
    monkeypatch.setattr(os, "geteuid", lambda: 60_000)
    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    environ = {"XDG_CONFIG_DIRS": str(tmp_path)}
    ours = tmp_path / "weboid" / "weboid.toml"
    assert places(environ) == [Path("weboid.toml"), ours, Path("/etc/weboid/weboid.toml")]
    assert load_config(None, environ, search=True).data == Path("/var/lib/weboid")
    monkeypatch.setattr("weboid.config.places._SYSTEM_DATA", tmp_path)  # which is there
    assert default_data({"XDG_DATA_HOME": str(tmp_path / "own")}) == tmp_path / "own" / "weboid"


@pytest.mark.parametrize(
    ("environ", "data"),
    [
        ({"WEBOID_CONFIG": "data = '/file'"}, "/file"),
        ({"WEBOID_CONFIG": "data = '/file'", "WEBOID_DATA": ""}, "/file"),
        ({"WEBOID_CONFIG": "data = '/file'", "WEBOID_DATA": "/variable"}, "/variable"),
    ],
)
def test_a_folder_that_is_named_wins(environ: dict[str, str], data: str) -> None:
    assert load_config(None, {**environ, "STATE_DIRECTORY": "/state"}).data == Path(data)
    assert load_config(None, environ, data=Path("/option")).data == Path("/option")


def test_the_state_is_where_systemd_and_the_specification_say_whatever_the_data_folder(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "WEBOID_DATA": "/data"}
    usual = tmp_path / ".local" / "state" / "weboid"
    assert state_folder(environ) == usual
    assert state_folder({**environ, "XDG_STATE_HOME": "relative"}) == usual
    assert state_folder({**environ, "XDG_STATE_HOME": "/state"}) == Path("/state/weboid")
    assert state_folder({**environ, "XDG_STATE_HOME": "/state", "STATE_DIRECTORY": "/run/a:/run/b"}) == Path("/run/a")
