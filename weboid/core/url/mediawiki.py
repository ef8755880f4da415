"""URLs from MediaWiki's table ``externallinks``: from (`el_to_domain_index`, `el_to_path`) back to a URL.

A value that cannot be read becomes a text that ``core/url/classify`` calls invalid or ignored.
One law: no row becomes the URL of another host (`test_a_hostile_row_never_names_another_host`).
"""

import re
from typing import Final

INDEX_BYTES: Final = 255
"""The width of ``el_to_domain_index``. A value that fills it may have been cut; then the first labels are lost."""

_INDEX: Final = re.compile(r"(?:([A-Za-z][A-Za-z0-9+.-]*):)?(//)?([^:@]*)(?:@(.*)|:([0-9]+))?", re.DOTALL)
_DELIMITER: Final = re.compile(r"[/?#\\\[\]]")


def stored_url(domain_index: str | bytes, path: str | bytes | None) -> str:
    """The URL of a row. Bytes that are not UTF-8 become U+FFFD: no valid host contains it, no stored path such bytes.

    A reversed host without a final dot, or one that fills the column, was cut: it gets an empty first label, so that
    it is invalid.
    """
    index, rest = _text(domain_index), _text(path or "")
    parts = _INDEX.fullmatch(index)
    if not parts or not (parts[1] or parts[2]):
        return f":{index}{rest}"  # no scheme: ignored, whatever the path looks like
    scheme, slashes, name, local, port = parts.groups()
    host = _host(name)
    if not name.endswith(".") or len(index.encode(errors="replace")) >= INDEX_BYTES:
        host = f".{host}"
    if local is not None:
        host = f"{_without_delimiters(local)}@{host}"
    if port is not None:
        host = f"{host}:{port}"
    # Only in hierarchical URLs must a slash separate the path from the host.
    joint = "/" if slashes and not rest.startswith(("/", "?", "#")) else ""
    return f"{scheme or 'https'}:{slashes or ''}{host}{joint}{rest}"


def _text(value: str | bytes) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _host(reversed_name: str) -> str:
    labels = _without_delimiters(reversed_name).removesuffix(".").split(".")
    match labels[0]:
        case "V4":
            return ".".join(labels[1:])
        case "V6":
            return f"[{':'.join(labels[1:])}]"
        case _:
            return ".".join(reversed(labels))


def _without_delimiters(text: str) -> str:
    # A delimiter would end the authority early and change the host; encoded, it makes the host invalid instead.
    return _DELIMITER.sub(lambda match: f"%{ord(match[0]):02X}", text)
