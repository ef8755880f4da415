"""``weboid check``: one check of each URL, now; nothing is stored."""

import sys
from collections.abc import AsyncIterator
from contextlib import aclosing

import click
from rich.console import JustifyMethod
from rich.text import Text

from weboid.checking.spot_checks import SpotCheck
from weboid.cli.checking import EXIT_NO_NETWORK, EXIT_OWN_FAULT, checked, fail_option, json_line, quick_option
from weboid.cli.processes.process import run_async
from weboid.cli.terminal.arguments import urls_of
from weboid.cli.terminal.console import print_json_lines, print_table, styled
from weboid.cli.terminal.escape import host_line, plain
from weboid.cli.terminal.logs import print_error
from weboid.config import Config
from weboid.core.record.reasons import Outcome
from weboid.core.url.classify import UrlClass
from weboid.core.url.farms import farm_named


@click.command("check")
@click.argument("urls", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, in the order of the input.")
@quick_option
@fail_option
@click.option("--farm", default="WMF", show_default=True, help="The farm whose own domains are not checked.")
@click.pass_obj
def command(config: Config, urls: tuple[str, ...], as_json: bool, quick: bool, fails: bool, farm: str) -> None:
    """Checks URLs once, now; nothing is stored. A URL ``-`` means the lines of standard input.

    The documents themselves are examined, and hosts are asked for a few made-up URLs where that may tell an error page
    from a document. ``signals`` says what spoke against a link.

    The exit status is 0 whatever the results are; 1 if an error of this program has kept it from checking some of them,
    or, with ``--fail``, if a link is dead (its outcome is ``failing``) or no valid URL; 2 if something is wrong with
    the call; 3 if this machine seems to have no network, so that nothing can be said.
    """
    owner = farm_named(farm, config.farms)

    async def main() -> int:
        async with aclosing(checked(urls_of(urls), config, owner, quick=quick)) as lines:
            return await show(lines, as_json=as_json, fails=fails)

    sys.exit(run_async(main()))


async def show(lines: AsyncIterator[SpotCheck], *, as_json: bool, fails: bool = False) -> int:
    """Prints all results; returns the exit status, after a message on standard error if there is no network.

    `fails`: a dead link is no success.
    """
    why, failed, dead = None, 0, False

    async def noted() -> AsyncIterator[SpotCheck]:
        nonlocal why, failed, dead
        async for line in lines:
            why = why or line.no_network
            failed += line.is_own_fault
            dead |= line.seen.outcome is Outcome.FAILING if line.seen else line.link.kind is UrlClass.INVALID
            yield line

    await (print_json_lines(json_line(line) async for line in noted()) if as_json else _print_table(noted()))
    if why is not None:
        print_error(f"no host answers, so these links could not be checked: {why}")
        return EXIT_NO_NETWORK
    if failed:
        print_error(f"links that an error of this program has kept from being checked: {failed}. Please report it")
    return EXIT_OWN_FAULT if failed or (dead and fails) else 0


async def _print_table(lines: AsyncIterator[SpotCheck]) -> None:
    headings: dict[str, JustifyMethod] = {"Outcome": "left", "Reason": "left", "HTTP": "right", "Seconds": "right"}
    await print_table({**headings, "URL": "left"}, (_check_row(line) async for line in lines), "checking")


def _check_row(line: SpotCheck) -> tuple[Text, ...]:
    answer, seen, link = line.answer, line.seen, line.link
    url = Text(plain(link.url or link.given)).append(host_line(link.url), style="dim")
    if answer and answer.hops:
        url.append(f"\n→ {plain(answer.final)}", style="dim")
    if line.meant:
        url.append(f"\nprobably meant, and works: {line.meant}", style="dim")
    return (
        styled(seen.outcome if seen else "error" if line.error else "unknown" if line.no_network else link.kind),
        Text(plain(line.error or line.reason or link.why)).append(_why(line), style="dim"),
        Text(str(seen.http) if seen and seen.http else ""),
        Text(f"{answer.seconds:.1f}" if answer else ""),
        url,
    )


def _why(line: SpotCheck) -> str:
    """The strongest signal in a word, unless it is the code, which has a column of its own."""
    word = plain(line.signals[0]).partition(":")[0] if line.signals else ""
    return f" ({word})" if word not in ("", "code") else ""
