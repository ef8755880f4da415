"""Reporting in three taps: nobody of ours meets the gate, signing in leads back into the form, success is green."""

from urllib.parse import quote

import pytest
from support.listed import texts
from support.people import Browser, People, Seen
from support.webservice import DEAD

PLACE = f"url={quote(DEAD, safe='')}&dbname=testwiki%40wmflabs&pageid=1&lang=en"
LINKS = "/externalLinkInfo?dbname=testwiki%40wmflabs&pageid=1&lang=en"
GATE = "Use the button to see"
GREEN = '//p[@class="notice success"]'


async def signed_in(people: People, browser: Browser, going: Seen, name: str = "Anna") -> str:
    """Where somebody is after the page that leads to the provider, and having agreed there."""
    path = await browser.agree(people.provider, going.link(people.provider.url), name)
    return (await browser.open(path)).location


@pytest.mark.parametrize("page", ["report", "replacement", "url"])
async def test_only_who_follows_a_link_of_ours_or_has_a_session_meets_no_gate(people: People, page: str) -> None:
    nobody, anna, place = await people.browser(), await people.browser("Anna"), PLACE.replace("&pageid=1", "")
    for site, is_asked in (("same-origin", False), ("same-site", True), ("cross-site", True), ("none", True)):
        seen = await nobody.open(f"/{page}?{place}", Sec_Fetch_Site=site)
        assert (GATE in seen.text, 'class="what"' in seen.text) == (is_asked, not is_asked), site
    assert GATE in (await nobody.open(f"/{page}?{place}")).text, "following a link is noted nowhere"
    assert GATE not in (await anna.open(f"/{page}?{place}", Sec_Fetch_Site="cross-site")).text


@pytest.mark.parametrize("page", ["report", "replacement", "url"])
async def test_who_names_a_page_that_has_the_link_meets_no_gate_as_from_the_gadget(people: People, page: str) -> None:
    nobody = await people.browser()
    for place, is_asked in (
        (PLACE, False),
        (PLACE.replace("pageid=1", "pageid=2"), True),
        (PLACE.replace("pageid=1", "pageid=0"), True),
        (PLACE.replace("testwiki", "nowiki"), True),
        (PLACE.replace("dead.demo", "fine.demo"), True),
    ):
        seen = await nobody.open(f"/{page}?{place}", Sec_Fetch_Site="cross-site")
        assert (GATE in seen.text, 'class="what"' in seen.text) == (is_asked, not is_asked), place


async def test_signing_in_leads_back_into_a_report_as_it_was_sent(people: People) -> None:
    nobody = await people.browser()
    form = (await nobody.open(f"/report?{PLACE}", Sec_Fetch_Site="same-origin")).form("/report")
    back = await signed_in(people, nobody, await nobody.send("/report", form | {"extent": "domain"}))
    assert back == f"/report?{PLACE}&extent=domain"
    seen = await nobody.open(back, Sec_Fetch_Site="cross-site")
    assert 'value="domain" checked' in seen.text
    done = await nobody.send("/report", seen.form("/report") | {"extent": "domain"})
    assert done.location == f"/report?{PLACE}&done=domain"
    seen = await nobody.open(done.location)
    assert texts(seen.text, GREEN) == ["Thank you. Your report of the whole domain has been noted."]
    assert seen.link("/externalLinkInfo") == LINKS


async def test_signing_in_leads_back_to_a_suggestion_with_what_was_typed(people: People) -> None:
    nobody, typed = await people.browser(), "https://new.demo/it?a='b'&ü=\"<b>"
    form = (await nobody.open(f"/replacement?{PLACE}", Sec_Fetch_Site="same-origin")).form("/replacement")
    back = await signed_in(people, nobody, await nobody.send("/replacement", form | {"target": typed}))
    seen = await nobody.open(back)
    assert seen.form("/replacement")["target"] == typed
    sent = await nobody.send("/replacement", seen.form("/replacement") | {"target": "https://new.demo/it"})
    seen = await nobody.open(sent.location)
    assert texts(seen.text, GREEN) == ["Your suggestion is kept. It is checked soon, and shown once it works."]
    assert seen.form("/replacement")["target"] == ""


async def test_what_is_too_long_for_a_cookie_stays_in_its_form(people: People) -> None:
    nobody, typed = await people.browser(), f"https://new.demo/{'long' * 400}"
    form = (await nobody.open(f"/replacement?{PLACE}", Sec_Fetch_Site="same-origin")).form("/replacement")
    seen = await nobody.send("/replacement", form | {"target": typed})
    assert (seen.status, seen.form("/replacement")["target"]) == (403, typed)
    assert texts(seen.text, '//*[@role="alert"]') == ["Please sign in first."]


async def test_a_link_of_another_site_leads_nowhere_else(people: People) -> None:
    for page in ("//evil.demo", "x&back=//evil.demo", "1%0d%0aLocation:%20//evil.demo"):
        nobody = await people.browser()
        seen = await nobody.open(f"/report?{PLACE.replace('pageid=1', f'pageid={page}')}", Sec_Fetch_Site="same-origin")
        assert seen.status == 200
        assert seen.link("/externalLinkInfo").startswith("/externalLinkInfo?dbname=testwiki%40wmflabs&pageid=")
        back = await signed_in(people, nobody, await nobody.send("/report", seen.form("/report")))
        assert back.startswith("/report?url=http%3A%2F%2Fdead.demo"), back
