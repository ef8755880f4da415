"""Each recorded exchange of ../shared/data/archives gives its right outcome; cut or mutated, none becomes NONE.

``TABLE`` has, for each exchange of each file: how it is read, as which service, what it says, and the reason or count.
``tests/vectors/spelled_exchanges.json`` has exchanges made from some of them, whose URLs are spelled in many ways.
"""

import json
import re
from dataclasses import replace
from datetime import UTC, date, datetime
from itertools import chain
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.shared import shared

from weboid.assets import toml_next_to
from weboid.core.archive.addresses import replay_address, stamp_of
from weboid.core.archive.captures import Listing, ServiceReply
from weboid.core.archive.choice import candidates
from weboid.core.archive.dialects.link_format import timemap_of
from weboid.core.archive.listings import combined, listing_of, second_listing_of
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.archive.replay import replay_of
from weboid.core.archive.rows.fitness import Wish
from weboid.core.archive.save_replies import job_status, submitted
from weboid.core.archive.services import SERVICES, ArchiveService, Dialect
from weboid.core.url.archives import BY_NAME
from weboid.core.url.spellings import is_other_page
from weboid.core.url.urls import Url, parse

CASES = toml_next_to(__file__)
PYWB = ArchiveService(BY_NAME["ukwa"], Dialect.PYWB, "http://127.0.0.1:8097/web", "http://127.0.0.1:8097/web", 0, 0)
UNFRAMED = replace(PYWB, base="http://127.0.0.1:8098/web", public="http://127.0.0.1:8098/web")
RFC = replace(PYWB, dialect=Dialect.TIMEMAP, base="http://arxiv.example.net/web", public="http://arxiv.example.net/web")
KNOWN = {**SERVICES, "pywb": PYWB, "unframed": UNFRAMED, "rfc": RFC}


def replies_in(file: Path) -> list[tuple[str, ServiceReply]]:
    exchanges = json.loads(file.read_text(encoding="utf-8"))["exchanges"]
    return [(exchange["request"]["url"], _reply(exchange["response"])) for exchange in exchanges]


def _reply(response: dict[str, object]) -> ServiceReply:
    headers, body, status = response["headers"], response["body"], response["status"]
    assert isinstance(headers, dict)
    assert isinstance(status, int)
    return ServiceReply(status, {name.lower(): value for name, value in headers.items()}, str(body).encode())


def stamp_asked(address: str) -> int:
    found = re.search(r"/([0-9]{14})(?:id_)?/", address)
    assert found
    return int(found[1])


def page_asked(address: str) -> Url:
    parts = urlsplit(address)
    if "/http" in parts.path:
        return parse(address[address.index("/http", len("https://")) + 1 :])
    (url,) = parse_qs(parts.query).get("url", ["http://mill.demo/"])
    url = unquote(url).removesuffix("*")
    return parse(url if "://" in url else f"http://{url}") if "." in url else parse("http://mill.demo/")


Row = tuple[str, str, str, str | int]

TABLE: Final[dict[str, list[Row]]] = CASES["exchanges"]


def said(how: str, name: str, address: str, reply: ServiceReply) -> tuple[str, str | int]:
    """What a reply says, read as it would be if the program had asked: a word, and a reason or the captures."""
    service, url = KNOWN[name], page_asked(address)
    match how:
        case "replay":
            replayed = replay_of(reply, stamp=stamp_asked(address), url=url, service=service)
            return replayed.result.value, replayed.why
        case "save" | "job":
            saved = submitted(reply) if how == "save" else job_status(reply, address.rpartition("/")[2])
            return saved.state, saved.why
        case "link":
            timemap = timemap_of(reply.headers["link"], base=address, url=str(url))
            return "found", len(timemap.captures) if timemap else 0
        case "not asked":
            return "", ""
    listing = _listing(how, name, url, reply)
    return listing.outcome.word, len(listing.captures) or listing.why


def _listing(how: str, name: str, url: Url, reply: ServiceReply) -> Listing:
    service = KNOWN[name]
    if how == "timegate":
        return second_listing_of(replace(service, dialect=KNOWN["archive-it"].dialect), reply, url)
    return listing_of(service, reply, url) if how == "list" else second_listing_of(service, reply, url)


def _files() -> list[Path]:
    return [path for path in sorted(shared("archives").glob("*.json")) if path.name != "INDEX.json"]


def test_each_recorded_exchange_gives_its_right_outcome_and_none_is_missing() -> None:
    for name in TABLE:
        replies = replies_in(shared(f"archives/{name}.json"))
        outcomes = [
            said(how, service, address, reply)
            for (how, service, *_), (address, reply) in zip(TABLE[name], replies, strict=True)
        ]
        assert outcomes == [(word, detail) for _, _, word, detail in TABLE[name]]
    assert {path.stem for path in _files()} == TABLE.keys()
    assert len(TABLE) == 57


def test_an_empty_answer_of_an_unknown_collection_stays_unknown() -> None:
    nothing, _, unknown_collection = replies_in(shared("archives/pywb-cdx-none.json"))
    _, (address, absent) = replies_in(shared("archives/pywb-timemap-link.json"))
    page = b"<html><p>Collection not found: <b>nocoll</b></p></html>"
    url, service = page_asked(address), KNOWN["pywb"]
    first = listing_of(service, nothing[1], url)
    assert listing_of(service, unknown_collection[1], url) == first
    assert combined(first, second_listing_of(service, absent, url)).outcome is LookupOutcome.NONE
    wrong = second_listing_of(service, ServiceReply(404, {"content-type": "text/html"}, page), url)
    assert combined(first, wrong) == wrong
    assert (wrong.outcome, wrong.why) == (LookupOutcome.UNKNOWN, "no-collection")


def test_availability_alone_is_no_none_and_next_to_the_index_it_is() -> None:
    ((address, empty),) = replies_in(shared("archives/availability-empty-for-archived.json"))
    service, url = KNOWN["wayback"], page_asked(address)
    second = second_listing_of(service, empty, url)
    first = listing_of(service, ServiceReply(200, {"content-type": "application/json"}, b"[]\n"), url)
    assert combined(first, None).outcome is LookupOutcome.UNKNOWN
    assert combined(first, second).outcome is LookupOutcome.NONE
    assert combined(second, second).outcome is LookupOutcome.UNKNOWN


def test_no_recorded_answer_becomes_none_when_it_is_cut_or_comes_with_another_code() -> None:
    for how, name, address, reply in _with_captures():
        step = max(1, len(reply.body) // 40)
        for end in chain(range(1, min(60, len(reply.body))), range(60, len(reply.body), step)):
            cut = replace(reply, body=reply.body[:end])
            assert _listing(how, name, page_asked(address), cut).outcome is not LookupOutcome.NONE, (address, end)
        for code in (None, 429, 500, 502, 503, 504, 403, 301):
            assert _listing(how, name, page_asked(address), replace(reply, code=code)).outcome is not LookupOutcome.NONE


@given(st.data())
def test_no_recorded_answer_becomes_none_when_bytes_change(data: st.DataObject) -> None:
    how, name, address, reply = data.draw(st.sampled_from(_with_captures()))
    body = bytearray(reply.body[:3_000])
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(body) - 1))
        body[at : at + data.draw(st.integers(0, 3))] = data.draw(st.binary(max_size=3))
        body = body or bytearray(b"x")
    listing = _listing(how, name, page_asked(address), replace(reply, body=bytes(body)))
    assert listing.outcome is not LookupOutcome.NONE


def _with_captures() -> list[tuple[str, str, str, ServiceReply]]:
    return [
        (how, name, address, reply)
        for path in _files()
        for (how, name, word, _), (address, reply) in zip(TABLE[path.stem], replies_in(path), strict=True)
        if how in ("list", "second") and word == "found" and reply.body
    ]


SPELLED: Final[dict[str, Any]] = json.loads(
    (Path(__file__).parents[2] / "vectors" / "spelled_exchanges.json").read_text(encoding="utf-8")
)
EXCHANGES = pytest.mark.parametrize("exchange", SPELLED["exchanges"], ids=lambda exchange: str(exchange["dialect"]))
LISTED: Final = [one for one in SPELLED["exchanges"] if one["read"] in ("list", "second", "timegate")]
MENTIONED: Final = date(2026, 11, 1)


def spelled(exchange: dict[str, Any], written: str) -> ServiceReply:
    """The reply of an exchange, with the captured URL as it is written."""
    headers = {name.lower(): value.replace("{U}", written) for name, value in exchange["headers"].items()}
    return ServiceReply(exchange["status"], headers, exchange["body"].replace("{U}", written).encode())


def listed(exchange: dict[str, Any], written: str, url: Url) -> Listing:
    return _listing(exchange["read"], exchange["service"], url, spelled(exchange, written))


@pytest.mark.parametrize("spelling", SPELLED["spellings"], ids=lambda spelling: str(spelling["name"]))
@EXCHANGES
def test_no_spelling_in_any_dialect_speaks_against_a_copy(exchange: dict[str, Any], spelling: dict[str, Any]) -> None:
    url, written, service = parse(spelling["asked"]), spelling["written"], KNOWN[exchange["service"]]
    reply = spelled(exchange, written)
    match exchange["read"]:
        case "replay":
            assert replay_of(reply, stamp=exchange["stamp"], url=url, service=service).result.value == "plays"
        case "led":
            replayed = replay_of(reply, stamp=exchange["stamp"], url=url, service=service)
            expected = ("moved", "near") if spelling["may_be_chosen"] else ("nothing", "unsure-page")
            assert (replayed.result.value, replayed.why) == expected
        case "saved":
            said_so = job_status(reply, "spn2-c093004522eaa435107c0d9ee8aac46a17199841")
            assert said_so.original
            assert not is_other_page(said_so.original, url)
        case _:
            captures = listed(exchange, written, url).captures
            assert captures
            assert not any(is_other_page(one.original, url) for one in captures)
            ranked = candidates(captures, Wish(url, datetime(2010, 1, 1, tzinfo=UTC), MENTIONED))
            assert bool(ranked.best) is spelling["may_be_chosen"], ranked.passed


def test_what_was_escaped_for_html_is_played_at_its_own_address() -> None:
    for exchange in LISTED:
        for asked in ("http://mill.demo/wheel?id=1&lang=en", "http://mill.demo/wheel?id=1&amp;lang=en"):
            captures = listed(exchange, asked.replace("&", "&amp;"), parse(asked)).captures
            assert captures == listed(exchange, asked, parse(asked)).captures
            for one in captures:
                address = replay_address(KNOWN["wayback"], stamp_of(one.taken), one.original, one.address)
                assert address.endswith(f"id_/{asked}"), exchange


@EXCHANGES
def test_another_page_is_one_in_every_dialect(exchange: dict[str, Any]) -> None:
    url, service = parse("http://mill.demo/wheel?id=1&lang=en"), KNOWN[exchange["service"]]
    for written in ("http://mill.demo/wheel?id=2&amp;lang=en", "http://mill.demo/?id=1&lang=en", "http://a.demo/wheel"):
        match exchange["read"]:
            case "replay" | "led":
                replayed = replay_of(spelled(exchange, written), stamp=exchange["stamp"], url=url, service=service)
                assert (replayed.result.value, replayed.why) == ("moved-far", "other-page")
            case "saved":
                assert is_other_page(written, url)
            case _:
                captures = listed(exchange, written, url).captures
                assert not candidates(captures, Wish(url, datetime(2010, 1, 1, tzinfo=UTC), MENTIONED)).best
