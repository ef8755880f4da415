"""Finds the folders of data files (sql, i18n, streams, gadget, wikis), and reads the tables next to modules.

In a wheel the folders are inside the package, in a checkout next to it; only this module needs to know.
"""

import tomllib
from pathlib import Path
from typing import Any

_PACKAGE = Path(__file__).parent


def asset(folder: str) -> Path:
    """The path of a data folder, e.g. ``asset("sql")``; raises FileNotFoundError if the installation lacks it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (path := parent / folder).is_dir():
            return path
    raise FileNotFoundError(f"the data folder {folder!r} is missing from this installation of weboid")


def toml_next_to(module: str) -> dict[str, Any]:
    """The contents of the TOML file next to a module (its ``__file__``); raises ValueError with the file's name."""
    path = Path(module).with_suffix(".toml")
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path.name}: {error}") from None
