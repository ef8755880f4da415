"""Saving living links that have no copy: what is submitted, what is believed, and what never is (A-2)."""

import asyncio
import logging
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from support.archives import KEY, SECRET, STAMP, Copy, SavingArchive, failed, failing, open_saving_archive, rate_limited
from support.misbehaving import Asked, HangUp, reply, serve
from support.observations import FINE, LOST
from support.store_reads import list_savings
from support.stored import WikiInStore, key, open_wiki
from support.waiting import until

from weboid.archive.saving.jobs import POLLS
from weboid.archive.saving.progress import MOST_TRIES, SavingTally
from weboid.archive.saving.savable import unsavable_now, unsavable_url
from weboid.archive.saving.save_keys import saves_at
from weboid.archive.saving.saving_round import SavingRound
from weboid.archive.service.client import open_archive_client
from weboid.archive.service.limits import LocalLimiter
from weboid.assets import toml_next_to
from weboid.config import ArchiveConfig, Config, NetConfig, load_config
from weboid.core.archive.services import SERVICES
from weboid.core.observe.observation import Observation
from weboid.core.record.history import Entry
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, UNTRIED
from weboid.core.record.status import Status
from weboid.core.url.farms import BUILT_IN
from weboid.core.url.urls import parse
from weboid.errors import ConfigError
from weboid.store.archives.saving import Saving, SavingState, record_saving
from weboid.store.archives.snapshot import StoredSnapshot, list_snapshots
from weboid.store.pages.spam import record_spam_added

_CASES = toml_next_to(__file__)

DAY = 3_290
NET = NetConfig(permit=(ip_network("127.0.0.1/32"),), user_agent="weboid-tests", answer_s=30.0, connect_s=30.0)
ONE, TWO = "http://one.demo/a", "http://two.demo/b"


@dataclass
class Saver:
    """A worker that saves, with its store and its archive. `day` is today."""

    stored: WikiInStore
    archive: SavingArchive
    day: int = DAY
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def sweep(self, *, limiter: LocalLimiter | None = None, secret: str = SECRET, **values: Any) -> SavingTally:
        service = self.archive.service()
        given = {"daily": 100, "first_poll_s": 0.001, **values}
        async with open_archive_client(NET, limiter or LocalLimiter(patience_s=0.05)) as client:
            work = SavingRound(
                self.stored.pool,
                client,
                service,
                ArchiveConfig((service,), KEY, secret),
                farms=BUILT_IN,
                today=lambda: self.day,
                stopped=self.stopped,
                **given,
            )
            return await work.sweep()

    async def waiting_for_a_job(self) -> asyncio.Task[SavingTally]:
        """A sweep whose first job is pending and was asked about once."""
        self.archive.pendings = 10**6
        sweep = asyncio.create_task(self.sweep(first_poll_s=0.05))
        await until(lambda: self.archive.count("/save/status/spn2-"))
        return sweep

    async def saving(self, url: str = ONE) -> Saving | None:
        return (await self.stored.do(list_savings, [key(url)])).get(key(url))

    async def state(self, url: str = ONE) -> tuple[SavingState, str] | None:
        saving = await self.saving(url)
        return None if saving is None else (saving.state, saving.why)

    async def pass_time(self, url: str = ONE) -> None:
        """Lets the time come at which the saving is to be taken up again."""
        saving = await self.saving(url)
        assert saving is not None
        same: dict[str, Any] = {"state": saving.state, "job": saving.job, "why": saving.why, "tries": saving.tries}
        await self.stored.do(record_saving, saving.key, **same)

    async def snapshots(self, url: str = ONE) -> tuple[StoredSnapshot, ...]:
        return (await self.stored.do(list_snapshots, [key(url)])).get(key(url), ())


@asynccontextmanager
async def saver(
    dsn: str, urls: Iterable[str] = (ONE,), *, finds: Observation = FINE, copies: dict[str, list[Copy]] | None = None
) -> AsyncIterator[Saver]:
    """A store in which these URLs were checked for the first time, and an archive that saves."""
    async with open_wiki(dsn, {1: list(urls)}, day=DAY - 1) as stored, open_saving_archive(copies) as archive:
        await stored.round(DAY, lambda url, day: finds)
        yield Saver(stored, archive)


@pytest.fixture
async def here(database: str) -> AsyncIterator[Saver]:
    async with saver(database) as opened:
        yield opened


def job(number: int) -> str:
    return f"spn2-{number:040x}"


def done(url: str, **more: object) -> dict[str, object]:
    return {"status": "success", "timestamp": str(STAMP), "original_url": url, **more}


async def test_a_living_link_without_a_copy_is_saved_and_becomes_a_snapshot_days_later(here: Saver) -> None:
    tally = await here.sweep()
    assert (tally.sent, tally.saved, tally.shown) == (1, 1, 0)
    assert [form["url"] for form in here.archive.submitted] == [ONE]
    assert here.archive.submitted[0]["skip_first_archive"] == "1"
    saved = await here.saving()
    assert saved is not None
    assert (saved.state, saved.job) == (SavingState.SAVED, str(STAMP))
    # Nothing is a snapshot by the service's word alone.
    assert await here.snapshots() == ()
    assert (await here.sweep()).shown == 0
    await here.pass_time()
    here.day += 3
    tally = await here.sweep()
    assert (tally.shown, tally.sent) == (1, 0)
    assert [snapshot.stamp for snapshot in await here.snapshots()] == [STAMP]
    assert await here.state() == (SavingState.KEPT, "")
    assert len(here.archive.submitted) == 1


async def test_a_job_of_a_service_that_rests_meanwhile_is_asked_about_later_not_sent_again(here: Saver) -> None:
    limiter = LocalLimiter(patience_s=0.05)
    resting = []

    def rest(url: str) -> None:
        resting.append(asyncio.create_task(limiter.rest(here.archive.service(), "rate-limited", 600)))

    here.archive.on_submit = rest
    await here.sweep(limiter=limiter)
    submitted = await here.saving()
    assert submitted is not None
    assert (submitted.state, submitted.job) == (SavingState.SENT, job(1))
    await here.pass_time()
    assert (await here.sweep()).saved == 1
    assert len(here.archive.submitted) == len(resting) == 1


async def test_nothing_is_submitted_of_which_there_is_a_copy_and_that_is_kept(database: str) -> None:
    async with saver(database, [ONE, TWO], copies={ONE: [Copy(20251224010203)]}) as here:
        tally = await here.sweep()
        assert (tally.found, tally.sent) == (1, 1)
        assert [form["url"] for form in here.archive.submitted] == [TWO]
        assert [snapshot.stamp for snapshot in await here.snapshots()] == [20251224010203]
        assert await here.state() == (SavingState.KEPT, "")


@pytest.mark.parametrize("part", ["cdx", "available"])
async def test_where_a_voice_is_silent_nothing_is_submitted(here: Saver, part: str) -> None:
    here.archive.act = lambda asked: failing(500) if part in asked.target else None
    assert (await here.sweep()).put_off == 1
    assert here.archive.submitted == []
    assert await here.state() == (SavingState.WAITING, "error")


async def test_a_link_that_fails_meanwhile_is_not_saved(here: Saver) -> None:
    here.archive.answers["system"] = {"status": "Save Page Now servers are temporarily overloaded."}
    assert (await here.sweep()).why == "not-well"
    here.archive.answers.clear()
    await here.sweep(daily=0)
    await here.stored.round(DAY + 100, lambda url, day: LOST)
    here.day += 100
    await here.sweep()
    assert here.archive.submitted == []
    assert await here.state() in {(SavingState.WAITING, "not-working"), None}


@pytest.mark.parametrize(
    ("says", "state", "why"),
    [
        (reply(200, body=b"<html>Temporarily Offline</html>"), SavingState.WAITING, "unreadable"),
        (reply(500), SavingState.WAITING, "server-error"),
        (HangUp(reset=True), SavingState.SAVED, "unanswered"),
    ],
)
async def test_a_submission_without_a_readable_answer_is_not_repeated_on_the_same_day(
    here: Saver, says: Any, state: SavingState, why: str
) -> None:
    here.archive.refusals[ONE] = says
    for _ in range(2):
        await here.sweep()
        assert await here.state() == (state, why)
        assert len(here.archive.submitted) == 1


async def test_refusals_inside_200_are_distinguished_and_not_repeated_on_the_same_day(database: str) -> None:
    cases: dict[str, tuple[Any, SavingState, str]] = {
        "http://d0.demo/": (failed("blocked-url"), SavingState.REFUSED, "blocked-url"),
        "http://d1.demo/": (failed("no-access"), SavingState.REFUSED, "no-access"),
        "http://d2.demo/": (failed("not-found"), SavingState.REFUSED, "not-found"),
        "http://d3.demo/": (failed("bad-gateway"), SavingState.WAITING, "bad-gateway"),
        "http://d4.demo/": (failed("browsing-timeout"), SavingState.WAITING, "browsing-timeout"),
        "http://d5.demo/": (failed("something-new"), SavingState.WAITING, "something-new"),
        "http://d6.demo/": (failed("too-many-daily-captures"), SavingState.SAVED, "too-many-daily-captures"),
        "http://d7.demo/": ({"message": "This URL is in our block list."}, SavingState.REFUSED, "blocked-url"),
        "http://d8.demo/": ({}, SavingState.WAITING, "no-reason"),
    }
    async with saver(database, cases) as here:
        here.archive.refusals = {url: says for url, (says, _, _) in cases.items()}
        for _ in range(2):
            await here.sweep()
            assert [await here.state(url) for url in cases] == [tuple(last) for _, *last in cases.values()]
            assert sorted(form["url"] for form in here.archive.submitted) == sorted(cases)


@pytest.mark.parametrize("reason", ["user-session-limit", "max-daily-bandwidth", "blocked-client-ip"])
@pytest.mark.parametrize("jobs", [(), (1, 2)])
async def test_limits_of_ours_end_all_sending_and_lose_no_url(database: str, reason: str, jobs: Any) -> None:
    async with saver(database, [ONE, TWO]) as here:
        here.archive.refusals = {} if jobs else {ONE: failed(reason), TWO: failed(reason)}
        here.archive.jobs = {job(number): [failed(reason)] for number in jobs}
        assert (await here.sweep()).why == reason
        # Two are under way at a time at most.
        assert len(here.archive.submitted) <= 2
        states = {await here.state(ONE), await here.state(TWO)}
        assert states <= {(SavingState.WAITING, reason), (SavingState.WAITING, "")}


async def test_a_job_that_is_pending_for_ever_is_given_up_and_looked_for_later(here: Saver) -> None:
    here.archive.pendings = 10 * POLLS
    here.archive.shows = False
    await here.sweep(first_poll_s=0.0)
    assert here.archive.count("/save/status/spn2-") == POLLS
    assert await here.state() == (SavingState.SAVED, "pending")
    await here.pass_time()
    await here.sweep(first_poll_s=0.0)
    # It is nowhere: on another day it may be submitted again, but not now.
    assert await here.state() == (SavingState.WAITING, "not-shown")
    assert len(here.archive.submitted) == 1


async def test_a_success_that_no_index_and_no_replay_shows_is_never_a_snapshot(here: Saver) -> None:
    here.archive.shows = False
    await here.sweep()
    for state in (SavingState.SAVED, SavingState.WAITING):
        await here.pass_time()
        here.archive.refusals[ONE] = failed("bad-gateway")
        await here.sweep()
        assert await here.state() == (state, "not-shown")
    assert await here.snapshots() == ()


async def test_a_saved_login_form_is_no_copy_and_is_not_made_again(here: Saver) -> None:
    form = b"<html lang=en><title>Log in</title><form method=post>Name <input> Password <input type=password></form>"
    await here.sweep()
    here.archive.copies[ONE] = [Copy(STAMP, body=form)]
    for _ in range(3):
        await here.pass_time()
        await here.sweep()
    assert await here.state() == (SavingState.REFUSED, "unsuitable")
    assert await here.snapshots() == ()
    assert len(here.archive.submitted) == 1


async def test_a_url_that_is_put_off_again_and_again_is_given_up(here: Saver) -> None:
    here.archive.refusals[ONE] = failed("job-failed")
    for _ in range(MOST_TRIES + 2):
        await here.sweep()
        if await here.state() != (SavingState.REFUSED, "job-failed"):
            await here.pass_time()
    assert await here.state() == (SavingState.REFUSED, "job-failed")
    assert len(here.archive.submitted) == MOST_TRIES
    # That there is no copy holds for 90 days: it is asked once.
    assert here.archive.count("/cdx/") == 1


async def test_what_was_saved_is_believed_however_its_url_is_spelled_but_not_of_another_page(database: str) -> None:
    said: dict[str, tuple[dict[str, object], tuple[SavingState, str]]] = {
        "http://a.demo/a?b=1&c=2": (done("http://a.demo/a?b=1&amp;c=2"), (SavingState.SAVED, "")),
        "http://b.demo/a?b=1&c=2": (done("HTTPS://www.B.demo:443/A?c=2&b=1"), (SavingState.SAVED, "")),
        "http://c.demo/a?b=1&c=2": (done("http://c.demo/%61?b=1&c=2&utm_source=x"), (SavingState.SAVED, "")),
        ONE: (done("http://other.demo/"), (SavingState.REFUSED, "other-page")),
        TWO: (done(TWO, http_status=404), (SavingState.REFUSED, "status")),
    }
    async with saver(database, said) as here:
        here.archive.on_submit = lambda url: here.archive.jobs.update(
            {job(len(here.archive.submitted)): [said[url][0]]}
        )
        await here.sweep()
        assert [await here.state(url) for url in said] == [state for _, state in said.values()]


async def test_a_job_submitted_before_a_crash_is_asked_about_and_not_submitted_twice(here: Saver) -> None:
    crashed = await here.waiting_for_a_job()
    crashed.cancel()
    await asyncio.gather(crashed, return_exceptions=True)
    left = await here.saving()
    assert left is not None
    assert (left.state, left.job) == (SavingState.SENT, job(1))
    # Nobody else takes it while its worker may still be there.
    assert (await here.sweep()).sent == 0
    await here.pass_time()
    here.archive.jobs[job(1)] = [done(ONE, job_id=job(1))]
    assert (await here.sweep()).saved == 1
    assert len(here.archive.submitted) == 1
    assert await here.state() == (SavingState.SAVED, "")


async def test_a_submission_cut_off_by_a_crash_is_looked_for_before_another(here: Saver) -> None:
    here.archive.answers["save"] = b""
    crashed = asyncio.create_task(here.sweep())
    async with asyncio.timeout(60):
        while await here.state() != (SavingState.SENT, "sending"):
            await asyncio.sleep(0.01)
    crashed.cancel()
    await asyncio.gather(crashed, return_exceptions=True)
    here.archive.answers.clear()
    await here.pass_time()
    await here.sweep()
    assert await here.state() == (SavingState.SAVED, "unanswered")
    assert here.archive.submitted == []
    here.archive.copies[ONE] = [Copy(STAMP)]
    await here.pass_time()
    await here.sweep()
    assert await here.state() == (SavingState.KEPT, "")


async def test_a_stop_leaves_jobs_to_the_next_worker_at_once(here: Saver) -> None:
    stopping = await here.waiting_for_a_job()
    here.stopped.set()
    await asyncio.wait_for(stopping, 60)
    here.stopped.clear()
    here.archive.jobs[job(1)] = [done(ONE)]
    assert (await here.sweep()).saved == 1


@pytest.mark.parametrize(("daily", "sent"), [(2, 98), (99, 1), (500, 0)])
async def test_our_daily_limit_holds_by_the_accounts_own_count(database: str, daily: int, sent: int) -> None:
    async with saver(database, [f"http://d{number}.demo/" for number in range(3)]) as here:
        here.archive.daily = daily
        tally = await here.sweep()
        assert tally.sent == min(sent, 3)
        assert len(here.archive.submitted) == tally.sent


@pytest.mark.parametrize("part", ["system", "user"])
async def test_a_service_that_is_not_well_is_left_alone(here: Saver, part: str) -> None:
    for says in (failing(502), rate_limited("600"), reply(200, body=b"<html>"), HangUp(reset=True)):
        here.archive.answers[part] = says
        assert (await here.sweep()).sent == 0
    assert here.archive.submitted == []


async def test_keys_that_are_refused_are_an_alarm_until_they_are_accepted(here: Saver) -> None:
    assert (await here.sweep(secret="wr0ng")).sent == 0
    assert await here.stored.alarms() == [("archive-saving", "wayback")]
    assert here.archive.submitted == []
    await here.sweep()
    assert await here.stored.alarms() == []


async def test_the_keys_go_to_the_service_and_into_no_log(database: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    asked: list[Asked] = []

    def stranger(request: Asked) -> bytes:
        asked.append(request)
        return reply(200, body=b'{"status": "ok"}')

    async with serve(stranger) as other, saver(database) as here:
        away = reply(302, f"Location: {other.url('/save/status/system')}")
        for part in ("system", "user", "save"):
            here.archive.answers = {part: away}
            await here.sweep()
            await here.pass_time() if await here.saving() else None
        assert asked == []
        await here.sweep(secret="wr0ng")
        output = caplog.text + repr(ArchiveConfig(save_key=KEY, save_secret=SECRET))
        assert not [word for word in (KEY, SECRET, "wr0ng", "LOW ") if word in output]
        # Nor are they sent where nothing is saved.
        system = "/save/status/system"
        lists = [
            each for each in here.archive.site.asked if each.target == system or not each.target.startswith("/save")
        ]
        assert lists
        assert not [request for request in lists if "authorization" in {name.lower() for name in request.headers}]


async def test_a_link_that_is_spam_somewhere_is_not_saved(here: Saver) -> None:
    await here.stored.do(record_spam_added, here.stored.wiki.wiki, {7: {key(ONE): ONE}})
    await here.sweep()
    assert await here.state() == (SavingState.REFUSED, "spam")


def test_keys_are_not_read_from_files_and_without_them_nothing_is_saved(tmp_path: Path) -> None:
    file = tmp_path / "weboid.toml"
    file.write_text('[archive]\nsave_secret = "s3cr3t"\n', encoding="utf-8")
    with pytest.raises(ConfigError, match="set WEBOID_ARCHIVE_SAVE_SECRET in the environment") as caught:
        load_config(file, {})
    assert "s3cr3t" not in str(caught.value)
    config = load_config(None, {"WEBOID_ARCHIVE_SAVE_KEY": KEY, "WEBOID_ARCHIVE_SAVE_SECRET": SECRET})
    assert (config.archive.save_key, config.archive.save_secret) == (KEY, SECRET)
    assert SECRET not in repr(config)
    for archive in (ArchiveConfig(), ArchiveConfig((SERVICES["arquivo"],), "k", "s")):
        config = Config(data=NotImplemented, archive=archive)
        assert saves_at(config) is None


@pytest.mark.parametrize(("url", "why"), _CASES["unsavable"])
def test_what_is_not_for_everybody_is_never_saved(url: str, why: str) -> None:
    assert unsavable_url(parse(url), BUILT_IN) == why


@pytest.mark.parametrize(
    ("status", "reason", "days_ago", "why"),
    [
        (Status.FINE, Reason.OK, 28, ""),
        (Status.FOUND, Reason.MOVED, 0, ""),
        (Status.FINE, Reason.OK, 29, "not-checked"),
        (Status.CORRECTED, Reason.CODE_CORRECTED, 0, "not-working"),
        (Status.FINE, Reason.SOFT_404, 0, "not-working"),
        (Status.NO_ACCESS, Reason.LOGIN, 0, "not-working"),
        (Status.NO_ACCESS, Reason.BOT_WALL, 0, "not-working"),
        (Status.NOT_FOUND, Reason.NOT_FOUND, 0, "not-working"),
    ],
)
def test_only_what_plainly_works_is_saved(status: Status, reason: Reason, days_ago: int, why: str) -> None:
    record = UNTRIED._replace(history=(Entry(status, 1, DAY - days_ago),), reason=reason)
    assert unsavable_now(record, UNKNOWN_HOST, DAY) == why
    assert unsavable_now(UNTRIED, UNKNOWN_HOST, DAY) == "not-checked"
