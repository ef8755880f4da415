"""One repair as a job for a process of its own, where the engine of ``weboid/bot`` does it."""

import pickle
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from weboid.bot.answers import read_pages
from weboid.bot.choices import ChoiceRefused, with_choices
from weboid.bot.repair import RepairedPage, repair
from weboid.core.wikitext.settings import WikiSettings
from weboid.mechanism.helper_process import serve

MOST_LEFT: Final = 2_000
"""Links that were left alone, of which an answer has no more."""
_CPU_S: Final = 10.0
_MEMORY_BYTES: Final = 1 << 30


@dataclass(frozen=True, slots=True)
class RepairJob:
    """A page to repair: `links` as answers of ``/api/page`` have them, `choices` by URL."""

    text: str
    settings: WikiSettings
    links: list[dict[str, Any]]
    choices: Mapping[str, str]
    only_chosen: bool
    now: datetime

    def done(self) -> RepairedPage | ChoiceRefused:
        """The repaired page, or the choice that was refused."""
        try:
            known = with_choices(
                read_pages([{"links": self.links}], self.now), self.choices, only_chosen=self.only_chosen
            )
        except ChoiceRefused as refused:
            return refused
        page = repair(self.text, self.settings, known, now=self.now, by_hand=True)
        return replace(page, left=tuple(dict.fromkeys(page.left))[:MOST_LEFT])


def _answer(job: bytes) -> bytes:
    return pickle.dumps(pickle.loads(job).done())


if __name__ == "__main__":
    serve(_answer, cpu_s=_CPU_S, memory_bytes=_MEMORY_BYTES)
