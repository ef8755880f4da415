"""Files of the repository as tests of its house read them, each once."""

import ast
from functools import cache
from pathlib import Path


@cache
def tree_of(module: Path) -> ast.Module:
    return ast.parse(text_of(module))


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")
