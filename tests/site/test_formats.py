"""Reports say all that a run found, stream where they can, and break at nothing that a site writes (issue 33)."""

import csv
import json
import re
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path
from typing import get_args
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.site import formats
from weboid.site.formats import FORMATS
from weboid.site.place import Place, State, Summary

SITE = "http://127.0.0.1:43210"
OK = Place(f"{SITE}/b.html", "", f"{SITE}/a.html", "a", "ok", 200, "", "", 1, 3, 7, "b")
BROKEN = OK._replace(url=f"{SITE}/gone.html", state="broken", status=404, reason="not-found")
EXTERNAL = BROKEN._replace(
    url="https://example.org/x", copy="https://archive.example/x", dead_since=20_000, is_new=True
)
FRAGMENT = OK._replace(fragment="sec", state="fragment")
DOUBTFUL = OK._replace(url="https://example.org/wall", state="doubtful", status=403, reason="bot-wall")
PLACES = [OK, *(BROKEN._replace(line=line) for line in range(1, 1_170)), EXTERNAL, FRAGMENT, DOUBTFUL]
SUMMARY = Summary((f"{SITE}/",), {"ok": 1, "broken": 1_170}, {"checked": 9}, {"query-explosion": 2}, 1.5, pages=2)
KEYS = ["url", "fragment", "parent", "kind", "state", "status", "reason", "final", "depth", "line", "column", "text"]

HOSTILE = st.text() | st.sampled_from(
    ["=cmd|' /C calc'!A0", "\x1b]0;x\x07\x1b[2J", "<script>alert(1)</script>", '" onmouseover="x',
     "]]>\ufffe\x00\ud800", 'a\\" -> "b', "javascript:alert(1)", "\u202egpj.exe", "&amp;\x7f"]
)  # fmt: skip
PLACE = st.builds(
    BROKEN._replace, url=HOSTILE, fragment=HOSTILE, parent=HOSTILE, text=HOSTILE, final=HOSTILE, copy=HOSTILE,
    reason=HOSTILE, state=st.sampled_from(get_args(State)), kind=st.sampled_from(["a", "img"]),
)  # fmt: skip


def report_of(name: str, places: Iterable[Place], *, only_new: bool = False) -> str:
    report = FORMATS[name](only_new=only_new)
    return "".join([report.begin(), *map(report.add, places), *report.end(SUMMARY)])


def test_a_json_line_has_the_keys_of_the_contract_and_others_only_where_known() -> None:
    *lines, last = map(json.loads, report_of("jsonl", [OK, EXTERNAL]).splitlines())
    assert list(lines[0]) == KEYS
    assert list(lines[1]) == [*KEYS, "copy", "dead_since", "new"]
    assert (lines[1]["dead_since"], lines[1]["new"]) == ("2024-10-04", True)
    assert last["summary"]["filtered_by"] == {"query-explosion": 2}
    assert last["summary"]["interrupted"] is False


@pytest.mark.parametrize("name", ["jsonl", "csv", "dot"])
def test_lines_are_written_as_places_come(name: str) -> None:
    assert "/gone.html" in FORMATS[name]().add(BROKEN)


@pytest.mark.parametrize("name", ["text", "html", "junit"])
def test_a_url_that_is_broken_at_many_places_is_named_once_with_the_first_five(name: str) -> None:
    report = report_of(name, PLACES)
    assert "1,169 places" in report
    assert set(re.findall(r"/a\.html:(\d+)", report)) == set("12345")
    assert "The server reports that the page does not exist." in report
    assert "Dead since 2024-10-04" in report


def test_text_names_urls_at_fault_by_kind_and_ends_with_the_summary() -> None:
    lines = report_of("text", PLACES).splitlines()
    assert [line for line in lines if line and line[0] != " "] == [
        "Broken: 2 URLs", "https://example.org/x", "/gone.html",
        "Missing anchors: 1 URL", "/b.html#sec",
        "Doubtful: 1 URL", "https://example.org/wall",
        "1,171 links on 2 pages in 1.5 s: 1 ok, 1,170 broken.", "Not followed: query-explosion 2.",
    ]  # fmt: skip
    assert "    copy: https://archive.example/x" in lines


def test_reports_for_people_name_the_files_of_a_folder_and_lead_to_no_server_that_has_gone(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "index.htm").touch()
    places = [
        BROKEN._replace(url=f"{SITE}/a%20b.html", parent=f"{SITE}/sub/"),
        BROKEN._replace(parent=f"{SITE}/ü%20.html?"),
    ]
    for name in ("text", "html", "junit"):
        report = FORMATS[name](folder=tmp_path)
        text = "".join([*map(report.add, places), *report.end(SUMMARY)])
        assert [word for word in ("sub/index.htm:3", "ü .html:3", "a%20b.html") if word not in text] == []
        assert "127.0.0.1" not in text


@pytest.mark.parametrize(("only_new", "failed"), [(False, {"/gone.html", "/b.html#sec"}), (True, set())])
def test_junit_has_one_case_for_each_url_that_fails_where_ci_shall_fail(only_new: bool, failed: set[str]) -> None:
    suite = ElementTree.fromstring(report_of("junit", PLACES, only_new=only_new))[0]
    cases = {case.attrib["name"]: case for case in suite.iter("testcase")}
    assert set(cases) == {"/b.html", "/gone.html", "/b.html#sec", "https://example.org/x", "https://example.org/wall"}
    assert {name for name, case in cases.items() if case.find("failure") is not None} == {
        *failed, "https://example.org/x",
    }  # fmt: skip
    assert cases["https://example.org/wall"].find("skipped") is not None
    assert len(cases["/b.html"]) == 0
    assert (int(suite.attrib["tests"]), int(suite.attrib["failures"])) == (5, 1 + len(failed))


def test_dot_has_pages_and_broken_links_but_no_images() -> None:
    image = OK._replace(url=f"{SITE}/i.png", kind="img")
    assert report_of("dot", [OK._replace(parent=""), OK, image, BROKEN]) == (
        f'strict digraph site {{\n"{OK.url}"\n"{OK.url}"\n"{OK.parent}" -> "{OK.url}"\n'
        f'"{BROKEN.url}" [color=red]\n"{OK.parent}" -> "{BROKEN.url}" [color=red]\n}}\n'
    )


@pytest.mark.parametrize("name", ["text", "html", "junit"])
def test_a_report_keeps_only_so_much_and_counts_the_rest(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "_MOST_CHARACTERS", 10_000)
    report = report_of(name, (BROKEN._replace(url=f"{SITE}/{number}") for number in range(1_000)))
    assert len(report) < 10_000
    assert re.search(r"9\d\d more places of other URLs", report)


class Elements(HTMLParser):
    """Notes the elements of a page, their attributes and where links lead."""

    def __init__(self) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.targets: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names |= {tag, *(f"{tag} {name}" for name, _ in attrs)}
        self.targets += [value or "" for name, value in attrs if name == "href"]


@given(st.lists(PLACE, max_size=4))
def test_nothing_that_a_site_writes_breaks_a_report(places: list[Place]) -> None:
    hidden = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800-\udfff]")
    reports = {name: report_of(name, places) for name in FORMATS}
    assert [name for name, report in reports.items() if hidden.search(report.replace("\r\n", "\n"))] == []
    lines = [json.loads(line) for line in reports["jsonl"].splitlines()[:-1]]
    assert [line["url"] for line in lines] == [place.url for place in places]
    rows = list(csv.reader(reports["csv"].splitlines(keepends=True)))
    assert [len(row) for row in rows] == [15] * (1 + len(places))
    assert [cell for row in rows for cell in row if cell.lstrip()[:1] in tuple("=+-@")] == []
    ElementTree.fromstring(reports["junit"])
    word = r'"(?:[^"\\]|\\.)*"'
    assert re.fullmatch(rf"strict digraph site {{\n(?:{word}(?: -> {word})?(?: \[color=red\])?\n)*}}\n", reports["dot"])
    page = Elements()
    page.feed(reports["html"])
    assert page.names <= {
        "html", "html lang", "meta", "meta charset", "meta name", "meta content", "meta http-equiv", "title", "style",
        "main", "h1", "h2", "h3", "p", "section", "ul", "li", "a", "a href", "a rel",
    }  # fmt: skip
    assert [target for target in page.targets if not target.startswith(("http://", "https://"))] == []
