"""The files that pages load: a style sheet and an icon, under names that change with their content, for caches.

Files are read once and kept; a name in a request is looked up among these, never in a folder.
"""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Final

_FOLDER: Final = Path(__file__).parents[1] / "static"
_CODEX: Final = ("CdxButton-bidi", "CdxTextInput-bidi", "CdxLabel-bidi", "CdxField-bidi", "CdxInfoChip-bidi")


@dataclass(frozen=True, slots=True)
class File:
    """A file to be sent. `name` holds the hash of its content."""

    name: str
    content_type: str
    body: bytes


@cache
def style() -> File:
    """The style sheet: Codex' design tokens and components as they were published, then Weboid's own rules."""
    tokens, dark = _read("codex/theme-wikimedia-ui-root"), _read("codex/theme-wikimedia-ui-mode-dark")
    parts = [tokens, f"@media (prefers-color-scheme: dark) {{\n{dark}\n}}"]
    parts += [_read(f"codex/{name}") for name in _CODEX]
    body = "\n".join([*parts, _read("weboid")]).encode()
    return File(f"weboid-{sha256(body).hexdigest()[:16]}.css", "text/css", body)


@cache
def icon() -> File:
    """The icon in the tab of the browser."""
    body = (_FOLDER / "weboid.svg").read_bytes()
    return File(f"weboid-{sha256(body).hexdigest()[:16]}.svg", "image/svg+xml", body)


@cache
def files() -> dict[str, File]:
    """All files by name."""
    return {file.name: file for file in (style(), icon())}


def _read(name: str) -> str:
    return (_FOLDER / f"{name}.css").read_text(encoding="utf-8")
