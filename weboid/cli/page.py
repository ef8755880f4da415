"""``weboid page``: all links of a live page, checked now; nothing is stored."""

import sys
from contextlib import aclosing

import click

from weboid.cli.check import show
from weboid.cli.checking import checked, fail_option, quick_option
from weboid.cli.processes.process import run_async
from weboid.cli.processes.sources import named_wiki, open_api
from weboid.cli.terminal.arguments import urls_of
from weboid.cli.terminal.escape import many, plain
from weboid.cli.terminal.logs import print_message
from weboid.config import Config
from weboid.errors import NotFound
from weboid.wiki.action import ApiPatience
from weboid.wiki.source import PageLinks

_PATIENCE = ApiPatience(tries=2, timeout_s=20)
"""Short, because a person waits at the terminal."""


@click.command("page")
@click.argument("wiki")
@click.argument("page", metavar="TITLE|ID")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
@quick_option
@fail_option
@click.pass_obj
def command(config: Config, wiki: str, page: str, as_json: bool, quick: bool, fails: bool) -> None:
    """Checks all links of a live page, now; nothing is stored.

    WIKI is ``dewiki``, ``dewiki@WMF`` or the URL of any MediaWiki's api.php. The exit status is 3 if this machine seems
    to have no network, 1 if an error of this program has kept it from checking some of them, or, with ``--fail``, if a
    link is dead or no valid URL.
    """
    named = named_wiki(wiki, config)

    async def main() -> int:
        async with open_api(config, named.api, _PATIENCE) as source:
            by_id = page.isascii() and page.isdigit()
            found = await source.find_pages(ids=[int(page)] if by_id else [], titles=[] if by_id else [page])
        if not found:
            raise NotFound(f"{wiki} has no wikitext page {page!r}")
        if not as_json:
            print_message(_heading(found[0]))
        async with aclosing(checked(urls_of(found[0].urls), config, named.farm, quick=quick)) as lines:
            return await show(lines, as_json=as_json, fails=fails)

    sys.exit(run_async(main()))


def _heading(page: PageLinks) -> str:
    return f"{plain(page.title)} (page {page.page}, revision {page.latest}): {many(len(page.urls), 'link')}"
