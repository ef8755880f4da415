"""Writes ``wikis/settings.schema.json``: the JSON Schema (2020-12) of a wiki's settings, from the types that read them.

Called as ``python -m tools.build_settings_schema`` after every change of ``weboid/core/wikitext/settings.py``.
"""

import json
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from weboid.core.wikitext.settings import SettingsPage
from weboid.core.wikitext.shape import COMMENT, MOST_ITEMS, NumberForm

_TARGET: Final = Path(__file__).parents[1] / "wikis" / "settings.schema.json"


def settings_schema() -> dict[str, Any]:
    """The JSON Schema of the page."""
    dialect = "https://json-schema.org/draft/2020-12/schema"
    return {"$schema": dialect, "title": "The settings of a wiki for Weboid", **_schema(SettingsPage)}


def _schema(kind: Any) -> dict[str, Any]:
    origin, arguments = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return {"anyOf": [_schema(arguments[0]), {"type": "null"}]}
    if origin is Annotated:
        form = arguments[1]
        if isinstance(form, NumberForm):
            return {"type": "integer", "description": form.words, "minimum": form.least, "maximum": form.most}
        return {"type": "string", "description": form.words, "pattern": f"^(?:{form.pattern})$", "maxLength": form.most}
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _schema(arguments[0]), "maxItems": MOST_ITEMS}
    if is_dataclass(kind):
        hints = get_type_hints(kind, include_extras=True)
        return {
            "type": "object",
            "properties": {name: _schema(hint) for name, hint in hints.items()},
            "required": [field.name for field in fields(kind) if _is_needed(field)],
            "patternProperties": {f"^{COMMENT}": {}},
            "additionalProperties": False,
        }
    if origin is not None:
        key = get_args(arguments[0])[1]
        return {
            "type": "object",
            "patternProperties": {f"^{COMMENT}": {}, f"^(?!{COMMENT})(?:{key.pattern})$": _schema(arguments[1])},
            "additionalProperties": False,
        }
    return {"type": "boolean"}


def _is_needed(field: Field[Any]) -> bool:
    return field.default is MISSING and field.default_factory is MISSING


if __name__ == "__main__":
    _TARGET.write_text(json.dumps(settings_schema(), indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
