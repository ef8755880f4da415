"""JSON: ASCII only, and safe to stand inside JavaScript or HTML as well (W-8)."""

import json
from typing import Any, Final

CONTENT_TYPE: Final = "application/json"

# JSON is JavaScript since ES2019, but older engines end a string at U+2028, and HTML ends a script at "</".
_UNSAFE: Final = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


def text_of(document: dict[str, Any]) -> str:
    """The document as one line of JSON."""
    return json.dumps(document, ensure_ascii=True, separators=(",", ":")).translate(_UNSAFE)
