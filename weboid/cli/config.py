"""``weboid config``: the configuration as a sample, as it holds now, or what is wrong with it."""

import sys
from pathlib import Path
from typing import Final

import click

from weboid.cli.terminal.escape import plain
from weboid.cli.terminal.logs import complain
from weboid.cli.watched import titled_page
from weboid.config import ConfigReading, effective_lines, read_config, sample
from weboid.errors import ConfigError
from weboid.wiki.criteria import read_criteria

_WRONG: Final = 2
"""The exit status where something is wrong, as of any command that cannot use its configuration."""


@click.command("config")
@click.option("--effective", is_flag=True, help="What holds now, with the source of each value; secrets are masked.")
@click.option("--check", is_flag=True, help="Says ok, or everything that is wrong (exit status 2).")
@click.pass_context
def command(ctx: click.Context, effective: bool, check: bool) -> None:
    """Prints a weboid.toml with every key, its default, its meaning and its variables.

    A start: weboid config >weboid.toml
    """
    if not (effective or check):
        click.echo(sample(), nl=False)
        return
    given = ctx.parent.params if ctx.parent else {}
    file, data = given.get("file"), given.get("data")
    reading = read_config(
        file if isinstance(file, Path) else None, data=data if isinstance(data, Path) else None, search=True
    )
    faults = (*reading.faults, *_faults_of_criteria(reading), *_faults_of_watched(reading))
    for fault in faults:
        complain(fault)
    if faults:
        sys.exit(_WRONG)
    if effective:
        click.echo("\n".join(plain(line) for line in effective_lines(reading)))
    if check:
        click.echo(_summary(reading))


def _faults_of_criteria(reading: ConfigReading) -> list[str]:
    faults = []
    for wiki in reading.config.wikis if reading.config else ():
        try:
            read_criteria(wiki.matching, wiki.without)
        except ConfigError as error:
            faults.append(f'[wiki."{wiki.name}"] {error}')
    return faults


def _faults_of_watched(reading: ConfigReading) -> list[str]:
    watched = reading.config.feed.watched if reading.config else ""
    if reading.config is None or not watched or watched.startswith("https://"):
        return []
    try:
        if "://" in watched:
            raise ConfigError("only an https address is taken: on the way somebody else could change the page")
        titled_page(reading.config)
    except ConfigError as error:
        return [f"[feed] watched: {error}"]
    return []


def _summary(reading: ConfigReading) -> str:
    assert reading.config is not None, "there is no fault"
    wikis = len(reading.config.wikis)
    watched = f", and those of {reading.config.feed.watched}" if reading.config.feed.watched else ""
    set_by = sum(origin != reading.source for origin in reading.origins.values())
    return plain(f"ok: {reading.source or 'no file'}, {set_by} keys by variables, wikis to watch: {wikis}{watched}")
