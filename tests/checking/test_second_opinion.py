"""The second vantage point, as a real command (C-14)."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from weboid.checking import second_opinion
from weboid.checking.second_opinion import CommandOpinion
from weboid.core.record.reasons import Outcome
from weboid.demo.littleweb import open_littleweb
from weboid.demo.world import Host, World

URL = "https://example.org/$(touch%20x);a"
ANSWER = "print(json.dumps({'normal': url, 'outcome': 'working'}))"


def says(tmp_path: Path, code: str) -> list[str]:
    script = tmp_path / "second_opinion.py"
    script.write_text(
        f"import json, os, socket, sys, time\nassert sys.argv[1:] == []\nurl = sys.stdin.readline().strip()\n{code}",
        encoding="utf-8",
    )
    return [sys.executable, str(script)]


@pytest.mark.parametrize("word", [*Outcome, None])
async def test_what_it_says_is_taken(tmp_path: Path, caplog: pytest.LogCaptureFixture, word: Outcome | None) -> None:
    """None: it was not able to ask, which is no fault."""
    command = says(tmp_path, ANSWER.replace("'working'", repr(word and str(word))))
    assert await CommandOpinion(command).outcome(URL) is word
    assert not caplog.records


@pytest.mark.parametrize(
    "code",
    [
        "",
        "print('nonsense')",
        "print('[]')",
        "print('[' * 60_000)",
        "print('9' * 60_000)",
        "sys.stdout.buffer.write(bytes(range(256)))",
        "print(json.dumps({'normal': url}), json.dumps({'normal': url}))",
        "print(json.dumps({'normal': url, 'outcome': 'splendid'}))",
        "print(json.dumps({'normal': url, 'outcome': ['working']}))",
        "print(json.dumps({'normal': 'https://other.example/', 'outcome': 'working'}))",
        f"{ANSWER}; sys.stdout.flush(); os.abort()",
        "while True: print('x' * 10000)",
        "print('x' * 70_000, flush=True); time.sleep(1000)",
    ],
)
async def test_useless_words_change_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture, code: str) -> None:
    assert await CommandOpinion(says(tmp_path, code)).outcome(URL) is None
    assert [record.levelno for record in caplog.records] == [logging.WARNING]


@pytest.mark.parametrize("command", ["/nowhere/weboid", "/"])
async def test_a_command_that_is_not_there_changes_nothing(command: str) -> None:
    assert await CommandOpinion([command]).outcome(URL) is None


async def test_a_command_that_does_not_even_listen_changes_nothing() -> None:
    assert await CommandOpinion([sys.executable, "-S", "-c", ""]).outcome(URL) is None


async def test_nothing_but_one_url_is_ever_said_to_a_command(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    command = says(tmp_path, f"open({str(mark)!r}, 'w')")
    assert await CommandOpinion(command).outcome(f"{URL}\nhttps://other.example/") is None
    assert not mark.exists()


@dataclass
class Held:
    """A connection that a command and all that it has started hold: it closes when the last one is gone."""

    port: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    gone: asyncio.Event = field(default_factory=asyncio.Event)

    def code(self) -> str:
        return f"held = socket.create_connection(('127.0.0.1', {self.port}))\n"


@asynccontextmanager
async def held() -> AsyncIterator[Held]:
    line = Held()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line.begun.set()
        await reader.read()
        line.gone.set()
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        line.port = server.sockets[0].getsockname()[1]
        yield line


ENDLESS = {
    "it": "time.sleep(1000)",
    "it and its child": "os.fork(); time.sleep(1000)",
    "its child": "os.fork() or time.sleep(1000)",
    "it after its answer": f"{ANSWER}; sys.stdout.flush(); os.close(1); time.sleep(1000)",
    "its child after its answer": f"if os.fork():\n    {ANSWER}\nelse:\n    time.sleep(1000)",
}


async def test_a_command_that_does_not_end_is_ended_with_all_it_has_started(tmp_path: Path) -> None:
    async def ended(name: str, code: str) -> None:
        folder = tmp_path / name
        folder.mkdir()
        async with held() as line:
            command = says(folder, line.code() + code)
            for answer_s in (0.5, 5.0, 50.0):  # on a slow machine it takes long to begin
                assert await CommandOpinion(command, answer_s=answer_s).outcome(URL) is None, name
                if line.begun.is_set():
                    break
            await asyncio.wait_for(line.gone.wait(), 60)

    await asyncio.gather(*(ended(name, code) for name, code in ENDLESS.items()))


async def test_who_is_reported_to_stop_leaves_no_command_behind(tmp_path: Path) -> None:
    async with held() as line:
        command = says(tmp_path, f"{line.code()}time.sleep(1000)")
        asking = asyncio.create_task(CommandOpinion(command).outcome(URL))
        await asyncio.wait_for(line.begun.wait(), 60)
        asking.cancel()
        await asyncio.wait_for(line.gone.wait(), 60)
        with pytest.raises(asyncio.CancelledError):
            await asking


async def test_four_are_asked_at_once(tmp_path: Path) -> None:
    now, peak, is_full = 0, 0, asyncio.Event()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal now, peak
        now += 1
        peak = max(peak, now)
        if now == 4:
            is_full.set()
        await is_full.wait()
        await asyncio.sleep(0.1)  # for a fifth to come, if one can
        now -= 1
        writer.close()

    async with await asyncio.start_server(connected, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        command = says(tmp_path, f"socket.create_connection(('127.0.0.1', {port})).recv(1)\n{ANSWER}")
        there = CommandOpinion(command)
        assert set(await asyncio.gather(*(there.outcome(URL) for _ in range(8)))) == {Outcome.WORKING}
    assert peak == 4


async def test_a_vantage_point_that_is_broken_has_a_rest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr(second_opinion, "monotonic", lambda: now)
    monkeypatch.setattr(second_opinion, "_SILENT", 2)
    mood, calls = tmp_path / "mood", tmp_path / "calls"
    mood.write_text("well")
    code = f"open({str(calls)!r}, 'a').write('.')\nif open({str(mood)!r}).read() == 'well':\n    {ANSWER}"
    there = CommandOpinion(says(tmp_path, code))

    async def asked(times: int) -> tuple[list[Outcome | None], int]:
        calls.write_text("")
        return [await there.outcome(URL) for _ in range(times)], len(calls.read_text())

    mood.write_text("ill")
    assert await asked(1) == ([None], 1)
    mood.write_text("well")
    assert await asked(1) == ([Outcome.WORKING], 1)
    mood.write_text("ill")
    assert await asked(4) == ([None] * 4, 2)
    now += second_opinion.REST_S
    assert await asked(2) == ([None] * 2, 1)
    mood.write_text("well")
    now += second_opinion.REST_S
    assert await asked(2) == ([Outcome.WORKING] * 2, 2)


async def test_weboid_itself_is_such_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_littleweb(World({"one.demo": Host()}), day=lambda: 1) as web:
        monkeypatch.setenv("WEBOID_NET_PERMIT", "127.0.0.0/8")
        monkeypatch.setenv("WEBOID_NET_DNS", web.name_server)
        there = CommandOpinion([sys.executable, "-m", "weboid", "check", "--json", "-"])
        urls = (web.located("http://one.demo/"), web.located("http://one.demo/gone"), "https://example.org/")
        assert await asyncio.gather(*map(there.outcome, urls)) == [Outcome.WORKING, Outcome.FAILING, None]
