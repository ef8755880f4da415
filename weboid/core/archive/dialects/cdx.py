"""Reads CDX, the lists of captures, in all the ways services write them: JSON rows with a row of names (Wayback), text
(Wayback), one JSON object a line and CDXJ (pywb), each perhaps with a key for the next page at its end.

A bad row is counted and passed over.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from weboid.core.archive.captures import Capture
from weboid.core.archive.dialects.replies import is_markup, json_of, moment_of, number_of, original_of

FIELDS: Final = ("timestamp", "original", "statuscode", "mimetype", "digest", "length")
"""The columns requested of the Wayback Machine; a text answer without names has them in this order."""
MOST_CAPTURES: Final = 10_000
"""Rows read of one answer."""

_STANDARD: Final = ("urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length")
_COLUMNS: Final = {
    6: _STANDARD[:6],
    7: _STANDARD,
    8: (*_STANDARD, "dupecount"),
    9: (*_STANDARD[:6], "redirect", "offset", "filename"),
    11: (*_STANDARD[:6], "redirect", "robotflags", "length", "offset", "filename"),
}
"""The columns of a text row, by their number."""
_NAMES: Final = frozenset(name for columns in _COLUMNS.values() for name in columns)
"""A row of names alone says that there is nothing, but only one of known names."""
_WHOLE: Final = frozenset({7, 8, 11})
_STATUS: Final = re.compile(r"[0-9]{3}|-")
_MIME: Final = re.compile(r"[a-z0-9][a-z0-9.+_-]*/[a-z0-9.+_*-]+")
_DIGEST: Final = re.compile(r"[A-Za-z0-9+/=_-]{8,100}")
_FORMATS: Final = {
    "timestamp": re.compile(r"[0-9]{14}"),
    "original": re.compile(r"https?://[^\s/]\S*", re.IGNORECASE),
    "statuscode": _STATUS,
    "mimetype": _MIME,
    "digest": re.compile(r"[A-Z2-7]{32}"),
}
"""The formats by which columns without a name are recognised."""
_IGNORED: Final = re.compile(r"[0-9]+|-|[^/\s]+\)/\S*|\S+\.w?arc(?:\.gz)?", re.IGNORECASE)
"""Columns that are not needed, or look alike: lengths, offsets, nothing, keys, files."""
_MOST_COLUMNS: Final = 11
_HIDDEN: Final = frozenset({"block", "exclude"})
_MOST_BYTES: Final = 10**15
_LONGEST_MIME: Final = 100


class Rows(NamedTuple):
    """The good rows of a list of captures, and how many were bad, or hidden by the service.

    `is_cut` = the end is missing. `resume_key` leads to the next page, None if there is none.
    """

    captures: tuple[Capture, ...] = ()
    bad: int = 0
    blocked: int = 0
    is_cut: bool = False
    resume_key: str | None = None


def rows_of(text: str) -> Rows | None:
    """The rows of a CDX text (from ``replies.text_of``) in any of the dialects; None if it is not CDX."""
    if is_markup(text):
        return None
    if text.startswith("["):
        return _json_rows(text)
    if text.startswith("{"):
        return _object_rows(text)
    return _text_rows(text)


def _json_rows(text: str) -> Rows | None:
    data = json_of(text)
    if not isinstance(data, list):
        return Rows(is_cut=True)
    if not data:
        return Rows()
    if not isinstance(data[0], list):
        return None
    names = [str(name) for name in data[0]]
    if _plain_fields(names):
        # The row of names is missing.
        rows = [[str(value) for value in row] if isinstance(row, list) else [] for row in data]
        return _collected(iter([_plain_fields(row) for row in rows if row]))
    if not {"timestamp", "original"} <= set(names) or (len(data) == 1 and not _NAMES.issuperset(names)):
        return None
    return _collected(_json_fields(data[1:], names), resume_key=_json_key(data))


def _json_fields(rows: list[object], names: list[str]) -> "Iterator[_Fields]":
    for row in rows:
        if row == []:
            return
        matches = isinstance(row, list) and len(row) == len(names)
        yield dict(zip(names, row, strict=True)) if matches and isinstance(row, list) else None


def _json_key(data: list[object]) -> str | None:
    """After an empty row, the key stands alone in the last one."""
    last = data[-1]
    if len(data) > 2 and data[-2] == [] and isinstance(last, list) and len(last) == 1 and isinstance(last[0], str):
        return last[0]
    return None


def _object_rows(text: str) -> Rows | None:
    lines = [line for line in text.split("\n") if line.strip()]
    values = [json_of(line) for line in lines]
    fields = [value if isinstance(value, dict) and "timestamp" in value else None for value in values]
    is_cut = values[-1] is None
    if not any(fields):
        return Rows(is_cut=True) if is_cut and len(lines) == 1 else None
    return _collected(iter(fields[: len(fields) - is_cut]), is_cut=is_cut)


def _text_rows(text: str) -> Rows | None:
    """Text rows, one a line; the key for the next page stands alone after an empty line.

    Where the last line has no end, a row that looks whole may have lost digits of its length, and others more.
    """
    body, gap, key = text.replace("\r\n", "\n").rstrip("\n").rpartition("\n\n")
    if not gap or " " in key:
        body, key = text.replace("\r\n", "\n").rstrip("\n"), ""
    lines = [line for line in body.split("\n") if line.strip()]
    fields = [_line_fields(line) for line in lines if not line.startswith((" CDX ", "CDX "))]
    if not lines:
        return Rows(resume_key=key or None)
    if not any(fields) and not any(map(_looks_like_row, lines)):
        return None
    is_cut = not text.endswith("\n")
    if is_cut and fields[-1] is not None:
        fields[-1] = {**fields[-1], "length": None} if len(lines[-1].split()) in _WHOLE else None
    return _collected(iter(fields), is_cut=is_cut, resume_key=key or None)


def _line_fields(line: str) -> "_Fields":
    parts = line.split(" ", 2)
    if len(parts) == 3 and parts[2].startswith("{"):
        value = json_of(parts[2])
        return {**value, "timestamp": parts[1]} if isinstance(value, dict) else None
    return _plain_fields(line.split())


def _plain_fields(parts: list[str]) -> "_Fields":
    """The fields of a row whose columns have no names: those requested, the standard ones, or recognised ones."""
    if len(parts) in (2, len(FIELDS)) and moment_of(parts[0]):
        return dict(zip(FIELDS, parts, strict=False))
    names = _COLUMNS.get(len(parts))
    if names is not None and _STATUS.fullmatch(parts[4]):
        return dict(zip(names, parts, strict=True))
    return _recognised(parts) if len(parts) <= _MOST_COLUMNS else None


def _recognised(parts: list[str]) -> "_Fields":
    """The fields of a row with other columns, or with them in another order; None without a moment and a URL."""
    fields: dict[str, object] = {}
    for part in parts:
        name = next((name for name, form in _FORMATS.items() if name not in fields and form.fullmatch(part)), None)
        if name:
            fields[name] = part
        elif not _IGNORED.fullmatch(part):
            # A blank in a URL makes one column look like two.
            return None
    return fields if {"timestamp", "original"} <= fields.keys() else None


def _looks_like_row(line: str) -> bool:
    return any(part.isascii() and part.isdigit() and len(part) >= 4 for part in line.split()[:2])


_Fields = Mapping[str, object] | None
"""One row by the names of either dialect; None for a bad one."""


def _collected(rows: Iterator[_Fields], *, is_cut: bool = False, resume_key: str | None = None) -> Rows:
    captures: dict[Capture, None] = {}
    bad = blocked = 0
    for fields in rows:
        capture = _capture(fields) if fields else None
        if fields and capture and fields.get("access") in _HIDDEN:
            blocked += 1
        elif capture:
            captures[capture] = None
        else:
            bad += 1
        if len(captures) == MOST_CAPTURES:
            break
    return Rows(tuple(captures), bad, blocked, is_cut, resume_key)


def _capture(fields: Mapping[str, object]) -> Capture | None:
    taken = moment_of(fields.get("timestamp"))
    original = original_of(fields.get("original", fields.get("url")))
    if not taken or not original:
        return None
    status = number_of(fields.get("statuscode", fields.get("status")), most=999)
    return Capture(
        taken,
        original,
        status if status and status >= 100 else None,
        _mime(fields.get("mimetype", fields.get("mime"))),
        _digest(fields.get("digest")),
        number_of(fields.get("length"), most=_MOST_BYTES),
    )


def _mime(text: object) -> str | None:
    if not isinstance(text, str) or len(text) > _LONGEST_MIME:
        return None
    mime = text.partition(";")[0].strip().lower()
    return mime if _MIME.fullmatch(mime) else None


def _digest(text: object) -> str | None:
    digest = text.removeprefix("sha1:") if isinstance(text, str) else ""
    return digest if _DIGEST.fullmatch(digest) else None
