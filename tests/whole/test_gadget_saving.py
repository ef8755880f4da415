"""Saving from the dialog of a repair (G-6), in a real wiki: by finger, with its tag, and where the wiki refuses."""

import asyncio
import re
from collections.abc import Iterator

import pytest
from playwright.async_api import BrowserContext, expect
from support.browser import PHONE, keep_shot, needs_browser, overflow_px
from support.gadget import SETTINGS, GadgetWiki
from support.gadget_article import ARTICLE, DEAD, TITLE
from support.gadget_repairs import open_from_card, post_to_wiki, prefer_saving, shown, text_of
from support.matching import started_wiki
from support.mediawiki import ADMIN, PASSWORD, MediaWiki

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.timeout(400), pytest.mark.asyncio(loop_scope="module")]

_TEXT = f"First [{DEAD} one].\n\n== Two ==\nSecond [{DEAD} two].\n\n[[Category:Harbours]]\n"
_PAGES = {
    TITLE: ARTICLE,
    **dict.fromkeys(
        ("Finger", "Untagged", "Tagged", "Captcha", "Hook", "Filter", "Read", "Block", "Session", "Own"), _TEXT
    ),
    "Template:Webarchive": "[{{{url}}} Archived]",
    "Template:Dead link": "''dead''",
}
_EXTENSIONS = """
wfLoadExtensions( [ "ConfirmEdit" ] );
$wgCaptchaClass = "SimpleCaptcha";
$wgReadOnlyFile = __DIR__ . "/readonly";
$wgHooks["EditFilterMergedContent"][] = static function ( $context, $content, $status ) {
    $title = $context->getTitle()->getText();
    if ( $title === "Hook" ) { $status->fatal( "rawmessage", "The <b>harbour</b> says no" ); }
    if ( $title === "Filter" ) {
        $status->fatal( ApiMessage::create( [ "rawmessage", "A filter warns" ], "abusefilter-warning" ) );
    }
    return $status->isOK();
};
"""


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with started_wiki(_PAGES, SETTINGS + _EXTENSIONS) as wiki:
        wiki.run("createAndPromote", "Reader", PASSWORD)
        yield wiki


async def test_a_finger_saves_on_a_small_phone(gadget: GadgetWiki) -> None:
    async with gadget.context(user=ADMIN, width=PHONE, has_touch=True, is_mobile=True) as context:
        await prefer_saving(context, gadget)
        async with gadget.view("Finger", context=context, skin="minerva") as view:
            await view.marked()
            page = view.page
            await page.locator(f'a[href="{DEAD}"] + .weboid-place > .weboid-mark').first.tap()
            await page.get_by_role("button", name="Repair this link").tap()
            dialog = await shown(page)
            await dialog.get_by_label("Only mark it as dead").tap()
            await expect(dialog.locator(".weboid-diff ins").first).to_contain_text("dead link")
            await expect(dialog).to_have_attribute("aria-busy", "false")
            await dialog.get_by_label("This is a minor edit").tap()
            await keep_shot(page, "saving-finger")
            assert await overflow_px(page) <= 0
            await dialog.get_by_role("button", name="Save page").tap()
            await expect(dialog).to_have_count(0)
            assert view.complaints == []
    assert (await text_of(gadget, "Finger"))[0].count("{{dead link") == 2


async def test_an_edit_has_the_tag_where_the_wiki_has_it(gadget: GadgetWiki) -> None:
    for title, tags in [("Untagged", []), ("Tagged", ["weboid"])]:
        async with gadget.context(user=ADMIN) as context:
            if tags:
                await post_to_wiki(context, gadget, action="managetags", operation="create", tag="weboid")
            await prefer_saving(context, gadget)
            async with gadget.view(title, context=context) as view:
                await view.marked()
                dialog = await open_from_card(view.page)
                await dialog.get_by_role("button", name="Save page").click()
                await expect(dialog).to_have_count(0)
        answer = await gadget.meeting.ask_wiki(action="query", prop="revisions", titles=title, rvprop="tags|comment")
        (revision,) = answer["query"]["pages"][0]["revisions"]
        assert revision["tags"] == tags
        assert "archived copies added" in revision["comment"]


async def get_ready(title: str, context: BrowserContext, gadget: GadgetWiki, wiki: MediaWiki) -> None:
    """What keeps the wiki from saving comes while the dialog is open."""
    match title:
        case "Read":
            (wiki.folder / "readonly").write_text("Being moved", encoding="utf-8")
        case "Block":
            await asyncio.to_thread(
                wiki.run, "blockUsers", "--disable-autoblock", "--reason", "Enough", text="Reader\n"
            )
        case "Session":
            await context.clear_cookies()


@pytest.mark.parametrize(
    ("title", "user", "said"),
    [
        ("Captcha", "Reader", "asks for something else"),
        ("Hook", ADMIN, "The harbour says no"),
        ("Filter", ADMIN, "A filter warns"),
        ("Read", ADMIN, "read-only mode"),
        ("Block", "Reader", "blocked"),
        ("Session", ADMIN, "logged in"),
    ],
)
async def test_a_text_that_the_wiki_does_not_save_is_not_lost(
    gadget: GadgetWiki, wiki: MediaWiki, title: str, user: str, said: str
) -> None:
    async with gadget.context(user=user) as context:
        await prefer_saving(context, gadget)
        async with gadget.view(title, context=context) as view:
            await view.marked()
            page = view.page
            dialog = await open_from_card(page)
            await dialog.get_by_label("Summary").fill("Own words")
            await get_ready(title, context, gadget, wiki)
            await dialog.get_by_role("button", name="Save page").click()
            await expect(dialog.get_by_role("alert")).to_contain_text(said)
            assert await dialog.locator("b").count() == 0
            assert await dialog.get_by_label("Summary").input_value() == "Own words"
            (wiki.folder / "readonly").unlink(missing_ok=True)
            await dialog.get_by_role("button", name="Open in the editor").click()
            await page.wait_for_selector("#wpTextbox1, .permissions-errors, .mw-permissionerrors")
            if title != "Block":
                assert (await page.input_value("#wpTextbox1")).count("{{webarchive") == 2
                assert await page.input_value("#wpSummary") == "Own words"
            if title == "Captcha":
                await page.click("#wpSave")
                sum_ = await page.locator(".simplecaptcha-field label").inner_text()
                one, sign, other = re.findall(r"\d+|[+\u2212-]", sum_)
                await page.fill("input[name=wpCaptchaWord]", str(int(one) + int(other) * (1 if sign == "+" else -1)))
                await page.click("#wpSave")
                await view.marked()
            saved, _ = await text_of(gadget, title)
            assert saved.count("{{webarchive") == (2 if title == "Captcha" else 0)


@pytest.mark.parametrize(
    ("title", "found"),
    [("Category:Harbours", "of 10 pages"), (f"Special:Contributions/{ADMIN}", "dead links that are not repaired")],
)
async def test_a_category_and_ones_own_edits_have_their_list(
    gadget: GadgetWiki, wiki: MediaWiki, title: str, found: str
) -> None:
    await asyncio.to_thread(wiki.save, "Own", f"{_TEXT}More of {title}.")
    async with gadget.view(title, user=ADMIN) as view:
        page = view.page
        await page.wait_for_selector("#t-weboid-list", state="attached")
        await page.evaluate("document.querySelector( '#t-weboid-list a' ).click()")
        dialog = page.get_by_role("dialog", name="Pages with dead links")
        await expect(dialog.get_by_role("status")).to_contain_text(found, timeout=30_000)
        await keep_shot(page, f"saving-list-{title[:3]}")
        assert await dialog.get_by_role("link", name="Own", exact=True).count() == 1
        assert len(view.asked) == 1


async def test_others_edits_have_no_list(gadget: GadgetWiki) -> None:
    async with gadget.view("Special:Contributions/Reader", user=ADMIN) as view:
        await view.idle()
        assert await view.page.locator("#t-weboid-list").count() == 0
