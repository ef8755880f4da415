"""The story as it is written; that it ends so is in ``tests/whole/test_story.py``."""

import pytest
from support.demo_truth import ground_truth

from weboid.core.observe.observation import Observation
from weboid.core.record.policy import DEFAULT, MISSING
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNTRIED
from weboid.core.record.status import Status
from weboid.core.url.classify import classify
from weboid.core.url.farms import BUILT_IN, farm_named, parse_wiki_name
from weboid.core.verdict.judge import judge
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.demo.articles import ARTICLES, HOST_LIVES
from weboid.demo.story import DAYS as STORY_DAYS
from weboid.demo.story import WIKI, demo_days
from weboid.demo.world import Page, behaviour_on

LAST_DAY = 3600
DAYS = demo_days(LAST_DAY)
TRUTH = dict(ground_truth(str))


def test_the_classes_of_the_links_and_all_kinds_of_ends_are_in_the_story() -> None:
    farm = farm_named(parse_wiki_name(WIKI).farm, BUILT_IN)
    for url, truth in TRUTH.items():
        assert classify(url, farm).kind is truth.kind, url
    ends = {(truth.verdict, word) for truth in TRUTH.values() if truth.is_checked for word in truth.reasons}
    assert len(ends) >= 20
    assert {verdict for verdict, _ in ends} == {Verdict.WORKING, Verdict.DOUBTFUL, Verdict.DEAD}


def test_the_story_is_long_enough_for_every_death_whatever_its_last_day() -> None:
    latest_check = DEFAULT.working_interval + 1
    for article in ARTICLES:
        for link in article.links:
            if link.verdict is Verdict.DEAD:
                host = link.url.split("/")[2]
                begun = max(life[-1].from_day for life in (link.life, HOST_LIVES.get(host, link.life)))
                span = min(DEFAULT.missing_span if why in MISSING else DEFAULT.dead_span for why in link.reasons)
                assert begun + latest_check + span <= STORY_DAYS, link.url


@pytest.mark.parametrize("last_day", range(3600, 3607))
def test_the_revival_of_the_story_is_reported_whatever_its_last_day_and_the_hour_of_its_host(last_day: int) -> None:
    lost, fine = Observation(Status.NOT_FOUND, Reason.NOT_FOUND), Observation(Status.FINE, Reason.OK)
    (life,) = {link.life for article in ARTICLES for link in article.links if link.was_dead}
    for host_key in range(48):
        days, record, verdicts = demo_days(last_day), UNTRIED, []
        day = days[0]
        while day <= last_day:
            seen = fine if isinstance(behaviour_on(life, day - days[0]), Page) else lost
            record, day = judge(record, seen, day, host_key=host_key)
            verdicts.append(finding_of(record).verdict)
        assert Verdict.DEAD in verdicts
        assert verdicts[-1] is Verdict.WORKING
