"""Every file is as .editorconfig has editors write it; of the indentation of Python ruff takes care."""

import re
from collections.abc import Iterator
from configparser import ConfigParser
from functools import cache
from pathlib import Path

import weboid
from weboid.web.http.source_archive import source_files

_REPOSITORY = Path(__file__).resolve().parents[1]


def test_every_file_is_as_editors_are_configured_to_write_it() -> None:
    files = source_files(Path(weboid.__file__).parent)
    assert len(files) > 1_000
    assert [fault for name, path in files.items() for fault in _faults(name, path.read_bytes())] == []


def test_what_is_written_otherwise_is_found() -> None:
    for name, content, faults in [
        ("a.py", b"x\n\ty\n", []),
        ("a.py", b"\xe9\n", ["a.py: not UTF-8"]),
        ("b/a.md", b"x\n\ty", ["b/a.md: no newline at its end"]),
        ("a.yaml", b"x\r\n", ["a.yaml:1: CR or white space at its end"]),
        ("a.yaml", b"x:\n\ty\n", ["a.yaml:2: a tab"]),
        ("gadget/b/a.js", b"\tx {\n  y\n", ["gadget/b/a.js:2: spaces"]),
        ("gadget/b/a.js", b"\tx {\n\t/**\n\t * y\n", []),
        ("i18n/b/a.json", b"\tx\n  y\n", ["i18n/b/a.json:2: spaces"]),
        ("b/i18n/a.json", b"\tx\n  y\n", ["b/i18n/a.json:1: a tab"]),
        ("tests/wiki/fixtures/a.sql", b"x \n", []),
        ("b/a.png", b"\x89PNG\r\n ", []),
    ]:
        assert list(_faults(name, content)) == faults


def _faults(name: str, content: bytes) -> Iterator[str]:
    wanted = _wanted(name)
    if wanted["charset"] == "unset":
        return
    assert (wanted["charset"], wanted["end_of_line"], wanted["insert_final_newline"]) == ("utf-8", "lf", "true")
    try:
        text = content.decode("utf-8")
    except ValueError:
        yield f"{name}: not UTF-8"
        return
    if text and not text.endswith("\n"):
        yield f"{name}: no newline at its end"
    style = "unset" if name.endswith(".py") else wanted["indent_style"]
    for number, line in enumerate(text.split("\n"), 1):
        if line != line.rstrip() and wanted["trim_trailing_whitespace"] == "true":
            yield f"{name}:{number}: CR or white space at its end"
        if style == "space" and re.match(r" *\t", line):
            yield f"{name}:{number}: a tab"
        if style == "tab" and line.startswith("  "):
            yield f"{name}:{number}: spaces"


def _wanted(name: str) -> dict[str, str]:
    return {key: value for form, section in _sections() if form.fullmatch(name) for key, value in section.items()}


@cache
def _sections() -> list[tuple[re.Pattern[str], dict[str, str]]]:
    config = ConfigParser(default_section="")
    config.read_string("[top]\n" + (_REPOSITORY / ".editorconfig").read_text(encoding="utf-8"))
    return [(_form(name), dict(config[name])) for name in config.sections()]


def _form(glob: str) -> re.Pattern[str]:
    """The names that a section's glob matches; one without / matches at every level."""
    words = {"**": ".*", "*": "[^/]*", "{": "(?:", ",": "|", "}": ")"}
    parts = re.findall(r"\*\*|.", glob)
    return re.compile(("" if "/" in glob else "(?:.*/)?") + "".join(words.get(each, re.escape(each)) for each in parts))
