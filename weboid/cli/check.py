"""``weboid check``: one check of each URL, now; nothing is stored."""

import json
import sys
from collections.abc import AsyncIterator
from contextlib import aclosing

import click

from weboid.cli.arguments import urls_of
from weboid.cli.checking import CheckLine, checked, quick_option
from weboid.cli.console import check_table
from weboid.cli.runtime import run_async
from weboid.config import Config
from weboid.core.url.farms import farm_named


@click.command("check")
@click.argument("urls", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, in the order of the input.")
@quick_option
@click.option("--farm", default="WMF", show_default=True, help="The farm whose own domains are not checked.")
@click.pass_obj
def command(config: Config, urls: tuple[str, ...], as_json: bool, quick: bool, farm: str) -> None:
    """Checks URLs once, now; nothing is stored. A URL ``-`` means the lines of standard input.

    The documents themselves are examined, and hosts are asked for a few made-up URLs where that may tell an error page
    from a document. ``signals`` says what spoke against a link.

    The exit status is 0 whatever the results are; 2 if something is wrong with the call.
    """
    owner = farm_named(farm, config.farms)

    async def main() -> None:
        async with aclosing(checked(urls_of(urls), config, owner, quick=quick)) as lines:
            await (print_json(lines) if as_json else check_table(lines))

    run_async(main())


async def print_json(lines: AsyncIterator[CheckLine]) -> None:
    """Prints each result as one line of JSON, as soon as it is available."""
    async for line in lines:
        sys.stdout.write(json.dumps(line.as_json()) + "\n")
        sys.stdout.flush()
