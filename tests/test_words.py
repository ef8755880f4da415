"""The size and the words of the house: lines per room, pairs of rooms, docstrings, and words that a stranger in the
field would not write (docs/glossary.md has the old names)."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from support.sources import text_of as _read
from support.sources import tree_of as _tree

_REPOSITORY = Path(__file__).resolve().parents[1]
_PROGRAM = _REPOSITORY / "weboid"
_MODULES = sorted(_PROGRAM.rglob("*.py"))
_WITH_ROOMS: Final = ("archive", "cli", "core", "remote", "store", "web", "wiki")
_MOST_LAWS: Final = 100
_NOT_PLAIN = re.compile(r"(?i)(?<![a-z])(elsewhere|whoever|told|mend(?:s|ed|ing)?|beside|for good)(?![a-z])")
_FIXED = re.compile(
    r"""["'](?:beside|(?:[\w-]+-)?(?:elsewhere|told))["']|dead_told|not_told_at_next_check"""
    r"""|"(?:days_until_)?(?:death_|revival_)?told\""""
)
"""Keys and values of settings, messages and reports that others read, which stay as they are."""
_OLD_NAMES: Final = "## Names of commit"
"""Below it the glossary maps old names to new ones."""
_ASKING = re.compile(r"(What|Whether|Who|Whose|Which|How|Where|When|Why)\b")
_LAW = re.compile(r"One law: ")
_TEST_NAMED = re.compile(r"`(test_\w+)`")
_TEXTS = (".py", ".sql", ".md", ".js", ".toml", ".sh", ".service", ".conf")
_WRITTEN = ("weboid", "weboid_scripts", "sql/queries", "tests", "benchmarks", "docs", "gadget", "deploy", "tools")

LINES: Final = {
    ".": 116,
    "archive/lookups": 909,
    "archive/saving": 719,
    "archive/service": 921,
    "archive/visits": 895,
    "bot": 2_676,
    "checking": 2_128,
    "cli": 4_632,
    "cli/processes": 1_601,
    "cli/terminal": 450,
    "config": 1_096,
    "core/archive": 2_786,
    "core/document": 1_946,
    "core/observe": 1_473,
    "core/record": 948,
    "core/signs": 1_459,
    "core/url": 2_080,
    "core/verdict": 1_628,
    "core/wikitext": 1_754,
    "crawl": 1_939,
    "demo": 2_661,
    "feed": 1_777,
    "maintain": 1_082,
    "mechanism": 1_103,
    "net": 3_480,
    "pgfolder": 2_071,
    "remote/crawl": 1_101,
    "remote/feed": 970,
    "remote/http": 841,
    "robot": 988,
    "site": 2_405,
    "store": 47,
    "store/archives": 1_218,
    "store/backup": 1_085,
    "store/db": 1_593,
    "store/lists": 1_672,
    "store/pages": 1_483,
    "store/people": 682,
    "store/results": 258,
    "store/schedule": 669,
    "store/upkeep": 1_505,
    "store/site": 378,
    "store/urls": 916,
    "web": 787,
    "web/answer": 2_091,
    "web/api": 1_177,
    "web/formats": 1_015,
    "web/health": 1_192,
    "web/http": 1_829,
    "web/identity": 955,
    "web/pages": 2_071,
    "web/people": 1_566,
    "web/remote": 76,
    "web/repair": 543,
    "web/request": 1_103,
    "web/words": 740,
    "wiki": 2_455,
    "wiki/criteria": 210,
    "wiki/gadget": 669,
}
"""The most lines of Python of each room. More needs a reason in the body of the commit that raises it (issue 30)."""

PAIRS: Final = {"core": 20, "store": 47, "web": 75}
"""So many pairs of rooms of a floor may import from each other; a module next to the rooms is a room of its own."""


def test_no_room_is_larger_than_its_budget() -> None:
    lines = Counter[str]()
    for module in (module for module in _MODULES if module.name != "__init__.py"):
        lines[_room(module)] += len(_read(module).splitlines())
    assert lines.keys() == LINES.keys()
    assert {room: count for room, count in lines.items() if count > LINES[room]} == {}


@pytest.mark.parametrize("floor", PAIRS)
def test_rooms_of_a_floor_import_from_few_others(floor: str) -> None:
    pairs = set()
    for module in (_PROGRAM / floor).rglob("*.py"):
        importing = module.relative_to(_PROGRAM / floor).with_suffix("").parts[0]
        for node in ast.walk(_tree(module)):
            match node:
                case ast.ImportFrom(module=str(path), names=names) if f"{path}.".startswith(f"weboid.{floor}."):
                    pairs |= {(importing, f"{path}.{each.name}".split(".")[2]) for each in names}
    assert sum(first != second for first, second in pairs) <= PAIRS[floor]


def test_no_docstring_stands_twice() -> None:
    texts = Counter(text for module in _MODULES for text in _docstrings(module))
    assert len(texts) > 2_000
    assert {text for text, count in texts.items() if count > 1} == set()


def test_docstrings_begin_with_a_noun_or_a_verb() -> None:
    found = {(module.name, text) for module in _MODULES for text in _docstrings(module) if _ASKING.match(text)}
    assert found == set()


def test_laws_are_few_and_each_names_the_test_that_backs_it() -> None:
    tests = set(re.findall(r"def (test_\w+)", "\n".join(map(_read, (_REPOSITORY / "tests").rglob("test_*.py")))))
    laws = {module: text for module in _MODULES if _LAW.search(text := ast.get_docstring(_tree(module)) or "")}
    assert len(laws) <= _MOST_LAWS
    assert sum(len(_LAW.findall(_read(module))) for module in _MODULES) == len(laws)
    assert {module for module, text in laws.items() if not tests & set(_TEST_NAMED.findall(text))} == set()


def test_words_are_plain() -> None:
    found = set()
    for path in _written():
        text = _read(path).partition(_OLD_NAMES)[0]
        for number, line in enumerate(text.splitlines() if _NOT_PLAIN.search(text) else (), start=1):
            if _NOT_PLAIN.search(_FIXED.sub("", line)):
                found.add(f"{path.relative_to(_REPOSITORY)}:{number}: {line.strip()}")
    assert found == set(), "\n".join(sorted(found))


def _room(module: Path) -> str:
    floor, *below = module.relative_to(_PROGRAM).parts
    match below:
        case []:
            return "."
        case [room, _, *_] if floor in _WITH_ROOMS:
            return f"{floor}/{room}"
        case _:
            return floor


def _docstrings(module: Path) -> Iterator[str]:
    for node in ast.walk(_tree(module)):
        match node:
            case ast.Module() | ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                if text := ast.get_docstring(node):
                    yield text


def _written() -> Iterator[Path]:
    for folder in _WRITTEN:
        for path in sorted((_REPOSITORY / folder).rglob("*")):
            if path.suffix in _TEXTS and path != Path(__file__) and path.is_file():
                yield path
    yield from _REPOSITORY.glob("*.md")
