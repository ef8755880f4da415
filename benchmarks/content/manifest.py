"""The manifest of laid-out pages: a JSON object a line, a page each, with the file of its body.

One law: a line that is not understood is an error that names its number.
"""

import json
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from weboid.errors import WeboidError


class ManifestError(WeboidError):
    """A manifest, or a file that it names, cannot be used."""


class PageClass(StrEnum):
    """What a page is, as people see it."""

    LIVE = "live"
    WALL = "wall"
    PARKED = "parked"
    SOFT404 = "soft404"
    USURPED = "usurped"
    LOGIN = "login"
    MAINTENANCE = "maintenance"


class Siblings(StrEnum):
    """How a page's host answers paths that are none of its pages.

    NOT_FOUND: code 404. SAME: the page itself. TEMPLATE: code 200 over a not-found page, which for a soft 404 is the
    page itself. CANONICAL: a redirect to the page.
    """

    NOT_FOUND = "404"
    SAME = "same"
    TEMPLATE = "template"
    CANONICAL = "canonical"


@dataclass(frozen=True, slots=True)
class Specimen:
    """One page of a manifest; `before` is what its URL showed until it was usurped, if that is given."""

    line: int
    url: str
    cls: PageClass
    status: int
    ctype: str
    headers: tuple[tuple[str, str], ...]
    siblings: Siblings
    body: bytes
    before: bytes | None = None


_OK: Final = 200
_CODES: Final = range(200, 1000)


def read_manifest(manifest: Path, folder: Path) -> list[Specimen]:
    """All pages of a manifest, with the files of `folder`; raises ManifestError."""
    try:
        lines = manifest.read_text(encoding="utf-8").split("\n")
    except (OSError, UnicodeDecodeError) as error:
        raise ManifestError(f"{manifest}: cannot be read: {error}") from None
    if not folder.is_dir():
        raise ManifestError(f"{folder} is not a folder: name the one that the manifest's files are in")
    specimens = []
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                specimens.append(_specimen(number, line, folder))
            except ManifestError as error:
                raise ManifestError(f"{manifest}, line {number}: {error}") from None
    if not specimens:
        raise ManifestError(f"{manifest}: there is no page in it")
    return specimens


def _specimen(number: int, line: str, folder: Path) -> Specimen:
    try:
        given = json.loads(line)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ManifestError(f"no JSON: {error}") from None
    if not isinstance(given, dict):
        raise ManifestError("this must be an object with url, cls, status, ctype, headers, file")
    return Specimen(
        line=number,
        url=_url(given),
        cls=PageClass(_one_of(given, "cls", [each.value for each in PageClass])),
        status=_status(given),
        ctype=_text(given, "ctype", "text/html; charset=utf-8"),
        headers=_headers(given),
        siblings=Siblings(_one_of(given, "siblings", [each.value for each in Siblings], Siblings.NOT_FOUND)),
        body=_body(given, "file", folder),
        before=_body(given, "before", folder) if given.get("before") is not None else None,
    )


def _url(given: dict[str, Any]) -> str:
    url = _text(given, "url")
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        host = None
    if not host or parts.scheme not in ("http", "https"):
        raise ManifestError(f"url: {url!r} is not an http or https URL")
    return url


def _status(given: dict[str, Any]) -> int:
    status = given.get("status", _OK)
    if type(status) is not int or status not in _CODES:
        raise ManifestError(f"status: {status!r} is not an HTTP code from {_CODES[0]} to {_CODES[-1]}")
    return status


def _headers(given: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    headers = given.get("headers") or {}
    if not isinstance(headers, dict):
        raise ManifestError("headers: this must be an object of texts by name")
    lines = []
    for name, value in headers.items():
        values = value if isinstance(value, list) else [value]
        if not all(isinstance(each, str) for each in values):
            raise ManifestError(f"headers: {name} is neither a text nor a list of texts")
        lines += [(name, each) for each in values]
    return tuple(lines)


def _one_of(given: dict[str, Any], key: str, words: list[str], default: str | None = None) -> str:
    word = _text(given, key, default)
    if word not in words:
        raise ManifestError(f"{key}: {word!r} is unknown; known are {', '.join(words)}")
    return word


def _text(given: dict[str, Any], key: str, default: str | None = None) -> str:
    value = given.get(key, default)
    if value is None:
        raise ManifestError(f"{key} is missing")
    if not isinstance(value, str):
        raise ManifestError(f"{key}: {value!r} is not a text")
    return value


def _body(given: dict[str, Any], key: str, folder: Path) -> bytes:
    file = folder / _text(given, key)
    try:
        return file.read_bytes()
    except (OSError, ValueError) as error:
        raise ManifestError(f"{key}: {file} cannot be read: {error}") from None
