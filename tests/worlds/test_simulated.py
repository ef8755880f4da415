"""The simulated mode: every request ends as it does over sockets, and so does a whole life."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.idletime import IdleTime

from benchmarks.verdicts import year
from benchmarks.verdicts.hurry import run_hurried
from benchmarks.verdicts.looks import Look, Looks, Visitor
from benchmarks.verdicts.stage import FIRST_DAY, Stage, open_socket_stage
from benchmarks.verdicts.year import Year, daily_as_json, live
from benchmarks.worlds.worldfile import WorldFile, world_in
from weboid.assets import toml_next_to
from weboid.cli.crawl import CrawlOptions, crawl
from weboid.config import NetConfig
from weboid.core.record.reasons import Reason
from weboid.errors import DayRefused
from weboid.net.outbound import Outbound, open_session

_STATES = toml_next_to(__file__)


def whole_world() -> WorldFile:
    """A world with a host for every behaviour and state, with certificates, hours, networks and outages of our own.

    Nothing redirects to a name that is silent: on sockets its look-up may take as long as an answer, and which of the
    two ends first depends on whether the host itself was visited before (as `_OPENING` in ``verdicts/stage`` says).
    """
    hosts: dict[str, Any] = {}
    for number, (name, behaviour) in enumerate(_STATES.items()):
        begins = 0 if number % 3 == 0 else 2
        life = [[0, "up"], [begins, behaviour]] if begins else behaviour
        scheme = "https" if name in ("tls-broken", "silence", "reset") or number % 4 == 1 else "http"
        if name == "no-http":
            scheme = "http"
        hosts[f"{name}.demo"] = {"scheme": scheme, "life": "up" if name == "page" else life, "paths": {"/x": "page"}}
    for fault in ("expired", "wrong-host", "self-signed", "unknown-issuer"):
        hosts[f"{fault}.demo"] = {"scheme": "https", "certificate": [[0, "fine"], [3, fault]], "paths": {"/x": "page"}}
    for number in range(6):
        lost = {"hours": [[4 * number, 4 * number + 6 if number < 5 else 2, "refused"]], "else": "up"}
        hosts[f"hours-{number}.demo"] = {"life": lost, "network": number % 2 + 1, "paths": {"/x": "page"}}
    return world_in(
        json.dumps(
            {
                "weboid-world": 1,
                "days": 11,
                "own-outages": [
                    {"from": 3, "to": 4, "lost": "servers", "networks": [1]},
                    {"from": 6, "to": 6, "lost": "servers"},
                    {"from": 7, "to": 7, "lost": "names", "hosts": ["referrer.demo", "wall.demo"]},
                    {"from": 9, "to": 9, "lost": "captive"},
                ],
                "pauses": [{"from": 5, "to": 5}],
                "hosts": hosts,
            }
        )
    )


async def lived(file: WorldFile, dsn: str, folder: Path, *, simulated: bool = True, **how: Any) -> Year:
    return await live(file, dsn, folder, lambda day: None, simulated=simulated, **how)


@asynccontextmanager
async def idle_stage(file: WorldFile, folder: Path, answer_s: float, ports: tuple[int, int]) -> AsyncIterator[Stage]:
    """A stage on sockets whose servers have the loop's time to answer, not that of the machine."""
    async with open_socket_stage(file, folder, answer_s, ports) as stage:
        stage.open_outbound = idle_session
        yield stage


@asynccontextmanager
async def idle_session(settings: NetConfig) -> AsyncIterator[Outbound]:
    async with open_session(settings) as session:
        yield replace(session, now=asyncio.get_running_loop().time)


@pytest.mark.long
@pytest.mark.timeout(300)
def test_a_life_without_sockets_is_reported_as_one_on_sockets(
    database: str, second_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = whole_world()
    monkeypatch.setattr(year, "open_socket_stage", idle_stage)
    with asyncio.Runner(loop_factory=IdleTime) as runner:
        on_sockets = runner.run(lived(file, database, tmp_path, simulated=False, answer_s=1.0))
    simulated = run_hurried(lived(file, second_database, tmp_path, ports=on_sockets.ports))
    assert simulated.cut_off == on_sockets.cut_off == [6, 9]
    answer, expected = daily_as_json(simulated), daily_as_json(on_sockets)
    other = [url for url in answer if answer[url] != expected[url]]
    assert {url: answer[url] for url in other} == {url: expected[url] for url in other}


def looked(
    host: Any, *, url: str = "http://a.demo/x", hour: int = 0, visitor: Visitor | None = None, **rest: Any
) -> Look:
    content = {"weboid-world": 1, "days": 9, "hosts": {"a.demo": {"paths": {"/x": "page"}, **host}}, **rest}
    return Looks(world_in(json.dumps(content))).look(url, 0, hour, visitor or Visitor())


@pytest.mark.parametrize(
    ("life", "code", "fault"),
    [
        ({"slow": 59}, 200, None),
        ({"slow": 61}, 0, Reason.TIMEOUT),
        ({"wall": {"how": "reset"}}, 0, Reason.RESET),
        ({"redirect": "http://b.demo/"}, 0, Reason.DNS_GONE),
        ({"redirect": "http://10.0.0.1/"}, 0, Reason.NOT_PUBLIC),
    ],
)
def test_a_request_ends_as_the_world_has_it(life: Any, code: int, fault: Reason | None) -> None:
    look = looked({"life": life})
    assert (look.code, look.fault) == (code, fault)


async def test_what_befalls_us_is_lived_through(database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given: list[int] = []
    confirmed: list[int] = []

    async def noted(config: Any, pool: Any, now: Any, options: CrawlOptions) -> bool:
        day = now().day - FIRST_DAY
        given.append(day)
        if day == 27 or (day == 9 and not confirmed):
            raise DayRefused("this day jumps")
        return await crawl(config, pool, now, replace(options, confirmed=True))

    async def confirm(pool: Any, day: int) -> None:
        confirmed.append(day - FIRST_DAY)

    monkeypatch.setattr(year, "crawl", noted)
    monkeypatch.setattr(year, "_confirmed", confirm)
    paths = {f"/{number}": [[0, "page"], [4, {"status": 404}]] for number in range(30)}
    content = {
        "weboid-world": 1,
        "days": 12,
        "pauses": [{"from": 2, "to": 3}],
        "kills": [0, 1],
        "clock": [{"day": 7, "by": 20}, {"day": 10, "days": 1, "by": -3}],
        "hosts": {"a.demo": {"paths": paths}, "b.demo": {"paths": {"/": "page"}}},
    }
    lives = await lived(world_in(json.dumps(content)), database, tmp_path)
    assert given == [0, 0, 1, 1, 4, 5, 6, 27, 8, 9, 9, 7, 11]
    assert (lives.refused, confirmed) == ([7, 9], [9])
    answer = daily_as_json(lives)
    assert all(each[-1][1] == "doubtful" for url, each in answer.items() if "a.demo" in url)
    assert answer["http://b.demo/"][0][:3] == [1, "working", "ok"] or answer["http://b.demo/"][-1][1] == "working"
    assert lives.gap_s is None


@pytest.mark.long
@pytest.mark.timeout(120)
async def test_politeness_is_measured_at_the_servers(database: str, tmp_path: Path) -> None:
    hosts = {f"{name}.demo": {"paths": {f"/{number}": "page" for number in range(4)}} for name in "ab"}
    content = {"weboid-world": 1, "days": 2, "delay": 0.3, "hosts": hosts}
    lives = await lived(world_in(json.dumps(content)), database, tmp_path, simulated=False)
    assert lives.requests >= 8
    assert lives.gap_s is not None
    assert 0.3 <= lives.gap_s < 3
