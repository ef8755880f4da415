"""The page of one URL: what is known of it, and who uses it (W-5, W-7, L-8)."""

from collections.abc import AsyncIterator
from dataclasses import replace
from urllib.parse import quote

import pytest_asyncio
from support.intakes import release_pages
from support.listed import WIKI, add_pages, answer_to, key_of_error, texts, walked_pages
from support.people import Browser, open_browser
from support.stored import key
from support.webservice import DEAD, HOSTILE_TITLE, PDF, TODAY, WALLED, Site

from weboid.core.record.days import iso
from weboid.core.url.farms import WMF
from weboid.store.pages.spam import record_spam_links

FORM = "/url?url=http://a.demo/old"
USES = '//ul[@class="pages"]/li'


@pytest_asyncio.fixture(loop_scope="module")
async def site(site: Site) -> AsyncIterator[Site]:
    """The service, asked by somebody who has sent its form."""
    async with open_browser(site.url) as browser:
        sent = await browser.send_form(FORM, "/url")
        assert (sent.status, sent.location) == (303, "/url?url=http%3A%2F%2Fa.demo%2Fold")
        yield replace(site, client=browser.client)


def path_of(url: str, more: str = "") -> str:
    return f"/url?url={quote(url, safe='')}{more}"


async def test_all_that_is_known_is_shown_in_words_and_as_a_picture(site: Site) -> None:
    status, body, response = await site.fetch(path_of(DEAD, f"&{WIKI}&lang=en"))
    assert (status, response.content_type) == (200, "text/html")
    assert texts(body, "//h1/following::*[@class='url'][1]") == [DEAD]
    for words in (
        *("dead for 3 weeks", "the page does not exist", "page not found (HTTP 404)", "Next check:"),
        *("Not found on 7 days (", "Other pages of this host work."),
    ):
        assert words in body
    assert texts(body, "//svg/rect/@class") == ["failing"]
    assert texts(body, "//svg/@role") == ["img"]
    assert texts(body, "//svg/@aria-label")[0]
    assert texts(body, USES) == ["Page 1"]
    assert "Access-Control-Allow-Origin" not in response.headers


async def test_the_normal_form_is_shown_next_to_what_was_requested(site: Site) -> None:
    body = await site.text(path_of("HTTP://B.demo:80/wall#part"))
    assert texts(body, "//*[@class='url']") == [WALLED, "HTTP://B.demo:80/wall#part"]


async def test_pages_of_the_wiki_come_first_then_those_of_its_farm_never_of_another(site: Site) -> None:
    await add_pages(site, {9: (HOSTILE_TITLE, [DEAD])}, "aawiki")
    await add_pages(site, {5: ("Of another farm", [DEAD])}, "aawiki", WMF)
    body = await site.text(path_of(DEAD, f"&{WIKI}"))
    assert texts(body, "//h3") == ["testwiki@wmflabs", "aawiki@wmflabs"]
    assert texts(body, USES)[0] == "Page 1"
    assert "Of another farm" not in body
    body = await site.text(path_of(DEAD, "&dbname=aawiki@wmflabs"))
    assert texts(body, "//h3") == ["aawiki@wmflabs", "testwiki@wmflabs"]
    assert texts(await site.text(path_of(DEAD, "&dbname=aawiki@WMF")), USES) == ["Of another farm"]
    assert texts(await site.text(path_of(DEAD)), USES) == []


async def test_each_page_is_listed_once_while_uses_come_and_go(site: Site) -> None:
    await add_pages(site, {page: (f"P{page}", [PDF]) for page in range(10, 260)})
    other = await add_pages(site, {page: (f"O{page}", [PDF]) for page in range(1, 121)}, "aawiki")

    async def between(part: int) -> None:
        async with site.wiki.pool.connection() as conn:
            # After the listed ones these are never listed, before them they make no difference.
            await release_pages(conn, site.wiki.wiki.wiki, [10 + part, 250], 101)
            await release_pages(conn, other.wiki, [120], 101)
        await add_pages(site, {2 + part: ("new", [PDF]), 300: ("P300", [PDF])})

    parts = await walked_pages(site, path_of(PDF, f"&{WIKI}"), USES, between)
    shown = [title for part in parts for title in part]
    assert len(shown) == len(set(shown))
    expected = {"Page 1", "P300", *(f"P{page}" for page in range(10, 260)), *(f"O{page}" for page in range(1, 120))}
    assert set(shown) == expected - {"P250"}
    assert [len(part) for part in parts[:-1]] == [100] * (len(parts) - 1)


async def test_pages_on_which_it_is_spam_are_listed_of_the_same_wiki_only(site: Site) -> None:
    own = await add_pages(site, {50: ("Spammed", [])})
    other = await add_pages(site, {51: ("Spammed too", [])}, "aawiki")
    foreign = await add_pages(site, {52: ("Of another farm", [])}, "aawiki", WMF)
    spam = "http://pills.demo/"
    async with site.wiki.pool.connection() as conn:
        for wiki, page in ((own, 50), (other, 51), (foreign, 52)):
            await record_spam_links(conn, wiki.wiki, {page: {key(spam): spam, key(PDF): PDF}})
    assert texts(await site.text(path_of(PDF, f"&{WIKI}&lang=en")), USES) == ["Page 1", "Spammed"]
    # A URL that is spam wherever it stands is not watched, but there is something to show.
    status, body, _ = await site.fetch(path_of(spam, f"&{WIKI}&lang=en"))
    assert (status, texts(body, USES)) == (200, ["Spammed"])
    assert texts(body, "//p[@class='what']/span") == ["spam"]
    assert await key_of_error(site, path_of(spam)) == (404, "unknown-url")
    assert await key_of_error(site, path_of(spam, "&dbname=testwiki@WMF")) == (404, "unknown-wiki")


async def test_what_nobody_uses_any_more_says_so(site: Site) -> None:
    await site.wiki.do(release_pages, site.wiki.wiki.wiki, [1], 110)
    status, body, _ = await site.fetch(path_of(PDF, f"&{WIKI}&lang=en"))
    assert (status, texts(body, USES)) == (200, [])
    assert "No watched page uses it any more" in body
    assert "Next check" not in body


async def test_who_has_sent_no_form_gets_the_form_and_nothing_else(site: Site, browser: Browser) -> None:
    seen = await browser.open(path_of(DEAD, f"&{WIKI}&lang=en&after=1.1"))
    assert seen.status == 200
    assert "for people only" in seen.text
    assert not texts(seen.text, f"{USES} | //svg | //*[@class='url']")
    assert seen.headers["Cache-Control"] == "no-store"
    fields = seen.form("/url")
    given = {"url": DEAD, "dbname": "testwiki@wmflabs", "lang": "en", "after": "1.1"}
    assert fields == {**given, "token": fields["token"]}
    # What is known and what is not look the same.
    other = await browser.open(path_of("http://never.demo/", f"&{WIKI}&lang=en"))
    assert (other.status, texts(other.text, "//h1 | //p")) == (200, texts(seen.text, "//h1 | //p"))


async def test_after_the_button_the_same_address_tells_all(browser: Browser) -> None:
    sent = await browser.send_form(path_of(DEAD, f"&{WIKI}&lang=en"), "/url")
    assert sent.status == 303
    seen = await browser.open(sent.location)
    assert texts(seen.text, USES) == ["Page 1"]
    assert "Cookie" in seen.headers["Vary"]
    assert seen.headers["Cache-Control"] == "no-store"
    # It is asked once in a session.
    assert texts((await browser.open(path_of(PDF, f"&{WIKI}"))).text, USES) == ["Page 1"]


async def test_what_is_dead_can_be_reported_and_replaced(site: Site) -> None:
    body = await site.text(path_of("HTTP://Dead.demo/gone?a=1&b=%22x%22", f"&{WIKI}&lang=en"))
    query = f"?url={quote(DEAD, safe='')}&dbname=testwiki%40wmflabs&lang=en"
    assert texts(body, "//p[@class='actions']/a/@href") == [f"/report{query}", f"/replacement{query}"]
    assert texts(await site.text(path_of(PDF, f"&{WIKI}")), "//p[@class='actions']") == []


async def test_scripts_are_refused(site: Site) -> None:
    status, _, _ = await site.fetch(path_of(PDF), Sec_Fetch_Dest="empty")
    assert status == 403
    assert (await site.fetch(path_of(PDF), Sec_Fetch_Dest="document"))[0] == 200


async def test_a_program_gets_a_url_with_a_page_that_has_it(site: Site) -> None:
    for site.source.silent in (True, False):
        document = await answer_to(site, f"/api{path_of(DEAD, f'&{WIKI}&pageid=1')}")
        (page,) = document["pages"]
        assert [link["normal"] for link in page["links"]] == [DEAD]
        assert (page["id"], page["links"][0]["verdict"], document["day"]) == (1, "dead", iso(TODAY))
        assert page["links"][0]["summary"].startswith("dead for 3 weeks")
    _, body, response = await site.fetch(f"/api{path_of(DEAD, f'&{WIKI}&pageid=1&format=xml')}")
    assert response.content_type == "application/xml"
    assert body.count("<link ") == 1
