"""JavaScript that is run: exactly one call with the JSON payload (W-1), which says where its source is (W-2).

One law: it begins with an empty comment, so that no program takes its first bytes for another format.
"""

from typing import Any, Final

from weboid.mechanism.slices import Steps
from weboid.web.formats import json

CONTENT_TYPE: Final = "text/javascript"


def text_of(payload: dict[str, Any], callback: str) -> str:
    """The call of `callback`, which has been checked to be a dotted identifier."""
    return f"/**/{callback}({json.text_of(payload)});\n"


def text_steps(payload: dict[str, Any], callback: str) -> Steps[str]:
    """The same in steps."""
    text = yield from json.text_steps(payload)
    return f"/**/{callback}({text});\n"


def problem_text(payload: dict[str, Any]) -> str:
    """An error, as a statement that calls nothing when it is run."""
    return f"/**/void {json.text_of(payload)};\n"
