"""Tables, colours and progress bars for people at a terminal.

Text from outside is printed as plain text: no markup, no control characters, no direction overrides.
"""

import json
import logging
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from typing import Any, Final

import click
from rich import progress
from rich.console import Console, JustifyMethod
from rich.table import Table
from rich.text import Text

from weboid.cli.terminal.escape import plain
from weboid.cli.terminal.logs import is_json, print_message

_STYLES: Final = {
    "working": "green",
    "doubtful": "yellow",
    "refused": "yellow",
    "failing": "red",
    "dead": "bold red",
    "invalid": "magenta",
}
_LEVELS: Final = {"red": logging.ERROR, "yellow": logging.WARNING}


def styled(word: str) -> Text:
    """An outcome or verdict in its colour."""
    return Text(plain(word), style=_STYLES.get(word, ""))


class ProcessConsole(Console):
    """The console of a process, on standard error: the state of its progress bars goes to `report`, too.

    Where standard error has JSON alone, lines are logged; a red one is an error, a yellow one a warning.
    """

    def __init__(self, report: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(stderr=True, soft_wrap=True, highlight=False, markup=False)
        self.report = report

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's, but text from outside stays in its line."""
        escaped = [plain(each) if isinstance(each, str) else each for each in objects]
        if not is_json():
            super().print(*escaped, **options)
        elif escaped:
            print_message(" ".join(map(str, escaped)), _LEVELS.get(str(options.get("style")), logging.INFO))


def print_once(console: Console, reported: dict[str, str], what: str, why: object, style: str = "red") -> None:
    """Prints what cannot be done and why, unless `reported` has that from the last time; remove it after a success."""
    if reported.get(what) != str(why):
        reported[what] = str(why)
        console.print(f"{what}: {why}", style=style, markup=False)


class _ReportedProgress(progress.Progress):
    """Progress bars on the console of a process."""

    def __init__(self, *columns: progress.ProgressColumn, console: ProcessConsole) -> None:
        # In a file or a journal a bar is no progress, but a line of rubbish once it is over.
        super().__init__(*columns, console=console, disable=is_json() or not console.is_terminal)
        self._report = console.report

    def update(self, task_id: progress.TaskID, *given: Any, **changed: Any) -> None:
        super().update(task_id, *given, **changed)
        task = next(each for each in self.tasks if each.id == task_id)
        # What comes during the work makes it more than was expected.
        of = "" if task.total is None or task.total < task.completed else f" of {task.total:,.0f}"
        self._report(f"{task.description}: {task.completed:,.0f}{of}" if task.completed else task.description)

    def remove_task(self, task_id: progress.TaskID) -> None:
        super().remove_task(task_id)
        if not self.tasks:
            self._report("waits for work")

    def stop(self) -> None:
        super().stop()
        self._report("waits for work")


def bar(console: Console, *, is_counted: bool = True) -> progress.Progress:
    """Progress in words and in time, and as a bar with counts, on standard error."""
    counts = (progress.BarColumn(), progress.MofNCompleteColumn()) if is_counted else ()
    words = progress.TextColumn("{task.description}", markup=False)
    columns = (progress.SpinnerColumn(), words, *counts, progress.TimeElapsedColumn())
    if isinstance(console, ProcessConsole):
        return _ReportedProgress(*columns, console=console)
    return progress.Progress(*columns, console=console)


async def print_json_lines(lines: AsyncIterator[Mapping[str, Any]]) -> None:
    """Prints each as one line of JSON, as soon as it is available."""
    async for line in lines:
        click.echo(json.dumps(line))


async def print_table(headings: Mapping[str, JustifyMethod], rows: AsyncIterator[Sequence[Text]], task: str) -> None:
    """Prints a table with these headings, each with its justification, once all rows have come; until then a bar."""
    came = []
    with bar(ProcessConsole()) as shown:
        done = shown.add_task(task, total=None)
        async for row in rows:
            came.append(row)
            shown.advance(done)
        shown.update(done, total=shown.tasks[0].completed)
    print_rows(headings, came)


def print_rows(headings: Mapping[str, JustifyMethod], rows: Sequence[Sequence[Text]]) -> None:
    """Prints a table; in a pipe or a file a row is a line with tabs, so that no URL is folded and none pads all."""
    console = Console()
    if not console.is_terminal:
        for cells in (headings, *((cell.plain for cell in row) for row in rows)):
            click.echo("\t".join(cells).replace("\n", "  "))
        return
    table = Table(box=None, pad_edge=False)
    for heading, justify in headings.items():
        table.add_column(heading, justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)
