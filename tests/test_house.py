"""The rules that keep the rooms in order: how full a folder may be, what a name may mean, which numbers may be cited.

Which room may import which is import-linter's business (``make check``).
"""

import ast
import re
from collections import defaultdict
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[1]
_PROGRAM = _REPOSITORY / "weboid"
_MODULES = sorted(_PROGRAM.rglob("*.py"))
_MOST_MODULES = 17
_ONE_A_COMMAND = _PROGRAM / "cli"
_CITED = re.compile(r"(?<![\w&/-])([PLUCRAHWGBO]-[1-9]?[0-9])(?![\w-])")
_SOURCES = (*_MODULES, *(_REPOSITORY / "sql").rglob("*.sql"), *(_REPOSITORY / "tests").rglob("*.py"))


def test_no_folder_is_crowded() -> None:
    counts: dict[Path, int] = defaultdict(int)
    for module in _MODULES:
        counts[module.parent] += module.name != "__init__.py"
    assert {
        folder: count for folder, count in counts.items() if count > _MOST_MODULES and folder != _ONE_A_COMMAND
    } == {}


def test_no_two_modules_of_a_floor_share_a_name() -> None:
    places = defaultdict(list)
    for module in _MODULES:
        floor, *rooms = module.relative_to(_PROGRAM).parts
        if rooms and module.name != "__init__.py":
            places[floor, module.stem].append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for module in _MODULES:
        for node in ast.parse(module.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[node.name].append(module)
    assert len(places) > 250
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_every_cited_requirement_stands_in_the_documents() -> None:
    stated = set(re.findall(r"^- \*\*([A-Z]-\d+)\*\* \S", _text("docs/requirements.md"), re.MULTILINE))
    cited = {(number, path) for path in _SOURCES for number in _CITED.findall(path.read_text(encoding="utf-8"))}
    assert len(stated) > 90
    assert len(cited) > 500
    assert {(number, path) for number, path in cited if number not in stated} == set()


def _text(path: str) -> str:
    return (_REPOSITORY / path).read_text(encoding="utf-8")
