"""Suggesting a replacement for a dead link and removing it, by browsers and by forged requests (A-4, H-4)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from support.listed import texts
from support.oauthprovider import Browser, Seen, environ_at, open_browser
from support.stored import key
from support.webservice import DEAD, PDF, TODAY, Site, open_service

from weboid.core.url.farms import BUILT_IN
from weboid.core.url.urls import MAX_URL, normal, parse
from weboid.demo.littleprovider import Editor, LittleProvider, open_littleprovider
from weboid.errors import WeboidError
from weboid.store.people.audit import AuditEntry, list_audit
from weboid.store.people.replacement import Replacement, find_replacements, lease_replacements, record_checked
from weboid.web.people.replacement import fit_target
from weboid.web.request.problem import Problem

NEW = "https://new.demo/page?a=1"
WAYBACK = f"https://web.archive.org/web/20110203040506/{DEAD}"
ARQUIVO = f"https://arquivo.pt/wayback/20110203040506/{DEAD}"
URL = parse("http://dead.demo/a")
EDITORS = (Editor(7, "Anna"), Editor(8, "Berta"), Editor(9, "New", editcount=3))
PAGE = f"/replacement?url={quote(DEAD, safe='')}&lang=en"


@dataclass
class Scene:
    """The service, the provider, and somebody's browser."""

    site: Site
    provider: LittleProvider
    browser: Browser

    async def suggest(self, target: str, **fields: str) -> Seen:
        """Sends the form with a target."""
        return await self.browser.send_form(PAGE, "/replacement", target=target, **fields)

    async def stored(self) -> list[Replacement]:
        async with self.site.wiki.pool.connection() as conn:
            return await find_replacements(conn, key(DEAD))

    async def audit(self) -> list[AuditEntry]:
        async with self.site.wiki.pool.connection() as conn:
            return await list_audit(conn)

    async def forget_the_minute(self) -> None:
        """As if all that was done had been done some minutes before."""
        async with self.site.wiki.pool.connection() as conn:
            await conn.execute("UPDATE audit SET moment = moment - interval '2 minutes'")

    async def check(self, works: bool, strikes: int = 0) -> None:
        """As the crawler does."""
        async with self.site.wiki.pool.connection() as conn:
            for taken in await lease_replacements(conn, TODAY, limit=10):
                await record_checked(conn, taken, asked=TODAY, due=TODAY + 28, strikes=strikes, works=works)


@pytest.fixture
async def scene(site_database: str, tmp_path: Path) -> AsyncIterator[Scene]:
    """A service at which people can sign in, and nobody has."""
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(open_littleprovider(EDITORS))
        way = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()))
        environ = environ_at(provider)
        site = await stack.enter_async_context(open_service(site_database, tmp_path, environ=environ, way=way))
        yield Scene(site, provider, await stack.enter_async_context(open_browser(site.url)))


@pytest.fixture
async def anna(scene: Scene) -> Scene:
    """Anna has signed in."""
    assert (await scene.browser.go(scene.provider, "Anna")).status == 303
    return scene


async def test_a_suggestion_is_kept_and_told_as_waiting(anna: Scene) -> None:
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
    _, body, _ = await anna.site.fetch("/api/page?dbname=testwiki@wmflabs&pageid=1")
    assert f'"replacement":"{NEW}"' in body.replace(" ", "").replace("\\/", "/")
    await anna.site.wiki.rows("UPDATE replacement SET due = 0 RETURNING 1")
    await anna.check(works=False, strikes=1)
    page = await anna.browser.open(PAGE)
    assert NEW not in texts(page.text, "//a/@href")
    assert "It did not work without problems" in page.text
    # A kept answer is dropped as soon as the service has looked at what people's suggestions became.
    async with asyncio.timeout(30):
        while "new.demo" in (await anna.site.fetch("/api/page?dbname=testwiki@wmflabs&pageid=1"))[1]:
            await asyncio.sleep(0.1)


async def test_copies_go_to_their_archives_and_one_plain_replacement_beside_them(anna: Scene) -> None:
    for target in (NEW, WAYBACK, ARQUIVO, "http://newer.demo/"):
        assert (await anna.suggest(target)).status == 303
        await anna.forget_the_minute()
    stored = [(each.archive, each.target) for each in await anna.stored()]
    assert stored == [(0, "http://newer.demo/"), (1, normal(WAYBACK)), (6, normal(ARQUIVO))]
    page = (await anna.browser.open(PAGE)).text
    assert "Copy in the archive Wayback Machine:" in page
    assert sum(text.startswith("Chosen by Anna (") for text in texts(page, "//ul/li/p")) == 2
    assert len(texts(page, "//form[@action='/replacement/remove']/@action")) == 3


@pytest.mark.parametrize(
    "original", [DEAD, DEAD.replace("http:", "https:"), DEAD.replace("//", "//www."), DEAD.replace("http://", "")]
)
async def test_a_copy_may_differ_in_scheme_and_www(anna: Scene, original: str) -> None:
    assert (await anna.suggest(f"https://web.archive.org/web/2011/{original}")).status == 303
    [stored] = await anna.stored()
    assert stored.archive == 1


HOSTILE = {
    "javascript:alert(1)": "replacement-target",
    "JaVaScRiPt:alert(1)": "replacement-target",
    "data:text/html,<script>alert(1)</script>": "replacement-target",
    "//evil.demo/": "replacement-target",
    "/\\evil.demo": "replacement-target",
    "evil.demo": "replacement-target",
    "ftp://files.demo/": "replacement-target",
    "http://": "replacement-target",
    "http:///evil.demo/": "replacement-target",
    "https:evil.demo": "replacement-target",
    "http://bank.demo@evil.demo/": "replacement-target",
    "http://user:secret@evil.demo/": "replacement-target",
    "http://bank.demo%40evil.demo/": "replacement-target",
    "http://new.demo/%0d%0aSet-Cookie:%20a=b": "replacement-target",
    "http://new.demo/%E2%80%AEfdp.exe": "replacement-target",
    "http://ne\u200bw.demo/": "replacement-target",
    "http://new.demo:0/": "replacement-target",
    "http://new.demo:99999/": "replacement-target",
    "http://localhost/": "replacement-target",
    "http://2130706433/": "replacement-target",
    "http://0x7f.1/": "replacement-target",
    "http://new.demo/" + "a" * MAX_URL: "replacement-target",
    "http://169.254.169.254/latest/meta-data/": "replacement-private",
    "http://127.0.0.1/": "replacement-private",
    "http://10.1.2.3/": "replacement-private",
    "http://[::1]/": "replacement-private",
    "http://[::ffff:127.0.0.1]/": "replacement-private",
    "http://[fd00::1]/": "replacement-private",
    "http://new.demo:25/": "replacement-private",
    "http://printer.localhost/": "replacement-private",
    "https://www.example.org/": "replacement-private",
    "https://de.wikipedia.org/wiki/Mill": "replacement-own",
    "https://de.wikipedia.beta.wmcloud.org/wiki/Mill": "replacement-own",
    "http://dead.demo/a": "replacement-same",
    "HTTP://DEAD.demo:80/x/../a#top": "replacement-same",
    "https://archive.today/2011/http://dead.demo/a": "replacement-archive",
    "https://archive.ph/AbCdE": "replacement-archive",
    "https://www.webcitation.org/5kQWuVJsz?url=http://dead.demo/a": "replacement-archive",
    "https://webcache.googleusercontent.com/search?q=cache:dead.demo/a": "replacement-archive",
    "https://perma.cc/AB12-CD34": "replacement-short",
    "https://web.archive.org/web/*/http://dead.demo/a": "replacement-short",
    "https://web.archive.org/web/2011/javascript:alert(1)": "replacement-short",
    "https://web.archive.org/web/2011/http://dead.demo/b": "replacement-other",
    "https://web.archive.org/web/2011/http://evil.demo/?http://dead.demo/a": "replacement-other",
}


@pytest.mark.parametrize(("target", "word"), HOSTILE.items(), ids=lambda text: text[:40].encode("unicode_escape"))
def test_what_nobody_may_be_sent_to_is_refused_with_its_reason(target: str, word: str) -> None:
    with pytest.raises(WeboidError) as raised:
        fit_target(target, URL, BUILT_IN)
    assert isinstance(raised.value, Problem)
    assert (raised.value.http, raised.value.key) == (400, f"weboid-error-{word}")


@pytest.mark.parametrize(
    "original",
    [
        "http://dead.demo/a?id=1&amp;lang=en",
        "https://www.DEAD.demo:443/a/?lang=en&id=1",
        "http://dead.demo:8080/%41?id=1%26lang=en",
        "http://dead.demo/A?ID=1&lang=EN",
    ],
)
def test_a_copy_whose_url_is_spelled_otherwise_may_be_suggested(original: str) -> None:
    target = f"https://web.archive.org/web/20110203040506/{original}"
    assert fit_target(target, parse("http://dead.demo/a?id=1&lang=en"), BUILT_IN).archive == 1


async def test_a_refusal_is_told_beside_the_form_and_nothing_is_kept(anna: Scene) -> None:
    for target in (*HOSTILE, '"><script>alert(1)</script>', "x" * 12_000):
        if target.lower().startswith("http://dead.demo"):
            continue
        seen = await anna.suggest(target)
        assert seen.status == 400, target
        assert len(texts(seen.text, "//*[@role='alert']")) == 1
        assert texts(seen.text, "//input[@name='target']/@value")[0] == target.strip()
        assert "<script>alert" not in seen.text
        assert "Location" not in seen.headers
    assert await anna.stored() == []
    assert await anna.audit() == []


@pytest.mark.parametrize(
    "target", ["http://new.demo/\r\nSet-Cookie: a=b", "http://new.demo/\x00", "http://new\x1b.demo/"]
)
async def test_control_characters_never_get_as_far_as_the_form(anna: Scene, target: str) -> None:
    seen = await anna.suggest(target)
    assert seen.status == 400
    assert "a=b" not in str(seen.headers)
    assert await anna.stored() == []


async def test_a_body_that_is_too_large_is_refused(anna: Scene) -> None:
    assert (await anna.suggest("http://new.demo/" + "a" * 20_000)).status == 413


async def test_where_the_browser_is_sent_cannot_be_chosen(anna: Scene) -> None:
    for fields in ({"dbname": "//evil.demo"}, {"dbname": "x\\evil"}, {"lang": "https://evil.demo/"}):
        seen = await anna.suggest(NEW, **fields)
        assert seen.status in (303, 400)
        assert not seen.location or seen.location.startswith("/replacement?url=")
        await anna.forget_the_minute()


async def test_only_dead_weblinks_that_are_watched_get_a_replacement(anna: Scene) -> None:
    form = (await anna.browser.open(PAGE)).form("/replacement")
    seen = await anna.browser.send("/replacement", form | {"url": PDF, "target": NEW})
    assert (seen.status, "is not known to be dead" in seen.text) == (409, True)
    seen = await anna.browser.send("/replacement", form | {"url": "http://nowhere.demo/", "target": NEW})
    assert (seen.status, "is not known: no watched page uses it" in seen.text) == (404, True)
    seen = await anna.browser.send("/replacement", form | {"url": "javascript:alert(1)", "target": NEW})
    assert seen.status == 400
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
    # Not even that it is dead is told to whoever has sent no form of ours.
    assert "chip" not in page.text
    seen = await scene.browser.send_form(PAGE, "/replacement/look")
    assert seen.status == 303
    page = await scene.browser.open(seen.location)
    assert "dead for" in page.text
    assert texts(page.text, "//a[contains(@href, '/account?back=')]")
    with pytest.raises(LookupError):
        page.form("/replacement")
    look = (await scene.browser.open(PAGE)).text
    assert "Sign in to suggest" in look
    seen = await scene.browser.send("/replacement", {"url": DEAD, "target": NEW, "token": "x"})
    assert seen.status == 403
    assert await scene.stored() == []


async def test_who_has_few_edits_is_told_so(scene: Scene) -> None:
    await scene.browser.go(scene.provider, "New")
    page = await scene.browser.open(PAGE)
    assert "50 edits" in page.text
    with pytest.raises(LookupError):
        page.form("/replacement")


async def test_one_suggestion_a_minute(anna: Scene) -> None:
    assert (await anna.suggest(NEW)).status == 303
    seen = await anna.suggest("http://newer.demo/")
    assert (seen.status, len(await anna.stored())) == (429, 1)
    assert seen.headers["Retry-After"]
    assert [each.target for each in await anna.stored()] == [NEW]
    await anna.forget_the_minute()
    assert (await anna.suggest("http://newer.demo/")).status == 303


async def test_a_form_from_elsewhere_or_without_its_token_does_nothing(anna: Scene) -> None:
    form = (await anna.browser.open(PAGE)).form("/replacement") | {"target": NEW}
    assert (await anna.browser.send("/replacement", form, Origin="https://evil.demo")).status == 403
    assert (await anna.browser.send("/replacement", form, Sec_Fetch_Site="cross-site")).status == 403
    assert (await anna.browser.send("/replacement", form | {"token": "0" * 86})).status == 403
    assert (await anna.browser.send("/replacement/remove", form | {"archive": "0"})).status == 403
    assert await anna.stored() == []
    assert (await anna.browser.send("/replacement", form)).status == 303


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
    assert (newest.action, newest.subject, newest.object, newest.detail) == (
        "remove-replacement",
        "",
        normal(DEAD),
        NEW,
    )


async def test_only_what_was_seen_is_taken_back(anna: Scene) -> None:
    await anna.suggest(NEW)
    form = (await anna.browser.open(PAGE)).form("/replacement/remove")
    await anna.forget_the_minute()
    await anna.suggest("http://newer.demo/")
    for fields in (form, form | {"archive": "1"}, form | {"archive": "0", "target": "http://newest.demo/"}):
        assert (await anna.browser.send("/replacement/remove", fields)).status == 303
    for archive in ("", "x", "-1", "99999", "٠"):
        assert (await anna.browser.send("/replacement/remove", form | {"archive": archive})).status == 400
    assert [each.target for each in await anna.stored()] == ["http://newer.demo/"]


async def test_the_page_needs_a_weblink_that_is_known(anna: Scene) -> None:
    for path, status in (
        ("/replacement", 400),
        ("/replacement?url=x", 400),
        ("/replacement?url=http://nowhere.demo/", 404),
        (f"{PAGE}&dbname=%27--", 400),
    ):
        assert (await anna.browser.open(path)).status == status
