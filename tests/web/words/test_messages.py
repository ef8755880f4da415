"""Messages: all there, all documented, all used, all safe; plurals, numbers and days as their language has them."""

import json
import random
import re
from pathlib import Path

import pytest
from babel import Locale
from babel.dates import format_interval
from markupsafe import Markup

import weboid.web
from weboid.assets import asset
from weboid.bot.decisions import RepairAction
from weboid.core.archive.copies import CopyState
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.record.days import date_of
from weboid.core.record.reasons import Reason
from weboid.core.record.status import Status
from weboid.core.url.classify import UrlClass
from weboid.core.url.hosts import InvalidReason
from weboid.core.verdict.hints import HintKind
from weboid.core.verdict.report_json import RevertReason
from weboid.core.verdict.verdict import Verdict
from weboid.robot.orders import Restriction
from weboid.robot.wanted import WantedTask
from weboid.site.places import FAULTS
from weboid.store.archives.copy_queue import Rank
from weboid.store.archives.service_limit import RequestKind
from weboid.store.people.audit import Action
from weboid.store.schedule.process import ProcessRole
from weboid.store.site.ordered import TaskState
from weboid.store.upkeep.alarm import AlarmKind
from weboid.web.people.dying_hosts import DECISIONS
from weboid.web.people.robot import _COUNTS
from weboid.web.repair.repair_words import LEFT
from weboid.web.request.problem import Problem
from weboid.web.words.language import Language, languages, requested_language
from weboid.web.words.messages import Messages, _own_digits, catalogue, format_pattern, messages_in

_WEB = Path(weboid.web.__file__).parent
_FILES = sorted(asset("i18n").glob("*.json"))
_TRANSLATIONS = [path.stem for path in _FILES if path.stem != "qqq"]
_FORMS = re.compile(r"\{\{(PLURAL|GENDER):\$[1-9]\|[^{}]*\}\}")
_PLURALS = re.compile(r"\{\{PLURAL:(\$[1-9])\|")
_SPANS = ("since", "copy-before", "copy-after", "copy-seen-before", "copy-seen-after")
_NUMBERS = re.compile(r"(\$[1-9]) (?:is|are) (?:a|the) (?:number|count|size)")


def say(code: str) -> Messages:
    return messages_in(languages()[code])


def keys_of_enumerations() -> set[str]:
    return {
        *(f"weboid-verdict-{verdict.word}" for verdict in Verdict),
        *(f"weboid-count-{verdict.word}" for verdict in Verdict),
        *(f"weboid-help-{verdict.word}" for verdict in Verdict),
        *(f"weboid-reason-{reason.word}" for reason in Reason),
        *(f"weboid-status-{status.value}" for status in Status),
        *(f"weboid-class-{kind.value}" for kind in UrlClass),
        *(f"weboid-invalid-{reason.value}" for reason in InvalidReason),
        *(f"weboid-hint-{kind.value}" for kind in HintKind),
        *(f"weboid-{span}-{unit}s" for span in _SPANS for unit in ("day", "week", "month", "year")),
        *("weboid-copy-same-day", "weboid-copy-seen-same-day"),
        *(f"weboid-copy-{state.value}" for state in CopyState if state is not CopyState.FOUND),
        *(f"weboid-lookup-{outcome.word}" for outcome in LookupOutcome),
        *(f"weboid-revert-why-{reason.value}" for reason in RevertReason),
        *(f"weboid-status-alarm-{kind}" for kind in AlarmKind),
        *(f"weboid-status-role-{role.value}" for role in ProcessRole),
        *(f"weboid-status-queue-{rank.name.lower()}" for rank in Rank),
        *(f"weboid-status-archive-{kind.name.lower()}" for kind in RequestKind),
        *(f"weboid-admin-action-{action}" for action in Action),
        *(f"weboid-repair-{action.value}" for action in RepairAction if action is not RepairAction.NOTHING),
        *(f"weboid-repair-left-{why}" for why in LEFT),
        *(f"weboid-admin-dying-{word}" for word in DECISIONS),
        *(f"weboid-robot-state-{state}" for state in (*TaskState, "stopping")),
        *(f"weboid-robot-order-{name.replace('_', '-')}" for name in ("starts", *WantedTask.__dataclass_fields__)),
        *(f"weboid-robot-restriction-{each.value}" for each in Restriction),
        *(f"weboid-robot-fault-{state}" for state in FAULTS),
        *(f"weboid-robot-{name}" for name in _COUNTS),
        *(f"weboid-{page}-title" for page in ("report", "replacement")),
    }


def keys_in_program() -> set[str]:
    files = [*_WEB.rglob("*.py"), *_WEB.rglob("*.html")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in files)
    problems = re.findall(r'Problem\(\s*(?:\d+|error\.status), "([a-z-]+)"', text)
    by_status = re.findall(r'\d{3}: "([a-z-]+)"', text)
    plain = {key for key in re.findall(r'"(weboid-[a-z0-9-]+)"', text) if not key.endswith("-")}
    return plain | {f"weboid-error-{key}" for key in (*problems, *by_status)}


def faults_of(key: str, text: str) -> list[str]:
    """Faults of a translation: they could do no harm, as all is escaped, but it would look broken."""
    english = catalogue("en")[key]
    without_forms = _FORMS.sub("", text)
    numbers = set(_PLURALS.findall(english)) | set(_NUMBERS.findall(catalogue("qqq")[key]))
    found = {
        "empty": not text.strip(),
        "markup": re.search(r"<[a-z/!]|&(#|[a-z]+;)", text, re.I),
        "wiki text": re.search(r"\[\[|\[\w*:?//|''|~~~|__", text),
        "braces": re.search(r"[{}]", without_forms),
        "parameters": set(re.findall(r"\$(\d+)", text)) != set(re.findall(r"\$(\d+)", english)),
        "PLURAL of a text": not set(_PLURALS.findall(text)) <= numbers,
        "forms": any(_is_bad_plural(forms) for forms in re.findall(r"\{\{PLURAL:\$\d\|([^{}]*)\}\}", text)),
        "hidden characters": re.search("[\u200b\u202a-\u202e\u2060-\u2069\ufeff\x00-\x1f\x7f-\x9f]", text),
    }
    return [fault for fault, is_there in found.items() if is_there]


def _is_bad_plural(forms: str) -> bool:
    counted = [form for form in forms.split("|") if not re.match(r"\d+=", form)]
    return ":" in forms or not 1 <= len(counted) <= 6


def test_no_message_is_missing_and_none_is_unused() -> None:
    """Those of the gadget, which speaks for itself, are held to its own code by ``tests/gadget/test_build.py``."""
    of_the_pages = {key for key in catalogue("en") if not key.startswith("weboid-gadget-")}
    assert keys_of_enumerations() | keys_in_program() == of_the_pages


def test_every_message_is_documented_and_nothing_else() -> None:
    assert catalogue("qqq").keys() == catalogue("en").keys()
    assert all(text.strip() for text in catalogue("qqq").values())


def test_german_and_arabic_are_complete() -> None:
    for code in ["de", "ar"]:
        assert catalogue(code).keys() == catalogue("en").keys(), code


def test_files_are_as_translatewiki_writes_them() -> None:
    for path in _FILES:
        text = path.read_text(encoding="utf-8")
        given = json.loads(text)
        assert next(iter(given)) == "@metadata", path
        assert text == json.dumps(given, ensure_ascii=False, indent="\t") + "\n", path


def test_dates_such_as_2016_05_03_are_not_turned_round_where_text_runs_from_the_right() -> None:
    for code in [code for code in _TRANSLATIONS if languages()[code].direction == "rtl"]:
        for key, text in catalogue(code).items():
            assert not re.search("(?<!\u200e)\\b[0-9]{4}-[0-9]{2}-[0-9]{2}", text), key


def test_translations_are_safe_and_say_what_the_original_says() -> None:
    for code in _TRANSLATIONS:
        assert catalogue(code).keys() <= catalogue("en").keys()
        locale = Locale.parse(languages()[code].locale)
        assert [key for key, text in catalogue(code).items() if "{{" in format_pattern(text, locale)] == [], code
        faults = {key: faults_of(key, text) for key, text in catalogue(code).items()}
        assert {key: found for key, found in faults.items() if found} == {}, code


def test_an_unsafe_translation_is_found() -> None:
    for key, text, fault in [
        ("weboid-source", "<b>$1</b>", "markup"),
        ("weboid-source", "[[Project:About|$1]]", "wiki text"),
        ("weboid-source", "{{SITENAME}} $1", "braces"),
        ("weboid-source", "$1 $2", "parameters"),
        ("weboid-source", "{{PLURAL:$1|one|$1}}", "PLURAL of a text"),
        ("weboid-page-counts", "{{PLURAL:$1|one: $1|$1}}", "forms"),
        ("weboid-source", "\u202e$1", "hidden characters"),
        ("weboid-name", " ", "empty"),
    ]:
        assert fault in faults_of(key, text), key


def test_a_parameter_is_escaped_and_markup_is_not() -> None:
    assert "&lt;b&gt;{0}$1" in say("en").html("weboid-error-wiki", "<b>{0}$1")
    assert "<b>x</b>" in say("en").html("weboid-target", Markup("<b>x</b>"))
    assert "&lt;b&gt;x" in say("en").html("weboid-target", "<b>x</b>"), "kept apart from the same characters as markup"
    assert "(<b>\x000\x001</b>)" in say("en").html("weboid-evidence-missing", 1, Markup("<b>\x000\x001</b>"))
    assert "&lt;i&gt;" in say("en").html("weboid-copy-of", Markup("x"), type("Text", (str,), {})("<i>"))


def test_a_message_cannot_bring_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    language = Language("xx", "xx", "X", "ltr", "en", ())
    monkeypatch.setitem(languages(), "xx", language)
    monkeypatch.setattr(
        "weboid.web.words.messages.catalogue", lambda code: {"evil": '<script>alert("$1")</script> {0.x}'}
    )
    assert Messages(language).html("evil", "&") == "&lt;script&gt;alert(&#34;&amp;&#34;)&lt;/script&gt; {0.x}"


def test_translatewikis_syntax_becomes_the_formatters() -> None:
    for message, expected in [
        ("{{PLURAL:$1|0=a|b|$1 c}}", "{0!p:0=a:one=b:other={0} c}"),
        ("{{GENDER:$2|he|she|they}} $1", "{1!g:m=he:f=she:n=they} {0}"),
        ("{x} {{y}}", "{{x}} {{{{y}}}}"),
    ]:
        assert format_pattern(message, Locale.parse("en")) == expected, message


def test_what_the_formatter_would_misread_is_refused() -> None:
    for message in ["{{PLURAL:$1|a: b|c}}", "{{GENDER:$1|$2|x}}"]:
        with pytest.raises(ValueError, match="colon"):
            format_pattern(message, Locale.parse("en"))


def test_durations_in_words() -> None:
    for days, english, german in [
        (0, "since today", "seit heute"), (1, "for one day", "seit einem Tag"), (13, "for 13 days", "seit 13 Tagen"),
        (14, "for 2 weeks", "seit 2 Wochen"), (60, "for 9 weeks", "seit 9 Wochen"),
        (180, "for 6 months", "seit 6 Monaten"), (800, "for 2 years", "seit 2 Jahren"),
    ]:  # fmt: skip
        assert (say("en").span(days), say("de").span(days)) == (english, german), days


def test_days_in_words() -> None:
    for days, english, german in [
        (0, "today", "heute"), (-1, "yesterday", "gestern"), (1, "tomorrow", "morgen"),
        (-14, "2 weeks ago", "vor 2 Wochen"), (-200, "7 months ago", "vor 7 Monaten"), (3, "in 3 days", "in 3 Tagen"),
    ]:  # fmt: skip
        assert (say("en").distance(days), say("de").distance(days)) == (english, german), days


def test_qqx_shows_keys_and_parameters() -> None:
    assert say("qqx").text("weboid-error-unknown-page", "A", "b@C") == "(weboid-error-unknown-page: A, b@C)"
    assert say("qqx").html("weboid-name") == "(weboid-name)"


def test_what_is_no_language_code_is_refused() -> None:
    for code in ["", "d", "../en", "de_DE", "<b>", "en\n", "e" * 40]:
        with pytest.raises(Problem):
            requested_language(code)


def test_a_range_of_dates_is_written_as_babel_writes_it_in_every_language() -> None:
    chance = random.Random(1)
    for language in languages().values():
        locale = Locale.parse(language.locale)
        first = chance.randrange(3_000)
        for last in (first + 1, first + 40, first + 400):
            written = format_interval(date_of(first), date_of(last), "yMMMd", locale=locale)
            assert messages_in(language).dates(first, last) == _own_digits(written, locale)
