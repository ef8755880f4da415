"""Finds the folders of data files: sql, i18n, streams, gadget, wikis.

In a wheel they are inside the package, in a checkout next to it; only this module needs to know.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def asset(folder: str) -> Path:
    """The path of a data folder, e.g. ``asset("sql")``; raises FileNotFoundError if the installation lacks it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (path := parent / folder).is_dir():
            return path
    raise FileNotFoundError(f"the data folder {folder!r} is missing from this installation of weboid")
