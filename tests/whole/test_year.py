"""A tiny world lived through by the real crawler: TLS, names, an outage of our own; and what the figures say.

That a life without sockets is the same as one on sockets is shown in ``worlds/test_simulated``.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from benchmarks.verdicts.daily import Change, Check
from benchmarks.verdicts.figures import Case, Figures, figures_of, hidings_of, quantiles
from benchmarks.verdicts.worth import worths_of
from benchmarks.verdicts.year import UrlYear, Year, live
from benchmarks.worlds.sight import Sight
from benchmarks.worlds.worldfile import read_world, world_in
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
    found, worth = figures_of(year), worths_of(year, peers=False)["Weboid"]
    assert (worth.live_in_row(), found.missed_revivals) == (0, [])
    dead = ("dying.demo/missing", "dying.demo/back", "left.demo/a", "left.demo/b", "refused.demo/a")
    assert sorted(each.url.url for each in worth.reported) == sorted(urls[name].url for name in dead)
    assert {death.url.url for death in worth.deaths} == {urls[name].url for name in (dead[0], *dead[2:4])}
    assert worth.missed() == []
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
