"""Suggesting a replacement for a dead link and removing it, by browsers and by forged requests (A-4, H-4)."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pytest
from support.listed import texts
from support.people import Browser, People, Seen, open_browser, open_people
from support.stored import do, key
from support.webservice import DEAD, PDF, TODAY, Site

from weboid.archive.visits.suggestions import JudgedSuggestion, SuggestionFate, record_judged
from weboid.assets import toml_next_to
from weboid.core.url.farms import BUILT_IN
from weboid.core.url.urls import MAX_URL, normal, parse
from weboid.errors import WeboidError
from weboid.store.people.audit import AuditEntry, list_audit
from weboid.store.people.replacement import Replacement, find_replacements, lease_replacements
from weboid.web.answer import change_watch
from weboid.web.people.replacement import fit_target
from weboid.web.request.problem import Problem

NEW = "https://new.demo/page?a=1"
WAYBACK = f"https://web.archive.org/web/20110203040506/{DEAD}"
ARQUIVO = f"https://arquivo.pt/wayback/20110203040506/{DEAD}"
URL = parse("http://dead.demo/a")
PAGE = f"/replacement?url={quote(DEAD, safe='')}&lang=en"


@dataclass
class Scene:
    """The service with its provider, and somebody's browser."""

    people: People
    site: Site
    browser: Browser

    async def suggest(self, target: str, **fields: str) -> Seen:
        return await self.browser.send_form(PAGE, "/replacement", target=target, **fields)

    async def stored(self) -> list[Replacement]:
        return await self.site.wiki.do(find_replacements, key(DEAD))

    async def audit(self) -> list[AuditEntry]:
        return await self.site.wiki.do(list_audit)

    async def check(self, works: bool, strikes: int = 0) -> None:
        """As the crawler does."""
        pool = self.site.wiki.pool
        leased = await do(pool, lease_replacements, TODAY, limit=10)
        fate = SuggestionFate.WORKS if works else SuggestionFate.STRIKE
        for taken in leased:
            await record_judged(pool, taken, JudgedSuggestion(fate, TODAY + 28, strikes), "", TODAY)


@pytest.fixture
async def scene(site_database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Scene]:
    """A service at which people can sign in, and nobody has; it follows changes without a pause."""
    for name in ("_PAUSE_S", "_IDLE_S"):
        monkeypatch.setattr(change_watch, name, 0.02)
    async with open_people(site_database, tmp_path) as people:
        yield Scene(people, people.site, await people.browser())


@pytest.fixture
async def anna(scene: Scene) -> Scene:
    assert (await scene.browser.go(scene.people.provider, "Anna")).status == 303
    return scene


async def test_a_suggestion_is_kept_and_reported_as_waiting(anna: Scene) -> None:
    seen = await anna.suggest(f" {NEW.replace('https', 'HTTPS')}#part ")
    assert (seen.status, seen.location) == (303, f"/replacement?url={quote(DEAD, safe='')}&lang=en&done=kept")
    [stored] = await anna.stored()
    assert (stored.target, stored.archive, stored.day, stored.due) == (NEW, 0, TODAY, TODAY)
    assert (stored.subject, stored.name, stored.works) == ("7", "Anna", False)
    page = await anna.browser.open(seen.location)
    assert "waits for its first check" in page.text
    assert "responsibility" in page.text
    assert texts(page.text, "//*[@role='status']") == [
        "Your suggestion is kept. It is checked soon, and shown once it works."
    ]
    # Nobody is sent to what nobody has tried, and nobody learns who suggested it.
    assert NEW in page.text
    assert NEW not in texts(page.text, "//a/@href")
    assert "Anna" not in page.text
    [entry] = await anna.audit()
    assert (entry.action, entry.subject, entry.object, entry.detail) == ("replace", "7", normal(DEAD), NEW)
    assert page.headers["Cache-Control"] == "no-store"


async def test_it_is_shown_as_a_link_once_it_works_and_hidden_again_when_it_fails(anna: Scene) -> None:
    await anna.suggest(NEW)
    await anna.check(works=True)
    page = await anna.browser.open(PAGE)
    assert NEW in texts(page.text, "//a/@href")
    assert "It worked when it was last checked" in page.text
    body = await anna.site.text("/api/page?dbname=testwiki@wmflabs&pageid=1")
    assert f'"replacement":"{NEW}"' in body.replace(" ", "").replace("\\/", "/")
    await anna.site.wiki.rows("UPDATE replacement SET due = 0 RETURNING 1")
    await anna.check(works=False, strikes=1)
    page = await anna.browser.open(PAGE)
    assert NEW not in texts(page.text, "//a/@href")
    assert "It did not work without problems" in page.text
    # A kept answer is dropped as soon as the service has looked at what people's suggestions became.
    async with asyncio.timeout(30):
        while "new.demo" in (await anna.site.fetch("/api/page?dbname=testwiki@wmflabs&pageid=1"))[1]:
            await asyncio.sleep(0.02)


async def test_copies_go_to_their_archives_and_one_plain_replacement_next_to_them(anna: Scene) -> None:
    for target in (NEW, WAYBACK, ARQUIVO, "http://newer.demo/"):
        assert (await anna.suggest(target)).status == 303
        await anna.people.later()
    stored = [(each.archive, each.target) for each in await anna.stored()]
    assert stored == [(0, "http://newer.demo/"), (1, normal(WAYBACK)), (6, normal(ARQUIVO))]
    page = (await anna.browser.open(PAGE)).text
    assert "Copy in the archive Wayback Machine:" in page
    assert sum(text.startswith("Chosen by Anna (") for text in texts(page, "//ul/li/p")) == 2
    assert len(texts(page, "//form[@action='/replacement/remove']/@action")) == 3


_CASES = toml_next_to(__file__)
HOSTILE: dict[str, list[str]] = _CASES["hostile"]
HOSTILE["replacement-target"].append("http://new.demo/" + "a" * MAX_URL)
"""What nobody may be sent to, by the reason that is given."""


def test_what_nobody_may_be_sent_to_is_refused_with_its_reason() -> None:
    for word, target in ((word, target) for word, targets in HOSTILE.items() for target in targets):
        with pytest.raises(WeboidError) as raised:
            fit_target(target, URL, BUILT_IN)
        assert isinstance(raised.value, Problem)
        assert (raised.value.http, raised.value.key) == (400, f"weboid-error-{word}"), target


def test_a_copy_whose_url_is_spelled_otherwise_may_be_suggested() -> None:
    for original in [
        *("http://dead.demo/a?id=1&amp;lang=en", "https://www.DEAD.demo:443/a/?lang=en&id=1"),
        *("http://dead.demo:8080/%41?id=1%26lang=en", "http://dead.demo/A?ID=1&lang=EN"),
    ]:
        target = f"https://web.archive.org/web/20110203040506/{original}"
        assert fit_target(target, parse("http://dead.demo/a?id=1&lang=en"), BUILT_IN).archive == 1, original


async def test_a_refusal_is_reported_next_to_the_form_and_nothing_is_kept(anna: Scene) -> None:
    of_each = [targets[0] for word, targets in HOSTILE.items() if word != "replacement-same"]
    for target in (*of_each, '"><script>alert(1)</script>', "x" * 12_000):
        seen = await anna.suggest(target)
        assert seen.status == 400, target
        assert len(texts(seen.text, "//*[@role='alert']")) == 1
        assert texts(seen.text, "//input[@name='target']/@value")[0] == target.strip()
        assert "<script>alert" not in seen.text
        assert "Location" not in seen.headers
    assert await anna.stored() == []
    assert await anna.audit() == []


async def test_only_dead_weblinks_that_are_watched_get_a_replacement(anna: Scene) -> None:
    form = (await anna.browser.open(PAGE)).form("/replacement")
    seen = await anna.browser.send("/replacement", form | {"url": PDF, "target": NEW})
    assert (seen.status, "is not known to be dead" in seen.text) == (409, True)
    seen = await anna.browser.send("/replacement", form | {"url": "http://nowhere.demo/", "target": NEW})
    assert (seen.status, "is not known: no watched page uses it" in seen.text) == (404, True)
    seen = await anna.browser.send("/replacement", form | {"url": "javascript:alert(1)", "target": NEW})
    assert seen.status == 404
    assert await anna.site.wiki.rows("SELECT count(*) FROM replacement") == [(0,)]
    page = await anna.browser.open(f"/replacement?url={quote(PDF, safe='')}&lang=en")
    assert 'form action="/replacement"' not in page.text


async def test_what_is_dead_itself_is_no_replacement(anna: Scene) -> None:
    other = "http://dead.demo/other"
    await anna.site.wiki.take_in({7: [other]}, 100)
    # As dead as the other one: what is known of it is the same.
    await anna.site.wiki.rows(
        "UPDATE url SET status = dead.status, since = dead.since, asked = dead.asked, strikes = dead.strikes,"
        " failing_since = dead.failing_since, failing_until = dead.failing_until, evidence = dead.evidence,"
        " reason = dead.reason"
        " FROM url AS dead WHERE url.path = '/other' AND dead.path LIKE '/gone%' RETURNING 1"
    )
    seen = await anna.suggest(other)
    assert (seen.status, "is dead as well" in seen.text) == (400, True)
    assert (await anna.suggest(PDF)).status == 303


async def test_who_has_not_signed_in_can_look_but_suggest_nothing(scene: Scene) -> None:
    page = await scene.browser.open(PAGE)
    # Not even that it is dead is shown before a form of ours is sent.
    assert "chip" not in page.text
    seen = await scene.browser.send_form(PAGE, "/replacement/look")
    assert seen.status == 303
    page = await scene.browser.open(seen.location)
    assert "dead for" in page.text
    assert "leads to the sign-in first" in page.text
    going = await scene.browser.send("/replacement", page.form("/replacement") | {"target": NEW})
    assert going.headers["Refresh"].startswith("0; url=http://127.0.0.1")
    seen = await scene.browser.send("/replacement", {"url": DEAD, "target": NEW, "token": "x"})
    assert seen.status == 403
    assert await scene.stored() == []


async def test_one_suggestion_a_minute(anna: Scene) -> None:
    assert (await anna.suggest(NEW)).status == 303
    seen = await anna.suggest("http://newer.demo/")
    assert (seen.status, len(await anna.stored())) == (429, 1)
    assert seen.headers["Retry-After"] == "60"
    assert [each.target for each in await anna.stored()] == [NEW]
    await anna.people.later()
    assert (await anna.suggest("http://newer.demo/")).status == 303


async def test_anybody_takes_a_suggestion_back(anna: Scene) -> None:
    await anna.suggest(NEW)
    await anna.check(works=True)
    async with open_browser(anna.site.url) as other:
        await other.send_form(PAGE, "/replacement/look")
        seen = await other.send_form(PAGE, "/replacement/remove")
        assert (seen.status, seen.location.endswith("done=removed")) == (303, True)
        assert "The suggestion has been removed." in (await other.open(seen.location)).text
    assert await anna.stored() == []
    newest = (await anna.audit())[0]
    assert (newest.action, newest.subject) == ("remove-replacement", "")
    assert (newest.object, newest.detail) == (normal(DEAD), NEW)


async def test_only_what_was_seen_is_taken_back(anna: Scene) -> None:
    await anna.suggest(NEW)
    form = (await anna.browser.open(PAGE)).form("/replacement/remove")
    await anna.people.later()
    await anna.suggest("http://newer.demo/")
    for fields in (form, form | {"archive": "1"}, form | {"archive": "0", "target": "http://newest.demo/"}):
        assert (await anna.browser.send("/replacement/remove", fields)).status == 303
    for archive in ("", "x", "-1", "99999", "٠"):
        assert (await anna.browser.send("/replacement/remove", form | {"archive": archive})).status == 400
    assert [each.target for each in await anna.stored()] == ["http://newer.demo/"]
