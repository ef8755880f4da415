"""``weboid check``: an error of its own at one URL keeps it from no other."""

import json
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from support.commands import Place
from support.misbehaving import head_only, reply, serve

from weboid.checking.checker import Checker, CheckResult
from weboid.cli.check import show
from weboid.cli.checking import checked
from weboid.config import load_config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.url.farms import farm_named

TARGETS = ["mailto:a@b.demo", "tel:1", "intent://x/#Intent;end", "javascript:alert(1)", "data:,x", "app://page/1"]


async def given(*urls: str) -> AsyncGenerator[str, None]:
    for url in urls:
        yield url


async def test_a_redirect_out_of_the_web_ends_no_list(tmp_path: Path) -> None:
    async with serve(lambda asked: reply(302, f"Location: {TARGETS[int(asked.target[1:])]}")) as site:
        place = Place(tmp_path, environ={"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0"})
        ran = await place.run("check", "--json", *(site.url(f"/{number}") for number in range(len(TARGETS))))
    assert ran.status == 0
    assert [line["reason"] for line in ran.lines()] == ["redirect-to-scheme"] * len(TARGETS)


@pytest.mark.parametrize("as_json", [True, False])
async def test_an_error_at_one_url_has_a_line_and_a_status_and_the_others_are_checked(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], as_json: bool
) -> None:
    real = Checker.check

    async def planted(self: Checker, question: CheckRequest) -> CheckResult:
        if question.url.endswith("/bad"):
            raise RecursionError
        return await real(self, question)

    monkeypatch.setattr(Checker, "check", planted)
    config = load_config(None, {"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0"})
    async with serve(lambda asked: head_only(asked, reply(200))) as site:
        urls = [site.url(path) for path in ("/a", "/bad", "/b")]
        status = await show(checked(given(*urls), config, farm_named("WMF", config.farms)), as_json=as_json)
    said = capsys.readouterr()
    assert status == 1
    assert "report" in said.err
    if as_json:
        lines = [json.loads(line) for line in said.out.splitlines()]
        assert [line["outcome"] for line in lines] == ["working", None, "working"]
        assert lines[1]["error"] == "could not be checked: RecursionError"
    else:
        assert said.out.count("working") == 2
        assert "RecursionError" in said.out
