"""Real pages, laid out: ``python -m benchmarks.content MANIFEST DIR [--days 60] [--json OUT]``, see ``docs/worlds.md``.

Serves them under their own names, runs ``weboid check`` once for each and the crawler over so many days, and prints
what was reported of pages of each kind. Exit status 0, or 2 for a manifest that cannot be read.
"""

import argparse
import json
import logging
import sys
from pathlib import Path
from typing import Final

from rich.console import Console

from benchmarks.content.costs import analysis_ms
from benchmarks.content.manifest import read_manifest
from benchmarks.content.play import play
from benchmarks.content.staged import Staged, staged
from benchmarks.content.table import as_json, tell, wrong_lines
from benchmarks.worlds.worldfile import MOST_DAYS
from weboid.cli.terminal.console import bar
from weboid.errors import WeboidError

_WIDTH: Final = 200
"""Of tables in a file: a column for each word."""


def main() -> int:
    """Runs the command line; returns the exit status."""
    given = _parser().parse_args()
    logging.basicConfig(level=logging.INFO if given.log else logging.CRITICAL)
    errors = Console(stderr=True, soft_wrap=True)
    try:
        pages = staged(read_manifest(given.manifest, given.folder), given.days)
        if not pages.played:
            errors.print("benchmarks.content: none of the pages can be watched", markup=False)
            return 2
        _run(given, pages, errors)
    except (WeboidError, OSError) as error:
        errors.print(f"benchmarks.content: {error}", markup=False, highlight=False)
        return 2
    except KeyboardInterrupt:
        errors.print("stopped; no figures of half a play are reported", style="yellow")
        return 130
    return 0


def _run(given: argparse.Namespace, pages: Staged, errors: Console) -> None:
    for file in filter(None, (given.json, given.wrong)):
        file.touch()  # one that cannot be written is found before all work
    with bar(errors) as shown:
        checks = shown.add_task("checks", total=len(pages.played))
        days = shown.add_task("days", total=given.days)
        reported, costs = play(
            pages,
            lambda done: shown.update(checks, completed=done),
            lambda done: shown.update(days, completed=done),
        )
    if given.json:
        given.json.write_text(
            json.dumps(as_json(pages, reported), ensure_ascii=False, indent=1) + "\n", encoding="utf-8"
        )
    if given.wrong:
        given.wrong.write_text("".join(f"{line}\n" for line in wrong_lines(pages, reported)), encoding="utf-8")
    times_ms = analysis_ms(pages.file.world, pages.played, given.days - 1)
    tell(Console(highlight=False, width=None if sys.stdout.isatty() else _WIDTH), pages, reported, costs, times_ms)


def _days(word: str) -> int:
    days = int(word)
    if not 1 <= days <= MOST_DAYS:
        raise argparse.ArgumentTypeError(f"from 1 to {MOST_DAYS}")
    return days


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.content", description=__doc__)
    parser.add_argument("manifest", type=Path, metavar="MANIFEST", help="a JSON object a line, a page each")
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder of the manifest's files")
    parser.add_argument("--days", type=_days, default=60, help="how long the crawler visits them (60)")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write what was reported of each URL")
    parser.add_argument("--wrong", type=Path, metavar="FILE", help="write a line of each page that was misjudged")
    parser.add_argument("--log", action="store_true", help="what the crawler logs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
