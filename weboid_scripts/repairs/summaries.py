"""The summary of an edit, and the table at the end of a run."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pywikibot import i18n

_KEY: Final = "weboid-summary"


def summary_of(site: Any, actions: Iterable[str], help_page: str) -> str:
    """The summary of an edit in the wiki's language: the links for each stable word, and the page for errors."""
    counted = Counter(actions)
    done = [i18n.twtranslate(site, f"{_KEY}-{action}", {"count": count}) for action, count in sorted(counted.items())]
    return str(i18n.twtranslate(site, _KEY, {"done": ", ".join(done), "help": help_page}))


def table_of(done: Mapping[str, int], left: Mapping[str, int], *, is_simulated: bool) -> str:
    """The repairs by action, and the pages and links left alone, by the stable word why."""
    parts = [("would be done" if is_simulated else "done", done), ("left alone", left)]
    lines = []
    for heading, counted in parts:
        lines.append(f"{heading}:" if counted else f"{heading}: nothing")
        lines += [
            f"  {count:>7,}  {word}" for word, count in sorted(counted.items(), key=lambda item: (-item[1], item))
        ]
    return "\n".join(lines)
