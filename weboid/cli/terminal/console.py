"""Tables, colours and progress bars for people at a terminal.

One law: text from outside is printed as plain text: no markup, no control characters, no direction overrides.
"""

import logging
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any, Final

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
)
from rich.table import Table
from rich.text import Text

from weboid.cli.terminal.escape import host_line, plain
from weboid.cli.terminal.logs import is_json, say

if TYPE_CHECKING:
    from weboid.checking.spot_checks import SpotCheck

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
    """An outcome or verdict in its colour; the word is always there, too."""
    return Text(plain(word), style=_STYLES.get(word, ""))


class PartConsole(Console):
    """The console of a part, on standard error: what its progress bars show is told by `tell`, too.

    Where standard error has JSON alone, what is printed is logged; what is red is an error, what is yellow a warning.
    """

    def __init__(self, tell: Callable[[str], None] = lambda _: None) -> None:
        super().__init__(stderr=True, soft_wrap=True, highlight=False, markup=False)
        self.tell = tell

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich's, but what comes from outside stays in its line."""
        escaped = [plain(each) if isinstance(each, str) else each for each in objects]
        if not is_json():
            super().print(*escaped, **options)
        elif escaped:
            say(" ".join(map(str, escaped)), _LEVELS.get(str(options.get("style")), logging.INFO))


def complain_once(console: Console, said: dict[str, str], what: str, why: object, style: str = "red") -> None:
    """Prints what cannot be done and why, unless `said` has that from the last time; forget it when it can be done."""
    if said.get(what) != str(why):
        said[what] = str(why)
        console.print(f"{what}: {why}", style=style, markup=False)


class _ToldProgress(Progress):
    """Progress bars on a part's console."""

    def __init__(self, *columns: ProgressColumn, console: PartConsole) -> None:
        # In a file or a journal a bar is no progress, but a line of rubbish once it is over.
        super().__init__(*columns, console=console, disable=is_json() or not console.is_terminal)
        self._tell = console.tell

    def update(self, task_id: TaskID, *given: Any, **changed: Any) -> None:
        super().update(task_id, *given, **changed)
        task = next(each for each in self.tasks if each.id == task_id)
        # What comes meanwhile makes it more than was expected.
        of = "" if task.total is None or task.total < task.completed else f" of {task.total:,.0f}"
        self._tell(f"{task.description}: {task.completed:,.0f}{of}" if task.completed else task.description)

    def stop(self) -> None:
        super().stop()
        self._tell("waits for work")


def bar(console: Console) -> Progress:
    """A progress bar with counts and time, on standard error."""
    return progress_on(console, BarColumn(), MofNCompleteColumn())


def progress_on(console: Console, *columns: ProgressColumn) -> Progress:
    """Progress in words, by these columns and in time."""
    every = (SpinnerColumn(), TextColumn("{task.description}", markup=False), *columns, TimeElapsedColumn())
    return (
        _ToldProgress(*every, console=console)
        if isinstance(console, PartConsole)
        else Progress(*every, console=console)
    )


async def check_table(lines: AsyncIterator["SpotCheck"]) -> None:
    """Prints the table of ``weboid check``, with a progress bar until all results are available."""
    errors = PartConsole()
    table = Table(box=None, pad_edge=False)
    for heading in ("Outcome", "Reason", "HTTP", "Seconds", "URL"):
        table.add_column(heading, justify="right" if heading in ("HTTP", "Seconds") else "left", overflow="fold")
    with bar(errors) as progress:
        task = progress.add_task("checking", total=None)
        async for line in lines:
            table.add_row(*_check_row(line))
            progress.advance(task)
        progress.update(task, total=progress.tasks[0].completed)
    Console().print(table)


def _check_row(line: "SpotCheck") -> tuple[Text, ...]:
    answer, seen, link = line.answer, line.seen, line.link
    url = Text(plain(link.url or link.given)).append(host_line(link.url), style="dim")
    if answer and answer.hops:
        url.append(f"\n→ {plain(answer.final)}", style="dim")
    return (
        styled(seen.outcome if seen else "error" if line.error else "unknown" if line.no_network else link.kind),
        Text(plain(line.error or line.reason or "")).append(_why(line), style="dim"),
        Text(str(seen.http) if seen and seen.http else ""),
        Text(f"{answer.seconds:.1f}" if answer else ""),
        url,
    )


def _why(line: "SpotCheck") -> str:
    """The strongest signal in a word, unless it is the code, which has a column of its own."""
    word = plain(line.signals[0]).partition(":")[0] if line.signals else ""
    return f" ({word})" if word not in ("", "code") else ""
