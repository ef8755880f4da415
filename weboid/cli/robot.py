"""``weboid robot``: runs the tasks that administrators order on the page of the robot (R-7)."""

from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from functools import partial

import click

from weboid.checking.slots import StoreSlots
from weboid.checking.spot_checks import SpotChecks, open_spot_checks
from weboid.checking.turns import SharedTurns
from weboid.cli.days import day_option, moments, seconds_now
from weboid.cli.processes.process import raise_open_files, run_async
from weboid.cli.processes.sources import online_of
from weboid.cli.processes.store_process import open_process
from weboid.config import Config
from weboid.net.outbound import open_session
from weboid.site.tasks import RobotTasks
from weboid.store.schedule.process import ProcessRole

_CONNECTIONS = 6
"""To the database, besides that which each task holds."""


@click.command("robot")
@day_option
@click.pass_obj
def command(config: Config, day: int | None) -> None:
    """Runs the tasks that administrators order on the page of the robot: so many at a time as are configured.

    One runs in a store; a second one waits for its end. Turns at hosts are those of all crawlers of the store. A task
    that is under way when this ends, in order or not, goes on when it is started again: nothing is loaded twice but
    what was on its way.
    """
    net = replace(config.net, connections=raise_open_files(config.net.connections))

    async def main() -> None:
        size = config.robot.tasks + _CONNECTIONS
        async with (
            open_process(config, ProcessRole.ROBOT, size=size, lasting=True) as process,
            open_session(net) as session,
        ):
            turns = SharedTurns(StoreSlots(process.store), config.crawl.delay)

            def open_checks() -> AbstractAsyncContextManager[SpotChecks]:
                return open_spot_checks(net, config.crawl, turns, partial(online_of, config), config.own_farms)

            tasks = RobotTasks(
                *(process.store, session, turns, config.robot, config.crawl, open_checks),
                now=moments(day, None),
                now_s=seconds_now,
            )
            try:
                await tasks.run(process.stopped, show=process.report)
            finally:
                await turns.close()

    run_async(main())
