"""The places of the configuration and of the data, by the conventions of the system.

XDG Base Directory Specification 0.8 (paths that are not absolute are passed over), systemd.exec(5) for STATE_DIRECTORY.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

FILE: Final = "weboid.toml"
_SYSTEM_DATA: Final = Path("/var/lib/weboid")


def find_file(environ: Mapping[str, str]) -> Path | None:
    """The first configuration file that is there: of the current folder, the user's, the system's."""
    return next((place for place in places(environ) if _is_there(place.is_file)), None)


def places(environ: Mapping[str, str]) -> list[Path]:
    """The places of a configuration file, in the order in which it is looked for."""
    system = environ.get("XDG_CONFIG_DIRS") or "/etc/xdg"
    home = _home(environ)
    own = _absolute(environ, "XDG_CONFIG_HOME") or (home / ".config" if home else None)
    folders = [*([own] if own else []), *map(Path, system.split(":"))]
    below = [folder / "weboid" / FILE for folder in folders if folder.is_absolute()]
    return [Path(FILE), *below, Path("/etc/weboid") / FILE]


def default_data(environ: Mapping[str, str]) -> Path:
    """The folder of the data: systemd's STATE_DIRECTORY; for root ``/var/lib/weboid``, since PostgreSQL must run as
    another user then, who cannot enter root's home; else ``$XDG_DATA_HOME/weboid``, or ``~/.local/share/weboid``.

    The last is taken as well where it is there already and the other is not. Who has no home has root's folder.
    """
    if state := environ.get("STATE_DIRECTORY", "").split(":")[0]:
        return Path(state)
    if os.geteuid() == 0:
        return _SYSTEM_DATA
    home, chosen = _home(environ), _absolute(environ, "XDG_DATA_HOME")
    usual = home / ".local" / "share" / "weboid" if home else _SYSTEM_DATA
    if chosen is None or (home and _is_there(usual.is_dir) and not _is_there((chosen / "weboid").is_dir)):
        return usual
    return chosen / "weboid"


def state_folder(environ: Mapping[str, str]) -> Path | None:
    """The folder of what the programs of a user remember: systemd's STATE_DIRECTORY, else ``$XDG_STATE_HOME/weboid`` or
    ``~/.local/state/weboid``; None for a user without a home. It does not change with the folder of the data."""
    if state := environ.get("STATE_DIRECTORY", "").split(":")[0]:
        return Path(state)
    home = _home(environ)
    chosen = _absolute(environ, "XDG_STATE_HOME") or (home / ".local" / "state" if home else None)
    return chosen / "weboid" if chosen else None


def _is_there(look: Callable[[], bool]) -> bool:
    """As the specification has it, what may not be looked at (the home of root, under sudo or setpriv) is not there."""
    with suppress(OSError):
        return look()
    return False


def _absolute(environ: Mapping[str, str], name: str) -> Path | None:
    folder = Path(environ.get(name) or ".")
    return folder if folder.is_absolute() else None


def _home(environ: Mapping[str, str]) -> Path | None:
    """The folder of this user, or None: a user id without an account has none where HOME is not set."""
    if given := environ.get("HOME"):
        return Path(given)
    try:
        return Path.home()
    except RuntimeError:
        return None
