"""Hosts that refuse programs by codes which look like failures: what their other URLs say goes before the front page.

Weeks of visits without sockets (`support.scripted_lives`).
"""

import pytest
from support.misbehaving import Script, reply
from support.reported import FINE, HOME, HOST, sent, site
from support.scripted_lives import FIRST_DAY, ScriptedHost

from weboid.core.record.reasons import Outcome, Reason
from weboid.core.verdict.verdict import Verdict

NO = reply(400, body=b"no")
PATHS = ("/a.html", "/b/c.html", "/d.html", "/e.html")
LONG_ENOUGH = 75


def host_of(refused: int, front: bytes) -> Script:
    """A host whose first so many URLs are answered by 400, and whose front page is `front`."""
    return site({"/": front} | dict.fromkeys(PATHS[:refused], NO) | dict.fromkeys(PATHS[refused:], FINE), NO)


def new_host(script: Script) -> ScriptedHost:
    return ScriptedHost([f"http://{HOST}{path}" for path in PATHS], script)


@pytest.mark.parametrize("front", [NO, HOME], ids=["refused", "let through"])
@pytest.mark.parametrize("worked", [0, 15], ids=["new", "worked before"])
async def test_a_host_that_refuses_all_urls_is_never_dead_whatever_its_front_page(front: bytes, worked: int) -> None:
    host = new_host(lambda asked: sent(asked, FINE))
    await host.live(range(FIRST_DAY, FIRST_DAY + worked))
    host.engine.script = host_of(len(PATHS), front)
    await host.live(range(FIRST_DAY + worked, FIRST_DAY + worked + LONG_ENOUGH))
    assert host.dead == {}
    assert {finding.reason for finding in host.findings.values()} == {Reason.BOT_WALL}


@pytest.mark.parametrize(("dead", "front"), [(1, NO), (1, HOME), (2, NO), (2, HOME), (3, HOME)])
async def test_a_code_of_some_urls_counts_where_others_of_the_host_are_answered(dead: int, front: bytes) -> None:
    host = new_host(host_of(dead, front))
    await host.live(range(FIRST_DAY, FIRST_DAY + LONG_ENOUGH))
    verdicts = [finding.verdict for finding in host.findings.values()]
    assert verdicts == [Verdict.DEAD] * dead + [Verdict.WORKING] * (len(PATHS) - dead)


async def test_a_new_url_of_a_host_that_is_known_to_refuse_has_no_strike() -> None:
    host = new_host(host_of(len(PATHS), HOME))
    first = next(iter(host.urls))
    host.due[first] = FIRST_DAY + 17
    await host.live(range(FIRST_DAY, FIRST_DAY + LONG_ENOUGH))
    assert host.dead == {}


async def test_the_front_page_alone_still_decides_for_a_single_url() -> None:
    for front, outcome in ((NO, Outcome.REFUSED), (HOME, Outcome.FAILING)):
        host = ScriptedHost([f"http://{HOST}{PATHS[0]}"], host_of(1, front))
        await host.live(range(FIRST_DAY, FIRST_DAY + LONG_ENOUGH))
        assert {seen.outcome for seen in host.seen[PATHS[0]]} == {outcome}
