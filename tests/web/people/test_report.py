"""Reports over real HTTP: who may report which URL, and what follows (H, W-14)."""

from pathlib import Path
from urllib.parse import quote

import pytest
from support.listed import add_pages, texts
from support.observations import FINE
from support.people import HOSTILE_NAME, Browser, People, Seen, open_people
from support.stored import key
from support.webservice import BROKEN, DEAD, EXAMPLE, MAIL, MOVED, SCRIPT, TODAY, WALLED

from weboid.store.archives.cited_copy import record_cited_due
from weboid.store.people.audit import AuditEntry, list_audit
from weboid.web.http import page_script

CLAIMS = '//p[starts-with(@id, "claim-")]'


def path_of(url: str, more: str = "&lang=en") -> str:
    return f"/report?url={quote(url, safe='')}{more}"


async def report(browser: Browser, url: str = DEAD, extent: str = "url") -> Seen:
    return await browser.send_form(path_of(url), "/report", extent=extent)


async def token(browser: Browser, purpose: str) -> str:
    """A token of a purpose, as it stands on a page where the form is."""
    seen = await browser.open(path_of(DEAD))
    return seen.form({"report": "/report", "check": "/check"}[purpose])["token"]


async def log(people: People) -> list[AuditEntry]:
    return await people.site.wiki.do(list_audit)


def error_in(seen: Seen) -> tuple[int, str]:
    """The status of an error page in qqx, and its key."""
    return seen.status, seen.text.partition("(weboid-error-")[2].partition(")")[0].partition(":")[0]


async def test_a_report_is_made_reported_to_all_without_a_name_and_logged(people: People) -> None:
    anna = await people.browser("Anna")
    seen = await anna.open(path_of(DEAD, "&dbname=testwiki@wmflabs&lang=en"))
    assert (seen.status, seen.headers["Cache-Control"]) == (200, "no-store")
    assert "dead" in texts(seen.text, '//p[@class="what"]')[0]
    sent = await anna.send("/report", seen.form("/report") | {"extent": "url"})
    assert sent.status == 303
    assert sent.location.startswith("/report?url=http%3A%2F%2Fdead.demo%2F")
    seen = await anna.open(sent.location)
    assert texts(seen.text, '//*[@role="status"]') == ["Thank you. Your report has been noted."]
    assert texts(seen.text, CLAIMS) == ["Somebody reported today that this link works by hand."]
    assert "Anna" not in seen.text
    answer = await people.site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&lang=en")
    assert "Somebody reported today that it works by hand." in answer
    assert "Anna" not in answer
    (entry,) = await log(people)
    assert (entry.action, entry.subject, entry.name, entry.object) == ("report", "7", "Anna", DEAD)


async def test_only_what_is_watched_and_dead_can_be_reported(people: People) -> None:
    for url, expected in [
        ("http://fine.demo/", (409, "not-dead")),
        (WALLED, (409, "not-dead")),
        (MOVED, (409, "not-dead")),
        ("http://nobody.uses.demo/it", (404, "unknown-url")),
        (EXAMPLE, (404, "unknown-url")),
        (BROKEN, (404, "url")),
        (MAIL, (404, "url")),
        (SCRIPT, (404, "url")),
        ("", (400, "no-url")),
    ]:
        anna = await people.browser("Anna")
        fields = {"token": await token(anna, "report"), "url": url, "lang": "qqx"}
        for extent in ("url", "domain"):
            assert error_in(await anna.send("/report?lang=qqx", fields | {"extent": extent})) == expected
        assert await log(people) == [], url
        assert await people.site.wiki.rows("SELECT FROM report UNION ALL SELECT FROM domain_report") == [], url
        assert not [row for row in await people.site.wiki.rows("SELECT host FROM host") if "nobody" in str(row)], url


async def test_a_whole_domain_is_reported_and_every_url_of_it_is_reported_with_that(people: People) -> None:
    await add_pages(people.site, {9: ("Other", ["http://www.dead.demo/other"])})
    anna = await people.browser("Anna")
    assert (await report(anna, extent="domain")).location.endswith("done=domain")
    seen = await anna.open(path_of(DEAD))
    assert texts(seen.text, '//p[@id="claim-domain"]') == [
        "Somebody reported today that all links of dead.demo work by hand."
    ]
    assert [(entry.action, entry.object, entry.detail) for entry in await log(people)] == [
        ("report-domain", "dead.demo", DEAD)
    ]
    assert (
        error_in(await anna.send("/report", {**seen.form("/report"), "extent": "world", "lang": "qqx"}))[1] == "extent"
    )


async def test_who_has_not_signed_in_cannot_report_nor_ask_for_a_check(people: People) -> None:
    nobody = await people.browser()
    await nobody.send_form(path_of(DEAD), "/report/look")
    seen = await nobody.open(path_of(DEAD))
    for action in ("/report", "/check"):
        assert (await nobody.send(action, seen.form(action))).link(people.provider.url)
        # A token of another purpose does nothing.
        other = seen.form("/report/remove" if 'action="/report/remove"' in seen.text else "/report")
        unfit = {**other, "token": "x" * 86}
        assert error_in(await nobody.send(f"{action}?lang=qqx", unfit)) == (403, "form")
    assert await log(people) == []
    assert await people.site.wiki.rows("SELECT FROM report") == []


async def test_who_has_few_edits_is_reported_so_instead_of_the_form(people: People) -> None:
    seen = await (await people.browser("New")).open(path_of(DEAD))
    assert "You need at least 50 edits" in seen.text
    with pytest.raises(LookupError):
        seen.form("/report")


async def test_nothing_of_a_url_is_reported_before_a_person_has_sent_a_form(people: People) -> None:
    nobody = await people.browser()
    for url in (DEAD, "http://fine.demo/", "http://nobody.uses.demo/"):
        seen = await nobody.open(path_of(url))
        assert seen.status == 200
        assert "dead since" not in seen.text
        assert 'class="what"' not in seen.text
    assert (await nobody.send_form(path_of(DEAD), "/report/look")).status == 303
    assert 'class="what"' in (await nobody.open(path_of(DEAD))).text
    assert (await nobody.open(path_of("http://nobody.uses.demo/"))).status == 404


async def test_anyone_removes_a_report_which_is_logged(people: People) -> None:
    anna, nobody = await people.browser("Anna"), await people.browser()
    await report(anna)
    await people.later()
    await report(anna, extent="domain")
    await nobody.send_form(path_of(DEAD), "/report/look")
    for extent in ("url", "domain"):
        seen = await nobody.open(path_of(DEAD))
        fields = seen.form("/report/remove") | {"extent": extent}
        assert (await nobody.send("/report/remove", fields)).location.endswith("done=removed")
    seen = await nobody.open(path_of(DEAD, "&done=removed&lang=en"))
    assert texts(seen.text, '//*[@role="status"]') == ["The report has been removed."]
    assert "Somebody reported" not in seen.text
    assert [(entry.action, entry.subject, entry.name, entry.object) for entry in await log(people)][:2] == [
        ("remove-domain-report", "", "", "dead.demo"),
        ("remove-report", "", "", DEAD),
    ]


async def test_the_day_of_all_people_has_an_end(site_database: str, tmp_path: Path) -> None:
    async with open_people(site_database, tmp_path, {"WEBOID_PEOPLE_DAILY": "2"}) as people:
        anna = await people.browser("Anna")
        for expected in (303, 303, 429):
            seen = await report(anna)
            assert seen.status == expected
            await people.later()
        assert "The limit for all users" in seen.text


async def test_a_url_is_checked_on_demand_once_a_day(people: People) -> None:
    url = "http://fine.demo/"
    anna = await people.browser("Anna")
    assert (await people.site.wiki.known(url)).due > TODAY
    sent = await anna.send_form(path_of(url), "/check")
    assert sent.location.endswith("done=check")
    seen = await anna.open(sent.location)
    assert "will be checked today" in texts(seen.text, '//*[@role="status"]')[0]
    assert (await people.site.wiki.known(url)).due == TODAY
    await people.site.wiki.round(TODAY, lambda url, day: FINE)
    assert (TODAY, url) in people.site.wiki.asked
    seen = await anna.open(path_of(url))
    assert "It was checked today already." in seen.text
    await people.later()
    fields = {"token": await token(anna, "check") if 'action="/check"' in seen.text else "", "url": url}
    assert (await anna.send("/check?lang=qqx", fields)).status in (403, 409)
    assert [(entry.action, entry.object) for entry in await log(people)] == [("check", url)]


async def test_a_cited_copy_is_visited_on_demand_unless_its_archive_never_is(people: People) -> None:
    cited, barred = f"https://web.archive.org/web/2016/{DEAD}", f"https://archive.ph/20160503120000/{DEAD}"
    await add_pages(people.site, {9: ("Cites copies", [cited, barred])})
    assert await people.site.wiki.do(record_cited_due, {key(cited): TODAY + 50}) == 1
    anna = await people.browser("Anna")
    seen = await anna.open(path_of(barred))
    assert "a web archive that we never visit" in seen.text
    assert 'action="/check"' not in seen.text
    fields = {**(await anna.open(path_of(cited))).form("/check"), "url": barred}
    assert "never visit" in (await anna.send("/check?lang=en", fields)).text
    await people.later()
    seen = await anna.open((await anna.send_form(path_of(cited), "/check")).location)
    assert "will be checked today" in texts(seen.text, '//*[@role="status"]')[0]
    assert "It is due, and will be checked today" in seen.text
    assert (await people.site.wiki.known(cited)).next_check == TODAY
    assert (await people.site.wiki.known(barred)).next_check is None


async def test_names_and_urls_bring_no_markup(people: People) -> None:
    hostile = await people.browser(HOSTILE_NAME)
    dead = 'http://dead.demo/"><script>alert(1)</script>'
    await add_pages(people.site, {9: ("Hostile", [dead])})
    assert (await report(hostile, dead)).status == 303
    for path in (path_of(dead), path_of("\"'><script>"), path_of(DEAD, "&dbname=%22%3E%3Cscript%3E%0D%0AX:%201")):
        seen = await hostile.open(path)
        assert "<script>" not in seen.text.replace(f"<script>{page_script.SCRIPT}", "")
        assert 'onmouseover="' not in seen.text
