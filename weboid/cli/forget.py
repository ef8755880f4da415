"""``weboid forget``: deletes all that is about a wiki that is not watched any more."""

from typing import Final

import click
from rich.console import Console

from weboid.cli.days import clock, day_option
from weboid.cli.processes.process import run_async
from weboid.cli.processes.store_process import LongCommand, run_long_command
from weboid.cli.terminal.console import ProcessConsole, bar
from weboid.cli.terminal.escape import many
from weboid.cli.watched import with_stored
from weboid.config import Config
from weboid.core.record.days import iso
from weboid.core.url.farms import WikiName, farm_named, parse_wiki_name
from weboid.errors import ConfigError, NotFound
from weboid.maintain.expiry import ORPHANED_DAYS
from weboid.maintain.forget import content_of, forget
from weboid.maintain.transaction import in_transaction
from weboid.store.pages.wiki import StoredWiki, find_wiki
from weboid.store.upkeep.forget import STRETCHES

_HOW: Final = (
    "take it out of the configuration, or out of the page that [feed] watched names (then run: weboid feed watched "
    "--confirm)"
)


@click.command("forget")
@click.argument("wiki")
@click.option("--confirm", is_flag=True, help="Delete it; without this nothing is written.")
@day_option
@click.pass_obj
def command(config: Config, wiki: str, confirm: bool, day: int | None) -> None:
    """Shows what the database has of WIKI (dewiki@WMF), and with --confirm deletes it: its pages and which links they
    use, its settings, reverts, spam list, and lines in the log.

    Links that other wikis use stay. Links that no other wiki uses are deleted 100 days later; if the wiki is watched
    again by then, they are as they were. If it is stopped half-way, run it again. A wiki that is still watched is not
    deleted: the command ends with status 2.
    """
    console = ProcessConsole()
    on_day = clock(day)()
    name = parse_wiki_name(wiki)
    farm = farm_named(name.farm, config.farms)

    async def work(long: LongCommand) -> str:
        if (stored := await long.again(in_transaction(long.pool, find_wiki, farm, name))) is None:
            raise NotFound(f"the database has nothing of {name}")
        is_watched = any(each.name == name for each in (await with_stored(config, long.pool)).wikis)
        if confirm and is_watched:
            raise ConfigError(f"{name} is still watched, and would be read again: {_HOW}")
        if confirm:
            return await _forget(console, long, stored, name, on_day)
        return await _look(console, long, stored, name, on_day) + (f"; before, {_HOW}" if is_watched else "")

    console.print(run_async(run_long_command(config, work, size=1, name="forget")), markup=False)


async def _look(console: Console, long: LongCommand, wiki: StoredWiki, name: WikiName, day: int) -> str:
    """Counts what would go, in words."""
    with bar(console) as shown:
        task = shown.add_task(f"counting {name}", total=STRETCHES)

        def show(stretches: int) -> None:
            shown.update(task, completed=stretches)

        found = await content_of(long.pool, wiki.wiki, show=show, again=long.again)
    return (
        f"{name}: {many(found.pages, 'page')} with {many(found.uses, 'use')} of {many(found.urls, 'URL')} would go. "
        f"Of these URLs {found.urls - found.alone} stay, as other wikis use them; {found.alone} would be without "
        f"use, and deleted after {iso(day + ORPHANED_DAYS)}. Nothing was written: --confirm does it"
    )


async def _forget(console: Console, long: LongCommand, wiki: StoredWiki, name: WikiName, day: int) -> str:
    """Deletes the wiki; returns what went, in words."""
    with bar(console) as shown:
        task = shown.add_task(f"forgetting {name}", total=None)

        def show(gone: int, pages: int) -> None:
            shown.update(task, completed=gone, total=pages)

        gone = await forget(long.pool, wiki, str(name), day, show=show, again=long.again)
    return f"{name}: {many(gone, 'page')} and all else that was about it are deleted"
