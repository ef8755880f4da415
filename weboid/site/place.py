"""The contract of reports: all that a run says of each place of a link, and of the whole."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

State: TypeAlias = Literal[
    "ok",
    "redirect",
    "broken",
    "doubtful",
    "fragment",
    "excluded",
    "external",
    "robots",
    "nofollow",
    "beyond",
    "not-asked",
]


class Place(NamedTuple):
    """One link of one page, and what became of its target. Line and column count from 1; 0 is unknown."""

    url: str
    """Absolute, without its fragment, and else spelled as on the page; as written if it is no URL."""
    fragment: str
    parent: str
    """The page, in normal form; empty for a start."""
    kind: str
    state: State = "not-asked"
    status: int | None = None
    """Of HTTP; None if there was no answer."""
    reason: str = "not-loaded"
    """Why it is broken, doubtful or not asked: a word of the project's, or the name of a filter; empty if ok."""
    final: str = ""
    """Where redirects end; empty if there are none."""
    depth: int = 0
    line: int = 0
    column: int = 0
    text: str = ""
    copy: str = ""
    """Of a dead external link, where it was looked for; empty otherwise."""
    dead_since: int | None = None
    """Day (of 1970) of the first failure of the streak, where a run remembers."""
    is_new: bool = False
    """Broken now, and not in the last run of the same task."""


@dataclass(slots=True)
class Summary:
    """The end of a run."""

    starts: tuple[str, ...]
    counts: Mapping[str, int]
    """Places by state."""
    statistics: Mapping[str, int]
    """Numbers of the robot (R-4)."""
    filtered_by: Mapping[str, int] = field(default_factory=dict)
    """Links that a filter kept away, by its name."""
    seconds: float = 0.0
    is_interrupted: bool = False
    pages: int = 0
    """Documents whose links were read."""
