"""Recorded outages judged as a crawl would: what is reported, what came back, and which ends are missed."""

import gzip
import json
from pathlib import Path

import pytest

from benchmarks.outages import Life, judged, lives_in
from weboid.core.record.policy import DEFAULT, Policy


def life(tmp_path: Path, *changes: tuple[int, str, int], days: int) -> Life:
    written = [[24 * day, state, code] for day, state, code in changes]
    site = {"site": "site-1", "lives": [{"start": 20_000, "hours": 24 * days, "changes": written}]}
    file = tmp_path / "sites.jsonl.gz"
    file.write_bytes(gzip.compress(json.dumps(site).encode()))
    (found,) = lives_in(file)
    return found


@pytest.mark.parametrize(("code", "span"), [(0, DEFAULT.dead_span), (500, DEFAULT.server_span)])
def test_an_outage_that_ends_within_its_span_is_not_reported_and_an_end_is_within_a_week_more(
    tmp_path: Path, code: int, span: int
) -> None:
    ended = life(tmp_path, (0, "up", 200), (40, "down", code), (40 + span, "up", 200), days=200)
    assert judged(ended, DEFAULT) == ([], None)
    (report,) = judged(life(tmp_path, (0, "up", 200), (40, "down", code), days=200), DEFAULT).reports
    assert span <= report.down_for <= span + 8
    assert (report.was_up, report.later, report.server) == (False, None, code > 0)


def test_what_comes_back_later_and_what_is_missed_are_two_figures(tmp_path: Path) -> None:
    (report,) = judged(life(tmp_path, (0, "down", 0), (60, "up", 200), days=90), DEFAULT).reports
    assert report.later == pytest.approx(25, abs=2)
    late = Policy(dead_strikes=15)
    assert judged(life(tmp_path, (0, "up", 200), (40, "down", 0), days=86), late).missed is None
    slow = Policy(dead_strikes=15, failing_interval=5)
    assert judged(life(tmp_path, (0, "down", 0), days=43), slow).missed == pytest.approx(43, abs=1)
