"""The marks behind links, on a page of our own: what they are, say and do not disturb (G-1, G-5)."""

import json
from typing import Any

import pytest
from playwright.async_api import Page
from support.browser import PHONE, needs_browser
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [needs_browser, pytest.mark.asyncio(loop_scope="session")]

_DOUBTFUL = {**DEAD, "verdict": "doubtful", "summary": "doubtful for one day: The server does not answer."}
_WORKING = {**DEAD, "verdict": "working", "since": None, "summary": "working", "snapshots": []}
_FILE = {**_WORKING, "mime": "pdf", "size_kib": 2048}
_THREE = "<p>See <a href='#1'>one</a>, <a href='#2'>two</a> and <a href='#3'>three</a>.</p>"
_MARK = "([links, day]) => markAll(links, day)"
_NAMES = "marks => marks.map(mark => mark.getAttribute('aria-label'))"

_GAPS = "files => files.map(file => file.offsetLeft - 16 - file.closest('p').firstChild.offsetWidth)"


def preferring(**preferences: Any) -> dict[str, Any]:
    """A page of somebody who has an account, and these preferences."""
    return {"config": {"wgUserName": "Reader"}, "options": {"userjs-weboid": json.dumps(preferences)}}


async def test_dead_and_doubtful_links_are_marked_with_verdict_day_and_reason_and_others_are_not(page: Page) -> None:
    await load_page(page, _THREE)
    await page.evaluate(_MARK, [[DEAD, {**_DOUBTFUL, "since": None}, _WORKING], DAY])
    assert await page.locator(".weboid-mark").evaluate_all("marks => marks.map(mark => mark.className)") == [
        "weboid-mark weboid-mark-dead",
        "weboid-mark weboid-mark-doubtful",
    ]
    assert await page.locator("a + .weboid-place > button[type=button]").count() == 2
    assert await page.locator(".weboid-mark").evaluate_all(_NAMES) == [
        "Dead link since May 3, 2026 – dead for 6 months: The server reports that the page does not exist.",
        "Doubtful link – doubtful for one day: The server does not answer.",
    ]


async def test_days_are_written_as_the_language_does_or_in_iso_form(page: Page) -> None:
    for language, day in [("de", "3. Mai 2026"), ("simple", "2026-05-03"), ("de-x-_", "2026-05-03")]:
        await load_page(page, "", config={"wgUserLanguage": language})
        assert day in await page.evaluate("require( './words.js' ).day( '2026-05-03' )"), language


async def test_marking_twice_marks_once(page: Page) -> None:
    await load_page(page, _THREE, **preferring(summary=True))
    # At last in the same content, which another gadget has made anew from its HTML.
    # A place that is of the page's own wikitext, without a button, keeps nothing away.
    own = "document.querySelector( 'a' ).insertAdjacentHTML( 'afterend', '<span class=weboid-place></span>' )"
    for change in (own, "0", "document.querySelector( 'main' ).innerHTML += ''"):
        await page.evaluate(change)
        await page.evaluate(_MARK, [[DEAD, _FILE], DAY])
        await page.evaluate("link => require( './marks.js' ).summary( document.body, [ link ] )", DEAD)
    assert [await page.locator(f".weboid-{what}").count() for what in ("mark", "file", "summary")] == [1, 1, 1]


async def test_preferences_switch_marks_off_or_put_them_behind_all_links(page: Page) -> None:
    for kind, other in (("dead", "doubtful"), ("doubtful", "dead")):
        await load_page(page, _THREE, **preferring(**{kind: False}))
        await page.evaluate(_MARK, [[DEAD, _DOUBTFUL, _FILE], DAY])
        assert await page.locator(f".weboid-mark-{kind}").count() == 0
        assert await page.locator(f".weboid-mark-{other}").count() == 1
    await load_page(page, _THREE, **preferring(cards="all", files=False))
    await page.evaluate(_MARK, [[DEAD, _DOUBTFUL, _FILE], DAY])
    assert await page.locator(".weboid-mark").evaluate_all(_NAMES) == [
        "Dead link since May 3, 2026 – dead for 6 months: The server reports that the page does not exist.",
        "Doubtful link since May 3, 2026 – doubtful for one day: The server does not answer.",
        "Working link – working",
    ]
    assert await page.locator(".weboid-file").count() == 0


async def test_a_link_with_a_copy_on_the_page_is_not_marked_or_by_preference_quietly(page: Page) -> None:
    links = [{**DEAD, "repaired": True}, {**_DOUBTFUL, "repaired": True}, {**DEAD, "repaired": False}]
    await load_page(page, _THREE, **preferring(repaired=True))
    await page.evaluate(_MARK, [links, DAY])
    marks = page.locator(".weboid-mark")
    assert await page.locator(".weboid-mark.weboid-mark-repaired").count() == 2
    names = await marks.evaluate_all(_NAMES)
    assert ["This page already offers an archived copy." in name for name in names] == [True, True, False]
    colors = await marks.evaluate_all("marks => marks.map( mark => getComputedStyle( mark ).color )")
    assert colors[0] == colors[1] != colors[2]
    await load_page(page, _THREE)
    await page.evaluate(_MARK, [links, DAY])
    assert await page.locator(".weboid-mark").count() == 1
    await load_page(page, _THREE, **preferring(summary=True))
    await page.evaluate("links => require( './marks.js' ).summary( document.querySelector( 'main' ), links )", links)
    assert "2 are dead, one is doubtful. 2 of them have a copy on the page." in await page.locator("main").inner_text()


async def test_a_place_without_a_copy_is_marked_though_another_place_of_the_link_has_one(page: Page) -> None:
    url, copy = "http://a.example/x", "https://web.archive.org/web/2016/http://a.example/x"
    place = f"<p><a href='{url}'>link</a></p>"
    show = "require( './show.js' ).show( document.querySelector( 'main' ), { links, day: '' }, [] )"
    link = {**DEAD, "normal": url, "given": [], "repaired": True}
    for body, marked in [
        (f"<p><a href='{url}'>one</a> <a href='{copy}'>copy</a></p>{place}{place}", 2),
        (f"{place}{place}<a href='{copy}'>copy</a>", 0),
    ]:
        await load_page(page, body)
        await page.evaluate(f"links => (mw.requestIdleCallback = work => setTimeout( work ), {show})", [link])
        assert await page.locator("a + .weboid-place > .weboid-mark-dead").count() == marked, body


async def test_a_link_of_which_only_a_hint_is_known_is_marked_like_a_doubt_or_not_at_all(page: Page) -> None:
    known = {**_WORKING, "verdict": "unknown", "summary": "not checked yet: The wiki has no such page."}
    links = [
        {**known, "class": "own-farm", "hints": [{"kind": "missing-page", "since": None}]},
        {**known, "hints": [{"kind": "host-down", "since": "2026-05-03"}]},
        {**known, "hints": [{"kind": "host-needs-https", "since": "2026-05-03"}]},
    ]
    await load_page(page, _THREE)
    await page.evaluate(_MARK, [links, DAY])
    marks = page.locator(".weboid-mark.weboid-mark-other")
    name = "Link that probably leads nowhere – not checked yet: The wiki has no such page."
    assert await marks.evaluate_all(_NAMES) == [name, name], "by the other scheme the third one works"
    await marks.first.click()
    card = page.get_by_role("dialog", name="Link that probably leads nowhere")
    assert "The wiki has no such page." in await card.inner_text()
    await load_page(page, _THREE, **preferring(doubtful=False))
    await page.evaluate(_MARK, [links, DAY])
    assert await page.locator(".weboid-mark").count() == 0


async def test_type_and_size_of_a_file_stand_behind_its_link_and_sort_no_table(page: Page) -> None:
    files = {
        ("pdf", 2048): "(\u2068PDF\u2069, 2 MB)",
        ("pdf", 2300): "(\u2068PDF\u2069, 2.2 MB)",
        ("msword", 900): "(\u2068Word\u2069, 900 KB)",
        ("djvu", 51_200): "(\u2068DjVu\u2069, 50 MB)",
        ("binary", None): "(file)",
        ("constructor", None): "(CONSTRUCTOR)",
        ("<b>&", "<i>"): "(<B>&)",
    }
    # A reader's language runs another way than the page's: the gap is between link and file.
    for language in ("ar", "en"):
        await load_page(page, "<p dir=ltr><a href='#'>Report</a>,</p>" * len(files), language=language)
        await page.evaluate(_MARK, [[{**_FILE, "mime": mime, "size_kib": kib} for mime, kib in files], DAY])
        assert min(await page.locator(".weboid-file bdi").evaluate_all(_GAPS)) > 3
    assert await page.locator("a + .weboid-file[data-sort-value='']").all_text_contents() == list(files.values())


async def test_a_type_that_the_page_names_itself_is_not_named_again(page: Page) -> None:
    link = "<a href='#'>Report</a>"
    naming = ["<a href='#'>Report (PDF; 2 MB)</a>", f"{link} <span class='cs1-format'>(PDF)</span>", f"{link} (pdf)"]
    others = ["<a href='#'>Report on pdfs</a>", f"{link}, which has nothing to do with the other one: PDF"]
    await load_page(page, "".join(f"<p>{text}</p>" for text in naming + others))
    await page.evaluate(_MARK, [[_FILE] * 5, DAY])
    named = "links => links.map(link => link.nextElementSibling?.className == 'weboid-file')"
    assert await page.locator("main a").evaluate_all(named) == [False] * 3 + [True] * 2


async def test_no_line_begins_with_a_mark(page: Page) -> None:
    await load_page(page, "<p>Text <a href='#1'>a link 漢字</a>漢字 and more text that fills lines.</p>")
    await page.evaluate(_MARK, [[DEAD], DAY])
    apart = """() => [...Array(170).keys()].filter(width => {
        document.querySelector('p').style.width = `${30 + width}px`;
        const lines = document.querySelector('a').getClientRects();
        const mark = document.querySelector('.weboid-place').getBoundingClientRect();
        return mark.top > lines[lines.length - 1].bottom - 5;
    })"""
    assert await page.evaluate(apart) == []


async def test_a_mark_can_be_hit_with_a_finger(page: Page) -> None:
    await load_page(page, _THREE, width=PHONE)
    await page.evaluate(_MARK, [[DEAD], DAY])
    hit = """() => {
        const { left, right, top, bottom } = document.querySelector('.weboid-mark').getBoundingClientRect();
        const [x, y] = [(left + right) / 2, (top + bottom) / 2];
        return [[-11, 0], [11, 0], [0, -11], [0, 11]].map(([across, down]) =>
            document.elementFromPoint(x + across, y + down).className);
    }"""
    assert await page.evaluate(hit) == ["weboid-mark weboid-mark-dead"] * 4


async def test_in_print_a_mark_is_a_word(page: Page) -> None:
    await load_page(page, _THREE, **preferring(cards="all"))
    await page.evaluate(_MARK, [[DEAD, _DOUBTFUL, _WORKING], DAY])
    await page.emulate_media(media="print")
    assert await page.locator(".weboid-mark").evaluate_all(
        "marks => marks.map(mark => [mark.checkVisibility(), getComputedStyle(mark, '::before').content])"
    ) == [[True, '"[dead link]"'], [True, '"[doubtful link]"'], [False, '""']]


async def test_a_summary_stands_above_the_references_of_readers_who_want_it(page: Page) -> None:
    body = f"{_THREE}<div class='mw-references-wrap'><ol class='references'><li>Reference</li></ol></div>"
    summary = "links => require( './marks.js' ).summary( document.querySelector( 'main' ), links )"
    await load_page(page, body)
    await page.evaluate(summary, [DEAD])
    assert await page.locator(".weboid-summary").count() == 0
    await load_page(page, body, **preferring(summary=True))
    await page.evaluate(summary, [_WORKING])
    assert await page.locator(".weboid-summary").count() == 0
    await page.evaluate(summary, [DEAD, DEAD, _WORKING])
    line = page.locator(".weboid-summary:has(+ .mw-references-wrap)")
    assert await line.inner_text() == "External links of this page: 2 are dead, none is doubtful. Show the list"
    assert await line.locator("a").get_attribute("href") == (
        "https://weboid.toolforge.org/externalLinkInfo?pageid=7&dbname=dewiki%40WMF&lang=en"
    )
