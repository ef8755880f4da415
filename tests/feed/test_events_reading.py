"""Reading single events: what each declared stream's events say, and that nothing a server sends can raise."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.assets import asset
from weboid.errors import ConfigError
from weboid.feed.events import (
    HandedIn,
    LinksAdded,
    PageGone,
    PageHandedIn,
    Passed,
    Reading,
    external_urls,
    first_link,
    load_streams,
    read,
)

STREAMS = load_streams()
OURS = {"dewiki"}


def samples(name: str) -> list[str]:
    return (asset("streams") / f"{name}.jsonl").read_text().splitlines()


def values(name: str) -> list[object]:
    return [read(data, STREAMS, OURS).value for data in samples(name)]


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def changed(data: str, **more: Any) -> Reading:
    return read(json.dumps({**json.loads(data), **more}), STREAMS, OURS)


def test_the_changes_of_a_page_are_reported_apart_by_their_kind() -> None:
    page = 9301140
    moved = "Kleine Brücke (Ort)"
    assert values("page_change") == [
        PageHandedIn("dewiki", page, "Kleine Brücke", 0, HandedIn.CREATED, at("2024-10-04T15:09:55")),
        PageHandedIn("dewiki", page, "Kleine Brücke", 0, HandedIn.EDITED, at("2024-10-04T15:16:26")),
        PageHandedIn("dewiki", page, moved, 0, HandedIn.MOVED, at("2024-10-04T15:20:43")),
        PageGone("dewiki", page, at("2024-10-04T15:26:14")),
        PageHandedIn("dewiki", page, moved, 0, HandedIn.UNDELETED, at("2024-10-04T15:27:28")),
        Passed.NOTHING,  # the visibility of a revision
        Passed.NOTHING,  # a new redirect
        Passed.NOTHING,  # a new page that is no wikitext
    ]


def test_older_streams_tell_the_same_of_pages_and_added_links_are_decoded_exactly_once() -> None:
    first, second = values("page_links_change")
    urls = ("https://www.sample-museum.de/such?q=kleine+br%C3%BCcke&n=1+1", "https://books.sample-library.de/b?id=7")
    assert first == LinksAdded("dewiki", 9301140, "Kleine Brücke", urls, at("2021-03-22T06:15:45"))
    assert second is Passed.NOTHING  # removed links only
    assert [
        type(value).__name__ for name in ("create", "undelete", "move", "delete") for value in values(f"page_{name}")
    ] == [*["PageHandedIn"] * 4, "PageGone"]
    assert values("page_move")[0] == PageHandedIn(
        "dewiki", 9301146, "Alte Seite (Ort)", 0, HandedIn.MOVED, at("2020-12-01T10:44:35")
    )


def test_a_categorised_page_is_named_by_the_first_link_of_the_comment() -> None:
    for comment, title in (
        ("[[:A b]] added to category", "A b"),
        ("[[:A_b|c]] removed", "A b"),
        ("no link at all", ""),
        ("[[:never closed", ""),
        ("", ""),
    ):
        assert first_link(comment) == title
    edit, article, template = values("recentchange")
    assert edit is Passed.NOTHING
    moment = at("2022-12-11T04:27:03")
    assert article == PageHandedIn(
        "dewiki", 0, "Kleine Brücke", None, HandedIn.CATEGORISED, moment, "Brücke in Sachsen"
    )
    assert isinstance(template, PageHandedIn)
    assert template.title == "Vorlage:Brücke"


def test_what_is_no_event_or_of_another_wiki_or_a_canary_is_passed_over_and_counted_apart() -> None:
    data = samples("page_change")[0]
    meta = json.loads(data)["meta"]
    assert changed(data, wiki_id="frwiki").value is Passed.FOREIGN
    canary = changed(data, meta={**meta, "domain": "canary"})
    assert (canary.value, canary.moment, canary.kind) == (Passed.CANARY, at("2024-10-04T15:09:55"), "canary")
    assert changed(data, meta={**meta, "stream": "mediawiki.page-image"}).value is Passed.UNKNOWN
    numbers = '{"meta": ' + "1" * 10_000 + "}"
    for text in ("", "{", "[]", "7", "null", "NaN", '"text"', "{}", '{"meta": []}', '{"meta": {}}', numbers):
        assert isinstance(read(text, STREAMS, OURS).value, Passed)
    assert isinstance(read("[" * 100_000, STREAMS, OURS).value, Passed)


@pytest.mark.parametrize(
    "more",
    [
        {"page_id": "7"},
        {"page_id": True},
        {"page_id": 0},
        {"page_id": 2**31},
        {"database": ["dewiki"]},
        {"added_links": "https://a.example/"},
        {"added_links": [{"link": 7, "external": True}]},
        {"meta": {"stream": "mediawiki.page-links-change", "dt": "yesterday"}},
        {"meta": {"stream": "mediawiki.page-links-change"}},
        {"meta": {"stream": "mediawiki.page-links-change", "dt": "0001-01-01T00:00:00+23:59"}},
    ],
)
def test_a_field_that_is_missing_or_of_the_wrong_kind_makes_an_event_malformed(more: dict[str, Any]) -> None:
    assert changed(samples("page_links_change")[0], **more).value is Passed.MALFORMED


def test_characters_that_no_database_takes_are_replaced() -> None:
    given = changed(samples("page_create")[0], page_title="A\u0000B\ud800").value
    assert isinstance(given, PageHandedIn)
    assert given.title == "A\ufffdB\ufffd"
    assert external_urls([{"link": "https://a.de/%00%ED%A0%80", "external": True}]) == (
        "https://a.de/\ufffd\ufffd\ufffd\ufffd",
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.data())
def test_no_event_raises_whatever_stands_in_its_fields(data: st.DataObject) -> None:
    name = data.draw(st.sampled_from(sorted(path.stem for path in asset("streams").glob("*.jsonl"))))
    event = json.loads(data.draw(st.sampled_from(samples(name))))
    holder = event["meta"] if data.draw(st.booleans()) else event
    holder[data.draw(st.sampled_from(sorted(holder)))] = data.draw(_JSON)
    assert read(json.dumps(event), STREAMS, OURS).kind


def test_every_declared_stream_has_samples_with_an_effect_and_categories_are_followed_where_there_are_some() -> None:
    for path in asset("streams").glob("*.toml"):
        read_as = [read(data, STREAMS, OURS) for data in samples(path.stem)]
        assert not {reading.value for reading in read_as} & {Passed.MALFORMED, Passed.UNKNOWN, Passed.FOREIGN}, path
        assert any(not isinstance(reading.value, Passed) for reading in read_as), path
    assert "recentchange" in STREAMS.worthwhile({"categories"}).names.split(",")
    assert "recentchange" not in STREAMS.worthwhile(set()).names.split(",")
    assert "mediawiki.page_change.v1" in STREAMS.worthwhile(set()).names.split(",")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("stream = ", "declares no stream"),
        ('effect = "gone"', "declares no stream"),
        ('stream = "a"\neffect = "gone"\n[fields]\nwiki = "w"', "the field 'page' is missing"),
        ('stream = "a"\neffect = "eaten"\n[fields]\nwiki = "w"', "unknown 'eaten'"),
        ('stream = "a"\neffect = "gone"\n[fields]\nwiki = "w"\npage = "p"\nleg = "l"', "unknown 'leg'"),
        ('stream = "a"\n[fields]\nwiki = "w"\npage = "p"\n[effects]\nx = "gone"', "the field 'kind' is missing"),
    ],
)
def test_a_declaration_that_cannot_be_used_names_its_file(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "s.toml").write_text(text)
    with pytest.raises(ConfigError, match=r"s\.toml.*" + message):
        load_streams(tmp_path)
