"""The source of the running version, to be had from the program that runs it (W-2, AGPL).

One law: it is made of the very files that were loaded from, not of a repository that might say something else.
"""

import zipfile
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Final

import weboid
from weboid.assets import asset

NAME: Final = f"weboid-{weboid.__version__}.zip"
_DATA: Final = ("sql", "i18n")
_EARLIEST: Final = (1980, 1, 1, 0, 0, 0)
"""The zip format's first moment: with it the same files always give the same archive."""


@cache
def archive() -> bytes:
    """A zip of the program and its data folders."""
    package = Path(weboid.__file__).parent
    files = {f"weboid/{path.relative_to(package)}": path for path in package.rglob("*")}
    for name in _DATA:
        folder = asset(name)
        files |= {f"{name}/{path.relative_to(folder)}": path for path in folder.rglob("*")}
    target = BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, path in sorted(files.items()):
            if path.is_file() and "__pycache__" not in path.parts:
                packed.writestr(zipfile.ZipInfo(name, _EARLIEST), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target.getvalue()
