"""The card of a link, on a page of our own: how it opens and closes, where it is, what stands on it (G-1, G-3)."""

import itertools
from typing import Any

import pytest
from playwright.async_api import Page, expect
from support.browser import needs_browser
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="session")]

_LINE = "<p>Before it <a href='#1'>one</a>, then <a href='#2'>two</a>, <a href='#after'>after it</a>.</p>"
_EDITOR = {"wgIsProbablyEditable": True, "wgAction": "view", "wgPageName": "Page"}
_WIKITEXT = {"template": "{{Webarchiv|x}}", "parameters": "|archive-url=x", "dead": "{{Toter Link|x}}"}
_FULL = {
    **DEAD,
    "target": "https://other.example/login",
    "replacement": "https://new.example/page",
    "probably_meant": "https://dead.example/pages",
    "mime": "pdf",
    "size_kib": 2048,
    "reported": "2026-10-10",
    "suspicious": True,
    "wikitext": _WIKITEXT,
    "snapshots": [
        *DEAD["snapshots"],
        {**DEAD["snapshots"][0], "title": "Another archive", "origin": "suggested", "note": "redirects"},
    ],
}
_HOVER_MS = 300


async def mark_links(page: Page, *links: dict[str, Any]) -> None:
    await page.evaluate("([links, day]) => markAll(links, day)", [links, DAY])


async def focused(page: Page) -> str:
    """What has the focus: a class or text by which it is known."""
    found: str = await page.evaluate(
        "document.activeElement.className || document.activeElement.textContent || document.activeElement.tagName"
    )
    return found


async def test_a_key_opens_the_card_and_escape_brings_the_focus_back(page: Page) -> None:
    for key in ["Enter", "Space"]:
        await load_page(page, _LINE)
        await mark_links(page, DEAD)
        mark = page.get_by_role("button", name="Dead link since May 3, 2026")
        await page.keyboard.press("Tab")
        await page.keyboard.press("Tab")
        await expect(mark).to_be_focused()
        assert await mark.get_attribute("aria-expanded") == "false", key
        await page.keyboard.press(key)
        card = page.get_by_role("dialog", name="Dead link since May 3, 2026")
        await expect(card).to_be_focused()
        await expect(card.get_by_role("heading", name="Dead link since May 3, 2026", level=2)).to_have_count(1)
        assert await mark.get_attribute("aria-expanded") == "true", key
        assert await mark.get_attribute("aria-controls") == await card.get_attribute("id"), key
        await page.keyboard.press("Escape")
        await expect(card).to_have_count(0)
        await expect(mark).to_be_focused()
        assert await mark.get_attribute("aria-expanded") == "false", key


async def test_tab_walks_through_the_card_and_then_to_its_mark(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    await page.locator(".weboid-mark").click()
    walked = []
    for _ in range(9):
        await page.keyboard.press("Tab")
        walked.append(await focused(page))
    assert walked == [
        *("weboid-close", "weboid-button weboid-button-primary", "weboid-button weboid-about-button"),
        *("Report that it works, or check it now", "Suggest a replacement"),
        "More about this link, and the pages that use it",
        *("All external links of this page", "weboid-settings-button", "weboid-mark weboid-mark-dead"),
    ]
    assert await page.get_by_role("dialog").count() == 0
    await page.keyboard.press("Tab")
    assert await focused(page) == "two"
    await page.locator(".weboid-mark").click()
    stops = page.locator(".weboid-card :is(a, button)")
    for keys in (["Shift+Tab"], ["Tab", "Escape"], ["Tab", "Tab", "Tab", "Escape"], ["Tab", "Shift+Tab"]):
        for key in keys:
            assert await stops.count() == 8
            await page.keyboard.press(key)
        assert await focused(page) == "weboid-mark weboid-mark-dead", keys
        assert await page.get_by_role("dialog").count() == 0
        await page.keyboard.press("Enter")


async def test_a_click_outside_closes_the_card_and_so_does_its_mark(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD, _FULL)
    card, marks = page.get_by_role("dialog"), page.locator(".weboid-mark")
    await marks.nth(0).click()
    await card.click(position={"x": 5, "y": 5})
    await expect(card).to_have_count(1)
    await marks.nth(0).click()
    await expect(card).to_have_count(0)
    await marks.nth(0).click()
    await page.mouse.click(900, 850)
    await expect(card).to_have_count(0)
    await marks.nth(1).click()
    await card.get_by_role("button", name="Close").click()
    await expect(card).to_have_count(0)
    await expect(marks.nth(1)).to_be_focused()


async def test_a_resting_pointer_opens_the_card_leaves_the_focus_alone_and_escape_closes_it(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    card = page.get_by_role("dialog")
    await page.get_by_text("one", exact=True).hover()
    await page.wait_for_timeout(_HOVER_MS // 3)
    await expect(card).to_have_count(0)
    await expect(card).to_have_count(1)
    assert await focused(page) != "weboid-card weboid-card-dead"
    # On the way to the card, and inside of it, it stays.
    await card.get_by_text("Not found on 12 days").hover()
    await page.wait_for_timeout(2 * _HOVER_MS)
    await expect(card).to_have_count(1)
    await page.mouse.move(1200, 880)
    await expect(card).to_have_count(0)
    await page.locator(".weboid-mark").hover()
    await expect(card).to_have_count(1)
    await page.keyboard.press("Escape")
    await expect(card).to_have_count(0)
    assert await focused(page) not in ("weboid-mark weboid-mark-dead", "")


async def test_a_click_on_the_mark_keeps_a_card_that_the_pointer_had_opened(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    card = page.get_by_role("dialog")
    await page.locator(".weboid-mark").hover()
    await expect(card).to_have_count(1)
    await page.locator(".weboid-mark").click()
    await expect(card).to_be_focused()
    await page.mouse.move(1200, 880)
    await page.wait_for_timeout(2 * _HOVER_MS)
    await expect(card).to_have_count(1)


async def test_a_pointer_that_passes_by_opens_nothing(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    await page.locator(".weboid-mark").hover()
    await page.mouse.move(1200, 880)
    await page.wait_for_timeout(2 * _HOVER_MS)
    assert await page.get_by_role("dialog").count() == 0


async def test_a_copy_of_a_mark_opens_the_card_as_well(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    await page.evaluate("document.body.append(document.querySelector('p').cloneNode(true))")
    await page.locator(".weboid-mark").nth(1).click()
    await expect(page.get_by_role("dialog")).to_be_focused()


_PLACES = """() => {
    const [card, mark] = ['.weboid-card', '.weboid-mark']
        .map(each => document.querySelector(each).getBoundingClientRect());
    return {
        inside: card.left >= 0 && card.right <= innerWidth && card.top >= 0 && card.bottom <= innerHeight,
        covers: card.top < mark.bottom && mark.top < card.bottom,
        above: card.bottom <= mark.top,
    };
}"""


@pytest.mark.parametrize("language", ["en", "ar"])
async def test_the_card_stands_next_to_its_mark_within_the_window(page: Page, language: str) -> None:
    styles = ["top: 5px; left: 5px", "top: 5px; right: 5px", "bottom: 5px; left: 5px", "bottom: 5px; right: 5px"]
    await load_page(page, "<p style='position: fixed'><a href='#'>one</a></p>", language=language)
    await mark_links(page, _FULL)
    for style in styles:
        await page.locator("p").evaluate("(p, style) => { p.style = `position: fixed; ${style}`; }", style)
        await page.locator(".weboid-mark").click()
        place = await page.evaluate(_PLACES)
        assert place == {"inside": True, "covers": False, "above": "bottom" in style}, style
        await page.keyboard.press("Escape")


async def test_the_card_tells_what_is_known_and_offers_what_can_be_done(page: Page) -> None:
    await load_page(page, _LINE, config=_EDITOR)
    await mark_links(page, _FULL)
    await page.locator(".weboid-mark").click()
    card = page.get_by_role("dialog")
    lines = [line for line in (await card.inner_text()).splitlines() if line.strip()]
    assert lines == [
        "Dead link since May 3, 2026",
        "http://dead.example/page",
        "Dead for 6 months: The server reports that the page does not exist.",
        DEAD["explanation"],
        "The URL contains hidden characters that may be misleading.",
        "Somebody reported on Oct 10, 2026 that the link works by hand.",
        "Read the archived copy",
        DEAD["copy_summary"],
        "Other copies",
        "Another archive, May 3, 2016",
        "Somebody chose this copy. The copy redirects to another one, as the page did at that time.",
        "Probably meant: https://dead.example/pages",
        "Suggested replacement: https://new.example/page",
        "Suggested by a person. It works; please check yourself whether its content is the same.",
        "Opens or downloads a file: \u2068PDF\u2069, 2 MB",
        "Leads to another site: https://other.example/login",
        "Aug 14, 2025",
        "Nov 23, 2026",
        "Last checked: Nov 20, 2026. Next check: Dec 1, 2026.",
        "Copy the template",
        "Copy the parameters",
        "Copy the tag for dead links",
        "Edit the section",
        "About this link",
        "Report that it works, or check it now",
        "Suggest a replacement",
        "More about this link, and the pages that use it",
        "All external links of this page",
        "From Weboid",
        "Settings",
    ]
    query = "url=http%3A%2F%2Fdead.example%2Fpage&pageid=7&dbname=dewiki%40WMF&lang=en"
    links = await card.locator("a[target=_blank]").evaluate_all("links => links.map(link => [link.href, link.rel])")
    assert {rel for _, rel in links} == {"noopener nofollow"}
    assert [href for href, _ in links][-4:] == [
        f"https://weboid.toolforge.org/report?{query}",
        f"https://weboid.toolforge.org/replacement?{query}",
        f"https://weboid.toolforge.org/url?{query}",
        "https://weboid.toolforge.org/externalLinkInfo?pageid=7&dbname=dewiki%40WMF&lang=en",
    ]


async def test_a_working_link_offers_no_report_and_says_where_it_leads(page: Page) -> None:
    link = {**DEAD, "verdict": "working", "snapshots": [], "copy_summary": None, "summary": "working"}
    link["target"] = "http://www.dead.example/new"
    await load_page(page, _LINE, options={"userjs-weboid": '{"cards":"all"}'}, config={"wgUserName": "A"})
    await mark_links(page, link)
    await page.locator(".weboid-mark").click()
    card = page.get_by_role("dialog", name="Working link")
    await expect(card.get_by_text("Leads to http://www.dead.example/new")).to_have_count(1)
    await expect(card.get_by_role("link", name="Check it now")).to_have_count(1)
    await expect(card.get_by_role("link", name="Report that it works")).to_have_count(0)
    await expect(card.get_by_role("link", name="Read the archived copy")).to_have_count(0)


async def test_the_picture_of_the_history_says_it_in_words_and_heights(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, DEAD)
    await page.locator(".weboid-mark").click()
    picture = page.get_by_role("img")
    assert await picture.get_attribute("aria-label") == (
        "Aug 14, 2025 – Mar 31, 2026: working; "
        "Apr 1, 2026 – May 2, 2026: doubtful; May 3, 2026 – Nov 20, 2026: not working"
    )
    bars = await picture.locator("rect").evaluate_all(
        "bars => bars.map(bar => [bar.getAttribute('class'), bar.getAttribute('height')])"
    )
    assert bars == [["weboid-bar-working", "36"], ["weboid-bar-doubtful", "22"], ["weboid-bar-failing", "10"]]


async def test_editors_copy_the_wikis_template_and_see_that(page: Page) -> None:
    await load_page(page, _LINE, config=_EDITOR)
    await page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    await mark_links(page, _FULL)
    await page.locator(".weboid-mark").click()
    status = page.get_by_role("dialog").get_by_role("status")
    for name, text in [
        ("Copy the template", _WIKITEXT["template"]),
        ("Copy the parameters", _WIKITEXT["parameters"]),
        ("Copy the tag for dead links", _WIKITEXT["dead"]),
    ]:
        await page.get_by_role("button", name=name).click()
        await expect(status).to_have_text("Copied.")
        assert await page.evaluate("navigator.clipboard.readText()") == text
        await expect(page.get_by_role("button", name=name)).to_be_focused()


async def test_readers_who_may_not_edit_are_offered_no_wikitext(page: Page) -> None:
    await load_page(page, _LINE)
    await mark_links(page, _FULL)
    await page.locator(".weboid-mark").click()
    assert await page.get_by_role("button", name="Copy").count() == 0
    assert await page.get_by_text("Edit the section").count() == 0


_EVIL = [
    *("<img src=x onerror=alert(1)><script>alert(2)</script>", "javascript:alert(3)", " java\nscript:alert(4)//"),
    *("data:text/html,<script>alert(5)</script>", "https://wikipedia.org@evil.example/", "\u202e\u2066evil\u202e"),
    *("$1 {{PLURAL:$1|a|b}} $2", "'\"></bdi></p></div><b class=weboid-mark>", "x" * 100_000),
    "https://evil.example/" + "y" * 100_000,
]


def _poisoned(value: Any, evil: Any) -> Any:
    """The same with evil instead of every text, number and truth value; verdicts decide what is shown, and stay."""
    if isinstance(value, dict):
        return {key: each if key == "verdict" else _poisoned(each, evil) for key, each in value.items()}
    if isinstance(value, list):
        return [_poisoned(each, evil) for each in value]
    return evil


async def test_no_text_of_the_service_becomes_markup_or_a_script(page: Page) -> None:
    said: list[str] = []
    page.on("dialog", lambda dialog: said.append(dialog.message))
    evils = list(zip(_EVIL, itertools.cycle(("dead", "doubtful")), strict=False))
    await load_page(
        page, "".join(f"<p><a href='#{number}'>one</a></p>" for number in range(len(evils))), config=_EDITOR
    )
    poisoned = [
        _poisoned({**_FULL, "verdict": verdict, "assumed": "", "host_unicode": ""}, evil) for evil, verdict in evils
    ]
    await mark_links(page, *poisoned)
    marks = page.locator(".weboid-mark")
    assert await marks.count() == len(evils)
    for mark in await marks.all():
        await mark.click()
        card = page.get_by_role("dialog")
        assert await card.locator("img, script, b, iframe, object, [style*=url]").count() == 0
        hrefs = await card.locator("a").evaluate_all("links => links.map(link => [link.protocol, link.username])")
        assert {tuple(each) for each in hrefs} <= {("https:", ""), ("http:", "")}
        handlers = "all => all.filter(each => [...each.attributes].some(one => one.name.startsWith('on'))).length"
        assert await page.locator("main *, .weboid-card *").evaluate_all(handlers) == 0
        assert len(await card.inner_text()) < 10_000
        assert len(await mark.get_attribute("aria-label") or "") < 500
        assert await card.evaluate("card => card.scrollWidth - card.clientWidth") <= 0
        await page.keyboard.press("Escape")
        assert await page.evaluate("document.querySelectorAll('.weboid-card, b').length") == 0
    assert said == []


async def test_a_url_is_shown_in_its_own_order_whatever_it_holds(page: Page) -> None:
    target = "http://3sat.de/\u2069\u202egpj.exe"
    await load_page(page, _LINE, config=_EDITOR)
    await mark_links(page, {**_FULL, "target": target})
    await page.locator(".weboid-mark").click()
    shown = await page.locator(".weboid-card .weboid-url").all_text_contents()
    assert "http://3sat.de/%E2%81%A9%E2%80%AEgpj.exe" in shown
    assert not any(control in "".join(shown) for control in "\u2069\u202e")


async def test_a_link_with_nothing_but_a_verdict_has_a_card(page: Page) -> None:
    await load_page(page, _LINE, config=_EDITOR)
    await mark_links(page, {"verdict": "dead"})
    await page.locator(".weboid-mark").click()
    await expect(page.get_by_role("dialog", name="Dead link")).to_be_focused()


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
