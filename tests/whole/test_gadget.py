"""The gadget in a real wiki, in a real browser, with a real Weboid (G-1 to G-5)."""

import asyncio
import json
import re
from collections.abc import AsyncIterator, Iterator
from itertools import cycle
from typing import Final

import pytest
import pytest_asyncio
from support.awkward_articles import ARTICLES
from support.browser import needs_browser, open_browser
from support.gadget import (
    SETTINGS,
    GadgetWiki,
    View,
    announced_policy,
    answer_by_chance,
    findings,
    install_gadget,
    open_stand_in,
    record_answers,
)
from support.matching import WIKI, Parser, open_meeting, started_wiki
from support.mediawiki import ADMIN, MediaWiki
from support.observations import LOST

from weboid.core.observe.observation import Observation

pytestmark = [pytest.mark.long, needs_browser, pytest.mark.asyncio(loop_scope="module")]

SECTIONS: Final = """Intro [http://intro.3sat.de/ intro].
== First ==
Text<ref>[http://first.3sat.de/a%3Ab?x=1 cited]</ref>.
== Second ==
Text [//second.3sat.de/relative second] and [[sofar:Second page]].
== Third ==
Text [http://third.3sat.de/ third].
== References ==
<references />
"""
OTHERS: Final = {
    "Sections": SECTIONS,
    "Nothing": "No link leads away: [[Main Page]], [{{SERVER}}/wiki/Main_Page here].",
    "Talk:Harbour": "[http://talk.3sat.de/ x]",
    "Edited": "[http://edited.3sat.de/before x]",
}
GONE: Final = ("http://edited.3sat.de/", "http://third.3sat.de/", "http://first.3sat.de/", "https://second.3sat.de/")


def answer(url: str) -> Observation:
    """What has become of a URL: these are gone, others by chance."""
    return LOST if url.startswith(GONE) else answer_by_chance(url)


@pytest.fixture(scope="module")
def wiki() -> Iterator[MediaWiki]:
    with started_wiki(ARTICLES | OTHERS, SETTINGS) as wiki:
        yield wiki


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def gadget(
    wiki: MediaWiki, module_database: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[GadgetWiki]:
    """The gadget on that wiki, and Weboid, whose store knows what has become of the links."""
    async with (
        open_meeting(wiki, module_database, tmp_path_factory.mktemp("gadget")) as meeting,
        open_browser() as browser,
    ):
        await record_answers(module_database, answer)
        built = install_gadget(wiki, meeting.weboid)
        wiki.save_pages({"MediaWiki:Weboid.js": built.user_script})
        wiki.save(f"User:{ADMIN}/common.js", "importScript( 'MediaWiki:Weboid.js' );")
        yield GadgetWiki(meeting, browser, {title: page for page, title in (await meeting.pages()).items()})


async def assert_marked(gadget: GadgetWiki, view: View, page: int) -> int:
    """Exactly the links are marked that the service calls dead or doubtful; returns how many."""
    await view.marked()
    assert view.complaints + view.foreign_requests == []
    marks = await view.marks()
    assert marks == await findings(gadget.meeting, await view.content(), page)
    return len(marks)


async def test_dead_and_doubtful_links_of_awkward_articles_are_marked_and_no_others(gadget: GadgetWiki) -> None:
    """Each article as one of the parsers renders it: that its links are found in both forms, `test_matching` shows."""
    marks = 0
    parsers: Iterator[Parser] = cycle(("legacy", "parsoid"))
    for title, parser in zip(sorted(ARTICLES.keys() - {"Own pages"}), parsers, strict=False):
        async with gadget.view(title, parser=parser) as view:
            marks += await assert_marked(gadget, view, gadget.pages[title])
            assert len(view.asked) == 1
    assert marks > 50


async def test_the_stricter_content_security_policy_of_wikimedias_refuses_nothing(gadget: GadgetWiki) -> None:
    async with gadget.view("References", policy=announced_policy(gadget.meeting.weboid)) as view:
        assert await assert_marked(gadget, view, gadget.pages["References"]) > 5
        await view.page.locator(".weboid-mark").first.click()
        await view.page.locator(".weboid-card").wait_for()
        assert view.complaints == []


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("Nothing", {}),
        ("Sections", {"action": "edit"}),
        ("Sections", {"action": "history"}),
        ("Special:AllPages", {}),
        ("Talk:Harbour", {}),
        ("Not there", {}),
    ],
)
async def test_pages_of_which_nothing_is_to_be_reported_stay_as_they_are(
    gadget: GadgetWiki, title: str, query: dict[str, str]
) -> None:
    async with gadget.view(title, query=query) as view:
        await view.idle()
        assert view.asked == []
        # The editor offers repairs of what stands there.
        added = "[class*=weboid], [id*=weboid]:not( #t-weboid-repair )"
        assert await view.page.locator(added).count() == 0


async def test_one_view_asks_once_however_often_content_comes(gadget: GadgetWiki) -> None:
    async with gadget.view("Sections") as view:
        await view.marked()
        before = await view.marks()
        await view.page.evaluate(
            "for ( let i = 0; i < 5; i++ ) { mw.hook( 'wikipage.content' ).fire( $( '#mw-content-text' ) ); }"
        )
        await view.idle()
        assert await view.marks() == before
        await view.page.evaluate(
            """( html ) => { $( '.mw-parser-output' ).html( html );
                mw.hook( 'wikipage.content' ).fire( $( '#mw-content-text' ) ); }""",
            '<p><a href="http://third.3sat.de/">third</a> <a href="http://new.3sat.de/">new</a></p>',
        )
        await view.idle()
        assert [href for href, _ in await view.marks()] == [href for href, _ in before if "third" in href]
        assert len(view.asked) == 1


async def test_a_page_that_comes_back_from_the_browsers_memory_has_each_mark_once(gadget: GadgetWiki) -> None:
    async with gadget.view("Sections") as view:
        await view.marked()
        before = await view.marks()
        await view.page.goto(f"{view.wiki}/wiki/Nothing", wait_until="domcontentloaded")
        await view.page.go_back(wait_until="domcontentloaded")
        await view.marked()
        assert await view.marks() == before
        assert await view.page.locator(".weboid-mark").count() == len(before)
        assert await view.page.locator("#t-weboid").count() == 1


async def test_a_readers_request_has_no_cookie_and_needs_no_permission_first(gadget: GadgetWiki) -> None:
    async with gadget.context() as context, open_stand_in(context, gadget.meeting.weboid) as weboid:
        await context.add_cookies([{"name": "known", "value": "1", "url": weboid.url}])
        weboid.says("{}")
        async with gadget.view("Sections", context=context) as view:
            await view.marked()
        (head,) = weboid.seen
        names = {line.partition(":")[0].lower() for line in head.splitlines()[1:] if line}
        assert head.startswith("GET /api/page?")
        assert not names & {"cookie", "authorization", "referer", "access-control-request-method"}


async def test_readers_who_want_cards_of_all_links_have_them_by_one_request(gadget: GadgetWiki) -> None:
    async with gadget.context() as context:
        preferences = json.dumps({"cards": "all"})
        await context.add_init_script(f"localStorage.setItem( 'weboid-preferences', {json.dumps(preferences)} )")
        async with gadget.view("References", context=context) as view:
            await view.marked()
            assert ["extent=all" in address for address in view.asked] == [True]
            assert {kind for _, kind in await view.marks()} == {"dead", "doubtful", "other"}
            mark = view.page.locator(".weboid-mark-other").first
            assert (await mark.get_attribute("aria-label") or "").startswith("Working link")
            await mark.click()
            await view.page.locator(".weboid-card").wait_for()
            assert view.complaints == []


# Views other than that of the newest revision


async def test_a_preview_marks_what_the_page_has_already_and_says_nothing_of_what_is_new(gadget: GadgetWiki) -> None:
    async with gadget.view("Edited", query={"action": "edit"}) as view:
        await view.idle()
        assert view.asked == []
        await type_text(view, "[http://edited.3sat.de/before x] [http://new.3sat.de/ y]")
        await view.page.evaluate(
            "$( '#editform' ).append( '<input type=hidden name=wpPreview value=1>' )[ 0 ].submit()"
        )
        await view.page.wait_for_selector("#wikiPreview .mw-parser-output")
        await view.marked()
        assert await previewed(view) == {"http://edited.3sat.de/before": True, "http://new.3sat.de/": False}


async def test_a_live_preview_is_marked_each_time_and_asks_once(gadget: GadgetWiki) -> None:
    async with gadget.view("Edited", query={"action": "edit"}) as view:
        await view.idle()
        for text, marked in (
            ("[http://new.3sat.de/ y]", {"http://new.3sat.de/": False}),
            ("[http://edited.3sat.de/before x]", {"http://edited.3sat.de/before": True}),
            ("[http://edited.3sat.de/before z] z", {"http://edited.3sat.de/before": True}),
        ):
            await type_text(view, text)
            async with view.page.expect_response(lambda response: "/w/api.php" in response.url):
                await view.page.click("#wpPreview")
            await view.page.wait_for_function(
                "( text ) => document.querySelector( '#wikiPreview' ).textContent.includes( text )", arg=text[-2]
            )
            await view.marked()
            await view.idle()
            assert await previewed(view) == marked
        assert len(view.asked) == 1


async def test_differences_and_old_revisions_are_marked_by_what_the_page_has_now(
    gadget: GadgetWiki, wiki: MediaWiki
) -> None:
    await asyncio.to_thread(wiki.save, "Revised", "[http://edited.3sat.de/before x] [http://old.3sat.de/ y]")
    await asyncio.to_thread(wiki.save, "Revised", "[http://edited.3sat.de/before x] and more")
    answer = await gadget.meeting.ask_wiki(action="query", prop="revisions", titles="Revised", rvlimit=2, rvprop="ids")
    newest, oldest = [revision["revid"] for revision in answer["query"]["pages"][0]["revisions"]]
    for query in ({"oldid": oldest}, {"diff": newest, "oldid": oldest}, {"diff": "prev", "oldid": newest}):
        async with gadget.view("Revised", query=query) as view:
            await view.marked()
            assert [href for href, _ in await view.marks()] == ["http://edited.3sat.de/before"]
            assert [f"revid={newest}" in address for address in view.asked] == [True]


async def type_text(view: View, text: str) -> None:
    await view.page.fill("#wpTextbox1", text)


async def previewed(view: View) -> dict[str, bool]:
    links: dict[str, bool] = await view.page.evaluate(
        """() => Object.fromEntries( [ ...document.querySelectorAll( '#wikiPreview .mw-parser-output a[href]' ) ]
            .map( ( link ) => [
                link.getAttribute( 'href' ), link.matches( ':has( + .weboid-place )' )
            ] ) )"""
    )
    return links


# The service in trouble: what becomes of other answers is in tests/gadget/test_service_js.py.


async def test_a_slow_service_keeps_nothing_waiting(gadget: GadgetWiki) -> None:
    async with gadget.context() as context, open_stand_in(context, gadget.meeting.weboid) as weboid:
        page = gadget.pages["Sections"]
        address = f"{gadget.meeting.weboid}/api/page"
        query = {"dbname": WIKI, "pageid": str(page), "extent": "notes"}
        async with gadget.meeting.client.get(address, params=query) as response:
            weboid.says(await response.text())
        weboid.pause_s = 4.0
        async with gadget.view("Sections", context=context) as view:
            await view.page.wait_for_load_state("load")
            await view.idle()
            assert await view.marks() == []
            await view.marked()
            assert await view.marks() == await findings(gadget.meeting, await view.content(), page)


# Next to the content


async def test_the_information_about_a_page_counts_its_links(gadget: GadgetWiki) -> None:
    page = gadget.pages["References"]
    counts = (await gadget.meeting.ask("/api/page", pageid=page))["pages"][0]["counts"]
    async with gadget.view("References", query={"action": "info"}) as view:
        link = view.page.locator("#mw-pageinfo-weboid a")
        text = await link.inner_text()
        numbers = [int(word) for word in re.findall(r"\d+", text)]
        assert numbers == [sum(counts.values()), counts["dead"], counts["doubtful"]]
        address = await link.get_attribute("href")
        assert address == f"{gadget.meeting.weboid}/externalLinkInfo?pageid={page}&dbname=testwiki%40wmflabs&lang=en"
        async with gadget.meeting.client.get(address) as response:
            assert response.status == 200


async def test_the_gadget_and_the_user_script_together_are_one(gadget: GadgetWiki) -> None:
    async with gadget.view("References", user=ADMIN) as view:
        loaded = "performance.getEntriesByType( 'resource' ).some( ( { name } ) => name.includes( 'Weboid.js' ) )"
        await view.page.wait_for_function(loaded)  # MediaWiki takes the element away once it is loaded
        marks = await assert_marked(gadget, view, gadget.pages["References"])
        await view.idle()
        assert await view.page.locator(".weboid-mark").count() == marks
        assert len(view.asked) == 1


async def test_the_user_script_does_what_the_gadget_does(gadget: GadgetWiki) -> None:
    async with gadget.context(user=ADMIN) as context:
        api = gadget.meeting.wiki.api
        shown = await context.request.get(f"{api}?action=query&meta=tokens&format=json")
        token = (await shown.json())["query"]["tokens"]["csrftoken"]
        off = {"action": "options", "optionname": "gadget-weboid", "optionvalue": "0", "token": token, "format": "json"}
        assert await (await context.request.post(api, form=off)).json() == {"options": "success"}
        async with gadget.view("References", context=context) as view:
            assert await assert_marked(gadget, view, gadget.pages["References"]) > 5
            assert await view.page.evaluate("mw.loader.getState( 'ext.gadget.weboid' )") == "registered"


# For editors


@pytest.mark.parametrize(
    ("href", "section", "selected"),
    [
        ("http://first.3sat.de/a%3Ab?x=1", "1", "http://first.3sat.de/a%3Ab?x=1"),
        ("//second.3sat.de/relative", "2", "//second.3sat.de/relative"),
    ],
)
async def test_the_editor_opens_at_the_section_with_the_url_selected(
    gadget: GadgetWiki, href: str, section: str, selected: str
) -> None:
    async with gadget.view("Sections") as view:
        await view.marked()
        await view.page.locator(f'a[href="{href}"] + .weboid-mark, a[href="{href}"] + * > .weboid-mark').first.click()
        edit = view.page.locator('.weboid-card a[href*="action=edit"]')
        assert f"section={section}" in (await edit.get_attribute("href") or "")
        await edit.evaluate("( link ) => link.removeAttribute( 'target' )")
        await edit.click()
        await view.page.wait_for_function(
            """() => { const field = document.getElementById( 'wpTextbox1' );
                return field && field.selectionEnd > field.selectionStart; }"""
        )
        found = await view.page.evaluate(
            """() => { const field = document.getElementById( 'wpTextbox1' );
                return field.value.slice( field.selectionStart, field.selectionEnd ); }"""
        )
        assert found == selected
