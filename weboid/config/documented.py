"""What the sections say of themselves: the text of a class and those below its keys, as an operator reads them.

One law: the documentation of a key is written once, in the class that has it.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final


def documentation(kind: type[Any]) -> tuple[str, Mapping[str, str]]:
    """The text of a section's class, and the texts of its keys, in plain words."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    assert isinstance(tree, ast.ClassDef)
    keys = {}
    for before, node in zip(tree.body, tree.body[1:], strict=False):
        if isinstance(before, ast.AnnAssign) and isinstance(before.target, ast.Name) and _is_text(node):
            keys[before.target.id] = _plain(ast.literal_eval(node.value))  # type: ignore[attr-defined]
    return _plain(ast.get_docstring(tree) or ""), keys


def toml_value(value: Any) -> str:
    """A value as TOML has it."""
    match value:
        case None:
            return '""'
        case bool():
            return "true" if value else "false"
        case int() | float():
            return repr(value)
        case tuple() | list():
            return f"[{', '.join(toml_value(each) for each in value)}]"
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {toml_value(each)}' for key, each in value.items())}}}"
        case Path() | str():
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")
        case _:
            return json.dumps(str(value))


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _plain(text: str) -> str:
    """A docstring in one paragraph, without the numbers of requirements and the marks of code."""
    return re.sub(r"\s+", " ", _REQUIREMENT.sub("", text)).replace("``", "`").strip()


_REQUIREMENT: Final = re.compile(r"\s\((?:[A-Z]-?\d*|\d+)(?:(?:, | … | to )[A-Z]-?\d+)*\)")
