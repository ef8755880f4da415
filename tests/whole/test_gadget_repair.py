"""Repair here (G-6): from the mark to the saved edit, in a real wiki with a real Weboid and Chromium."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest
from playwright.async_api import BrowserContext, expect
from support.browser import PHONE, add_axe, barriers, keep_shot, needs_browser, overflow_px
from support.gadget import SETTINGS, GadgetWiki, Skin
from support.gadget_article import ARTICLE, BARE, DEAD, TITLE
from support.gadget_repairs import marks_of, open_from_card, post_to_wiki, prefer_saving, shown, text_of
from support.matching import started_wiki
from support.mediawiki import ADMIN, PASSWORD, MediaWiki

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.timeout(400), pytest.mark.asyncio(loop_scope="module")]

_SECTIONS: Final = f"First [{DEAD} one].\n\n== Two ==\nSecond [{DEAD} two].\n\n== Three ==\nThird [{BARE} three].\n"
_PAGES: Final = {
    TITLE: ARTICLE,
    **dict.fromkeys(("Direct", "Editor", "Section", "Visual", "Opened", "Conflict", "Protected", "Trouble"), _SECTIONS),
    **{f"In {skin}": _SECTIONS for skin in ("vector", "minerva", "timeless")},
    "Kept": f"{{{{nobots}}}} [{DEAD} one]",
    "Ignored": f"[{DEAD} one] {{{{cbignore}}}}",
    "Template:Webarchive": "[{{{url}}} Archived]",
    "Template:Dead link": "''dead''",
}
_VISUAL_EDITOR: Final = 'wfLoadExtension( "VisualEditor" );\n$wgDefaultUserOptions["visualeditor-enable"] = 1;\n'
_EVIL: Final = "<img src=x onerror=alert(1)><script>alert(2)</script>{{x}}\u202e'\"&lt;"


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with started_wiki(_PAGES, SETTINGS + _VISUAL_EDITOR) as wiki:
        wiki.run("protect", "--user", ADMIN, "Protected")
        wiki.run("createAndPromote", "Reader", PASSWORD)
        yield wiki


@asynccontextmanager
async def axed(gadget: GadgetWiki, **look: Any) -> AsyncIterator[BrowserContext]:
    """A session of the administrator in which `barriers` can be asked for."""
    async with gadget.context(user=ADMIN, **look) as context:
        await add_axe(context)
        yield context


@pytest.mark.parametrize("skin", ["vector-2022", "vector", "minerva", "timeless"])
async def test_from_the_mark_to_the_saved_edit_by_the_wikis_editor(gadget: GadgetWiki, skin: Skin) -> None:
    title = "Editor" if skin == "vector-2022" else f"In {skin}"
    async with axed(gadget) as context, gadget.view(title, context=context, skin=skin) as view:
        await view.marked()
        page = view.page
        dialog = await open_from_card(page)
        await keep_shot(page, f"repair-{skin}")
        added = dialog.locator(".weboid-diff ins")
        assert ["web.archive.org/web/2016" in text for text in await added.all_text_contents()] == [True, True]
        # Another copy: the difference follows.
        await dialog.get_by_role("radio", name=re.compile("arquivo", re.IGNORECASE)).check()
        await expect(added.first).to_contain_text("arquivo.pt")
        await expect(dialog).to_have_attribute("aria-busy", "false")
        assert await barriers(page, ("dialog",)) == []
        await dialog.get_by_role("button", name="Open in the editor").click()
        await page.wait_for_selector("#wikiDiff .diff-addedline")
        text = await page.input_value("#wpTextbox1")
        assert (text.count("arquivo.pt"), text.count("{{dead link")) == (2, 0)
        assert "archived copies added" in await page.input_value("#wpSummary")
        await page.click("#wpSave")
        await view.marked()
        assert await marks_of(view) == 0
        assert await marks_of(view, BARE) == 1
    saved, summary = await text_of(gadget, title)
    assert saved == text.strip()
    assert "2 archived copies added" in summary


async def test_a_repair_is_saved_at_once_by_preference_and_the_marks_go(gadget: GadgetWiki) -> None:
    async with gadget.context(user=ADMIN) as context:
        await prefer_saving(context, gadget)
        async with gadget.view("Direct", context=context) as view:
            await view.marked()
            page = view.page
            assert await marks_of(view) == 2
            await page.evaluate("document.querySelector( '#t-weboid-repair a' ).click()")
            dialog = await shown(page)
            # All links of the page: each once, with the places that it has.
            assert await dialog.locator("fieldset.weboid-repair-link").count() == 2
            await dialog.locator("fieldset", has_text=BARE).get_by_label("Leave it as it is").check()
            await expect(dialog.get_by_text("It stays as it is.")).to_be_visible()
            await expect(dialog).to_have_attribute("aria-busy", "false")
            await dialog.get_by_label("Summary").fill("Own words")
            await dialog.get_by_label("This is a minor edit").check()
            await dialog.get_by_role("button", name="Save page").click()
            await expect(dialog).to_have_count(0)
            await page.wait_for_function("() => document.querySelectorAll( '.weboid-mark' ).length === 1")
            assert (await marks_of(view), await marks_of(view, BARE)) == (0, 1)
            assert await page.locator("#mw-content-text a[href*='web.archive.org']").count() == 2
            assert view.complaints + view.foreign_requests == []
    text, summary = await text_of(gadget, "Direct")
    assert (summary, text.count("{{webarchive"), "dead link" in text) == ("Own words", 2, False)


async def test_an_edit_in_between_is_repaired_anew_and_not_lost(gadget: GadgetWiki, wiki: MediaWiki) -> None:
    async with gadget.context(user=ADMIN) as context:
        await prefer_saving(context, gadget)
        async with gadget.view("Conflict", context=context) as view:
            await view.marked()
            page = view.page
            dialog = await open_from_card(page)
            await asyncio.to_thread(wiki.save, "Conflict", _SECTIONS.replace("First", "Another first"))
            await dialog.get_by_role("button", name="Save page").click()
            await expect(dialog.get_by_role("alert")).to_contain_text("Somebody has edited the page")
            await expect(dialog).to_have_attribute("aria-busy", "false")
            await dialog.get_by_role("button", name="Save page").click()
            await expect(dialog).to_have_count(0)
            await page.wait_for_function("() => document.querySelectorAll( '.weboid-mark' ).length === 1")
    text, _ = await text_of(gadget, "Conflict")
    assert text.startswith("Another first")
    assert (text.count("{{webarchive"), "dead link" in text) == (2, False)


async def test_in_the_editor_a_section_is_repaired_and_nothing_else(gadget: GadgetWiki) -> None:
    async with gadget.view(
        "Section", user=ADMIN, query={"action": "edit", "section": 1, "vehidebetadialog": 1}
    ) as view:
        page = view.page
        before = await page.input_value("#wpTextbox1")
        await page.wait_for_selector("#t-weboid-repair", state="attached")
        await page.evaluate("document.querySelector( '#t-weboid-repair a' ).click()")
        dialog = await shown(page)
        assert await dialog.get_by_role("alert").inner_text() == ""
        assert await dialog.locator(".weboid-diff").count() == 1
        await dialog.get_by_role("button", name="Take over into the text").click()
        await expect(dialog).to_have_count(0)
        after = await page.input_value("#wpTextbox1")
        assert after.replace(re.findall(r" \{\{webarchive.*?\}\}", after)[0], "") == before
        assert "/* Two */ " in await page.input_value("#wpSummary")
        await page.click("#wpSave")
        await view.marked()
        # The page has a copy of the link now, but not where the other section has it.
        assert (await marks_of(view), await marks_of(view, BARE)) == (1, 1)
    text, summary = await text_of(gadget, "Section")
    assert (text.count("{{webarchive"), "archived copy added" in summary) == (1, True)


async def test_what_stands_in_visualeditor_is_repaired_too(gadget: GadgetWiki) -> None:
    async with gadget.context(user=ADMIN) as context:
        query: dict[str, str | int] = {"veaction": "edit", "vehidebetadialog": 1}
        async with gadget.view("Visual", context=context, query=query) as view:
            page = view.page
            await page.locator(".ve-ce-documentNode").wait_for()
            await page.evaluate("ve.init.target.getSurface().getView().focus()")
            await page.keyboard.press("Control+Home")
            await page.keyboard.type("Newly ")
            await page.evaluate(
                "mw.loader.using( 'ext.gadget.weboid-marks' )"
                ".then( ( get ) => get( 'ext.gadget.weboid-marks' ).repairing.repair( null ) )"
            )
            dialog = await shown(page)
            assert await dialog.locator(".weboid-diff ins").count() > 1
            await dialog.get_by_role("button", name="Open in the editor").click()
            await page.wait_for_selector("#wikiDiff .diff-addedline")
            text = await page.input_value("#wpTextbox1")
            assert text.startswith("Newly First")
            assert text.count("{{webarchive") == 2


async def test_an_address_opens_the_dialog(gadget: GadgetWiki) -> None:
    async with gadget.view("Opened", user=ADMIN, query={"weboidrepair": 1}) as view:
        dialog = await shown(view.page)
        assert await dialog.locator("fieldset.weboid-repair-link").count() == 2
        await view.page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)


async def test_the_watchlist_has_its_pages_with_dead_links_the_most_read_first(gadget: GadgetWiki) -> None:
    titles = ["Kept", "Ignored", "Protected", "Main Page", "Template:Webarchive"]
    async with gadget.context(user="Reader") as context:
        await post_to_wiki(context, gadget, "watch", action="watch", titles="|".join(titles))

        async def tell(route: Any) -> None:
            """The views, as the extension PageViewInfo tells them."""
            answer = await (response := await route.fetch()).json()
            for page in answer["query"]["pages"]:
                page["pageviews"] = {"2026-11-01": 5 if page["title"] == "Ignored" else None, "2026-11-02": 1}
            await route.fulfill(response=response, json=answer)

        await context.route("**/api.php?*pageviews*", tell)
        async with gadget.view("Special:Watchlist", context=context) as view:
            page = view.page
            await page.wait_for_selector("#t-weboid-list", state="attached")
            assert view.asked == []
            await page.evaluate("document.querySelector( '#t-weboid-list a' ).click()")
            dialog = page.get_by_role("dialog", name="Pages with dead links")
            await expect(dialog.get_by_role("status")).to_have_text(
                "3 of 4 pages have dead links that are not repaired.", timeout=30_000
            )
            entries = await dialog.locator("li").all_inner_texts()
            assert entries[0] == "Ignored – one dead link · 6 views in 30 days · Repair"
            assert sorted(entries[1:]) == [
                *("Kept – one dead link · one view in 30 days · Repair",),
                *("Protected – 2 dead links · one view in 30 days · Repair",),
            ]
            assert len(view.asked) == 1
            href = await dialog.get_by_role("link", name="Repair").first.get_attribute("href")
            assert href == "/w/index.php?title=Ignored&weboidrepair=1"
            await keep_shot(page, "repair-watchlist")


async def test_who_may_not_edit_is_offered_nothing(gadget: GadgetWiki) -> None:
    async with gadget.view("Protected", user="Reader") as view:
        await view.marked()
        await view.page.locator(".weboid-mark").first.click()
        await view.page.locator(".weboid-card").wait_for()
        assert await view.page.get_by_role("button", name="Repair this link").count() == 0
        assert await view.page.locator("#t-weboid-repair").count() == 0
    async with gadget.view("Protected", user="Reader", query={"weboidrepair": 1}) as view:
        dialog = await shown(view.page)
        await expect(dialog.get_by_role("alert")).to_contain_text("you may not edit this page.")
        assert await dialog.get_by_role("button", name="Open in the editor").is_disabled()


@pytest.mark.parametrize(("title", "said"), [("Kept", "keeps bots"), ("Ignored", "leave it alone")])
async def test_what_bots_are_to_leave_alone_is_said_and_not_offered(gadget: GadgetWiki, title: str, said: str) -> None:
    async with gadget.view(title, user=ADMIN) as view:
        await view.marked()
        dialog = await open_from_card(view.page)
        await expect(dialog.get_by_role("status")).to_have_text("There is nothing to repair here.")
        assert said in await dialog.locator("details").inner_text()
        assert await dialog.get_by_role("button", name="Open in the editor").is_disabled()


_CHANGE: Final[dict[str, Any]] = {
    "url": DEAD, "action": "archive-added", "why": "dead", "words": _EVIL, "before": _EVIL, "after": f"{_EVIL}x",
    "offset": 0, "verdict": "dead", "since": _EVIL, "copy": {"address": _EVIL, "archive": _EVIL, "taken": _EVIL},
    "copies": [{"address": "javascript:alert(3)", "archive": _EVIL, "taken": _EVIL}] * 3,
}  # fmt: skip
_ANSWER: Final[dict[str, Any]] = {
    "wikitext": _EVIL, "summary": _EVIL * 99, "changes": [_CHANGE, {**_CHANGE, "url": _EVIL}],
    "left": [{"url": _EVIL, "why": _EVIL, "words": _EVIL}] * 500, "kept_off": None,
}  # fmt: skip


@pytest.mark.parametrize(
    ("status", "body", "said"),
    [
        (409, json.dumps({"error": {"key": "x", "text": f"No. {_EVIL}"}}), "This did not succeed: No. <img"),
        (200, "<!DOCTYPE html>", "This did not succeed: this is not JSON"),
        (200, "{}", "cannot be used"),
        (200, json.dumps({**_ANSWER, "changes": [{**_CHANGE, "copies": [{"address": 7}]}]}), "cannot be used"),
        (503, "", "status 503"),
        (0, "", "This did not succeed"),
        (200, json.dumps(_ANSWER), ""),
    ],
    ids=["refusal", "HTML", "empty", "wrong", "503", "down", "hostile"],
)
async def test_nothing_that_the_service_says_harms_the_page(
    gadget: GadgetWiki, status: int, body: str, said: str
) -> None:
    heard: list[str] = []
    async with gadget.context(user=ADMIN) as context:
        headers = {"Access-Control-Allow-Origin": "*"}

        async def answer(route: Any) -> None:
            await (route.fulfill(status=status, body=body, headers=headers) if status else route.abort())

        await context.route("**/api/repair", answer)
        async with gadget.view("Trouble", context=context) as view:
            page = view.page
            page.on("dialog", lambda dialog: heard.append(dialog.message))
            await view.marked()
            await page.evaluate("document.querySelector( '#t-weboid-repair a' ).click()")
            dialog = await shown(page)
            if said:
                await expect(dialog.get_by_role("alert")).to_contain_text(said)
                assert await dialog.get_by_role("button", name="Open in the editor").is_disabled()
            else:
                assert await dialog.locator("fieldset.weboid-repair-link").count() == 2
                assert await dialog.evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") <= 0
                assert len(await dialog.get_by_label("Summary").input_value()) <= 501
            assert await dialog.locator("img, script, iframe, a[href^='javascript']").count() == 0
            await page.keyboard.press("Escape")
            await expect(dialog).to_have_count(0)
            assert await marks_of(view) == 2
    assert heard == []


async def test_fingers_and_small_dark_windows_have_all_of_the_dialog(gadget: GadgetWiki) -> None:
    looks: list[dict[str, Any]] = [
        {"skin": "minerva", "language": "ar", "night": True, "width": PHONE, "has_touch": True},
        {"skin": "vector-2022", "language": "de", "night": True},
        {"skin": "vector-2022", "language": "ar", "width": PHONE},
    ]
    for number, look in enumerate(looks):
        skin, language = look.pop("skin"), look.pop("language")
        async with (
            axed(gadget, **look) as context,
            gadget.view(TITLE, context=context, skin=skin, language=language, night=look.get("night", False)) as view,
        ):
            await view.marked()
            page = view.page
            await page.locator(f'li a[href="{DEAD}"] + .weboid-place > .weboid-mark').first.click()
            button = page.locator(".weboid-editors .weboid-button").first
            await (button.tap() if look.get("has_touch") else button.click())
            dialog = page.locator(".weboid-repair")
            await expect(dialog).to_have_attribute("aria-busy", "false", timeout=30_000)
            await keep_shot(page, f"repair-{number}-{skin}-{language}")
            assert await dialog.locator(".weboid-diff").count() > 0
            assert await overflow_px(page) <= 0
            assert await dialog.evaluate("dialog => dialog.scrollWidth - dialog.clientWidth") <= 0
            assert await barriers(page, (".weboid-repair",)) == []
