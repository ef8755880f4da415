"""Stores of one, five and fifty-five hosts through some months: who shows whether it is our side that fails? (C-16)"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from benchmarks.verdicts.hurry import run_hurried
from benchmarks.verdicts.year import UrlYear, Year, live
from benchmarks.worlds.sight import Sight
from benchmarks.worlds.worldfile import WorldFile, world_in
from weboid.core.record.policy import DEFAULT
from weboid.core.verdict.partial_loss import HOLD_DAYS
from weboid.core.verdict.verdict import Verdict

REFUSED, SILENCE, NO_NAME = "refused", "silence", "dns-gone"
LATE: Final = 2 * DEFAULT.working_interval
"""Days from a death to its first strike, and some by which a check may be late: outages of ours make them so."""

ALL_LOST: Final = {"from": 10, "to": 31}
SERVERS_LOST: Final = {"from": 100, "to": 121, "lost": "servers"}
NAMES_FAIL: Final = {"from": 205, "to": 226, "lost": "names-fail"}


def store(hosts: int, life: Any, *outages: Mapping[str, Any], urls: int = 2, days: int, **rest: Any) -> WorldFile:
    """A store whose hosts all have the same life."""
    paths = {f"/{number}": "page" for number in range(urls)}
    return world_in(
        json.dumps(
            {
                "weboid-world": 1,
                "days": days,
                "own-outages": outages,
                "hosts": {f"host{number}.demo": {"life": life, "paths": paths} for number in range(hosts)},
                **rest,
            }
        )
    )


Lived = Callable[[WorldFile], Year]


@pytest.fixture
def lived(database: str, tmp_path: Path) -> Lived:
    return lambda file: run_hurried(live(file, database, tmp_path, lambda day: None, simulated=True))


def is_dead(url: UrlYear, day: int) -> bool:
    return next((each.verdict for each in reversed(url.changes) if each.day <= day), None) is Verdict.DEAD


def untrue(year: Year, *, late: int = LATE, before: int = 0) -> list[str]:
    """URLs reported dead although they were seen since they are said to be gone, or not reported though long gone.

    Also where it is still reported dead after a check that met it alive. Days before `before` are passed over.
    """
    wrong = []
    for url in year.urls:
        checks = {check.day for check in url.checks}
        gone_for = 0
        for day in range(before, year.file.days):
            seen = url.sights[day] is Sight.SEEN
            gone_for = 0 if seen else gone_for + 1
            dead = is_dead(url, day)
            if dead and gone_for < DEFAULT.dead_span and (not is_dead(url, day - 1) or day in checks):
                wrong.append(f"{url.url} is reported dead on day {day}, gone for {gone_for} days")
            if not dead and gone_for > DEFAULT.dead_span + late:
                wrong.append(f"{url.url} is not reported dead on day {day}, gone for {gone_for} days")
    return wrong


def found_back(year: Year, day: int) -> set[bool]:
    """Whether the URLs, dead before, were reported alive with their first check from a day on, within the interval."""
    back = set()
    for url in year.urls:
        check = min(check.day for check in url.checks if check.day >= day)
        back.add(is_dead(url, day - 1) and check <= day + DEFAULT.dead_interval_limit and not is_dead(url, check))
    return back


def test_a_single_host_that_dies_is_reported_dead_and_one_that_lives_again_alive(lived: Lived) -> None:
    year = lived(store(1, [[0, "up"], [10, NO_NAME], [70, "up"]], urls=3, days=100))
    assert untrue(year) == []
    assert found_back(year, 70) == {True}
    assert year.cut_off == []


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize(("hosts", "urls", "death"), [(1, 5, SILENCE), (5, 2, REFUSED), (5, 1, NO_NAME)])
def test_hosts_that_die_together_are_reported_dead_on_time_and_no_outage_of_ours_kills(
    lived: Lived, hosts: int, urls: int, death: str
) -> None:
    # The second time so late that it is no relapse, which takes longer to be believed.
    life = [[0, "up"], [40, death], [85, "up"], [150, death]]
    year = lived(store(hosts, life, ALL_LOST, SERVERS_LOST, NAMES_FAIL, urls=urls, days=235))
    assert untrue(year) == []
    assert found_back(year, 85) == {True}
    assert not any(10 <= check.day <= 31 or 100 <= check.day <= 121 for url in year.urls for check in url.checks)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("death", [REFUSED, NO_NAME])
def test_fifty_five_hosts_that_die_at_once_are_held_for_four_weeks_and_then_dead(lived: Lived, death: str) -> None:
    life = [[0, "up"], [40, death], [115, "up"]]
    year = lived(store(55, life, ALL_LOST, {**SERVERS_LOST, "from": 130, "to": 151}, urls=1, days=160))
    assert untrue(year, late=LATE + HOLD_DAYS) == []
    assert found_back(year, 115) == {True}


@pytest.mark.long
@pytest.mark.timeout(300)
def test_fifty_five_hosts_that_never_lived_are_judged(lived: Lived) -> None:
    assert untrue(lived(store(55, REFUSED, urls=1, days=50))) == []


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("lost", ["all", "names", "names-fail", "servers", "captive"])
def test_an_outage_of_ours_of_any_length_kills_nothing_that_lives(lived: Lived, lost: str) -> None:
    year = lived(store(5, "up", {"from": 10, "to": 60, "lost": lost}, urls=2, days=75))
    assert untrue(year) == []
    assert {*range(17, 61)} <= {*year.cut_off}
    assert not any(10 <= check.day <= 60 for url in year.urls for check in url.checks)


@pytest.mark.long
@pytest.mark.timeout(300)
@pytest.mark.parametrize("death", [SILENCE, NO_NAME])
def test_without_a_wiki_name_servers_suffice(lived: Lived, death: str) -> None:
    life = [[0, "up"], [40, death], [85, "up"]]
    year = lived(store(1, life, ALL_LOST, SERVERS_LOST, urls=3, days=130, wiki="none"))
    assert untrue(year) == []
    assert found_back(year, 85) == {True}
