"""``weboid check`` and ``weboid page`` where something is wrong on this machine: without a network nothing is concluded
(C-16), and an error of its own at one URL keeps it from no other.
"""

import json
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
from rich.text import Text
from support.commands import Place, open_place
from support.misbehaving import Zone, head_only, name_server, reply, serve

from weboid.checking.checker import Checker, CheckResult
from weboid.cli.check import show
from weboid.cli.checking import checked
from weboid.cli.terminal.console import print_table
from weboid.config import load_config
from weboid.core.observe.check_request import CheckRequest
from weboid.core.url.farms import farm_named
from weboid.demo.world import Host, HostState, Page, Spell, World

NAMES = [f"host{number}.demo" for number in range(30)]
WORLD = World({name: Host((Spell(0, HostState.REFUSED),), {"/": (Spell(0, Page()),)}) for name in NAMES})
PAGES = {"Harbour": [f"http://{name}/" for name in NAMES]}


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, WORLD, PAGES) as place:
        yield place


@pytest.mark.parametrize("zone", [{}, dict.fromkeys(("", *NAMES)), dict.fromkeys(("", *NAMES), 2)])
async def test_where_no_name_is_known_at_all_nothing_is_said_of_any_link(place: Place, zone: Zone) -> None:
    async with name_server(zone) as names:
        place.environ |= {"WEBOID_NET_DNS": names.address, "WEBOID_NET_ANSWER_S": "2"}
        ran = await place.run("page", "--json", "demowiki@wmflabs", "Harbour")
    assert ran.status == 3
    assert len(ran.lines()) == len(NAMES)
    assert {(line["outcome"], line["reason"], line["status"]) for line in ran.lines()} == {(None, "no-network", None)}
    assert ran.err.count("could not be checked") == 1
    assert "WEBOID_NET_DNS" in ran.err


async def test_where_all_links_fail_but_the_network_is_there_they_are_judged(place: Place) -> None:
    assert place.web
    urls = [place.web.located(f"http://{name}/") for name in NAMES]
    ran = await place.run("check", "--json", *urls, "http://nobody.demo/")
    assert (ran.status, {line["outcome"] for line in ran.lines()}) == (0, {"failing"})
    (place.folder / "weboid.toml").unlink()
    ran = await place.run("check", "--json", *urls, "http://nobody.demo/")
    assert (ran.status, {line["outcome"] for line in ran.lines()}) == (0, {"failing"})


async def test_a_round_without_network_is_an_alarm_that_the_next_good_one_lowers(place: Place, database: str) -> None:
    place.environ["WEBOID_DATABASE"] = database
    assert place.web
    good = place.web.name_server
    assert (await place.run("feed", "pass", "--day", "100")).status == 0
    async with name_server({}) as names:
        place.environ["WEBOID_NET_DNS"] = names.address
        place.day = 107
        ran = await place.run("crawl", "--once", "--day", "107")
        assert (ran.status, "cut off" in ran.err) == (3, True)
        assert "at another hour" not in (await place.run("crawl", "--once", "--hour", "3")).err
    assert "offline" in (await place.run("maintain", "--day", "107")).err
    place.environ["WEBOID_NET_DNS"] = good
    assert (await place.run("crawl", "--once", "--day", "107")).status == 0
    assert "offline" not in (await place.run("maintain", "--day", "107")).err


@pytest.mark.parametrize(
    ("words", "status"), [("--fail /ok", 0), ("--fail /ok /gone", 1), ("/ok /gone", 0), ("--fail http://[x", 1)]
)
async def test_a_dead_link_is_a_failure_where_that_is_asked(tmp_path: Path, words: str, status: int) -> None:
    async with serve(lambda asked: reply(404 if asked.target.endswith("gone") else 200)) as site:
        place = Place(tmp_path, environ={"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0"})
        ran = await place.run(
            "check", "--quick", *(site.url(each) if each[0] == "/" else each for each in words.split())
        )
    assert ran.status == status


async def test_a_dead_link_of_a_page_is_a_failure_where_that_is_asked(place: Place) -> None:
    ran = await place.run("page", "--json", "--fail", "demowiki@wmflabs", "Harbour")
    assert (ran.status, {line["outcome"] for line in ran.lines()}) == (1, {"failing"})


async def given(*urls: str) -> AsyncGenerator[str, None]:
    for url in urls:
        yield url


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
    output = capsys.readouterr()
    assert status == 1
    assert "report" in output.err
    if as_json:
        lines = [json.loads(line) for line in output.out.splitlines()]
        assert [line["outcome"] for line in lines] == ["working", None, "working"]
        assert lines[1]["error"] == "could not be checked: RecursionError"
    else:
        assert output.out.count("working") == 2
        assert "RecursionError" in output.out


async def test_in_a_pipe_a_row_is_a_line_that_no_longer_one_pads(capsys: pytest.CaptureFixture[str]) -> None:
    lines = given("working http://a.demo/", f"dead {'x' * 12_000}\n→_y")
    rows = ([Text(cell) for cell in line.split(" ")] async for line in lines)
    await print_table({"Outcome": "left", "URL": "left"}, rows, "checking")
    assert capsys.readouterr().out == f"Outcome\tURL\nworking\thttp://a.demo/\ndead\t{'x' * 12_000}  →_y\n"
