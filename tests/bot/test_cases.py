"""``python -m weboid.bot``: cases in, wikitext out."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from support.repair_cases import failed
from support.repairs import COPY, FOUND, NOW, URL
from support.shared import shared

from weboid.bot.cases import SettingsTable, repaired_cases

_MISSPELLED = {"de-019"}
"""Its answer is of another host: the punycode in it decodes to ``mllerô-hohenfels``, not to ``müller-hohenfels``."""
_CITE = f"{{{{cite web|url={URL}|title=A}}}}"


def case(**changes: Any) -> dict[str, Any]:
    base = {"id": "a", "wiki": "en", "wikitext_in": _CITE, "verdicts": {URL: "dead"}, "archives": {URL: FOUND}}
    return base | changes


def run(tmp_path: Path, cases: Any, *arguments: str) -> "subprocess.CompletedProcess[str]":
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    command = [sys.executable, "-m", "weboid.bot", str(tmp_path / "cases.json"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_the_shared_cases_come_out_as_expected() -> None:
    cases = json.loads(shared("bots/give.json").read_text(encoding="utf-8"))
    settings = SettingsTable(json.loads(shared("bots/wikiconfig.json").read_text(encoding="utf-8")))
    complaints: list[str] = []
    texts = repaired_cases(cases, settings, NOW, complaints.append)
    wrong = {each["id"]: failed(each, texts[each["id"]]) for each in cases if failed(each, texts[each["id"]])}
    assert complaints == []
    assert wrong.keys() == _MISSPELLED
    assert len(cases) == 50


def test_the_command_writes_the_text_of_every_case(tmp_path: Path) -> None:
    settings = tmp_path / "settings.json"
    shipped = Path(__file__).resolve().parents[2] / "wikis" / "enwiki.json"
    page = json.loads(shipped.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({"en": page, "defaults": {"trust_tags": False}}), encoding="utf-8")
    done = run(
        tmp_path, [case(), case(id="b", verdicts={})], "--settings", str(settings), "--now", "2026-11-22T12:00:00Z"
    )
    assert done.returncode == 0, done.stderr
    cited = f"{{{{cite web|url={URL}|title=A|archive-url={COPY}|archive-date=7 May 2012|url-status=dead}}}}"
    assert json.loads(done.stdout) == {"a": cited, "b": _CITE}


def test_the_shipped_settings_serve_without_others(tmp_path: Path) -> None:
    done = run(tmp_path, [case(), case(id="b", wiki="enwiki@WMF"), case(id="c", wiki="enwiki")])
    assert done.returncode == 0, done.stderr
    assert all("url-status=dead" in text for text in json.loads(done.stdout).values())


def test_a_case_with_options_that_do_not_fit_keeps_its_text_and_says_why() -> None:
    complaints: list[str] = []
    texts = repaired_cases([case(options={"trust": 1}), case(id="b")], SettingsTable(None), NOW, complaints.append)
    assert texts["a"] == _CITE
    assert texts["b"] != _CITE
    assert len(complaints) == 1
    assert complaints[0].startswith("a: ")
    assert "options.trust" in complaints[0]


@pytest.mark.parametrize("wiki", ["xx", "../enwiki", "", "defaults"])
def test_a_wiki_without_settings_keeps_its_text(wiki: str) -> None:
    complaints: list[str] = []
    assert repaired_cases([case(wiki=wiki)], SettingsTable(None), NOW, complaints.append) == {"a": _CITE}
    assert len(complaints) == 1


def test_what_is_no_list_of_cases_is_refused(tmp_path: Path) -> None:
    done = run(tmp_path, {"a": 1})
    assert done.returncode == 1
    assert "not a JSON list" in done.stderr
    assert run(tmp_path, [], "--now", "soon").returncode == 2
