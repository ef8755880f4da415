"""Plays laid-out pages: ``weboid check`` once for each over sockets, and the real crawler with its store for some days.

One law: both get the same addresses; neither knows what a page is.
"""

import asyncio
import tempfile
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.content.costs import Costs, new_costs
from benchmarks.content.staged import Staged
from benchmarks.verdicts.daily import Change
from benchmarks.verdicts.hurry import run_hurried
from benchmarks.verdicts.stage import open_socket_stage
from benchmarks.verdicts.year import Show, live, new_database
from weboid.cli.checking import checked, json_line
from weboid.cli.processes.process import run_async
from weboid.cli.terminal.arguments import urls_of
from weboid.core.url.farms import WMFLABS

_ANSWER_S: Final = 30.0
"""Nothing in these worlds waits; whatever takes longer is our own machine's fault."""


@dataclass(frozen=True, slots=True)
class Reported:
    """Reports of one page: by the check, and by the crawler after the last day and on each day of a change."""

    outcome: str | None
    reason: str | None
    changes: tuple[Change, ...]

    @property
    def last(self) -> Change | None:
        """What the crawler says at the end; its day is the first one on which it said so."""
        if not self.changes:
            return None
        first = last = self.changes[-1]
        for change in reversed(self.changes):
            if (change.verdict, change.reason) != (last.verdict, last.reason):
                break
            first = change
        return first


def play(staged: Staged, show_check: Show, show_day: Show) -> tuple[dict[str, Reported], Costs]:
    """What was reported of each page, by its URL as played, and what it cost. Raises WeboidError."""
    with tempfile.TemporaryDirectory(prefix="weboid-content-") as folder:
        lines = run_async(_checked(staged, Path(folder), show_check))
    costs = new_costs(staged.played)
    with new_database() as (dsn, folder_of_life):
        year = run_hurried(
            live(
                staged.file,
                dsn,
                folder_of_life,
                lambda day: show_day(day + 1),
                simulated=True,
                answered=costs.hear,
            )
        )
    reported = {url.url: Reported(lines[url.url][0], lines[url.url][1], tuple(url.changes)) for url in year.urls}
    return reported, costs


async def _checked(staged: Staged, folder: Path, show: Show) -> dict[str, tuple[str | None, str | None]]:
    """Outcome and reason of a check of each page, as on the last day."""
    found: dict[str, tuple[str | None, str | None]] = {}
    async with open_socket_stage(staged.file, folder, _ANSWER_S) as stage:
        stage.day = staged.file.days - 1
        located = {stage.located(url): url for url in staged.played}
        async with aclosing(checked(urls_of(located), stage.config, WMFLABS)) as lines:
            async for line in lines:
                reported = json_line(line)
                found[located[reported["url"]]] = reported["outcome"], reported["reason"]
                show(len(found))
                await asyncio.sleep(0)
    return found
