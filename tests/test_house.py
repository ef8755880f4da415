"""The rules that keep the rooms in order: how full a folder may be, what a name may mean, which numbers may be cited,
and where an address of the webservice may be spelled out.

Which room may import which is import-linter's business (``make check``).
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from support.sources import text_of as _read
from support.sources import tree_of as _tree

from weboid.web.request.route import ROUTES

_REPOSITORY = Path(__file__).resolve().parents[1]
_PROGRAM = _REPOSITORY / "weboid"
_MODULES = sorted(_PROGRAM.rglob("*.py"))
_ALL_MODULES = (*_MODULES, *sorted((_REPOSITORY / "weboid_scripts").rglob("*.py")))
_MOST_MODULES = 17
_ONE_A_COMMAND = _PROGRAM / "cli"
_WEB = _PROGRAM / "web"
_TEMPLATES = sorted((_WEB / "templates").glob("*.html"))
_ROUTE_TABLE = _WEB / "request" / "route.py"
_ROUTE_BINDING = _WEB / "routes.py"
_ADDRESS = re.compile(r"/[A-Za-z]")
_ADDRESS_IN_TEMPLATE = re.compile(r"""["']/[A-Za-z{][^"']*|(?:href|action|src)\s*=\s*["']?/[^"'>]*""")
_NO_ADDRESSES = {"/api.php", "/authorize?", "/access_token", "/resource/profile", "/category/", "/change/"}
"""Parts of addresses on other servers, and of a feed's tag URIs."""
_NAMED = re.compile(r"""\burl\(\s*["']([^"']*)["']""")
_NAMING = {"address_of", "address_in_language"}
_CITED = re.compile(r"(?<![\w&/-])([PLUCRAHWGBO]-[1-9]?[0-9])(?![\w-])")
_DECISION = re.compile(r"(?<![\w&/-])D-([1-9][0-9]*)(?![\w-])")
_MOST_DECISIONS = 150
_MOST_LINES = 600
_MOST_OF_A_FUNCTION = 60
"""Lines below its signature."""
_RUNNING = ("weboid_scripts", "sql", "gadget", "deploy", "streams")
_KINDS = {".py", ".sql", ".js", ".css", ".html", ".json", ".toml", ".yaml", ".yml", ".service", ".conf", ".sh"}
_SOURCES = (*_ALL_MODULES, *(_REPOSITORY / "sql").rglob("*.sql"), *(_REPOSITORY / "tests").rglob("*.py"))


def test_no_folder_is_crowded() -> None:
    counts: dict[Path, int] = defaultdict(int)
    for module in _ALL_MODULES:
        counts[module.parent] += module.name != "__init__.py"
    assert {
        folder: count for folder, count in counts.items() if count > _MOST_MODULES and folder != _ONE_A_COMMAND
    } == {}


def test_no_function_is_longer_than_somebody_reads_at_once() -> None:
    functions = [
        (module.name, node)
        for module in _ALL_MODULES
        for node in ast.walk(_tree(module))
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef))
    ]
    assert len(functions) > 4_000
    lengths = {(name, node.name): (node.end_lineno or 0) - node.body[0].lineno + 1 for name, node in functions}
    assert {where: length for where, length in lengths.items() if length > _MOST_OF_A_FUNCTION} == {}


def test_no_two_modules_of_a_room_share_a_name() -> None:
    places = defaultdict(list)
    for module in _MODULES:
        floor, *rooms = module.relative_to(_PROGRAM).parts
        if rooms and module.name != "__init__.py":
            places[floor, rooms[0], module.stem].append(module)
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_no_two_public_classes_share_a_name() -> None:
    places = defaultdict(list)
    for module in _ALL_MODULES:
        for name in re.findall(r"^class ([A-Za-z]\w*)", _read(module), re.MULTILINE):
            places[name].append(module)
    assert len(places) > 250
    assert {name: modules for name, modules in places.items() if len(modules) > 1} == {}


def test_every_cited_requirement_stands_in_the_documents() -> None:
    stated = set(re.findall(r"^- \*\*([A-Z]-\d+)\*\* \S", _text("docs/requirements.md"), re.MULTILINE))
    cited = {(number, path) for path in _SOURCES for number in _CITED.findall(_read(path))}
    assert len(stated) > 90
    assert len(cited) > 500
    assert {(number, path) for number, path in cited if number not in stated} == set()


def test_every_decision_is_cited_in_the_code_and_every_cited_one_stands_in_the_documents() -> None:
    stated = re.findall(r"^- \*\*D-(\d+) \S", _text("docs/decisions.md"), re.MULTILINE)
    cited = {(number, path) for path in _code() for number in _decisions_in(path)}
    others = (*_REPOSITORY.glob("tests/**/*.py"), *_REPOSITORY.glob("*.md"), *_REPOSITORY.glob("docs/*.md"))
    named = {(number, path) for path in others for number in _decisions_in(path)}
    assert len(stated) > 100
    assert len(stated) == len(set(stated))
    assert set(stated) - {number for number, _ in cited} == set()
    assert {(number, path) for number, path in cited | named if number not in stated} == set()


def test_decisions_are_no_more_than_somebody_reads() -> None:
    text = _text("docs/decisions.md")
    assert len(re.findall(r"^- \*\*D-\d+ ", text, re.MULTILINE)) <= _MOST_DECISIONS
    assert len(text.splitlines()) <= _MOST_LINES


def test_no_address_is_spelled_out_but_in_the_table_of_routes() -> None:
    spelled = {
        (module.name, text)
        for module in _MODULES
        if module.is_relative_to(_WEB) and module != _ROUTE_TABLE
        for text in _strings(_tree(module))
        if _ADDRESS.match(text) and text not in _NO_ADDRESSES
    }
    in_templates = {
        (template.name, text)
        for template in _TEMPLATES
        for text in _ADDRESS_IN_TEMPLATE.findall(template.read_text(encoding="utf-8"))
    }
    paths = "|".join(re.escape(route.path.partition("{")[0]) for route in ROUTES if route.path != "/")
    in_words = {
        (words.name, text)
        for words in (*_TEMPLATES, *(_REPOSITORY / "i18n").glob("*.json"))
        for text in re.findall(rf"(?<![\w./<-])(?:{paths})(?!\w)", words.read_text(encoding="utf-8"))
    }
    assert spelled | in_templates | in_words == set()
    assert len(_TEMPLATES) > 20


def test_routes_are_added_in_one_module() -> None:
    adding = {
        module
        for module in _MODULES
        if module.is_relative_to(_WEB)
        for node in ast.walk(_tree(module))
        if isinstance(node, ast.Attribute) and (node.attr == "router" or node.attr.startswith("add_rout"))
    }
    assert adding == {_ROUTE_BINDING}


def test_every_named_address_stands_in_the_table_of_routes() -> None:
    named = {name for template in _TEMPLATES for name in _NAMED.findall(template.read_text(encoding="utf-8"))}
    for module in (module for module in _MODULES if any(function in _read(module) for function in _NAMING)):
        for node in ast.walk(_tree(module)):
            match node:
                case ast.Call(func=ast.Name(id=function), args=[ast.Constant(value=str(name)), *_]):
                    named |= {name} if function in _NAMING else set()
    assert len(named) > 30
    assert named <= {route.name for route in ROUTES}


def _code() -> Iterator[Path]:
    """What runs, and what tests run by: all files in which a decision could be undone."""
    tests = _REPOSITORY / "tests" / "support"
    for folder in (_PROGRAM, *(_REPOSITORY / name for name in _RUNNING), tests):
        yield from (path for path in folder.rglob("*") if path.suffix in _KINDS and path.name != "package-lock.json")
    yield from (_REPOSITORY / name for name in ("Containerfile", "Makefile", "pyproject.toml"))


def _decisions_in(path: Path) -> list[str]:
    return _DECISION.findall(_read(path))


def _strings(tree: ast.AST) -> Iterator[str]:
    """All string literals and parts of f-strings but docstrings and strings that stand alone."""
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone:
            yield node.value


def _text(path: str) -> str:
    return _read(_REPOSITORY / path)
