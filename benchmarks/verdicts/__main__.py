"""The simulated year: ``python -m benchmarks.verdicts --world FILE``, any file as ``docs/worlds.md`` describes it.

Prints how right "dead" was next to the truth of the world, for Weboid and for its peers at their own pace.
Exit status 0, or 2 for a world that cannot be read.
"""

import argparse
import json
import logging
import sys
from pathlib import Path

from rich.console import Console

from benchmarks.verdicts.figures import figures_of
from benchmarks.verdicts.hurry import run_hurried
from benchmarks.verdicts.reported import as_json, explain, tell
from benchmarks.verdicts.stage import ANSWER_S
from benchmarks.verdicts.worth import tell_worth, worth_as_json, worths_of
from benchmarks.verdicts.year import daily_as_json, live, new_database
from benchmarks.worlds.worldfile import WorldFile, read_world
from benchmarks.worlds.worldwords import WorldError
from weboid.cli.processes.process import run_async
from weboid.cli.terminal.console import bar
from weboid.errors import WeboidError


def main() -> int:
    """Runs the command line; returns the exit status."""
    given = _parser().parse_args()
    # That the crawler finds itself cut off belongs to the story; it is reported with the figures.
    logging.basicConfig(level=logging.CRITICAL if not given.log else logging.INFO)
    errors = Console(stderr=True, soft_wrap=True)
    try:
        _run(given, read_world(given.world), errors)
    except (WorldError, WeboidError) as error:
        errors.print(f"benchmarks.verdicts: {error}", markup=False, highlight=False)
        return 2
    except KeyboardInterrupt:
        errors.print("stopped; no figures of half a year are reported", style="yellow")
        return 130
    return 0


def _run(given: argparse.Namespace, file: WorldFile, errors: Console) -> None:
    with new_database() as (dsn, folder), bar(errors) as shown:
        task = shown.add_task(f"{file.name or given.world.name}, day", total=file.days)
        year = (run_hurried if given.simulated else run_async)(
            live(
                file,
                dsn,
                folder,
                lambda day: shown.update(task, completed=day + 1),
                answer_s=given.answer,
                simulated=given.simulated,
            )
        )
    if given.daily:
        lines = ",\n".join(
            f"{json.dumps(url)}: {json.dumps(reported)}" for url, reported in daily_as_json(year).items()
        )
        given.daily.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")
    figures = figures_of(year)
    worths = worths_of(year, peers=not given.alone)
    if given.json:
        sys.stdout.write(json.dumps({**as_json(year, figures), **worth_as_json(year, worths)}, indent=1) + "\n")
        return
    console = Console(soft_wrap=True, highlight=False)
    console.print(
        f"{file.name or 'A world'}: {len(file.world.hosts)} hosts, {len(year.urls)} URLs, "
        f"{file.days} days in {year.seconds:.0f} s"
    )
    tell_worth(console, year, worths)
    tell(console, year, figures)
    if given.explain:
        explain(console, year, figures, worths["Weboid"], given.explain)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdicts", description=__doc__)
    parser.add_argument("--world", type=Path, required=True, help="a world's file, see docs/worlds.md")
    parser.add_argument(
        "--explain", type=int, nargs="?", const=10, default=0, metavar="N", help="the worst cases by URL"
    )
    parser.add_argument("--alone", action="store_true", help="without the peers")
    parser.add_argument("--json", action="store_true", help="the figures for programs")
    parser.add_argument(
        "--answer",
        type=float,
        metavar="SECONDS",
        help=f"how long a server is waited for, instead of a minute; all seconds of the world shrink with it "
        f"(on sockets: {ANSWER_S} if not given)",
    )
    parser.add_argument("--simulated", action="store_true", help="without sockets: the same verdicts much sooner")
    parser.add_argument(
        "--daily", type=Path, metavar="FILE", help="write what was shown of every URL on each day on which it changed"
    )
    parser.add_argument("--log", action="store_true", help="what the crawler logs")
    return parser


if __name__ == "__main__":
    sys.exit(main())
