import json
import re

import pytest
from pywikibot import i18n

import weboid_scripts
from weboid.bot.decisions import RepairAction
from weboid_scripts.repairs.summaries import summary_of

FOLDER = weboid_scripts.PATH / "i18n" / "weboid"
ACTIONS = [action.value for action in RepairAction if action is not RepairAction.NOTHING]


@pytest.fixture(autouse=True)
def _own_messages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(i18n, "_messages_package_name", "weboid_scripts.i18n")
    monkeypatch.setattr(i18n, "_messages_available", True)


def messages(language: str) -> dict[str, str]:
    found: dict[str, str] = json.loads((FOLDER / f"{language}.json").read_text(encoding="utf-8"))
    found.pop("@metadata")
    return found


def test_languages_are_complete_sorted_and_have_the_same_parameters() -> None:
    for language in ["en", "de", "qqq"]:
        assert list(messages(language)) == sorted(messages("en")), language
    for key, text in messages("en").items():
        assert set(re.findall(r"%\(\w+\)[ds]", messages("de")[key])) == set(re.findall(r"%\(\w+\)[ds]", text)), key


def test_there_is_one_part_of_the_summary_for_every_action() -> None:
    parts = [key for key in messages("en") if key.startswith("weboid-summary-")]
    assert sorted(parts) == sorted(f"weboid-summary-{action}" for action in ACTIONS)


def test_summaries_tell_every_action() -> None:
    for language in ["en", "de", "nds"]:
        for count in [1, 2, 21]:
            summary = summary_of(
                language, ACTIONS * count, "User talk:WeboidBot", "https://weboid.toolforge.org/repair/x"
            )
            assert "[[User talk:WeboidBot|" in summary, (language, count)
            assert "[[toolforge:weboid/repair/x|" in summary, (language, count)
            assert "{{" not in summary, (language, count)
            assert "%(" not in summary, (language, count)
            assert summary.count(", ") == len(ACTIONS) - 1, (language, count)
            assert summary.count(str(count)) == (len(ACTIONS) if count > 1 else 0), language
