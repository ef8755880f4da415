"""Answers of the service become what is known of links, and of several copies the right one is written."""

import random
from typing import Any

from support.repairs import COPY, NOW, URL, repaired

from weboid.assets import toml_next_to
from weboid.bot.answers import KnownLinks, LinkAnswer, key_of, read_pages
from weboid.core.archive.copies import CopyState
from weboid.core.verdict.verdict import Verdict

_CASES = toml_next_to(__file__)

_KEY = key_of(URL) or ""


def snapshot(year: int = 2012, **changes: Any) -> dict[str, Any]:
    """A copy of May 7 of a year, as the service gives it."""
    stamp = f"{year}0507093011"
    address = COPY.replace("20120507093011", stamp)
    snapshot = {"service": "wayback", "snapshot": address, "stamp": stamp, "origin": "chosen", "verified": True}
    return snapshot | changes


def link(**changes: Any) -> dict[str, Any]:
    return {"normal": _KEY, "verdict": "dead", "flags": [], "archived": "found", "snapshots": [snapshot()]} | changes


def read(*links: Any) -> KnownLinks:
    return read_pages([{"id": 1, "links": list(links)}], NOW)


def answer(**changes: Any) -> LinkAnswer:
    return read(link(**changes)).by_url[_KEY]


def test_an_answer_is_read_with_the_state_of_copies_that_the_service_gives() -> None:
    found = answer(flags=["permalive", 17], snapshots=[snapshot(2015, origin="suggested"), snapshot()])
    assert (found.verdict, found.flags, found.copies) == (Verdict.DEAD, frozenset({"permalive"}), CopyState.FOUND)
    assert [(each.taken.year, each.is_suggested) for each in found.snapshots] == [(2015, True), (2012, False)]
    for word in ["none", "unsuitable", "excluded", "unknown", "error", "pending", "withdrawn"]:
        assert answer(archived=word, snapshots=[]).copies is CopyState(word)


def test_what_is_not_as_documented_is_no_copy_and_no_none() -> None:
    rows: list[dict[str, Any]] = [
        {"archived": "found", "snapshots": []}, {"archived": "none"}, {"archived": None, "snapshots": []},
        {"archived": ["none"], "snapshots": []}, {"archived": "None", "snapshots": []},
        {"snapshots": [snapshot(verified=False)]}, {"snapshots": [snapshot(verified="true")]},
        {"snapshots": [snapshot(verified=None)]}, {"snapshots": [snapshot(2031)]},
        {"snapshots": [snapshot(snapshot=None)]}, {"snapshots": [snapshot(snapshot="javascript:alert(1)", stamp=1)]},
        {"snapshots": [snapshot(snapshot=f"https://archive.today/20120507093011/{URL}")]},
        {"snapshots": {"0": snapshot()}}, {"snapshots": "found"},
    ]  # fmt: skip
    for changes in rows:
        found = answer(**changes)
        assert (found.copies, found.snapshots) == (CopyState.UNKNOWN, ()), changes


def test_what_is_no_verdict_is_unknown_and_a_link_without_a_normal_form_is_not_known() -> None:
    for verdict in [None, 1, ["dead"], "DEAD", "", {"dead": 1}]:
        assert answer(verdict=verdict).verdict is Verdict.UNKNOWN
    strange = [link(normal=None), link(normal="no url"), link(normal=URL.upper()), link(normal=17), {}, None, [link()]]
    assert read(*strange).by_url == {}
    pages = [{"links": [link(verdict="working")]}, {"links": [link()]}, {"links": None}, None, "page", {}]
    assert read_pages(pages, NOW).by_url[_KEY].verdict is Verdict.WORKING


def test_whatever_comes_is_read_without_an_exception() -> None:
    dice = random.Random(17)
    odd: list[Any] = [
        None, True, 0, -1.5, float("nan"), "", "found", "\ud800", [], {}, [[]], [None], {"links": []}, "9" * 400,
    ]  # fmt: skip
    for _ in range(2_000):
        answer = link(snapshots=[snapshot() | {dice.choice([*snapshot()]): dice.choice(odd)}, dice.choice(odd)])
        answer[dice.choice([*answer])] = dice.choice(odd)
        for found in read_pages([{"links": [answer, dice.choice(odd)]}, dice.choice(odd)], NOW).by_url.values():
            assert (found.copies is CopyState.FOUND) is bool(found.snapshots)


_SOME = [snapshot(2015), snapshot(2012), snapshot(2020)]


def test_the_copy_nearest_to_the_access_date_is_written() -> None:
    for wiki, citation, year in _CASES["access-dates"]:
        after = repaired(f"{{{{{citation}|url={URL}}}}}", wiki, links=read(link(snapshots=_SOME)))
        assert f"/web/{year}0507093011/" in after, wiki


def test_what_somebody_suggested_is_written_whatever_its_day_and_a_copy_of_another_page_never() -> None:
    links = read(link(snapshots=[*_SOME, snapshot(2024, origin="suggested")]))
    assert "/web/20240507" in repaired(f"{{{{cite web|url={URL}|access-date=5 May 2012}}}}", links=links)
    links = read(link(snapshots=[*_SOME, snapshot(2024, origin="suggested", verified=False)]))
    assert "/web/20120507" in repaired(f"{{{{cite web|url={URL}|access-date=5 May 2012}}}}", links=links)
    other = snapshot(2012, snapshot=COPY.replace("history", "other"))
    links = read(link(snapshots=[other, snapshot(2020)]))
    assert "/web/20200507" in repaired(f"{{{{cite web|url={URL}|access-date=5 May 2012}}}}", links=links)


def test_a_copy_that_is_replaced_is_replaced_by_one_of_its_time() -> None:
    links = read(link(snapshots=_SOME))
    barred = f"{{{{cite web|url={URL}|archive-url=https://archive.today/20201231/{URL}}}}}"
    assert "/web/20200507" in repaired(barred, links=links)
    dated = f"{{{{cite web|url={URL}|archive-url=https://archive.today/x1Y2|archive-date=1 May 2012}}}}"
    assert "/web/20120507" in repaired(dated, links=links)
    assert "/web/20150507" in repaired(
        dated.replace("|archive-date", "|access-date=2015-01-01|archive-date"), links=links
    )


def test_a_copy_that_names_another_link_or_no_known_archive_is_not_written() -> None:
    for address, is_written in [
        (f"https://archive.example/web/20120507093011/{URL}", True),
        ("https://archive.example/web/20120507093011/http://other.example/", False),
        ("https://evil.example/x", False),
        ("https://web.archive.org.evil.example/", False),
    ]:
        links = read(link(snapshots=[snapshot(snapshot=address)]))
        assert (address in repaired(f"{{{{cite web|url={URL}}}}}", links=links)) is is_written
    for service in [None, "", "archive.example", "archive.today", ["wayback"]]:
        cite, address = f"{{{{cite web|url={URL}}}}}", f"https://archive.example/web/20120507093011/{URL}"
        assert address in repaired(cite, links=read(link(snapshots=[snapshot(snapshot=address)]))), service
        assert repaired(cite, links=read(link(snapshots=[snapshot(snapshot=address, service=service)]))) == cite
