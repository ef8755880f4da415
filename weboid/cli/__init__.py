"""The command line, which connects everything. With ``config`` it alone reads the clock and the environment.

A command is loaded when it is called, and the configuration when one needs it, so that ``weboid --help`` is fast.
"""

import gc
import importlib
import json
import signal
import sys
from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Final

import click

from weboid import __version__
from weboid.cli.processes.process import from_environment, remove_from_environment
from weboid.cli.processes.supervisor import connect_parent
from weboid.cli.terminal.logs import FORM_VARIABLE, FORMS, begin_log, is_json, print_error
from weboid.cli.terminal.streams import open_streams
from weboid.errors import ConfigError, OutputClosedError, WeboidError

READ_CONFIG: Final = "weboid.read_config"
_IS_HELP: Final = "weboid.is_help"
_HELP: Final = frozenset({"-h", "--help"})

_COMMANDS: Final = {
    "demo": "Plays weeks of a made-up wiki and web on this machine, then serves pages to click.",
    "config": "Prints a sample of the configuration, what holds now, or what is wrong with it.",
    "up": "Runs everything: database, feed, events, crawler, archives, robot, maintenance and web, until Ctrl-C.",
    "serve": "Runs the webservice alone.",
    "crawl": "Checks the links that are due.",
    "archive": "Looks up copies of dead links in web archives.",
    "robot": "Runs the tasks that administrators order on the page of the robot.",
    "feed": "Reads pages and their links into the database: from dumps, APIs, replicas and event streams.",
    "forget": "Deletes all that is about a wiki that is not watched any more.",
    "maintain": "Deletes what has expired, checks the store, raises and lowers alarms.",
    "health": "Checks whether a part runs on this host, for health checks.",
    "check": "Checks URLs once, now; nothing is stored.",
    "site": "Checks all links of a site, page by page, now; nothing is stored.",
    "page": "Checks all links of a live page, now; nothing is stored.",
    "snapshots": "Looks up copies of URLs in web archives, now; nothing is stored.",
    "normalize": "Shows the normal form and the class of URLs.",
    "show": "Shows what is known of a URL or of the links of a page.",
    "backup": "Writes all that the database knows to a file, while everything goes on.",
    "restore": "Puts a backup into an empty database.",
    "check-store": "Looks for what contradicts itself in the database, and repairs what can be derived.",
    "migrate": "Brings the database up to this version.",
    "store": "Divides the big tables of a large database into partitions.",
    "rekey": "Moves everything to the keys of this version, after a change of URL form or suffix list.",
    "upgrade": "Brings the embedded database to a newer major version of PostgreSQL.",
    "gadget": "Writes the pages of the gadget for a wiki, or saves them there.",
}


class _Commands(click.Group):
    """Commands by name; the module of the same name in this package (`-` is `_` there) has `command`."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(_COMMANDS)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        options = args[: args.index("--")] if "--" in args else args
        ctx.meta[_IS_HELP] = not _HELP.isdisjoint(options)
        return super().resolve_command(ctx, args)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in _COMMANDS:
            return None
        # All that is loaded stays: to look through it for garbage, during that or after it, takes a tenth of the time.
        gc.disable()
        try:
            command = importlib.import_module(f"weboid.cli.{cmd_name.replace('-', '_')}").command
        finally:
            gc.freeze()
            gc.enable()
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl(list(_COMMANDS.items()))


def _show_version(ctx: click.Context, _param: click.Parameter, is_given: bool) -> None:
    """Prints the version, with the commit where it is known (a checkout, or what pip has recorded)."""
    if is_given and not ctx.resilient_parsing:
        from weboid.web.http.source_archive import commit_of

        commit = commit_of(Path(__file__).parents[1])
        click.echo(f"weboid {__version__}{f' ({commit[:12]})' if commit else ''}")
        ctx.exit()


@click.group(cls=_Commands, context_settings={"help_option_names": sorted(_HELP), "max_content_width": 100})
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option("--config", "file", type=click.Path(path_type=Path), help="Configuration file (WEBOID_CONFIG).")
@click.option(
    "--data", type=click.Path(path_type=Path, file_okay=False), help="Folder of the embedded database (WEBOID_DATA)."
)
@click.option("-v", "--verbose", is_flag=True, help="Log more of what is done.")
@click.option(
    "--log",
    type=click.Choice(FORMS),
    help="Form of what is said on standard error; json: one object a line (or $WEBOID_LOG).",
)
@click.option("--line", type=int, hidden=True, is_eager=True, expose_value=False, callback=connect_parent)
@click.pass_context
def main(ctx: click.Context, file: Path | None, data: Path | None, verbose: bool, log: str | None) -> None:
    """Weboid watches the external links of wikis and shows which are really dead, since when and why."""
    begin_log(log or from_environment(FORM_VARIABLE) or "text", ctx.invoked_subcommand or "", is_verbose=verbose)
    from weboid.config import load_config

    read = partial(load_config, file, data=data, search=True)
    # Commands that run continuously read it again.
    ctx.meta[READ_CONFIG] = read
    if ctx.invoked_subcommand == "config":  # which prints what is wrong with it
        return
    try:
        ctx.obj = read()
        if not ctx.obj.database:
            remove_from_environment("PG")  # libpq would ask another server than the embedded one, or in another way
    except ConfigError:
        if not ctx.meta[_IS_HELP]:  # which is shown whatever the configuration is
            raise


def _form_before(words: Sequence[str]) -> str | None:
    """The value of --log, as far as that is plain before the options are read."""
    given = [after for word, after in pairwise(words) if word == "--log"]
    given += [word.removeprefix("--log=") for word in words if word.startswith("--log=")]
    return given[-1] if given else None


def run() -> None:
    """Runs the program; a WeboidError, which the user can fix, ends it with its text and its exit status."""
    open_streams()
    # Faults of the options are printed in that form, too.
    form = _form_before(sys.argv[1:]) or from_environment(FORM_VARIABLE)
    begin_log(form if form in FORMS else "text")
    try:
        try:
            main(standalone_mode=False)
        finally:
            sys.stdout.flush()
    except click.exceptions.Abort:
        sys.exit(130)
    except click.ClickException as error:
        if is_json():
            print_error(error.format_message())
        else:
            error.show()
        sys.exit(error.exit_code)
    except WeboidError as error:
        if "--json" in sys.argv[1:]:
            click.echo(json.dumps({"error": str(error)}))
        print_error(error)
        sys.exit(error.exit_status)
    except OutputClosedError:
        sys.exit(128 + signal.SIGPIPE)
