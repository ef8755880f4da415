"""A complete ``weboid.toml`` with every key, its default, its meaning and its variables, made of the sections.

It is printed and not committed, so that it is always that of the version that runs.
"""

import ast
import inspect
import json
import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, Final

from weboid.assets import toml_next_to
from weboid.config.names import KeyPath, nested_variable, variable
from weboid.config.sections import SECTIONS, ArchiveConfig, Config
from weboid.core.archive.configured import KEYS, NAMES

_REQUIREMENT: Final = re.compile(r"\s\((?:[A-Z]-?\d*|\d+)(?:(?:, | … | to )[A-Z]-?\d+)*\)")


def sample() -> str:
    """The text of the file."""
    texts = toml_next_to(__file__)
    return "\n".join((texts["introduction"], *_lines(), *_archive(texts["service"]), texts["tables"]))


def _lines() -> Iterator[str]:
    texts = documentation(Config)[1]
    for key, value in (("data", ""), ("database", ""), ("database_read", ""), ("contact", "")):
        yield from _key((key,), value, texts[key])
    for name, kind in SECTIONS.items():
        about, texts = documentation(kind)
        yield from (f"[{name}]", *_prose(about), "")
        for field in fields(kind):
            yield from _key((name, field.name), getattr(kind(), field.name), texts.get(field.name, ""))


def _archive(service: Mapping[str, str]) -> Iterator[str]:
    about, texts = documentation(ArchiveConfig)
    services = ArchiveConfig().services
    yield from ("[archive]", *_prose(about), "")
    yield from _key(("archive", "services"), [service.name for service in services], texts["services"])
    for key in ("save_key", "save_secret"):
        yield from (*_prose(texts[key]), f"# {_variables(('archive', key))}", "")
    usual = services[0]
    yield from _prose(f"Each service may have a table, with any of these keys. Services: {', '.join(NAMES)}.")
    yield from (f"#[archive.{usual.name}]", "")
    for key in KEYS:
        yield from _key(("archive", usual.name, key), getattr(usual, key), service[key])


def _key(path: KeyPath, value: Any, about: str) -> Iterator[str]:
    yield from _prose(about)
    yield f"# {_variables(path)}"
    yield f"#{path[-1]} = {toml_value(value)}"
    yield ""


def _variables(path: KeyPath) -> str:
    return f"{variable(path)}, {nested_variable(path)}"


def _prose(text: str) -> list[str]:
    return textwrap.wrap(text, 118, initial_indent="# ", subsequent_indent="# ", break_on_hyphens=False)


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
        case bool() | int() | float():
            return json.dumps(value)
        case tuple() | list():
            return f"[{', '.join(map(toml_value, value))}]"
        case dict():
            return f"{{{', '.join(f'{json.dumps(key)} = {toml_value(each)}' for key, each in value.items())}}}"
        case _:
            return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _plain(text: str) -> str:
    """A docstring in one paragraph, without the numbers of requirements and the marks of code."""
    return re.sub(r"\s+", " ", _REQUIREMENT.sub("", text)).replace("``", "`").strip()
