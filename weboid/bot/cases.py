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


def case_settings(pages: Mapping[str, Any] | None, wiki: str, options: Mapping[str, Any]) -> WikiSettings:
    """The settings of a wiki, shipped unless `pages` are given, with options of a case. Raises SettingsError."""
    page = _shipped(wiki) if pages is None else pages.get(wiki, pages)
    if not isinstance(page, dict) or "dbname" not in page:
        raise SettingsError((f"{wiki}: no settings",), f"no settings of {wiki!r}")
    common, own = {} if pages is None else pages.get("defaults", {}), page.get(_OPTIONS, {})
    if not all(isinstance(each, dict) for each in (common, own, options)):
        raise SettingsError(("options: must be a table",), "options: must be a table")
    return parse_settings(json.dumps({**page, _OPTIONS: {**common, **own, **options}}))


def _shipped(wiki: str) -> Any:
    name = wiki.partition("@")[0]
    for path in (f"{name}.json", f"{name}wiki.json"):
        file = asset("wikis") / path
        if "/" not in name and file.is_file():
            return json.loads(file.read_text(encoding="utf-8"))
    return None


def repaired_cases(
    cases: list[Mapping[str, Any]], settings: Mapping[str, Any] | None, now: datetime, report: Callable[[str], None]
) -> dict[str, str]:
    """The text of each case after its repair, by id. A refused case keeps its text, and the reason goes to `report`."""
    texts = {}
    for case in cases:
        name, text = str(case["id"]), str(case["wikitext_in"])
        texts[name] = text
        try:
            rules = case_settings(settings, str(case["wiki"]), case.get(_OPTIONS) or {})
        except SettingsError as refused:
            report(f"{name}: {refused}")
            continue
        answers = read_answers(case.get("verdicts") or {}, case.get("archives") or {}, now)
        texts[name] = repair(text, rules, answers, now=now).text
    return texts
