"""A wiki's settings page: what fits, what each fault is called, and that nothing else can happen."""

import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

import jsonschema_rs
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared import shared

from tools.build_settings_schema import settings_schema
from weboid.assets import asset, toml_next_to
from weboid.core.record.policy import DEFAULT, STRICTEST
from weboid.core.verdict.wiki_rules import rules_of
from weboid.core.wikitext.settings import (
    Options,
    SettingsError,
    of_wiki,
    parse_page,
    parse_settings,
    placeholders,
    template_key,
)

_CASES = toml_next_to(__file__)

_SHIPPED = {path.stem: path.read_text(encoding="utf-8") for path in sorted(asset("wikis").glob("*wiki.json"))}
# Python 3.14 reads what was too deep for those before it, and finds other faults.
_DEEP = ("no JSON that can be read: too deep", "no JSON: Expecting value", "a: unknown key")
_SCHEMA = json.loads((asset("wikis") / "settings.schema.json").read_text(encoding="utf-8"))


def changed(wiki: str = "enwiki", /, **changes: object) -> str:
    """A shipped page with other values at these paths (``cite__status__dead``); ... takes a key out."""
    page = json.loads(_SHIPPED[wiki])
    for path, value in changes.items():
        *above, last = path.split("__")
        table = page
        for key in above:
            table = table[key]
        if value is ...:
            del table[last]
        else:
            table[last] = value
    return json.dumps(page)


def faults(text: str, wiki: str | None = None) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as caught:
        parse_settings(text, wiki=wiki)
    return caught.value.faults


def test_the_shipped_pages_are_those_of_their_wikis_and_the_schema_is_that_of_the_program() -> None:
    assert set(_SHIPPED) == {"enwiki", "dewiki", "frwiki", "ptwiki"}
    assert settings_schema() == _SCHEMA
    for dbname in _SHIPPED:
        assert parse_settings(_SHIPPED[dbname], wiki=f"{dbname}@WMF").options == Options(), dbname
        assert jsonschema_rs.is_valid(_SCHEMA, json.loads(_SHIPPED[dbname]))


def test_the_settings_that_the_cases_for_bots_assume_fit() -> None:
    for wiki in ["en", "de", "fr", "pt"]:
        given = json.loads(shared("bots/wikiconfig.json").read_text(encoding="utf-8"))
        settings = parse_settings(json.dumps(given[wiki] | {"options": given["defaults"]}))
        ours = parse_settings(_SHIPPED[f"{wiki}wiki"])
        assert settings.options == Options(), wiki
        # Of the shipped ones more names and values are known, and what is written is the same.
        assert set(settings.cite.names) <= set(ours.cite.names), wiki
        for name in ("url", "title", "access_date", "archive_url", "archive_date", "archive_stamp"):
            assert getattr(ours.cite, name)[: len(getattr(settings.cite, name))] == getattr(settings.cite, name), wiki
        assert set(settings.dead_tag.names) <= set(ours.dead_tag.names), wiki
        assert replace(settings.dead_tag, names=()) == replace(ours.dead_tag, names=()), wiki
        assert settings.archive_template == ours.archive_template, wiki
        assert set(settings.paywall_tags) <= set(ours.paywall_tags), wiki
        known, given_status = ours.cite.status, settings.cite.status
        assert known is not None, wiki
        assert given_status is not None, wiki
        assert (known.param, known.dead, known.live) == (given_status.param, given_status.dead, given_status.live), wiki
        assert {*given_status.legacy_dead, *given_status.legacy} <= {*known.legacy_dead, *known.legacy}, wiki


def test_each_fault_is_named_with_its_path() -> None:
    rows: list[tuple[dict[str, Any], str]] = _CASES["faults"]
    rows += [
        ({"ignore": ["a" * 300]}, "ignore[0]: longer than 255 characters"),
        ({"cite__status__dead": ...}, "cite.status.dead: is missing"),
        ({"cite__names": ["Cite web", None]}, "cite.names[1]: must be a text: the name of a template"),
        ({"cite": None}, "cite: is missing"),
        ({"month": ...}, "month: is missing, but {month} is used"),
    ]
    for changes, fault in rows:
        found = faults(changed(**changes))
        assert [each for each in found if each.startswith(fault)], found


def test_all_faults_are_named_at_once_and_of_very_many_twenty() -> None:
    assert len(faults(changed(lang=1, date=2, cite__url=3))) == 3
    page = changed(ignore=[1] * 500)
    with pytest.raises(SettingsError, match="and 480 more") as caught:
        parse_settings(page)
    assert len(caught.value.faults) == 20


def test_a_page_copied_from_another_wiki_is_refused_and_one_with_comments_everywhere_fits() -> None:
    assert faults(_SHIPPED["enwiki"], "eswiki@WMF") == ("dbname: is enwiki@WMF, but this is the page of eswiki@WMF",)
    page = changed(_comment=[{"deep": 1}], cite___note=1, cite__paywall={"_why": 3, "access": ["x"]})
    assert parse_settings(page).cite.paywall == {"access": ("x",)}


def test_a_hostile_page_is_one_named_error() -> None:
    rows: list[tuple[str, str | tuple[str, ...]]] = [
        ("", "no JSON: Expecting value in line 1, column 1"), ("[]", "must be a table"), ("null", "must be a table"),
        ("[" * 150_000, _DEEP), ('{"a":' * 30_000, _DEEP), ('{"a":[' * 20_000 + "]}" * 20_000, _DEEP),
        (" " * 200_001, "longer than 200,000 characters"),
        ('{"lang": "en", "lang": "de"}', "'lang': stands twice in one table"),
        ('{"lang": ' + "9" * 5_000 + "}", "no JSON that can be read"), ('{"lang": NaN}', "no JSON that can be read"),
        ('{"lang": "\\ud800"}', "lang: '\\ud800' is not a language"),
        ('{"\\ud800\\u0000": 1}', "'\\ud800\\x00': unknown key"), ('{"_": "\ud800"}', "holds half a character"),
    ]  # fmt: skip
    for text, fault in rows:
        found = faults(text)
        assert [each for each in found if each.startswith(fault)], found
        assert all(each.encode() and len(each) < 400 for each in found), text


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)
_PATHS = st.sampled_from(
    ["lang", "date", "date_rules", "month", "cite", "cite__names", "cite__status", "cite__status__dead",
     "cite__paywall", "dead_tag__write", "dead_tag__place", "archive_template__obsolete",
     "archive_template__write", "options", "ignore"]
)  # fmt: skip


@given(_PATHS, _JSON)
def test_whatever_stands_somewhere_the_page_fits_or_is_refused_as_the_schema_says(path: str, value: object) -> None:
    text = changed("enwiki", **{path: value})
    with suppress(SettingsError):
        parse_settings(text)
        assert jsonschema_rs.is_valid(_SCHEMA, json.loads(text))


@given(st.text())
def test_no_text_raises_anything_else(text: str) -> None:
    with pytest.raises(SettingsError):
        parse_settings(text)


def test_spellings_of_a_template_are_one() -> None:
    assert template_key("dead_link") == template_key(" Dead  link") == "Dead link"
    assert placeholders("{{a|{url}|x={now} {bot}}}") == {"url", "now", "bot"}


def test_each_part_of_a_page_is_valid_alone_and_the_rest_is_as_shipped() -> None:
    page, shipped = json.loads(_SHIPPED["dewiki"]), parse_settings(_SHIPPED["dewiki"])
    page |= {"links": {"permalive": ["a.demo"]}, "dead_after": {"missing": 28}}
    for name, part in page.items():
        text = json.dumps({name: part})
        said = parse_page(text, wiki="eowiki@WMF") if name != "dbname" else parse_page(text)
        assert said.writes is None, name
        settings = parse_settings(text, base=shipped)
        assert settings.cite == shipped.cite, name
        assert of_wiki(settings) == parse_page(text, base=shipped), name
    highest = {"strikes": 15, "missing": 31, "unreachable": 63, "server_error": 63}
    for own, policy in (({"missing": 28}, replace(DEFAULT, missing_span=28)), (highest, STRICTEST)):
        assert rules_of(parse_page(json.dumps({"dead_after": own})), DEFAULT).policy == policy
    with pytest.raises(SettingsError, match=r"links.permadead\[0\]: 'a.demo' is in permalive, too"):
        parse_page('{"links": {"permalive": ["a.demo"], "permadead": ["a.demo"]}}')
