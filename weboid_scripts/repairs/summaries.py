"""The summary of an edit, and the table at the end of a run."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

from pywikibot import i18n

_KEY: Final = "weboid-summary"
_TOOL: Final = re.compile(r"https://([a-z0-9-]+)\.toolforge\.org/([^@]+)")
_USUAL: Final = "@WMF"
"""The farm that addresses need not name, and whose wikis know the prefix."""


def summary_of(site: Any, actions: Iterable[str], help_page: str, about: str) -> str:
    """The summary of an edit in the wiki's language: the links for each stable word, the page for errors, and the
    address of the service's page `about` the edit; only tools at Toolforge can be linked there, by their prefix."""
    counted = Counter(actions)
    done = [i18n.twtranslate(site, f"{_KEY}-{action}", {"count": count}) for action, count in sorted(counted.items())]
    tool = _TOOL.fullmatch(about)
    why = f"[[toolforge:{tool[1]}/{tool[2]}|{i18n.twtranslate(site, 'weboid-why')}]]" if tool else about
    return str(i18n.twtranslate(site, _KEY, {"done": ", ".join(done), "help": help_page, "why": why}))


def address_about(service: str, dbname: str, page: int, revision: int) -> str:
    """The address of the service's page about the repair of a revision, where people see why and report errors."""
    return f"{service}/repair/{dbname.removesuffix(_USUAL)}/{page}/{revision}"


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
