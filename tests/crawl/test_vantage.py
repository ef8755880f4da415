"""The second vantage point, as a real command (C-14)."""

import sys
from pathlib import Path

import pytest

from weboid.core.reasons import Outcome
from weboid.crawl.vantage import CommandVantage
from weboid.demo.littleweb import open_littleweb
from weboid.demo.world import Host, World

URL = "https://example.org/$(touch%20x);a"


def says(tmp_path: Path, code: str) -> list[str]:
    """A command that runs this Python."""
    script = tmp_path / "vantage.py"
    script.write_text(f"import json, sys, time\nurl = sys.stdin.readline().strip()\n{code}")
    return [sys.executable, str(script)]


@pytest.mark.parametrize("word", list(Outcome))
async def test_what_the_command_says_is_taken(tmp_path: Path, word: Outcome) -> None:
    command = says(tmp_path, f"print(json.dumps({{'normal': url, 'outcome': {str(word)!r}}}))")
    assert await CommandVantage(command).outcome(URL) is word


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print('nonsense')",
        "print('[]')",
        "print(json.dumps({'normal': url, 'outcome': None}))",
        "print(json.dumps({'normal': url, 'outcome': 'splendid'}))",
        "print(json.dumps({'normal': 'https://other.example/', 'outcome': 'working'}))",
        "print(json.dumps({'normal': url, 'outcome': 'working'})); sys.exit(1)",
        "while True: print('x' * 10000)",
    ],
)
async def test_a_command_that_says_nothing_of_use_changes_nothing(tmp_path: Path, code: str) -> None:
    assert await CommandVantage(says(tmp_path, code)).outcome(URL) is None


async def test_a_command_that_hangs_is_ended(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = says(tmp_path, f"time.sleep(3)\nopen({str(mark)!r}, 'w')")
    assert await CommandVantage(command, answer_s=0.5).outcome(URL) is None
    assert not mark.exists()


async def test_a_command_that_is_not_there_changes_nothing() -> None:
    assert await CommandVantage(["/nowhere/weboid"]).outcome(URL) is None


async def test_weboid_itself_is_such_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_littleweb(World({"one.demo": Host()}), day=lambda: 1) as web:
        monkeypatch.setenv("WEBOID_NET_PERMIT", "127.0.0.0/8")
        monkeypatch.setenv("WEBOID_NET_DNS", web.name_server)
        vantage = CommandVantage([sys.executable, "-m", "weboid", "check", "--json", "-"])
        assert await vantage.outcome(web.located("http://one.demo/")) is Outcome.WORKING
        assert await vantage.outcome(web.located("http://one.demo/gone")) is Outcome.FAILING
