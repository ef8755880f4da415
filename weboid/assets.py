"""Where the folders of data files are: sql, i18n, streams, gadget.

One law: in a wheel they lie inside the package, in a checkout beside it, and nobody else needs to know.
"""

from pathlib import Path

_PACKAGE = Path(__file__).parent


def asset(folder: str) -> Path:
    """The path of a data folder, e.g. ``asset("sql")``; raises FileNotFoundError if the installation lacks it."""
    for parent in (_PACKAGE, _PACKAGE.parent):
        if (path := parent / folder).is_dir():
            return path
    raise FileNotFoundError(f"the data folder {folder!r} is missing from this installation of weboid")
