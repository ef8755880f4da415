"""``weboid normalize``: the normal form and the class of URLs."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import click
from rich.text import Text

from weboid.cli.processes.process import run_async
from weboid.cli.terminal.arguments import urls_of
from weboid.cli.terminal.console import print_json_lines, print_rows, styled
from weboid.cli.terminal.escape import plain
from weboid.config import Config
from weboid.core.archive.addresses import stamp_of
from weboid.core.url.archives import snapshot_of
from weboid.core.url.classify import Classified, classify
from weboid.core.url.farms import farm_named
from weboid.core.url.urls import Url


@click.command("normalize")
@click.argument("urls", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line, in the order of the input.")
@click.option("--farm", default="WMF", show_default=True, help="The farm whose own domains are recognised.")
@click.pass_obj
def command(config: Config, urls: tuple[str, ...], as_json: bool, farm: str) -> None:
    """Shows the normal form and the class of URLs. A URL ``-`` means the lines of standard input."""
    owner = farm_named(farm, config.farms)

    async def main() -> None:
        async with aclosing(urls_of(urls)) as given:
            links = (classify(url, owner) async for url in given)
            await (print_json_lines(_json_line(link) async for link in links) if as_json else _print_table(links))

    run_async(main())


def _json_line(link: Classified) -> dict[str, object]:
    return {
        "url": link.given.encode(errors="replace").decode(),
        "normal": str(link.url) if link.url else None,
        "class": link.kind,
        "reason": link.reason,
        "archive": _archive(link.url),
    }


async def _print_table(links: AsyncIterator[Classified]) -> None:
    rows = [(styled(link.kind), Text(link.why), Text(plain(link.url or link.given))) async for link in links]
    print_rows(dict.fromkeys(("Class", "Reason", "Normal form"), "left"), rows)


def _archive(url: Url | None) -> dict[str, str | None] | None:
    """The contents of an archive's URL: the service, the archived URL and the moment in 14 digits (A-2)."""
    snapshot = snapshot_of(str(url)) if url else None
    if snapshot is None:
        return None
    return {
        "service": snapshot.archive.name,
        "original": str(snapshot.original) if snapshot.original else None,
        "stamp": f"{stamp_of(snapshot.taken):014}" if snapshot.taken else None,
    }
