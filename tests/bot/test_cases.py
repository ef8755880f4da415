"""``python -m weboid.bot``: cases in, wikitext out."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from click.testing import CliRunner, Result
from support.repairs import COPY, FOUND, NOW, URL
from support.shared import shared

from weboid.bot.__main__ import run
from weboid.bot.cases import repaired_cases
from weboid.core.wikitext.reader import read_wikitext

_BLANKS: Final = re.compile(r"\s*([|}])")


def failed(case: Mapping[str, Any], text: str) -> list[str]:
    expected = case["expect"]
    if expected.get("unchanged"):
        return [] if text == case["wikitext_in"] else ["changed"]
    wrong = [f"contains {part}" for part in expected.get("contains", []) if _plain(part) not in _plain(text)]
    wrong += [f"keep {part}" for part in expected.get("keep", []) if part not in text]
    wrong += [f"not {part}" for part in expected.get("not_contains", []) if part.lower() in text.lower()]
    wrong += [f"count {part}" for part, times in expected.get("count", {}).items() if text.count(part) != times]
    for pattern, times in expected.get("count_regex", {}).items():
        wrong += [f"count {pattern}"] if len(re.findall(pattern, text)) != times else []
    wrong += [f"regex {pattern}" for pattern in expected.get("regex", []) if not re.search(pattern, text)]
    wrong += [f"regex not {pattern}" for pattern in expected.get("regex_not", []) if re.search(pattern, text)]
    if "out" in expected and _plain(text) not in map(_plain, expected["out"]):
        wrong.append("out")
    if "any_of" in expected and not any(all(part in text for part in group) for group in expected["any_of"]):
        wrong.append("any of")
    return [*wrong, *_wrong_parameters(expected.get("params", []), text)]


def _wrong_parameters(expected: list[Mapping[str, Any]], text: str) -> Iterator[str]:
    wikitext = read_wikitext(text)
    for each in expected:
        given = [{one.name: wikitext.value_of(one) for one in template.parameters} for template in wikitext.templates]
        found = [values for values in given if each["url"] in values.values()]
        if not any(_fits(values, each) for values in found):
            yield f"parameters of {each['url']}"


def _fits(values: Mapping[str, str], expected: Mapping[str, Any]) -> bool:
    if any(values.get(name) for name in expected["absent"]):
        return False
    return all(
        name in values and (re.search(value[3:], values[name]) if value.startswith("re:") else values[name] == value)
        for name, value in expected["set"].items()
    )


def _plain(text: str) -> str:
    return _BLANKS.sub(r"\1", text)


_MISSPELLED = {"de-019"}
"""Its answer is of another host: the punycode in it decodes to ``mllerô-hohenfels``, not to ``müller-hohenfels``."""
_CITE = f"{{{{cite web|url={URL}|title=A}}}}"


def case(**changes: Any) -> dict[str, Any]:
    base = {"id": "a", "wiki": "en", "wikitext_in": _CITE, "verdicts": {URL: "dead"}, "archives": {URL: FOUND}}
    return base | changes


def ran(tmp_path: Path, cases: Any, *arguments: str) -> Result:
    (tmp_path / "cases.json").write_text(json.dumps(cases), encoding="utf-8")
    return CliRunner().invoke(run, [str(tmp_path / "cases.json"), *arguments])


def test_the_shared_cases_come_out_as_expected() -> None:
    cases = json.loads(shared("bots/give.json").read_text(encoding="utf-8"))
    settings = json.loads(shared("bots/wikiconfig.json").read_text(encoding="utf-8"))
    complaints: list[str] = []
    texts = repaired_cases(cases, settings, NOW, complaints.append)
    wrong = {each["id"]: failed(each, texts[each["id"]]) for each in cases if failed(each, texts[each["id"]])}
    assert complaints == []
    assert wrong.keys() == _MISSPELLED
    assert len(cases) == 50


def test_the_command_writes_the_text_of_every_case(tmp_path: Path) -> None:
    file, settings = tmp_path / "cases.json", tmp_path / "settings.json"
    file.write_text(json.dumps([case(), case(id="b", verdicts={})]), encoding="utf-8")
    shipped = Path(__file__).resolve().parents[2] / "wikis" / "enwiki.json"
    page = json.loads(shipped.read_text(encoding="utf-8"))
    settings.write_text(json.dumps({"en": page, "defaults": {"trust_tags": False}}), encoding="utf-8")
    command = [sys.executable, "-m", "weboid.bot", str(file), "--settings", str(settings), "--now", "2026-11-22T12:00Z"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    cited = f"{{{{cite web|url={URL}|title=A|archive-url={COPY}|archive-date=7 May 2012|url-status=dead}}}}"
    assert json.loads(done.stdout) == {"a": cited, "b": _CITE}


def test_the_shipped_settings_serve_without_others(tmp_path: Path) -> None:
    done = ran(tmp_path, [case(), case(id="b", wiki="enwiki@WMF"), case(id="c", wiki="enwiki")])
    assert done.exit_code == 0, done.stderr
    assert all("url-status=dead" in text for text in json.loads(done.stdout).values())


def test_what_is_no_case_is_named(tmp_path: Path) -> None:
    for wrong in ("x", {"id": "b", "wiki": "en"}):
        assert "case 2: it needs id, wiki and wikitext_in" in ran(tmp_path, [case(), wrong]).stderr


def test_a_case_whose_options_or_wiki_do_not_fit_keeps_its_text_and_says_why() -> None:
    complaints: list[str] = []
    texts = repaired_cases([case(options={"trust": 1}), case(id="b")], None, NOW, complaints.append)
    assert (texts["a"] == _CITE, texts["b"] == _CITE) == (True, False)
    assert [said.startswith("a: ") and "options.trust" in said for said in complaints] == [True]
    for wiki in ["xx", "../enwiki", "", "defaults"]:
        complaints.clear()
        assert repaired_cases([case(wiki=wiki)], None, NOW, complaints.append) == {"a": _CITE}
        assert len(complaints) == 1, wiki
