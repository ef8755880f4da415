"""A wiki in a private network: each way to it says what its operator must permit, once and at once (C-13, issue 28)."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from support.commands import Place, open_place
from support.misbehaving import Zone, name_server
from support.ports import free_port

from weboid.cli import passes
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.config import load_config
from weboid.demo.world import World
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import open_pool

ZONE: Zone = {
    "wiki.corp.test": ["127.0.0.1"],
    "twice.corp.test": ["10.1.2.3", "192.168.7.8"],
    "both.corp.test": ["10.1.2.3", "198.41.0.4"],
    "wiki.public.test": ["198.41.0.4"],
    "lists.public.test": ["10.1.2.3"],
    "silent.corp.test": None,
}
PERMIT = '[net] permit = ["127.0.0.1"]'
PRIVATE = f"is in a private network: {PERMIT}"


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """A folder whose configuration has a wiki by name, at a private address that is not permitted."""
    async with AsyncExitStack() as stack:
        place = await stack.enter_async_context(open_place(tmp_path, World({}), {"One": ["http://good.demo/"]}))
        server = await stack.enter_async_context(name_server(ZONE))
        assert place.wiki
        place.watch("corpwiki@wmflabs", place.wiki.api_url.replace("127.0.0.1", "wiki.corp.test"))
        place.environ |= {
            "WEBOID_NET_DNS": server.address,
            "WEBOID_WIKI_USER": "A@b",
            "WEBOID_WIKI_PASSWORD": "harbourlighthouse",
        }
        del place.environ["WEBOID_NET_PERMIT"]
        yield place


@pytest.mark.parametrize(
    "call",
    [
        ("page", "corpwiki@wmflabs", "One"),
        ("page", "http://127.0.0.1:8/w/api.php", "One"),
        ("page", "https://wiki.corp.test/w/api.php", "One"),
        ("gadget", "--deploy", "https://wiki.corp.test/w/api.php", "--dry-run"),
        ("gadget", "--deploy", "http://127.0.0.1:8/w/api.php", "--user"),
        ("config", "--check"),
    ],
)
async def test_a_command_says_what_to_permit_and_tries_once(place: Place, call: tuple[str, ...]) -> None:
    ran = await place.run(*call)
    assert (ran.status, ran.out) == (2, "")
    assert ran.err.count(PRIVATE) == 1
    assert ran.err.count("\n") == 1
    assert "try again" not in ran.err


@pytest.mark.parametrize(
    ("call", "output"),
    [
        (("feed", "pass"), ("spam list of corpwiki@wmflabs: ", "corpwiki@wmflabs: ", "weboid: ")),
        (("feed", "events", "--farm", "wmflabs", "--once", "--url", "http://wiki.corp.test/stream"), ("weboid: ",)),
        (("feed", "watched"), ("weboid: corpwiki@wmflabs:User:Ann/W.json: ",)),
        (("maintain",), ("settings of corpwiki@wmflabs: ",)),
    ],
)
async def test_what_feeds_says_it_for_each_thing_that_waits_for_it(
    place: Place, database: str, call: tuple[str, ...], output: tuple[str, ...]
) -> None:
    place.environ["WEBOID_DATABASE"] = database
    if call[1:] == ("watched",):
        place.environ["WEBOID_FEED_WATCHED"] = "corpwiki@wmflabs:User:Ann/W.json"
    ran = await place.run(*call)
    lines = [line for line in ran.err.splitlines() if PRIVATE in line and " WARNING " not in line]
    assert [any(line.startswith(begin) for line in lines) for begin in output] == [True] * len(output), ran.err
    assert len(lines) == len(output)
    assert "cannot be reached" not in ran.err


async def test_with_what_it_says_put_in_place_the_wiki_is_read(place: Place, database: str) -> None:
    place.environ |= {"WEBOID_NET_PERMIT": "127.0.0.1", "WEBOID_DATABASE": database}
    checked = await place.run("config", "--check")
    assert (checked.status, checked.err) == (0, "")
    fed = await place.run("feed", "pass")
    assert (fed.status, "1 matching page;" in fed.err) == (0, True)


@pytest.mark.parametrize(
    ("environ", "output"),
    [
        ({"WEBOID_WIKI": '{"a@wmflabs": {"api": "https://twice.corp.test/w/api.php"}}'},
         '[wiki."a@wmflabs"]: https://twice.corp.test/w/api.php is in a private network: '
         '[net] permit = ["10.1.2.3", "192.168.7.8"]'),
        ({"WEBOID_WIKI": '{"a@wmflabs": {"api": "http://[fd00::7]/w/api.php"}}'}, '[net] permit = ["fd00::7"]'),
        ({"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_NET_DENY": "127.0.0.1"}, "must not be contacted: [net] deny"),
        ({"WEBOID_WIKI": '{"a@wmflabs": {"api": "http://wiki.corp.test:22/w/api.php"}}'}, "has a port at which"),
        ({"WEBOID_WIKI": "{}", "WEBOID_FEED_WATCHED": "https://wiki.corp.test/index.php?title=W"}, "[feed] watched: "),
        ({"WEBOID_WIKI": "{}", "WEBOID_PEOPLE_CLIENT": "c", "WEBOID_WEB_SECRET": "s" * 40,
          "WEBOID_PEOPLE_PROVIDER": "https://wiki.corp.test/w/rest.php/oauth2"}, "[people] provider: "),
        ({"WEBOID_WIKI": "{}", "WEBOID_PEOPLE_CLIENT": "c", "WEBOID_WEB_SECRET": "s" * 40,
          "WEBOID_PEOPLE_PROVIDER": "https://wiki.public.test/w/rest.php/oauth2",
          "WEBOID_PEOPLE_API": "https://wiki.corp.test/w/api.php"}, "[people] api: "),
        ({"WEBOID_WIKI": '{"wiki@X": {}}',
          "WEBOID_FARM": '{"X": {"code": 9, "api": "https://{dbname}.public.test/api.php",'
          ' "domains": ["public.test"], "spam_wiki": "lists"}}'}, "[farm.X] spam_wiki: https://lists.public.test/api.php"),
    ],
)  # fmt: skip
async def test_each_wiki_that_is_configured_is_checked(place: Place, environ: dict[str, str], output: str) -> None:
    place.environ |= environ
    ran = await place.run("config", "--check")
    assert (ran.status, ran.out, ran.err.count("\n")) == (2, "", 1)
    assert output in ran.err


async def test_a_name_that_is_not_known_here_is_a_warning_at_most(place: Place) -> None:
    unknown = "weboid: no name server knows unknown.corp.test"
    nobody = {"WEBOID_NET_DNS": f"127.0.0.1:{free_port()}"}
    for host, environ, warned in (
        ("wiki.public.test", {}, ""),
        ("both.corp.test", {}, ""),
        ("unknown.corp.test", {}, unknown),
        ("silent.corp.test", {}, ""),
        ("wiki.corp.test", nobody, ""),
    ):
        place.environ |= {"WEBOID_WIKI": f'{{"a@wmflabs": {{"api": "https://{host}/w/api.php"}}}}', **environ}
        ran = await place.run("config", "--check")
        assert (ran.status, ran.out[:4], ran.err[: len(unknown)]) == (0, "ok: ", warned), ran.err


async def test_what_a_part_is_doing_names_the_wiki_and_no_address(place: Place, database: str) -> None:
    """It is shown to everybody at /status."""
    doing: list[str] = []
    config = load_config(place.folder / "weboid.toml", place.environ)
    async with open_pool(database, size=2, part="test") as pool:
        console = ProcessConsole(doing.append)
        with bar(console) as shown:
            fed = passes.Feeding(local_feed_store(pool), (), lambda: 100, console, shown)
            await fed.next_pass(lambda: config)
            await fed.look(lambda: config)
            seen = doing[-1]
    assert seen.startswith("could not read corpwiki@wmflabs; tries again every ")
    assert not [text for text in doing if "127.0.0.1" in text or "corp.test" in text]


async def test_a_wiki_whose_name_no_name_server_knows_is_said_to_be_one(place: Place) -> None:
    ran = await place.run("page", "http://localhost:8080/api.php", "One")
    assert (ran.status, "no name server knows its name; /etc/hosts" in ran.err, "ssl:" in ran.err) == (2, True, False)
