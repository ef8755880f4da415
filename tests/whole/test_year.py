"""A tiny world lived through by the real crawler: TLS, names, an outage of our own; and what the figures say.

That a life without sockets is the same as one on sockets is shown in ``worlds/test_simulated``.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.verdicts.daily import Change, Check
from benchmarks.verdicts.figures import Case, Figures, figures_of, hidings_of, limit_of, quantiles
from benchmarks.verdicts.year import UrlYear, Year, live
from benchmarks.worlds.sight import Sight
from benchmarks.worlds.worldfile import read_world, world_in
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.verdict.verdict import Verdict

_REPOSITORY = Path(__file__).resolve().parents[2]
_WORLD = Path(__file__).with_name("year.json")


@pytest.mark.long
async def test_a_tiny_world_is_judged_as_it_was(database: str, tmp_path: Path) -> None:
    days: list[int] = []
    year = await live(read_world(_WORLD), database, tmp_path, days.append, simulated=True)
    assert days == list(range(95))
    assert {21, 37} <= set(year.cut_off) <= {21, 22, 37}
    urls = {url.url.partition("://")[2]: url for url in year.urls}
    found = figures_of(year)
    assert found.wrong == found.premature == found.missed_revivals == []
    assert found.reported == 5
    assert {case.url.url for case in found.deaths} == {
        url.url
        for name, url in urls.items()
        if name in ("dying.demo/missing", "dying.demo/back", "left.demo/a", "left.demo/b", "refused.demo/a")
    }
    assert found.recall(limit_of(year)) == 1.0
    assert {case.url.url for case in found.revivals} == {"http://dying.demo/back", "http://refused.demo/a"}
    assert [case.url.url for case in hidings_of(year)] == ["http://sold.demo/a"]
    assert {check.reason for check in urls["sold.demo/a"].checks} >= {Reason.FOR_SALE}
    assert {check.reason for check in urls["expired.demo/a"].checks} >= {Reason.OK, Reason.CERTIFICATE_EXPIRED}
    assert all(check.outcome is not Outcome.FAILING for check in urls["sound.demo/walled"].checks)
    # What fell into an outage of our own is held against nobody.
    assert not any(
        check.day in (21, 22, 37) and check.outcome is Outcome.FAILING for url in year.urls for check in url.checks
    )
    assert year.requests > sum(len(url.checks) for url in year.urls) / 2


def test_a_world_that_cannot_be_read_ends_with_status_2_and_its_place(tmp_path: Path) -> None:
    file = tmp_path / "world.json"
    file.write_text('{"weboid-world": 1, "days": 5, "hosts": {"a.demo": {"paths": {"/": "pag"}}}}', encoding="utf-8")
    command = [sys.executable, "-m", "benchmarks.verdicts", "--world", str(file)]
    run = subprocess.run(command, cwd=_REPOSITORY, capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout) == (2, "")
    assert 'hosts["a.demo"].paths["/"]: \'pag\'' in run.stderr
    assert "Traceback" not in run.stderr


SEEN, HIDDEN, GONE = Sight.SEEN, Sight.HIDDEN, Sight.GONE


def year_of(*urls: UrlYear) -> Year:
    days = len(urls[0].sights)
    file = world_in(f'{{"weboid-world": 1, "days": {days}, "hosts": {{"a.demo": {{"paths": {{"/": "page"}}}}}}}}')
    return Year(file, 7, list(urls))


def url_of(sights: list[Sight], dead: list[range], checks: list[int] | None = None) -> UrlYear:
    """A URL called dead on some days, checked on some (every day, if not said otherwise)."""
    url = UrlYear("http://a.demo/", 0, tuple(sights))
    for spell in dead:
        url.changes.append(Change(spell.start, Verdict.DEAD, Reason.NOT_FOUND))
        if spell.stop < len(sights):
            url.changes.append(Change(spell.stop, Verdict.WORKING, Reason.OK))
    for day in checks if checks is not None else range(len(sights)):
        fine = sights[day] is SEEN
        url.checks.append(
            Check(
                day,
                Outcome.WORKING if fine else Outcome.FAILING,
                Reason.OK if fine else Reason.NOT_FOUND,
                Status.FINE if fine else Status.NOT_FOUND,
            )
        )
    return url


def figures(sights: list[Sight], *dead: range, checks: list[int] | None = None) -> Figures:
    return figures_of(year_of(url_of(sights, list(dead), checks)))


def took(cases: list[Case]) -> list[int | None]:
    return [case.took for case in cases]


@pytest.mark.parametrize(("day", "is_false"), [(23, True), (24, False)])
def test_dead_is_false_for_fourteen_days_after_people_saw_it(day: int, is_false: bool) -> None:
    found = figures([SEEN] * 11 + [GONE] * 89, range(day, 100))
    assert (len(found.premature), len(found.wrong)) == (int(is_false), 0)
    assert found.precision == (0.0 if is_false else 1.0)


def test_dead_is_wrong_if_it_was_there_or_did_not_stay_away() -> None:
    assert len(figures([SEEN] * 100, range(50, 60)).wrong) == 1
    assert len(figures([SEEN] * 50 + [GONE] * 10 + [SEEN] * 40, range(55, 60)).wrong) == 1
    assert len(figures([SEEN] * 50 + [GONE] * 20 + [SEEN] * 30, range(55, 70)).premature) == 1


def test_what_is_hidden_counts_as_away_but_not_as_a_death() -> None:
    found = figures([SEEN] * 10 + [HIDDEN] * 90, range(40, 100))
    assert (found.reported, found.precision, found.deaths) == (1, 1.0, [])


def test_deaths_are_reported_in_time_late_or_never() -> None:
    sights, limit = [SEEN] * 10 + [GONE] * 90, 7 + DEFAULT.server_span
    for day, recall in ((45, 1.0), (46, 0.0)):
        found = figures(sights, range(day, 100))
        assert (took(found.deaths), found.recall(35)) == ([day - 10], recall)
    assert took(figures(sights).deaths) == [None]
    assert figures([SEEN] * 10 + [GONE] * limit + [SEEN] * 40).deaths == []
    assert len(figures([SEEN] * 10 + [GONE] * (limit + 1) + [SEEN] * 40).deaths) == 1


def test_deaths_behind_a_wall_are_nobody_s_fault() -> None:
    url = url_of([SEEN] * 10 + [GONE] * 90, [])
    url.walled = frozenset(range(30, 40))
    assert figures_of(year_of(url)).deaths == []


def test_revivals_count_from_their_day_to_the_next_check() -> None:
    sights = [GONE] * 50 + [SEEN] * 50
    found = figures(sights, range(20, 57), checks=[20, 40, 57, 70])
    assert (took(found.revivals), found.missed_revivals) == ([7], [])
    found = figures(sights, range(20, 70), checks=[20, 40, 57, 70])
    assert (took(found.revivals), took(found.missed_revivals)) == ([20], [20])
    assert figures([GONE] * 50 + [SEEN] * 3 + [GONE] * 47, range(20, 100), checks=[20, 60]).revivals == []


def test_quantiles_are_of_what_was_reported() -> None:
    url = url_of([GONE], [])
    assert quantiles([Case(url, 0, 1), Case(url, 0, 3), Case(url, 0, None), Case(url, 0, 9)]) == (3, 9, 9)
    assert quantiles([Case(url, 0, None)]) is None
