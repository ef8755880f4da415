"""Hostile answers: the gadget takes what docs/api.md allows, whatever a service in Weboid's place says."""

import json
from typing import Any, Final

import pytest
from playwright.async_api import Page
from support.browser import needs_browser
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="session")]

OBJECT: Final = {"toString": 1, "valueOf": 1}
"""In a browser an error, wherever it is taken for text."""
_PREPARE: Final = """() => {
    window.warned = [];
    mw.log = { warn: ( text ) => warned.push( text ) };
    mw.storage.session.get = () => null;
    mw.storage.session.set = () => true;
    window.question = { page: 7, revision: 1, language: 'en', extent: 'notes' };
    window.reported = ( body, fetcher ) => {
        warned.length = 0;
        return require( './service.js' ).ask( question, fetcher || ( () => Promise.resolve( new Response( body ) ) ) )
            .then( ( { links } ) => [ links.length, warned.length ] );
    };
}"""
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
    {"snapshots": [{**DEAD["snapshots"][0], "title": OBJECT}]},
    {"snapshots": [{**DEAD["snapshots"][0], "taken": OBJECT}]},
    {"snapshots": DEAD["snapshots"] * 10_000},
    {"history": [{**DEAD["history"][0], "first": OBJECT}]},
    {"history": DEAD["history"] * 10_000},
    {"history": [None]},
]


def answer(link: dict[str, Any], counts: Any = None) -> str:
    """An answer about a page with one link."""
    page = {"counts": {"dead": 1} if counts is None else counts, "part": None, "links": [link]}
    return json.dumps({"version": 2, "day": DAY, "pages": [page], "continue": None})


async def test_an_answer_is_used_as_a_whole_or_costs_one_line_on_the_console(page: Page) -> None:
    await load_page(page, "")
    await page.evaluate(_PREPARE)
    assert await page.evaluate("( body ) => reported( body )", answer(DEAD)) == [1, 0]
    for wrong in WRONG:
        shown = await page.evaluate("( body ) => reported( body )", answer(DEAD | wrong))
        assert shown == [0, 1], list(wrong)
    unfit: list[Any] = [{"dead": "<b>"}, {"dead": -1}, {"dead": OBJECT}, []]
    for counts in unfit:
        assert await page.evaluate("( body ) => reported( body )", answer(DEAD, counts)) == [0, 1]
    for body in ("[" * 100_000, "\0", '{"__proto__": {"pages": []}}', "null"):
        assert await page.evaluate("( body ) => reported( body )", body) == [0, 1]
    assert await page.evaluate("( {} ).pages === undefined")


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
            return [ await reported( endless ), mib ];
        }"""
    )
    assert shown == [0, 1]
    assert mib < 12


async def test_a_fetch_that_is_missing_or_broken_is_a_failure_like_others(page: Page) -> None:
    await load_page(page, "")
    await page.evaluate(_PREPARE)
    for fetcher in ("() => undefined", "() => { throw new Error(); }", "() => Promise.resolve( {} )"):
        assert await page.evaluate(f"() => reported( '', {fetcher} )") == [0, 1]
    assert await page.evaluate("() => { window.fetch = undefined; return reported( '', null ); }") is not None


async def test_no_link_that_an_article_passes_for_a_headings_keeps_a_card_shut(page: Page) -> None:
    body = """<div class="mw-parser-output"><span class="mw-editsection"><a href="http://a:99999/">x</a></span>
        <a href="http://dead.example/page">y</a></div>"""
    config = {
        "wgIsProbablyEditable": True, "wgAction": "view", "wgRevisionId": 1, "wgCurRevisionId": 1, "wgPageName": "P",
    }  # fmt: skip
    await load_page(page, body, config=config)
    address = await page.evaluate(
        "() => require( './editing.js' ).editAddress( document.querySelectorAll( 'a' )[ 1 ] )"
    )
    assert address == "/wiki/P?action=edit&section=0"
