"""The gadget next to VisualEditor in a real wiki: no marks on what is edited, and marks on what is shown then (G-1)."""

from pathlib import Path
from typing import Final

import pytest
from support.browser import needs_browser, open_browser
from support.gadget import SETTINGS, GadgetWiki, install_gadget, record_answers
from support.matching import make_wiki, open_meeting
from support.observations import LOST

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.timeout(240)]

_VISUAL_EDITOR: Final = """
wfLoadExtension( "VisualEditor" );
$wgDefaultUserOptions["visualeditor-enable"] = 1;
"""
_TITLE: Final = "Harbour"
_TEXT: Final = "First [http://one.3sat.de/ one]<ref>[http://two.3sat.de/ two]</ref>.\n\n<references />"
_EDITED: Final = """() => {
    const model = ve.init.target.getSurface().getModel().getDocument();
    return [ ve.dm.converter.getDomFromModel( model ).body, document.querySelector( '.ve-ui-surface' ) ]
        .map( ( each ) => each.innerHTML );
}"""


async def test_an_edit_in_visualeditor_has_no_trace_of_marks_and_its_result_has_each_once(
    database: str, tmp_path: Path
) -> None:
    with make_wiki(settings=SETTINGS + _VISUAL_EDITOR) as wiki:
        wiki.save_pages({_TITLE: _TEXT})
        wiki.start()
        async with open_meeting(wiki, database, tmp_path) as meeting, open_browser() as browser:
            await record_answers(database, lambda _: LOST)
            install_gadget(wiki, meeting.weboid)
            gadget = GadgetWiki(meeting, browser, {title: page for page, title in (await meeting.pages()).items()})
            async with gadget.view(_TITLE, query={"veaction": "edit", "vehidebetadialog": 1}) as view:
                page = view.page
                await page.locator(".ve-ce-documentNode").wait_for()
                await view.idle()
                asked = len(view.asked)
                assert asked <= 1
                await page.evaluate("ve.init.target.getSurface().getView().focus()")
                await page.keyboard.press("Control+Home")
                await page.keyboard.type("Newly ")
                await view.idle()
                model, surface = await page.evaluate(_EDITED)
                assert "Newly" in model
                assert "weboid" not in model + surface
                assert len(view.asked) == asked
                await page.locator("a.ve-ui-toolbar-saveButton").click()
                await page.locator(".ve-ui-mwSaveDialog .oo-ui-flaggedElement-primary a").first.click()
                await page.wait_for_function(
                    "document.querySelector( '#mw-content-text .mw-parser-output' ).textContent.includes( 'Newly' )"
                    " && document.querySelectorAll( '#mw-content-text .weboid-mark' ).length > 0"
                )
                await view.idle()
                assert await view.marks() == [("http://one.3sat.de/", "dead"), ("http://two.3sat.de/", "dead")]
                assert await page.locator(".weboid-mark").count() == 2
                assert len(view.asked) == asked + 1
                answer = await meeting.ask_wiki(
                    action="query", prop="revisions", titles=_TITLE, rvprop="content", rvslots="main"
                )
                (revision,) = answer["query"]["pages"][0]["revisions"]
                assert revision["slots"]["main"]["content"] == f"Newly {_TEXT}"
                # VisualEditor fires the hook for content that is not in the page yet, and selects there, too.
                own = ("unattached content", "addRange()")
                assert [line for line in view.complaints if not any(words in line for words in own)] == []
