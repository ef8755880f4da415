"""The documents for people: every link leads somewhere, the landing page has all of them, pictures are small."""

import re
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from urllib.parse import unquote

import weboid
from weboid.core.record import policy
from weboid.web.http.source_archive import source_files

_REPOSITORY = Path(__file__).resolve().parents[1]
_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"(!?)\[([^\]]*)\]\(([^()\s]+)\)")
_DOCUMENTS = {
    name: path.read_text(encoding="utf-8")
    for name, path in source_files(Path(weboid.__file__).parent).items()
    if name.endswith(".md") and "/codex/" not in name
}
_MOST_KB = 100
_OWN = ("dead_strikes", "missing_span", "dead_span", "server_span")
"""What a wiki may choose."""


def test_every_link_of_a_document_leads_to_a_file_and_to_a_heading_in_it() -> None:
    links = [(name, target) for name, _, _, target in _links()]
    assert len(links) > 150
    assert [(name, target) for name, target in links if not _leads_somewhere(name, target)] == []


def test_the_landing_page_has_each_document_once() -> None:
    listed = [target for name, is_picture, _, target in _links() if name == "docs/README.md" and not is_picture]
    documents = [target for target in listed if target.endswith(".md")]
    assert len(documents) == len({*documents})
    there = {path.name for path in (_REPOSITORY / "docs").glob("*.md")} - {"README.md"}
    assert there == {target for target in documents if "/" not in target}


def test_every_picture_is_shown_with_words_for_those_who_do_not_see_it_and_is_small() -> None:
    shown = {
        (Path(name).parent / target).as_posix(): words for name, is_picture, words, target in _links() if is_picture
    }
    pictures = [*(_REPOSITORY / "docs").rglob("*.svg"), *(_REPOSITORY / "docs").rglob("*.png")]
    assert {path.relative_to(_REPOSITORY).as_posix() for path in pictures} == {*shown}
    assert all(len(words) > len("A picture") for words in shown.values())
    assert all(path.stat().st_size < _MOST_KB * 1_000 for path in pictures)


def test_the_page_on_verdicts_has_every_number_of_the_policy_and_no_other() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ([\d,]+) \| (?:(\d+)–(\d+))? *\|", _DOCUMENTS["docs/verdicts.md"], re.MULTILINE)
    named = {name: int(value.replace(",", "")) for name, value, *_ in rows}
    constants = {name: value for name, value in vars(policy).items() if isinstance(value, int)}
    assert named == {**asdict(policy.DEFAULT), "gap": policy.DEFAULT.gap, **constants}
    assert {name: (int(least), int(most)) for name, _, least, most in rows if least} == {
        name: (least, getattr(policy.STRICTEST, name)) for name, least in asdict(policy.LOOSEST).items() if name in _OWN
    }


def _links() -> Iterator[tuple[str, bool, str, str]]:
    """Document, whether it is a picture, text and target of every link to this repository."""
    for name, text in _DOCUMENTS.items():
        for mark, words, target in _LINK.findall(_CODE.sub("code", text)):
            if not re.match(r"[a-z]+:", target):
                yield name, mark == "!", words, target


def _leads_somewhere(name: str, target: str) -> bool:
    file, _, heading = target.partition("#")
    path = (_REPOSITORY / name).parent / file if file else _REPOSITORY / name
    if not heading:
        return path.exists()
    return path.is_file() and unquote(heading) in _anchors(path.read_text(encoding="utf-8"))


def _anchors(text: str) -> set[str]:
    """What forges make of the headings: lower case, without punctuation, hyphens for spaces."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
