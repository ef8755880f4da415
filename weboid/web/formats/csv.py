"""CSV (RFC 4180) that a spreadsheet opens as it is: UTF-8 with a byte order mark, and no cell is a formula.

Texts that a spreadsheet would run begin with an apostrophe (OWASP, CSV injection); numbers are left as they are.
"""

from collections.abc import Iterable
from csv import writer
from io import StringIO
from typing import Final

CONTENT_TYPE: Final = "text/csv"
BEGIN: Final = b"\xef\xbb\xbf"
"""The first bytes of a file: without them some spreadsheets take UTF-8 for an encoding of their own country."""
_RUN: Final = tuple("=+-@\t\r＝＋－＠")


def lines_of(rows: Iterable[Iterable[str | int | None]]) -> bytes:
    """The rows as lines; None is an empty cell."""
    text = StringIO(newline="")
    write = writer(text, lineterminator="\r\n")
    write.writerows([_cell(value) for value in row] for row in rows)
    return text.getvalue().encode("utf-8", "replace")


def _cell(value: str | int | None) -> str | int | None:
    return f"'{value}" if isinstance(value, str) and value.startswith(_RUN) else value
