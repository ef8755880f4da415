"""Laid-out pages: a manifest is played as it says, pages are reported, and an error names its line."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks.content.__main__ import main
from benchmarks.content.manifest import read_manifest
from benchmarks.content.staged import Staged, staged
from benchmarks.worlds.sight import Sight, sight_of
from weboid.demo.replies import ReceivedRequest, reply_of
from weboid.demo.world import Behaviour, Code, RecordedReply, answer_of

_STORY = (
    "<html><title>The ferry of {n}</title><h1>The ferry of {n}</h1><p>"
    + " ".join(f"In year {{n}}{year} the boat took passengers to island number {year}." for year in range(30))
    + "</p></html>"
)
_GONE = (
    "<html><title>Page not found</title><h1>Page not found</h1>"
    "<p>We are sorry: the page that you asked for does not exist, or was moved. Please use the search.</p></html>"
)
_GAMBLING = "<html><title>Lucky wheel</title><p>Spin and win with a bonus for new players every day.</p></html>"


def _laid_out(folder: Path, *lines: dict[str, Any] | str) -> Path:
    """A manifest; a page whose file is text of HTML gets a file of that."""
    written = []
    for number, line in enumerate(lines):
        if isinstance(line, dict):
            for key in ("file", "before"):
                if str(line.get(key, "")).startswith("<"):
                    (folder / f"{number}.{key}").write_text(line[key], encoding="utf-8")
                    line = {**line, key: f"{number}.{key}"}
            line = json.dumps(line)
        written.append(f"{line}\n")
    manifest = folder / "manifest.jsonl"
    manifest.write_text("".join(written), encoding="utf-8")
    return manifest


def _page(url: str, cls: str = "live", file: str = _STORY, **more: Any) -> dict[str, Any]:
    return {"url": url, "cls": cls, "status": 200, "ctype": "text/html", "headers": {}, "file": file, **more}


def _staged(folder: Path, *lines: dict[str, Any], days: int = 10) -> Staged:
    return staged(read_manifest(_laid_out(folder, *lines), folder), days)


def _answer(pages: Staged, host: str, target: str, day: int = 0) -> Behaviour:
    return answer_of(pages.file.world, host, target, day)


def test_a_page_stands_under_its_own_name_with_its_code_headers_and_bytes(tmp_path: Path) -> None:
    headers = {"Server": "gate", "Set-Cookie": ["a=1", "b=2"]}
    wall = _page("https://Ferry.org:8443/x y?a=b#c", "wall", "<p>prove it</p>", status=503, headers=headers)
    pages = _staged(tmp_path, wall)
    assert list(pages.played) == ["https://ferry.org/x%20y?a=b"]
    answer = _answer(pages, "ferry.org", "/x%20y?a=b")
    lines = (("Server", "gate"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"))
    assert answer == RecordedReply(b"<p>prove it</p>", 503, "text/html", lines, shows=False)
    assert isinstance(answer, RecordedReply)
    request = ReceivedRequest("GET", "ferry.org", "/x", {}, keeps=True)
    sent = reply_of(answer, request) or b""
    assert sent.startswith(b"HTTP/1.1 503 ")
    assert b"\r\nServer: gate\r\n" in sent
    assert sent.endswith(b"\r\n\r\n<p>prove it</p>")


def test_a_usurped_page_was_an_honest_one_for_half_of_the_days(tmp_path: Path) -> None:
    pages = _staged(
        tmp_path,
        _page("http://honest.org/x"),
        _page("http://taken.org/x", "usurped", _GAMBLING, siblings="same"),
        _page("http://said.org/x", "usurped", _GAMBLING, before="<p>As it was</p>"),
    )
    assert _answer(pages, "taken.org", "/x", 4) == _answer(pages, "honest.org", "/x")
    assert _answer(pages, "taken.org", "/y", 4) == Code(404)
    assert _answer(pages, "taken.org", "/x", 5) == _answer(pages, "taken.org", "/y", 5)
    assert _answer(pages, "said.org", "/x", 4) == RecordedReply(b"<p>As it was</p>")
    assert sight_of(pages.file.world, "http://taken.org/x", 4) is Sight.SEEN
    assert sight_of(pages.file.world, "http://taken.org/x", 5) is Sight.HIDDEN


def _run(monkeypatch: pytest.MonkeyPatch, *arguments: object) -> int:
    monkeypatch.setattr(sys, "argv", ["benchmarks.content", *map(str, arguments)])
    return main()


def test_the_command_tells_what_was_extent_of_each_page(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    manifest = _laid_out(
        tmp_path,
        _page("http://ferry.org/history/boats", file=_STORY.replace("{n}", "1")),
        _page("http://wall.org/history/boats", "wall", "<p>no</p>", status=403, headers={"cf-mitigated": "challenge"}),
        _page("http://gone.org/history/boats", "soft404", _GONE, siblings="template"),
        _page("http://taken.org/history/boats", "usurped", _GAMBLING, siblings="same"),
        _page("http://[::1]/x"),
    )
    out, wrong = tmp_path / "out.json", tmp_path / "wrong.txt"
    assert _run(monkeypatch, manifest, tmp_path, "--days", 16, "--json", out, "--wrong", wrong) == 0
    shown = json.loads(out.read_text(encoding="utf-8"))
    assert shown["http://ferry.org/history/boats"]["check"] == {"outcome": "working", "reason": "ok"}
    crawl = shown["http://ferry.org/history/boats"]["crawl"]
    assert (crawl["verdict"], crawl["reason"]) == ("working", "ok")
    assert 0 <= crawl["day"] < 16
    wall = shown["http://wall.org/history/boats"]
    assert wall["check"] == {"outcome": "refused", "reason": "bot-wall"}
    assert (wall["crawl"]["verdict"], wall["crawl"]["reason"]) == ("doubtful", "bot-wall")
    gone = shown["http://gone.org/history/boats"]["crawl"]
    assert (gone["verdict"], gone["reason"]) == ("doubtful", "soft-404")
    assert shown["http://[::1]/x"] == {
        "check": {"outcome": None, "reason": None},
        "crawl": {"verdict": None, "reason": None, "day": None},
    }
    assert "http://ferry.org" not in wrong.read_text(encoding="utf-8")
    said = capsys.readouterr().out
    assert "at the check" in said
    assert "after 16 days" in said
    assert "requests a host and month" in said
    assert "not played: 1" in said
