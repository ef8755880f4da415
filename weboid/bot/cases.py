"""Cases of repair as JSON: pages with the answers for their links, and the repaired text.

A file of settings is either one wiki's page, or a table of them by the cases' `wiki`, with `defaults` of options.
"""

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, Final

from weboid.assets import asset
from weboid.bot.answers import read_answers
from weboid.bot.repair import repair
from weboid.core.wikitext.settings import SettingsError, WikiSettings, parse_settings

_OPTIONS: Final = "options"
_DEFAULTS: Final = "defaults"


class SettingsTable:
    """The settings of several wikis, each read, and refused, when its first case comes."""

    def __init__(self, pages: Mapping[str, Any] | None) -> None:
        self._pages = pages

    def of(self, wiki: str, options: Mapping[str, Any]) -> WikiSettings:
        """The settings of a wiki, with options of a single case. Raises SettingsError."""
        page = dict(self._page(wiki))
        common = {} if self._pages is None else self._pages.get(_DEFAULTS, {})
        own = page.get(_OPTIONS, {})
        if not all(isinstance(each, dict) for each in (common, own, options)):
            raise SettingsError(("options: must be a table",), "options: must be a table")
        page[_OPTIONS] = {**common, **own, **options}
        return parse_settings(json.dumps(page))

    def _page(self, wiki: str) -> Mapping[str, Any]:
        page = _shipped(wiki) if self._pages is None else self._pages.get(wiki, self._pages)
        if not isinstance(page, dict) or "dbname" not in page:
            raise SettingsError((f"{wiki}: no settings",), f"no settings of {wiki!r}")
        return page


def _shipped(wiki: str) -> Any:
    name = wiki.partition("@")[0]
    for path in (f"{name}.json", f"{name}wiki.json"):
        file = asset("wikis") / path
        if "/" not in name and file.is_file():
            return json.loads(file.read_text(encoding="utf-8"))
    return None


def repaired_cases(
    cases: list[Mapping[str, Any]], settings: SettingsTable, now: datetime, report: Callable[[str], None]
) -> dict[str, str]:
    """The text of each case after its repair, by id. A refused case keeps its text, and the reason goes to `report`."""
    texts = {}
    for case in cases:
        name, text = str(case["id"]), str(case["wikitext_in"])
        texts[name] = text
        try:
            rules = settings.of(str(case["wiki"]), case.get(_OPTIONS) or {})
        except SettingsError as refused:
            report(f"{name}: {refused}")
            continue
        answers = read_answers(case.get("verdicts") or {}, case.get("archives") or {}, now)
        texts[name] = repair(text, rules, answers, now=now).text
    return texts
