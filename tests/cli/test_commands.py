import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import click
import pytest
from support.commands import Place, open_place
from support.pages import prose

from weboid.assets import toml_next_to
from weboid.cli import main
from weboid.demo.world import BotWall, Code, Host, NoHead, Page, Redirect, Spell, World

_CASES = toml_next_to(__file__)

WORLD = World(
    {
        "site.demo": Host(
            paths={
                "/": (Spell(0, Page(title="Home")),),
                "/a": (Spell(0, Page(title="A")),),
                "/gone": (Spell(0, Code(410)),),
                "/moved": (Spell(0, Redirect("/a")),),
                "/wall": (Spell(0, BotWall()),),
                "/broken": (Spell(0, Code(500)),),
                "/nohead": (Spell(0, NoHead()),),
                "/paper.pdf": (Spell(0, Page(kind="application/pdf", size_kib=48)),),
            }
        ),
        "shop.demo": Host(
            paths={"/": (Spell(0, Page(title="Our shop", text=prose(60))),), "/a": (Spell(0, Page(title="A")),)},
            others=(Spell(0, Page(title="Our shop", text=prose(60, 900))),),
        ),
    }
)
PAGES = {
    "Harbour": ["http://site.demo/a", "http://site.demo/gone", "http://site.demo/moved", "http://site.demo/wall"],
    "Mill": ["http://site.demo/nohead", "http://site.demo/paper.pdf", "http://nowhere.demo/x", "http://example.c/x"],
    "Tower": ["http://site.demo/broken"],
}


@pytest.fixture
async def place(database: str, tmp_path: Path) -> AsyncIterator[Place]:
    async with open_place(tmp_path, WORLD, PAGES) as place:
        # All of them answer: a machine that is busy is none of their faults.
        patience = {"WEBOID_NET_ANSWER_S": "10", "WEBOID_NET_CONNECT_S": "10"}
        place.environ |= {"WEBOID_DATABASE": database, **patience}
        yield place


async def test_check_says_a_line_for_each_url_in_the_order_of_the_input(place: Place) -> None:
    assert place.web
    names = ("a", "gone", "moved", "wall", "nohead", "paper.pdf", "broken")
    urls = [place.web.located(f"http://site.demo/{name}") for name in names]
    others = ("nowhere.demo/", "site.demo:6379/", "example.c/x", "example.org/")
    urls += [*(f"http://{url}" for url in others), "mailto:a@b.demo"]
    ran = await place.run("check", "--json", "-", stdin="\n".join(urls))
    lines = ran.lines()
    assert (ran.status, [line["url"] for line in lines]) == (0, urls)
    printed = [(line["class"], line["status"], line["http"], line["outcome"], line["reason"]) for line in lines]
    assert printed == [
        ("watched", 1, 200, "working", "ok"),
        ("watched", 21, 410, "failing", "gone"),
        ("watched", 8, 200, "working", "moved"),
        ("watched", 17, 403, "refused", "forbidden"),
        ("watched", 1, 200, "working", "ok"),
        ("watched", 1, 200, "working", "ok"),
        ("watched", 16, 500, "failing", "server-error"),
        ("watched", 66, None, "failing", "dns-gone"),
        ("watched", 64, None, "doubtful", "bad-port"),
        ("invalid", 128, None, None, "tld"),
        ("example", None, None, None, None),
        ("ignored", None, None, None, None),
    ]
    assert (lines[2]["final"], lines[2]["hops"]) == (urls[0], 1)
    assert (lines[5]["mime"], lines[5]["size_kib"]) == ("pdf", 48)
    assert [line["signals"] for line in lines[:4]] == [[], ["code:410"], [], ["code:403"]]
    keys = "url normal host_unicode class status http outcome reason signals final hops mime size_kib seconds"
    assert list(lines[0]) == [*keys.split(), "probably_meant"]


async def test_check_prints_a_table_for_people_which_says_which_signal_spoke(place: Place) -> None:
    assert place.web
    urls = [place.web.located(f"http://{url}") for url in ("shop.demo/b/1", "site.demo/gone")]
    ran = await place.run("check", *urls, "site.demo")
    words = " ".join(ran.out.split())
    assert (ran.status, "failing gone 410" in words) == (0, True)
    assert "doubtful soft-404 (same-as-made-up) 200" in words
    assert "ignored no http:// or https:// site.demo" in words
    (line,) = (await place.run("check", "--json", "--quick", urls[0])).lines()
    assert line["outcome"] == "working"


async def test_check_prints_a_host_in_unicode_below_its_punycode_unless_that_misleads(place: Place) -> None:
    long = f"http://a.example/{'x' * 90}"  # which nothing folds in a pipe
    words = (await place.run("check", "http://почта.example/", "http://pаypal.example/", long)).out.split()
    assert {"http://xn--80a1acny.example/", "(почта.example)", "http://xn--pypal-4ve.example/", long} <= {*words}
    assert sum(word.startswith("(") for word in words) == 1


async def test_page_checks_the_links_of_a_live_page(place: Place) -> None:
    assert place.wiki
    for wiki, page in (("demowiki@wmflabs", "Harbour"), (place.wiki.api_url, "1")):
        ran = await place.run("page", wiki, page, "--json")
        assert {line["outcome"] for line in ran.lines()} == {"working", "failing", "refused"}


async def test_from_feed_over_rounds_to_what_is_known(place: Place) -> None:
    assert place.web
    fed = await place.run("feed", "pass", "--day", "100")
    assert (fed.status, "3 new" in fed.err) == (0, True), fed.err
    assert "nothing has changed" in (await place.run("feed", "pass", "--day", "100")).err
    for day in (100, 104, 109, 114):
        place.day = day
        assert (await place.run("crawl", "--once", "--day", str(day))).status == 0
    (gone,) = (await place.run("show", "--json", place.web.located("http://site.demo/gone"))).lines()
    assert (gone["verdict"], gone["reason"], gone["strikes"], gone["since"]) == ("dead", "gone", 4, "2017-04-11")
    ran = await place.run("show", "--json", "http://site.demo/never-seen", gone["normal"], "unheardofwiki:1")
    # What is not known does not keep the others back.
    assert (ran.status, [line.get("normal") for line in ran.lines()]) == (2, [None, gone["normal"], None])
    assert ran.err.count("weboid: ") == 2, ran.err
    assert (gone["checked"], gone["next_check"]) == ("2017-04-25", "2017-05-02")
    (entry,) = gone["history"]
    assert list(entry.values()) == [21, 410, "gone", "failing", "2017-04-11", "2017-04-25"]
    page = "demowiki@wmflabs:Harbour"
    shown = (await place.run("show", "--json", page)).lines()
    # A URL is a line, however narrow the window: people copy it.
    assert {line["normal"] for line in shown} <= {*(await place.run("show", page)).out.splitlines()}
    assert {line["verdict"] for line in shown} == {"dead", "working", "doubtful"}
    (broken,) = (await place.run("show", "--json", place.web.located("http://site.demo/broken"))).lines()
    assert (broken["status"], broken["http"], broken["history"][0]["http"]) == (16, 500, 400)


async def test_wrong_input_is_shown_with_status_2(place: Place) -> None:
    for call, output in _CASES["wrong-calls"]:
        ran = await place.run(*call)
        assert (ran.status, output in ran.err, "Traceback" in ran.err) == (2, True, False), (call, ran.err)


async def test_an_error_has_an_error_key_in_json_mode(place: Place) -> None:
    for call in (("show", "http://site.demo/never-seen"), ("page", "demowiki@wmflabs", "No such page")):
        ran = await place.run(*call, "--json")
        assert (ran.status, list(ran.lines()[0])) == (2, ["error"])


def helps(command: click.Command, name: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """The help of a command and of all below it, each with its words."""
    context = click.Context(command, parent=parent, info_name=name, max_content_width=100)
    yield context.command_path, command.get_help(context)
    if isinstance(command, click.Group):
        for below in command.list_commands(context):
            found = command.get_command(context, below)
            assert found is not None
            yield from helps(found, below, context)


def test_help_is_in_whole_sentences_and_cites_nothing_that_an_operator_does_not_have() -> None:
    shown = dict(helps(main, "weboid"))
    assert {"weboid up", "weboid feed events"} <= set(shown)
    cut = {path for path, text in shown.items() if re.search(r"\w\.\.\.\s", text.partition("Options:")[2])}
    citing = {path for path, text in shown.items() if re.search(r"\([A-Z]-\d", text)}
    assert (cut, citing) == (set(), set())
