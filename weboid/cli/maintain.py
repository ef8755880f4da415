"""``weboid maintain``: deletes what has expired, checks the store, makes the data set, raises and lowers alarms."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Final

import click
from rich.console import Console

from weboid.cli.backup import dsn_of, runner_of, transfer
from weboid.cli.check_store import print_breaches, progress
from weboid.cli.days import clock, day_option, moment_now
from weboid.cli.point_in_time import wal_folder
from weboid.cli.processes.process import run_async
from weboid.cli.processes.running import OwnProcess
from weboid.cli.processes.stopping import until
from weboid.cli.processes.store_process import open_process, run_to_its_end
from weboid.cli.settings import refresh_all_settings
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many
from weboid.cli.watched import with_watched
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.record.policy import Policy
from weboid.errors import StoreError
from weboid.maintain.backup import BackupPlan, back_up_daily
from weboid.maintain.consistency import AT_ONCE, watch_store
from weboid.maintain.dataset import publish
from weboid.maintain.expiry import FEW, ORPHANED_DAYS, SHARE, Expiry, ExpiryPlan, expire, planned
from weboid.maintain.pace import keep_pace
from weboid.maintain.transaction import in_transaction
from weboid.maintain.wal import make_due_base, watch_wal
from weboid.maintain.wiki_rules import apply_rules
from weboid.maintain.wiki_totals import count_wikis
from weboid.mechanism.patience import Again, again_until
from weboid.remote.feed.calls import local_feed_store
from weboid.store.db.pool import Pool
from weboid.store.lists.alarms import AlarmBounds, find_health
from weboid.store.lists.dataset import PARTS, SetKind
from weboid.store.schedule.process import ProcessRole
from weboid.store.upkeep.expiry import Orphans
from weboid.store.upkeep.partition import count_divided

_NAMED: Final = 5
"""The most wikis that are named; of the others only the number is shown."""
_PATIENCE_S: Final = 60.0
_LOOK_S: Final = 300.0
"""The interval at which it is checked whether a new day has begun."""


@click.command("maintain")
@click.option("--dry-run", is_flag=True, help="Show what would be deleted, and write nothing.")
@click.option("--allow-many", is_flag=True, help=f"Delete even more than one in {SHARE} of a wiki's URLs.")
@click.option("--repeat", is_flag=True, help="Run once a day, until stopped.")
@day_option
@click.pass_obj
def command(config: Config, dry_run: bool, allow_many: bool, repeat: bool, day: int | None) -> None:
    """Deletes URLs that no page has used for 100 days, and what hosts needed long ago; repairs what contradicts
    itself in the database; raises and lowers alarms; says how often working links are checked; reads the
    settings of the wikis.

    Run it once a day, while everything else goes on. It ends with status 1 if it would delete too many URLs of a wiki;
    those of the others are deleted.
    """
    console = ProcessConsole()
    today = clock(day)

    async def main() -> bool:
        async with open_process(config, ProcessRole.MAINTAIN, size=AT_ONCE, lasting=repeat) as process:
            console.report = process.report
            if repeat:
                await _repeat(console, process, config, today)
                return True
            work = _once(console, process, config, today(), dry_run=dry_run, allow_many=allow_many)
            return await run_to_its_end(work, process.stopped, "maintain")

    if not run_async(main()):
        sys.exit(1)


async def _repeat(console: Console, process: OwnProcess[Pool], config: Config, today: Callable[[], int]) -> None:
    """Does the work once every day; a failure is reported and tried again a little later."""
    done: int | None = None

    async def wait() -> None:
        nonlocal done
        if done != (day := today()):
            try:
                await _once(console, process, config, day)
                done = day
            except StoreError as error:
                console.print(str(error), style="red", markup=False)
        elif (folder := wal_folder(config)) is not None:
            with suppress(StoreError):
                await watch_wal(process.store, folder, day, moment_now)
        await asyncio.sleep(_LOOK_S)

    while not process.stopped.is_set():
        await until(process.stopped, wait())


async def _once(
    console: Console,
    process: OwnProcess[Pool],
    config: Config,
    day: int,
    *,
    dry_run: bool = False,
    allow_many: bool = False,
) -> bool:
    """Does the work of one day; returns False if expiry was stopped where it would delete too many URLs."""
    pool = process.store
    again = again_until(process.stopped, pool.away)
    plan = await again(in_transaction(pool, planned, day))
    _print_held(console, plan)
    if dry_run:
        console.print(f"{iso(day)}: {many(plan.urls(allow_many=allow_many), 'URL')} would be deleted")
        if not allow_many:
            _print_many(console, plan, day)
        return True
    done = await _expire(console, pool, plan, day, allow_many, config.crawl.log_days, again)
    await _check_store(console, pool, day, config.policy, again)
    await _publish(console, pool, day, config.policy, again)
    watched = await again(partial(with_watched, config, local_feed_store(pool), day))
    await refresh_all_settings(watched, pool, day, console, again)
    if changed := (await apply_rules(pool, day, policy=config.policy, again=again)).values():
        console.print(
            f"{iso(day)}: {many(sum(changed), 'link')} of {many(len(changed), 'wiki')} died or came back by own rules"
        )
    counted = await count_wikis(pool, day, policy=config.policy, again=again)
    console.print(f"{iso(day)}: the links of {many(counted, 'wiki')} are counted")
    pace = await again(in_transaction(pool, keep_pace, day, config.policy, delay_s=config.crawl.delay))
    console.print(f"{iso(day)}: working links are checked every {pace.interval} days")
    await again(partial(count_divided, pool))
    await again(partial(_back_up, console, pool, config, day))
    await again(partial(_keep_wal, console, pool, config, day))
    bounds = AlarmBounds.of(watched)
    health = await again(in_transaction(pool, find_health, day, patience_s=_PATIENCE_S, alarms=bounds))
    for alarm in health.alarms:
        about = f" {alarm.subject}" if alarm.subject else ""
        console.print(f"alarm {alarm.kind}{about}, since {iso(alarm.since)}: {alarm.detail}", style="red", markup=False)
    return done


async def _expire(
    console: Console, pool: Pool, plan: ExpiryPlan, day: int, allow_many: bool, log_days: int, again: Again
) -> bool:
    """Deletes what has expired and prints how much; returns False if that was stopped."""
    with bar(console) as shown:
        task = shown.add_task(f"{iso(day)}: expiry", total=plan.urls(allow_many=allow_many))

        def show(so_far: Expiry) -> None:
            shown.update(task, completed=so_far.urls)

        done = await expire(pool, plan, day, allow_many=allow_many, log_days=log_days, show=show, again=again)
    used = f", {done.used} are in use again" if done.used else ""
    console.print(
        f"{iso(day)}: {many(done.urls, 'URL')} and {many(done.hosts, 'host')} deleted{used}, "
        f"{many(done.specials, 'special')} of hosts and {many(done.reports, 'report')} deleted"
    )
    if not allow_many:
        _print_many(console, plan, day)
    return allow_many or not plan.many


async def _check_store(console: Console, pool: Pool, day: int, policy: Policy, again: Again) -> None:
    """Repairs what is derived and wrong: in a large store in a share of it, another one each day."""
    with progress(console) as show:
        found = await watch_store(pool, day, policy=policy, show=show, again=again)
    print_breaches(console, found)


async def _publish(console: Console, pool: Pool, day: int, policy: Policy, again: Again) -> None:
    """Makes the files of the public data set, once a week."""
    with bar(console) as shown:
        task = shown.add_task(f"{iso(day)}: data set", total=PARTS * len(SetKind), visible=False)

        def show(parts: int) -> None:
            shown.update(task, completed=parts, visible=True)

        if await again(partial(publish, pool, day, policy=policy, show=show)):
            console.print(f"{iso(day)}: the public data set is made")


async def _back_up(console: Console, pool: Pool, config: Config, day: int) -> None:
    """Makes the backup of the day, if a folder is configured."""
    folder, keep = config.backup.folder, config.backup.keep
    plan = BackupPlan(folder, keep, dsn_of(config), runner_of(config)) if folder else None
    with transfer(console) as show:
        made = await back_up_daily(pool, plan, day, show=show)
    if made is not None:
        console.print(f"{iso(day)}: {made.place}: {made.bytes:,} bytes, read back whole", markup=False)


async def _keep_wal(console: Console, pool: Pool, config: Config, day: int) -> None:
    """Makes the weekly base backup of the embedded database, if its log is archived."""
    folder, failure = wal_folder(config), ""
    if folder is not None:
        try:
            if (base := await make_due_base(folder, moment_now)) is not None:
                console.print(f"{iso(day)}: base backup {base.path}", markup=False)
        except StoreError as error:
            failure = str(error)
    await watch_wal(pool, folder, day, moment_now, failure=failure)


def _print_held(console: Console, plan: ExpiryPlan) -> None:
    """Prints the wikis whose pass is needed, those first that hold longest."""
    if not (holding := plan.holding):
        return
    names = [f"{_of(each)} ({'never' if each.passed is None else iso(each.passed)})" for each in holding]
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    held = sum(each.urls - each.free for each in holding)
    console.print(
        f"{held} URLs without use for {ORPHANED_DAYS} days wait for a pass over {', '.join(names[:_NAMED])}{more}; of "
        "a wiki that is closed: weboid forget",
        style="yellow",
        markup=False,
    )


def _print_many(console: Console, plan: ExpiryPlan, day: int) -> None:
    """Prints the wikis of which too many URLs would be deleted."""
    for each in plan.many:
        console.print(
            f"{iso(day)}: {_of(each)}: not deleted: {each.free} URLs have expired, more than {FEW} and one in {SHARE}. "
            "Check that the last passes were complete; if it is intended, run it again with --allow-many",
            style="red",
            markup=False,
        )


def _of(orphans: Orphans) -> str:
    return orphans.name or "any wiki"
