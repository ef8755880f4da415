"""What tellings of "dead" are worth: sorted by the day, the row and the outage; peers; and the figures of a year."""

import json
from typing import Any

import pytest

from benchmarks.verdicts.daily import Change, Check
from benchmarks.verdicts.figures import Case, Figures, figures_of, quantiles
from benchmarks.verdicts.looks import Looks
from benchmarks.verdicts.peers import PEERS, Peer, Telling
from benchmarks.verdicts.tellings import Cause, Worth, own_tellings, worth_of
from benchmarks.verdicts.year import UrlYear, Year
from benchmarks.worlds.onlooker import Onlooker
from benchmarks.worlds.sight import Sight
from benchmarks.worlds.worldfile import WorldFile, world_in
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.verdict import Verdict

URL = "http://a.demo/x"


def world(host: Any, *, days: int = 200, path: Any = "page", **rest: Any) -> WorldFile:
    return world_in(
        json.dumps(
            {"weboid-world": 1, "days": days, "hosts": {"a.demo": {"life": host, "paths": {"/x": path}}}, **rest}
        )
    )


def worth(file: WorldFile, *answer: tuple[int, int, int]) -> Worth:
    """What tellings are worth: each the day, the beginning of its row, and the day on which it was taken back."""
    onlooker = Onlooker(file)
    url = UrlYear(URL, 0, onlooker.sights(URL), onlooker.walled(URL))
    for day, since, until in answer:
        url.changes.append(Change(day, Verdict.DEAD, Reason.NOT_FOUND, since))
        url.changes.append(Change(day + 1, Verdict.DEAD, Reason.HOST_DOWN, since))
        url.changes.append(Change(until, Verdict.WORKING, Reason.OK, until))
    year = Year(file, 7, [url])
    return worth_of(year, Looks(file), own_tellings(year))


def test_what_is_seen_on_the_day_or_in_the_row_is_reported_apart() -> None:
    file = world([[0, "up"], [50, "refused"], [80, "up"]])
    assert worth(file, (81, 52, 90)).live() == 1
    found = worth(file, (60, 49, 70))
    assert (found.live(), found.live_in_row(), found.live_in_row(Cause.OTHER)) == (0, 1, 1)
    assert worth(file, (60, 50, 70)).live_in_row() == 0


@pytest.mark.parametrize(
    ("length", "bar"), [(14, (0, 14)), (15, (14, 20)), (27, (20, 27)), (30, (27, 30)), (31, (30, 99))]
)
def test_outages_that_end_are_counted_by_their_whole_length(length: int, bar: tuple[int, int]) -> None:
    for state, missing in (("silence", False), ({"status": 404}, True), ({"status": 502}, False)):
        found = worth(world([[0, "up"], [50, state], [50 + length, "up"]]), (60, 50, 120))
        assert found.in_outage(*bar, missing=missing) == 1
        assert found.in_outage(*bar, missing=not missing) == 0
        assert found.in_outage(0, 999, missing=missing) == 1


def test_deaths_are_missed_unless_503_was_all_and_why_the_living_are_called_dead_has_a_name() -> None:
    assert worth(world({"wall": 404}), (30, 10, 40)).live(Cause.WALLED) == 1
    lying = {"status": {"code": 404, "page": {"title": "T"}}}
    assert worth(world("up", path=lying), (30, 10, 40)).live(Cause.DEAD_TO_MACHINES) == 1
    assert worth(world({"hours": [[0, 2, "refused"]], "else": "up"}), (30, 10, 40)).live(Cause.OTHER) == 1
    flapping = [[0, "up"], {"from": 1, "repeat": [[4, "up"], [5, "refused"]]}]
    assert worth(world(flapping), (92, 88, 95)).live_in_row(Cause.FLAPPING) == 1
    gone = [[0, "up"], [100, "dns-gone"]]
    assert len(worth(world(gone)).missed()) == 1
    found = worth(world(gone), (121, 103, 200))
    assert (found.missed(), found.took(missing=False), found.took(missing=True)) == ([], (21, 21), None)
    assert worth(world([[0, "up"], [100, {"status": 503}]])).missed() == []
    assert len(worth(world([[0, "up"], [100, {"status": {"code": 503, "retry_after_s": 9}}]])).deaths) == 0
    assert worth(world([[0, "up"], [160, "dns-gone"]])).deaths == []
    assert worth(world([[0, {"wall": 404}], [100, "dns-gone"]])).deaths[0].took is None


def tellings(name: str, file: WorldFile) -> list[Telling]:
    peer: Peer = next(peer for peer in PEERS if peer.name == name)
    return list(peer.tellings(Looks(file), URL, 0, file.days))


@pytest.mark.parametrize(
    ("name", "soonest", "latest"),
    [("IABot", 6, 13), ("German rule", 28, 42), ("weblinkchecker", 7, 14), ("one shot", 0, 7)],
)
def test_peers_tell_at_their_own_pace(name: str, soonest: int, latest: int) -> None:
    found = tellings(name, world([[0, "up"], [50, {"status": 404}], [150, "up"]]))
    assert len(found) == 1
    assert soonest <= found[0].day - 50 <= latest
    assert 150 <= found[0].until <= 164
    assert tellings(name, world("up")) == []


@pytest.mark.parametrize(
    ("life", "dead_to"),
    [
        ({"wall": 403}, {"weblinkchecker", "one shot"}),
        ({"status": 403}, {"IABot", "weblinkchecker", "one shot"}),
        ({"status": 429}, {"IABot", "weblinkchecker"}),
        ({"slow": 25}, {"one shot"}),
        ({"redirect": "/"}, {"IABot"}),
        ({"no-head": 404}, set()),
    ],
)
def test_peers_read_what_they_find_in_their_own_way(life: Any, dead_to: set[str]) -> None:
    file = world("up", path=life)
    assert {peer.name for peer in PEERS if tellings(peer.name, file)} == dead_to


SEEN, GONE = Sight.SEEN, Sight.GONE


def figures(sights: list[Sight], dead: range, checks: list[int]) -> Figures:
    """Of a URL called dead in a row of days, checked on some."""
    url = UrlYear("http://a.demo/", 0, tuple(sights), changes=[Change(dead.start, Verdict.DEAD, Reason.NOT_FOUND)])
    if dead.stop < len(sights):
        url.changes.append(Change(dead.stop, Verdict.WORKING, Reason.OK))
    url.checks = [Check(day, Outcome.WORKING, Reason.OK, Status.FINE) for day in checks]
    days = len(sights)
    file = world_in(f'{{"weboid-world": 1, "days": {days}, "hosts": {{"a.demo": {{"paths": {{"/": "page"}}}}}}}}')
    return figures_of(Year(file, 7, [url]))


def took(cases: list[Case]) -> list[int | None]:
    return [case.took for case in cases]


def test_revivals_count_from_their_day_to_the_next_check() -> None:
    sights = [GONE] * 50 + [SEEN] * 50
    found = figures(sights, range(20, 57), [20, 40, 57, 70])
    assert (took(found.revivals), found.missed_revivals) == ([7], [])
    found = figures(sights, range(20, 70), [20, 40, 57, 70])
    assert (took(found.revivals), took(found.missed_revivals)) == ([20], [20])
    assert figures([GONE] * 50 + [SEEN] * 3 + [GONE] * 47, range(20, 100), [20, 60]).revivals == []


def test_quantiles_are_of_what_was_reported() -> None:
    url = UrlYear("http://a.demo/", 0, (GONE,))
    assert quantiles([Case(url, 0, 1), Case(url, 0, 3), Case(url, 0, None), Case(url, 0, 9)]) == (3, 9, 9)
    assert quantiles([Case(url, 0, None)]) is None
