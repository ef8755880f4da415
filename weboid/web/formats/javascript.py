"""Active JavaScript: exactly one call with the JSON document (W-1), and where its source is published (W-2).

One law: it begins with an empty comment, so that no other program takes its first bytes for a format of its own.
"""

from typing import Any, Final

from weboid.web.formats import json

CONTENT_TYPE: Final = "text/javascript"


def text_of(document: dict[str, Any], callback: str) -> str:
    """The call; `callback` has been found to be a dotted identifier."""
    return f"/**/{callback}({json.text_of(document)});\n"


def problem_text(document: dict[str, Any]) -> str:
    """An error: it calls nothing, wherever it is run."""
    return f"/**/void {json.text_of(document)};\n"
