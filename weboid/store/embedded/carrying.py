"""The operator's own settings, carried from a cluster to the one that takes its place.

All ``*.conf`` files go over as they are, but for lines of ``postgresql.conf`` that the new major version does not know:
they stay as comments.
"""

import re
from collections.abc import Collection
from typing import Final

from weboid.store.embedded.entry import read
from weboid.store.embedded.folder import Folder, replace_file

_SETTINGS: Final = ("postgresql.conf", "postgresql.auto.conf")
_NAME: Final = re.compile(rb"\s*([A-Za-z_]\w*)(?!\w*\.)")
"""The name at the beginning of a line; none where it is a comment, or of an extension (``auto_explain.…``)."""
_INCLUDING: Final = (b"include", b"include_if_exists", b"include_dir")


def carry_settings(old: Folder, new: Folder, known: Collection[str]) -> list[str]:
    """Writes the settings of one cluster into another, whose server does not run; returns what was left out.

    `known` are the names of all settings of the new version. Raises OSError, StoreError.
    """
    left_out: list[str] = []
    names = {name.lower().encode() for name in known}.union(_INCLUDING)
    for path in sorted(old.cluster.glob("*.conf")):
        if path.is_symlink():
            left_out.append(f"{path.name}, which is a link")
            continue
        text = read(old, path.name)
        if path.name in _SETTINGS:
            text, unknown = without_unknown(text, names)
            left_out += unknown
        replace_file(new.cluster / path.name, text, new.account)
    return left_out


def without_unknown(text: bytes, names: Collection[bytes]) -> tuple[bytes, list[str]]:
    """A text of postgresql.conf with the lines of unknown settings as comments, and these lines."""
    lines = text.splitlines(keepends=True)
    unknown = []
    for number, line in enumerate(lines):
        if (found := _NAME.match(line)) and found[1].lower() not in names:
            unknown.append(line.decode(errors="replace").strip())
            lines[number] = b"# not known any more: " + line
    return b"".join(lines), unknown
