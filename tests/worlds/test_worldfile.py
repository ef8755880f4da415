"""Worlds in files: what is written is what is read, what is not understood names its place, and what people see."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts.generate import world as generated
from benchmarks.verdicts.generate import written
from benchmarks.verdicts.mixes import MIXES
from benchmarks.worlds.sight import Sight, is_walled, sight_of
from benchmarks.worlds.stockpages import STOCK
from benchmarks.worlds.worldfile import WorldFile, read_world, world_in
from benchmarks.worlds.worldwords import WorldError
from weboid.assets import toml_next_to
from weboid.demo.life import HourPart, Hours
from weboid.demo.world import (
    BotWall,
    ByMethod,
    Certificate,
    Chain,
    Code,
    Drip,
    HostState,
    Loop,
    Lost,
    NoHead,
    Outage,
    Page,
    Redirect,
    Slow,
    Spell,
    Trouble,
    behaviour_on,
)

_REPOSITORY = Path(__file__).resolve().parents[2]
_CASES = toml_next_to(__file__)


def read(hosts: Any, **rest: Any) -> WorldFile:
    return world_in(json.dumps({"weboid-world": 1, "days": 100, "hosts": hosts, **rest}))


def read_life(life: Any, **rest: Any) -> Any:
    return read({"a.demo": {"paths": {"/x": life}}}, **rest).world.hosts["a.demo"].paths["/x"]


@pytest.mark.parametrize(
    ("word", "behaviour"),
    [
        ("page", Page()),
        ("loop", Loop()),
        ("drip", Drip()),
        ("tarpit", Drip(5.0, tarpit=True)),
        ("silence", Trouble.SILENCE),
        (
            {"page": {"title": "T", "text": "A\nB", "lang": "de", "shows": False}},
            Page("text/html", 2, "T", "A\nB", "", "de", False),
        ),
        ({"status": 404}, Code(404)),
        ({"status": {"code": 503, "retry_after_s": 60}}, Code(503, 60)),
        ({"status": {"code": 404, "page": {"title": "T"}}}, Code(404, page=Page(title="T"))),
        ({"status": {"code": 404, "page": {"soft-404": "de"}}}, Code(404, page=STOCK["soft-404"]["de"])),
        ({"redirect": "/y"}, Redirect("/y")),
        ({"redirect": {"to": "http://b.demo/", "code": 308}}, Redirect("http://b.demo/", 308)),
        ({"chain": 3}, Chain(3)),
        ({"no-head": 0}, NoHead(0)),
        ({"no-head": {"code": 501, "inside": {"status": 410}}}, NoHead(501, inside=Code(410))),
        ({"wall": 429}, BotWall(429)),
        ({"wall": {"how": "reset", "inside": "loop"}}, BotWall(how=Trouble.RESET, inside=Loop())),
        ({"wall": {"code": 200, "page": {"challenge": "en"}}}, BotWall(200, page=STOCK["challenge"]["en"])),
        ({"slow": 3}, Slow(3)),
        ({"slow": {"seconds": 1.5, "inside": {"wall": 403}}}, Slow(1.5, BotWall())),
        ({"drip": {"pause_s": 2}}, Drip(2)),
        ({"by-method": {"head": "page", "get": {"status": 404}}}, ByMethod(Page(), Code(404))),
        ({"for-sale": "fr"}, STOCK["for-sale"]["fr"]),
    ],
)
def test_every_word_is_read(word: Any, behaviour: Any) -> None:
    assert read_life(word) == (Spell(0, behaviour),)


def test_a_life_may_repeat_itself_until_something_else_comes() -> None:
    part = {"from": 10, "until": 16, "repeat": [[2, "page"], [1, "loop"]]}
    assert read_life([[0, "reset"], part, [16, "silence"]]) == (
        Spell(0, Trouble.RESET),
        Spell(10, Page()),
        Spell(12, Loop()),
        Spell(13, Page()),
        Spell(15, Loop()),
        Spell(16, Trouble.SILENCE),
    )
    assert read_life([[0, "reset"], part])[-1] == Spell(16, Page())
    assert read_life([[0, "page"], {"from": 1, "repeat": [[60, "loop"]]}])[-1] == Spell(100, Loop())


def test_hosts_have_states_certificates_and_other_paths() -> None:
    file = read(
        {
            "a.demo": {
                "scheme": "both",
                "life": [[0, "up"], [5, "dns-silent"], [6, {"wall": 403}]],
                "certificate": [[0, "fine"], [3, "expired"]],
                "others": {"soft-404": "en"},
                "paths": {"/ä b?x=1": "page", "/login": {"login": "de"}},
                "unlinked": ["/login"],
                "note": "a host",
            }
        },
        **{"own-outages": [{"from": 3, "to": 4}, {"from": 9, "to": 9, "lost": "names"}]},
    )
    host = file.world.hosts["a.demo"]
    assert [spell.behaviour for spell in host.life] == [HostState.UP, HostState.DNS_SILENT, BotWall()]
    assert host.certificate == (Spell(0, Certificate.FINE), Spell(3, Certificate.EXPIRED))
    assert host.others == (Spell(0, STOCK["soft-404"]["en"]),)
    assert file.links == ("http://a.demo/%C3%A4%20b?x=1", "https://a.demo/%C3%A4%20b?x=1")
    assert file.world.outages == (Outage(3, 4, Lost.ALL), Outage(9, 9, Lost.NAMES))
    assert file.notes == {"a.demo": "a host"}


PAGE: Any = {"a.demo": {"paths": {"/x": "page"}}}


@pytest.mark.parametrize(("host", "rest", "place"), _CASES["wrong"])
def test_what_is_wrong_with_a_file_is_reported_with_its_place(host: Any, rest: Any, place: str) -> None:
    content = {"weboid-world": 1, "days": 10, "hosts": {"a.demo": {**PAGE["a.demo"], **host}}, **rest}
    with pytest.raises(WorldError) as error:
        world_in(json.dumps(content))
    assert place in str(error.value)


@pytest.mark.parametrize(("life", "sight"), _CASES["seen"])
def test_what_a_person_sees_follows_from_what_an_address_does(life: Any, sight: str) -> None:
    hosts = {"a.demo": {"paths": {"/x": life, "/there": "page"}}, "b.demo": {"paths": {"/new": "page"}}}
    assert sight_of(read(hosts).world, "http://a.demo/x", 0) is Sight(sight)


def test_a_redirect_to_a_host_that_does_not_answer_over_its_scheme_leads_nowhere() -> None:
    """Only where she starts does a person try the other scheme."""
    for life, http, https in (
        ("up", Sight.SEEN, Sight.SEEN),
        ("tls-broken", Sight.SEEN, Sight.GONE),
        ("no-http", Sight.GONE, Sight.SEEN),
        ("dns-empty", Sight.GONE, Sight.GONE),
        ("dns-silent", Sight.GONE, Sight.GONE),
    ):
        ways = {f"/{scheme}": {"redirect": f"{scheme}://a.demo/x"} for scheme in ("http", "https")}
        hosts = {"a.demo": {"life": life, "paths": {"/x": {"wall": 403}}}, "b.demo": {"paths": ways}}
        world = read(hosts).world
        assert [sight_of(world, f"http://b.demo{way}", 0) for way in ways] == [http, https], life
        assert is_walled(world, "https://a.demo/x", 0) is not life.startswith("dns-"), life


def test_lives_change_by_the_hour() -> None:
    nightly = {"hours": [[22, 3, "reset"], [12, 13, "loop"]], "else": "page"}
    hours: Hours[Any] = Hours((HourPart(22, 3, Trouble.RESET), HourPart(12, 13, Loop())), Page())
    assert read_life(nightly) == (Spell(0, hours),)
    assert read_life([[0, "page"], [5, "@nightly"]], named={"nightly": nightly})[1] == Spell(5, hours)
    week = read_life([[0, "page"], {"from": 2, "repeat": [[5, "page"], [2, nightly]]}])
    day = [Page(), Trouble.RESET, Trouble.RESET, Page(), Loop()]
    assert [behaviour_on(week, 7, hour) for hour in (21, 22, 2, 3, 12)] == day
    assert behaviour_on(week, 9, 22) == Page()
    whole = read_life({"hours": [[0, 24, "loop"]], "else": "page"})
    assert {behaviour_on(whole, 0, hour) for hour in range(24)} == {Loop()}


@pytest.mark.parametrize("mix", sorted(MIXES))
def test_generated_worlds_are_read_and_always_the_same(mix: str) -> None:
    content = written(generated(40, 1, mix))
    assert content == written(generated(40, 1, mix))
    file = world_in(content)
    assert len(file.world.hosts) == 40
    assert len(file.links) > 60


@pytest.mark.parametrize(
    "file", sorted((_REPOSITORY / "benchmarks" / "worlds").glob("*.json")), ids=lambda file: file.stem
)
def test_the_worlds_that_are_shipped_are_read(file: Path) -> None:
    world = read_world(file)
    assert len(world.links) > len(world.world.hosts)
    assert file.stat().st_size < 300_000


def test_the_example_of_the_guide_is_read() -> None:
    guide = (_REPOSITORY / "docs" / "worlds.md").read_text(encoding="utf-8")
    file = world_in(guide.partition("```json\n")[2].partition("```")[0])
    assert len(file.links) == 5
    assert sight_of(file.world, "https://mill.demo/wheel", 50) is Sight.GONE
