"""Domains that get another owner, seen by the real crawler (C-11)."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.verdicts.year import UrlYear, Year, live
from benchmarks.worlds.worldfile import read_world
from weboid.core.record.reasons import Reason
from weboid.core.verdict.verdict import Verdict

pytestmark = pytest.mark.long

DAYS = 150
DOUBTS = {Reason.REPLACED, Reason.PARKED, Reason.FOR_SALE, Reason.SOFT_404, Reason.SAME_EVERYWHERE}

Json = dict[str, Any]


def article(topic: str, number: int) -> Json:
    """A page of a site, with a text of its own."""
    lines = [
        f"The {topic} of the {place} was built when the old {thing} had been given up by its {people}."
        for place, thing, people in (
            ("harbour", "ropewalk", "fishermen"),
            ("monastery", "brewery", "monks"),
            ("market", "weighing house", "merchants"),
            ("valley", f"water wheel number {number}", "farmers"),
        )
    ]
    return {"page": {"title": f"The {topic} and its history, part {number}", "text": "\n".join(lines), "lang": "en"}}


def paths(topic: str, count: int = 3) -> Json:
    return {f"/{topic}/{number}.html": article(topic, number) for number in range(count)}


async def lived(hosts: Json, database: str, folder: Path) -> dict[str, list[UrlYear]]:
    """What became of the URLs of these hosts, and of some that are always there, by host."""
    # The sound ones show the crawler that it is not cut off itself.
    sound = {f"sound-{number}.demo": {"paths": paths("tower", 2)} for number in range(6)}
    file = folder / "world.json"
    file.write_text(json.dumps({"weboid-world": 1, "days": DAYS, "hosts": hosts | sound}), encoding="utf-8")
    year: Year = await live(read_world(file), database, folder, lambda day: None, simulated=True)
    assert not year.cut_off
    found: dict[str, list[UrlYear]] = {}
    for url in year.urls:
        found.setdefault(url.url.split("/")[2], []).append(url)
    for host in sound:
        logged = {change.verdict for url in found[host] for change in url.changes}
        assert logged <= {Verdict.UNKNOWN, Verdict.WORKING}
    return found


CHANGE, LATEST_REPORT = 60, 21
"""When owners change without a break, and the days within which it should be reported."""


def lines(topic: str, number: int, *, count: int = 24) -> str:
    """A long text that shares nothing with others but the commonest words."""
    return "\n".join(
        f"You can see the {topic}{number * line}x and the {topic}{number * line}y with all of its {topic}{line}z."
        for line in range(1, count)
    )


def other(title: str, text: str) -> Json:
    return {"page": {"title": title, "text": text, "lang": "en"}}


def from_change_on(topic: str, change: Json, count: int = 3) -> Json:
    return {"paths": {path: [[0, page], [CHANGE, change]] for path, page in paths(topic, count).items()}}


def news(number: int) -> list[Json]:
    """A front page with other news every day, each with a headline as its title, and the name of the site nowhere."""
    days = [[1, other(f"Head{day}{number} line{day}{number}", lines(f"n{day}q", number + 2))] for day in range(40)]
    return [{"from": 0, "repeat": days}]


def dressed_anew(topic: str) -> Json:
    """The same texts under a new title with the name of the site, and with a menu."""
    lives: Json = {}
    for path, page in paths(topic).items():
        before = page["page"]
        text = f"{before['text']}\nHome, archive, contact, newsletter, shop and what our readers say"
        lives[path] = [[0, page], [CHANGE, other(f"{topic.capitalize()} heritage trust", text)]]
    return {"paths": lives}


async def test_a_new_owner_is_reported_in_three_weeks_and_nobody_else(database: str, tmp_path: Path) -> None:
    """The hosts answer all the time, and say of made-up addresses that they are missing."""
    casino = other("Situs slot gacor dan judi online", lines("slot", 3))
    repairs = other("Back soon", lines("repair", 3))
    repaired = {path: [[0, page], [CHANGE, repairs], [CHANGE + 4, page]] for path, page in paths("chapel").items()}
    # Each page becomes another one: two that become the same page show nothing cited any more.
    rewritten = {
        path: [[0, page], [CHANGE, other(f"All of the {part} rebuilt", lines(part, 2))]]
        for part, (path, page) in zip(("pier", "arch"), paths("bridge", 2).items(), strict=True)
    }
    strangers: Json = {
        "gambling.demo": from_change_on("windmill", casino),
        "single.demo": from_change_on("windmill", casino, 1),
        "shop.demo": from_change_on("harbour", other("Cheap branded shoes outlet", lines("shoe", 5))),
        "broker.demo": from_change_on("market", {"for-sale": "en"}),
    }
    living: Json = {
        "redesign.demo": dressed_anew("granary"),
        "repairs.demo": {"paths": repaired},
        "news.demo": {"paths": {f"/{number}": news(number) for number in range(3)}},
        "front.demo": {"paths": {"/latest": news(7)}},
        "rewritten.demo": {"paths": rewritten},
    }
    urls = await lived(strangers | living, database, tmp_path)
    for host in living:
        assert [(url.url, change) for url in urls[host] for change in url.changes if change.day > CHANGE - 45] == []
    for host in strangers:
        for url in urls[host]:
            logged = [change for change in url.changes if change.day >= CHANGE]
            assert [change.verdict for change in logged] == [Verdict.DOUBTFUL], (url.url, logged)
            assert logged[0].reason in DOUBTS
            assert logged[0].day <= CHANGE + LATEST_REPORT, url.url
    assert {
        change.reason
        for host in ("gambling.demo", "single.demo", "shop.demo")
        for url in urls[host]
        for change in url.changes
        if change.day >= CHANGE
    } == {Reason.REPLACED}
