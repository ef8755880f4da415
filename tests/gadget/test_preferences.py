"""What readers of the gadget choose: kept where they are, read whatever is there, and reached from everywhere (G-1)."""

import json

import pytest
from playwright.async_api import Page, expect
from support.browser import barriers, needs_browser
from support.gadget_page import DAY, DEAD, load_page

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="session")]

_LINE = "<p>See <a href='#1'>one</a>.</p>"
_ACCOUNT = {"wgUserName": "Reader"}
_DEFAULT: dict[str, bool | str] = {"dead": True, "doubtful": True, "repaired": False, "files": True, "summary": False}
_DEFAULT |= {"direct": False, "always": False, "namespaces": "content", "cards": "findings"}


async def test_settings_are_kept_with_the_account(page: Page) -> None:
    await load_page(page, _LINE, config=_ACCOUNT)
    await page.evaluate("([links, day]) => markAll(links, day)", [[DEAD], DAY])
    await page.locator(".weboid-mark").click()
    await page.get_by_role("button", name="Settings").click()
    dialog = page.get_by_role("dialog", name="Settings for dead links")
    await expect(dialog).to_be_visible()
    assert await barriers(page) == []
    await dialog.get_by_label("Mark doubtful links").uncheck()
    await dialog.get_by_label("all external links").check()
    await dialog.get_by_role("button", name="Save").click()
    await expect(dialog).to_have_count(0)
    await expect(page.locator(".weboid-mark")).to_be_focused()
    expected = {**_DEFAULT, "doubtful": False, "cards": "all"}
    ((name, value),) = await page.evaluate("saved")
    assert (name, json.loads(value)) == ("userjs-weboid", expected)
    assert await page.evaluate("require( './preferences.js' ).get()") == expected


async def test_settings_of_readers_without_an_account_are_kept_in_the_browser(page: Page) -> None:
    for config in ({"wgUserName": None}, {"wgUserName": "~2026-1", "wgUserIsTemp": True}):
        await load_page(page, "", config=config)
        await page.evaluate("require( './settings.js' ).open()")
        await page.get_by_label("All pages").check()
        await page.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        assert (await page.evaluate("require( './preferences.js' ).get()"))["namespaces"] == "all"
        assert await page.evaluate("saved") == []


async def test_settings_that_cannot_be_kept_are_said_to_be_lost(page: Page) -> None:
    await load_page(page, "")
    await page.evaluate("mw.storage.setObject = () => false")
    await page.evaluate("require( './settings.js' ).open()")
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("alert")).to_have_text("This could not be saved. Please try again later.")
    await page.keyboard.press("Escape")
    await expect(page.get_by_role("dialog")).to_have_count(0)


async def test_rubbish_in_the_settings_counts_as_nothing(page: Page) -> None:
    rubbish = [
        *("", "{", "null", "1", "[]", '"x"'),
        '{"dead":"no","cards":"none","namespaces":[],"x":1}',
        '{"__proto__":{"dead":false}}',
    ]
    for text in [*rubbish, '{"dead":false,"cards":5}']:
        await load_page(page, "", config=_ACCOUNT, options={"userjs-weboid": text})
        found = await page.evaluate("require( './preferences.js' ).get()")
        assert found == (_DEFAULT if text in rubbish else {**_DEFAULT, "dead": False})


async def test_settings_are_read_once_a_view_however_many_marks_ask(page: Page) -> None:
    await load_page(page, _LINE * 50, config=_ACCOUNT)
    await page.evaluate(
        """() => {
            const options = mw.user.options;
            window.reads = 0;
            mw.user.options = { get: ( name ) => { window.reads++; return options.get( name ); } };
        }"""
    )
    await page.evaluate("([links, day]) => markAll(links, day)", [[DEAD] * 50, DAY])
    assert await page.locator(".weboid-mark").count() == 50
    assert await page.evaluate("reads") == 1


async def test_the_dialog_shows_what_another_tab_has_changed(page: Page) -> None:
    await load_page(page, "")
    assert await page.evaluate("require( './preferences.js' ).get()") == _DEFAULT
    await page.evaluate("mw.storage.setObject( 'weboid-preferences', { dead: false } )")
    await page.evaluate("require( './settings.js' ).open()")
    await page.get_by_label("all external links").check()
    await page.get_by_role("button", name="Save").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
    assert await page.evaluate("require( './preferences.js' ).get()") == {**_DEFAULT, "dead": False, "cards": "all"}


async def test_a_link_in_the_toolbox_opens_the_settings(page: Page) -> None:
    await load_page(page, "<ul></ul>", config={"wgContentNamespaces": [0], "wgNamespaceNumber": 4})
    await page.evaluate("mw.storage.setObject( 'weboid-preferences', { dead: false, doubtful: false, files: false } )")
    await page.evaluate("require( './page.js' ).handle( [] )")
    await page.get_by_role("link", name="Settings for dead links").click()
    await expect(page.get_by_role("dialog", name="Settings for dead links")).to_be_visible()
    await page.get_by_role("button", name="Cancel").click()
    await expect(page.get_by_role("dialog")).to_have_count(0)
