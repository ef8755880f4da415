"""What is printed: figures side by side, and each target with how much of it was reached.

Results go to stdout, progress to stderr. One law: a missed target is printed as missed, with its figure.
"""

import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.crawl.measure import Figures
from benchmarks.crawl.peers import Skipped

_NAME: Final = 30
_CLEAR: Final = "\r\x1b[K"


@dataclass(frozen=True, slots=True)
class Target:
    """A demand of the design: `value` in whatever unit `text` names, to be at least (or at most) `bound`."""

    text: str
    value: float
    bound: float
    at_most: bool = False

    @property
    def met(self) -> bool:
        """Whether it is reached."""
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def __str__(self) -> str:
        return f"  target {self.text}: {_short(self.value)} — {'met' if self.met else 'MISSED'}"


def _short(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def show(text: str) -> None:
    """Progress, on one line where a person looks on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def say(text: str) -> None:
    """What is being done now, on stderr."""
    print(f"{_CLEAR if sys.stderr.isatty() else ''}… {text}", file=sys.stderr, flush=True)


def tell(text: str = "") -> None:
    """A line of the results."""
    show("")
    print(text, flush=True)


def tell_figures(ours: Figures, others: Iterable[Figures | Skipped]) -> None:
    """A line a client, with the ratio of our rate to its."""
    head = ("checks/s", "CPU ms/check", "database ms", "peak MiB", "weboid/this by rate", "by CPU")
    tell(f"  {'':{_NAME}}{'  '.join(head)}")
    for row in (ours, *others):
        if isinstance(row, Skipped):
            tell(f"  {row.name:{_NAME}}skipped: {row.reason}")
            continue
        if not row.urls:
            tell(f"  {row.name:{_NAME}}asked nothing: {(row.output.strip().splitlines() or ['no output'])[-1][:160]}")
            continue
        cells = (
            f"{row.rate:,.0f}",
            f"{row.cpu_ms:.3f}",
            f"{row.database_ms:.3f}" if row.database_ms else "",
            f"{row.peak_mib:,.0f}",
            f"{ours.rate / row.rate:.2f}",
            f"{row.cpu_ms / max(ours.cpu_ms, 1e-9):.2f}",
        )
        line = "  ".join(f"{cell:>{len(title)}}" for cell, title in zip(cells, head, strict=True))
        tell(f"  {row.name:{_NAME}}{line}{f'  ({row.note})' if row.note else ''}")


def tell_targets(targets: Sequence[Target]) -> None:
    """A line a target."""
    for target in targets:
        tell(str(target))
