"""gadget/service.js in a browser: what becomes of answers, good and bad. In a real wiki: tests/whole/test_gadget.py."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Page
from support.browser import needs_browser
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="session")]

_ASK: Final = Path(__file__).with_name("ask_service.js").read_text(encoding="utf-8")

_PREPARE: Final = Path(__file__).with_name("prepare_service.js").read_text(encoding="utf-8")
OBJECT: Final = {"toString": 1, "valueOf": 1}
"""In a browser an error, wherever it is taken for text."""
WRONG: Final[list[dict[str, Any]]] = [
    {"verdict": OBJECT},
    {"verdict": "dead mw-collapsible"},
    {"size_kib": OBJECT},
    {"reported": OBJECT},
    {"assumed": ["x"]},
    {"class": OBJECT},
    {"given": [OBJECT]},
    {"interwiki": {"prefix": OBJECT, "title": "x"}},
    {"wikitext": {"template": OBJECT}},
    {"hints": [{"kind": OBJECT, "since": None}]},
    {"hints": "missing-page"},
    {"snapshots": [{**DEAD["snapshots"][0], "title": OBJECT}]},
    {"snapshots": [{**DEAD["snapshots"][0], "taken": OBJECT}]},
    {"snapshots": DEAD["snapshots"] * 10_000},
    {"history": [{**DEAD["history"][0], "first": OBJECT}]},
    {"history": DEAD["history"] * 10_000},
    {"history": [None]},
]
UNFIT: Final[list[Any]] = [{"dead": "<b>"}, {"dead": -1}, {"dead": OBJECT}, []]


def _link(name: str, given: str | None = None, **changes: Any) -> dict[str, Any]:
    return {**DEAD, "normal": f"http://{name}.example/", "given": [given or f"http://{name}.example/"], **changes}


def _reported(*links: Any, first: int = 0, following: str | None = None, **changes: Any) -> dict[str, Any]:
    """A part of an answer that begins with the link of that number."""
    page = {"part": {"from": first, "to": first, "of": 9}, "counts": {"dead": len(links)}, "links": links}
    return {"version": 2, "day": DAY, "pages": [page], "continue": following, **changes}


def _says(body: Any, status: int = 200, **headers: str) -> dict[str, Any]:
    """An answer of the service; status 0 is none at all."""
    return {
        "body": body if isinstance(body, str) else json.dumps(body),
        "status": status,
        "headers": {name.replace("_", "-"): value for name, value in headers.items()},
    }


async def _ask(page: Page, *answers: dict[str, Any]) -> dict[str, Any]:
    """What comes of asking a service that answers so, the last answer for ever."""
    await load_page(page, "")
    found: dict[str, Any] = await page.evaluate(_ASK, answers)
    return found


def _names(found: dict[str, Any]) -> Sequence[str]:
    return [link["normal"] for link in found["known"]["links"]]


async def test_a_question_names_page_revision_language_and_extent_and_sends_nothing_else(page: Page) -> None:
    found = await _ask(page, _says(_reported(_link("a"))))
    ((address, options, credentials),) = found["asked"]
    assert address.endswith("/api/page?dbname=dewiki%40WMF&pageid=7&revid=9&lang=en&extent=notes")
    assert (options, credentials) == (["credentials", "redirect", "referrerPolicy", "signal"], "omit")
    assert found["known"]["day"] == DAY
    assert found["warnings"] == []


async def test_parts_are_joined_and_forms_of_one_link_become_one(page: Page) -> None:
    found = await _ask(
        page,
        _says(_reported(_link("a"), _link("b"), following="x&y")),
        _says(_reported(_link("a", "http://a.example"), _link("c"), first=2)),
    )
    assert _names(found) == [f"http://{name}.example/" for name in "abc"]
    assert found["known"]["links"][0]["given"] == ["http://a.example/", "http://a.example"]
    assert found["known"]["page"]["counts"]["dead"] == 4
    assert found["asked"][1][0] == f"{found['asked'][0][0]}&continue=x%26y"


async def test_links_without_a_normal_form_stay_apart(page: Page) -> None:
    links = [_link("a", f"http://[{number}", normal=None) for number in (1, 2)]
    found = await _ask(page, _says(_reported(*links)))
    assert [link["given"] for link in found["known"]["links"]] == [["http://[1"], ["http://[2"]]


async def test_what_came_before_a_page_changed_is_dropped(page: Page) -> None:
    found = await _ask(
        page,
        _says(_reported(_link("a"), following="1")),
        _says(_reported(_link("b"), following="2")),
        _says(_reported(_link("c"), first=1)),
    )
    assert _names(found) == ["http://b.example/", "http://c.example/"]
    assert found["known"]["page"]["counts"]["dead"] == 2


async def test_an_answer_without_an_end_is_left_after_25_parts(page: Page) -> None:
    found = await _ask(page, _says(_reported(_link("a"), first=1, following="on")))
    assert len(found["asked"]) == 25
    assert _names(found) == ["http://a.example/"]


async def test_a_failing_part_voids_the_whole_answer(page: Page) -> None:
    found = await _ask(page, _says(_reported(_link("a"), following="1")), _says("no", 500))
    assert found["known"] == {"page": None, "links": [], "day": ""}


async def test_a_page_that_is_not_watched_is_no_failure(page: Page) -> None:
    found = await _ask(page, _says("", 404))
    assert found["known"] == {"page": None, "links": [], "day": ""}
    assert (found["warnings"], found["quiet"], found["again"]) == ([], 0, True)


async def test_an_answer_of_another_form_is_none_and_costs_one_line(page: Page) -> None:
    answers: list[Any] = [
        *(None, 7, [], "{"),
        _reported(version=1),
        _reported(day=None),
        {**_reported(), "continue": 5},
        _reported(pages=[]),
        _reported(pages={"0": {}}),
        _reported(pages=[{"counts": None, "links": []}]),
        _reported(pages=[{"counts": {}, "links": {}}]),
        _reported(pages=[{"counts": {}, "links": [], "part": {"from": "0"}}]),
        _reported(None),
        _reported({**DEAD, "given": 7}),
        _reported({**DEAD, "given": [7]}),
        *(_reported({**DEAD, key: 7}) for key in ("verdict", "summary", "target", "snapshots", "history", "wikitext")),
        *(_reported(DEAD | wrong) for wrong in WRONG),
        *(_reported(pages=[{"counts": counts, "part": None, "links": [DEAD]}]) for counts in UNFIT),
        *("[" * 100_000, "\0", '{"__proto__": {"pages": []}}'),
    ]
    for answer in answers:
        found = await _ask(page, _says(answer))
        assert found["known"] == {"page": None, "links": [], "day": ""}, answer
        assert len(found["asked"]) == 1, answer
        # A line for each of the two questions: the service is not in trouble, so it is asked again.
        assert (len(found["warnings"]), found["quiet"], found["again"]) == (2, 0, True), answer
        assert await page.evaluate("( {} ).pages === undefined")


async def test_a_service_in_trouble_is_left_alone_as_long_as_it_wants(page: Page) -> None:
    for answer, quiet_s in [
        *((_says("", status, Retry_After="100"), 100) for status in (429, 503)),
        (_says("", 503, Retry_After="9" * 400), 3600),
        *((_says("", 503, Retry_After=odd), 300) for odd in ("-5", "soon", "Mon, 23 Nov 2026 20:00:00 GMT")),
        (_says("", 429), 300),
        (_says("", 0), 300),
        (_says("", 500, Retry_After="100"), 0),
        (_says("", 403), 0),
    ]:
        found = await _ask(page, answer)
        assert abs(found["quiet"] - quiet_s) <= 1, answer
        assert found["again"] == (quiet_s == 0), answer
        assert len(found["warnings"]) == (1 if quiet_s else 2), answer
        assert all(line.startswith("Weboid: ") for line in found["warnings"]), answer


async def test_an_answer_that_never_ends_is_not_read_to_its_end(page: Page) -> None:
    await load_page(page, "")
    await page.evaluate(_PREPARE)
    shown, mib = await page.evaluate(
        """async () => {
            let mib = 0;
            const endless = new ReadableStream( { pull( to ) {
                mib++;
                to.enqueue( new Uint8Array( 1 << 20 ).fill( 32 ) );
            } } );
            return [ await reported( () => Promise.resolve( new Response( endless ) ) ), mib ];
        }"""
    )
    assert shown == [0, 1]
    assert mib < 12


async def test_a_fetch_that_is_missing_or_broken_is_a_failure_like_others(page: Page) -> None:
    await load_page(page, "")
    await page.evaluate(_PREPARE)
    for fetcher in ("() => undefined", "() => { throw new Error(); }", "() => Promise.resolve( {} )"):
        assert await page.evaluate(f"() => reported( {fetcher} )") == [0, 1]
    assert await page.evaluate("() => { window.fetch = undefined; return reported(); }") is not None
    # Dialogs of repairs and lists show these words.
    silent = "( _, { signal } ) => new Promise( ( _, reject ) => { signal.onabort = () => reject( signal.reason ); } )"
    sent = f"require( './service.js' ).requestPart( '', {silent}, undefined, 9 )"
    assert await page.evaluate(f"{sent}.catch( ( error ) => error.message )") == "it takes too long"
