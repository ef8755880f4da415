"""Sessions: when a cookie is set, which ones are valid, which forms are ours; two processes with one secret are one."""

import base64
import json
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import pytest
from aiohttp import web
from aiohttp.typedefs import Handler
from cryptography.fernet import Fernet
from support.people import NOBODY, PUBLIC_URL, SECRET, Browser, open_browser

from weboid.config import PeopleConfig
from weboid.errors import ConfigError, StoreError
from weboid.store.db.pool import Pool, open_pool
from weboid.web.http.server import open_site
from weboid.web.identity.member import Member
from weboid.web.identity.session import Sessions
from weboid.web.identity.session_cookie import LIFETIME_S
from weboid.web.request.problem import Problem
from weboid.web.request.route import MOST_FORM

ANNA = Member("7", "Anna", 100, False)
NAME = "__Host-weboid"


@dataclass
class Little:
    """A little service that does nothing but what sessions are for."""

    sessions: Sessions

    def app(self) -> web.Application:
        app = web.Application(middlewares=[self.sessions.middleware, _reported])
        app.router.add_get("/plain", self.plain)
        app.router.add_get("/token/{purpose}", self.token)
        app.router.add_post("/form/{purpose}", self.form)
        app.router.add_get("/who", self.who)
        app.router.add_get("/in/{name}", self.sign_in)
        app.router.add_get("/out", self.sign_out)
        app.router.add_get("/keep", self.keep)
        app.router.add_get("/take/{most_s}", self.take)
        app.router.add_get("/report", self.report)
        app.router.add_get("/admin", self.admin)
        return app

    async def plain(self, request: web.Request) -> web.Response:
        return web.Response(text=str(await self.sessions.is_interactive(request)))

    async def token(self, request: web.Request) -> web.Response:
        return web.Response(text=await self.sessions.form_token(request, request.match_info["purpose"]))

    async def form(self, request: web.Request) -> web.Response:
        given = await self.sessions.posted(request, request.match_info["purpose"], ("url", "note"))
        await self.sessions.note_interactive(request)
        return web.json_response(given)

    async def who(self, request: web.Request) -> web.Response:
        person = await self.sessions.person(request)
        return web.Response(text=person.name if person else "nobody")

    async def sign_in(self, request: web.Request) -> web.Response:
        kinds = {"Anna": ANNA, "Blocked": Member("8", "Blocked", 100, True), "New": Member("9", "New", 3, False)}
        kinds |= {"Admin": Member("1", "Admin", 0, False), "Lost": Member("1", "Lost", 9_000, True)}
        await self.sessions.sign_in(request, kinds[request.match_info["name"]])
        return web.Response()

    async def sign_out(self, request: web.Request) -> web.Response:
        await self.sessions.sign_out(request)
        return web.Response()

    async def keep(self, request: web.Request) -> web.Response:
        await self.sessions.keep(request, "flow", {"state": "x"})
        return web.Response()

    async def take(self, request: web.Request) -> web.Response:
        taken = await self.sessions.take(request, "flow", most_s=int(request.match_info["most_s"]))
        if taken is None:
            raise Problem(400, "nothing")
        return web.json_response(taken)

    async def report(self, request: web.Request) -> web.Response:
        return web.Response(text=(await self.sessions.require_person(request)).name)

    async def admin(self, request: web.Request) -> web.Response:
        return web.Response(text=(await self.sessions.require_administrator(request)).name)


@web.middleware
async def _reported(request: web.Request, handler: Handler) -> web.StreamResponse:
    try:
        return await handler(request)
    except Problem as problem:
        return web.Response(status=problem.http, text=problem.key.removeprefix("weboid-error-"))
    except StoreError:
        return web.Response(status=503, text="store")


@pytest.fixture
async def pool(database: str) -> AsyncIterator[Pool]:
    async with open_pool(database, size=2, part="test", timeout_s=1) as found:
        yield found


@asynccontextmanager
async def opened(pool: Pool, secret: str = SECRET, url: str = PUBLIC_URL) -> AsyncIterator[Browser]:
    sessions = Sessions(secret, PeopleConfig(administrators=("1",), edits=50), url, pool, NOBODY)
    async with open_site(Little(sessions).app(), "127.0.0.1", 0) as site, open_browser(site) as browser:
        yield browser


@pytest.fixture
async def browser(pool: Pool) -> AsyncIterator[Browser]:
    async with opened(pool) as found:
        yield found


def jar(browser: Browser) -> dict[str, str]:
    return {cookie.key: cookie.value for cookie in browser.client.cookie_jar}


def keep_cookie(browser: Browser, value: str, name: str = NAME) -> None:
    """Puts a cookie of one's own making into the jar, in place of all others."""
    browser.client.cookie_jar.clear()
    browser.client.cookie_jar.update_cookies({name: value})


def keep_anna(browser: Browser, began: int) -> None:
    """Puts the cookie of a session of Anna's into the jar that began at this moment."""
    answer = json.dumps({"id": "i" * 22, "member": ["7", "Anna", 100, False]}).encode()
    keep_cookie(browser, reader().encrypt_at_time(answer, began).decode())


def reader(secret: str = SECRET) -> Fernet:
    return Sessions(secret, PeopleConfig(), PUBLIC_URL, Pool(), NOBODY)._fernet


async def test_a_page_that_needs_no_session_sets_no_cookie(browser: Browser) -> None:
    for path in ("/plain", "/who", "/report", "/admin", "/take/600"):
        seen = await browser.open(path)
        assert seen.status in (200, 400, 403), path
        assert not seen.cookies, path
        assert "no-store" not in seen.headers.get("Cache-Control", "")


async def test_the_cookie_is_for_this_host_and_out_of_reach_of_scripts_and_other_sites(browser: Browser) -> None:
    (cookie,) = (await browser.open("/token/report")).cookies
    name, *rest = [part.strip() for part in cookie.split(";")]
    assert name.startswith(f"{NAME}=")
    answer = {part.partition("=")[0].lower(): part.partition("=")[2] for part in rest}
    assert answer.keys() >= {"secure", "httponly"}
    assert (answer["samesite"], answer["path"], answer["max-age"]) == ("Lax", "/", str(LIFETIME_S))
    assert "domain" not in answer


async def test_without_https_the_cookie_has_a_plain_name_and_still_works(pool: Pool) -> None:
    async with opened(pool, url="http://127.0.0.1:8000") as browser:
        (cookie,) = (await browser.open("/in/Anna")).cookies
        assert cookie.startswith("weboid=")
        assert "secure" not in cookie.lower()
        assert (await browser.open("/who")).text == "Anna"


async def test_nothing_in_the_cookie_can_be_read(browser: Browser) -> None:
    await browser.open("/in/Anna")
    value = jar(browser)[NAME]
    assert b"Anna" not in base64.urlsafe_b64decode(value)
    assert json.loads(reader().decrypt(value.encode()))["member"] == ["7", "Anna", 100, False]


async def test_a_forged_cookie_is_no_session(browser: Browser) -> None:
    changes: list[Callable[[str], str]] = [
        lambda value: "",
        lambda value: "x",
        lambda value: value[:-10],
        lambda value: value[:40] + ("A" if value[40] != "A" else "B") + value[41:],
        lambda value: "gAAAAA" + "A" * 8_000,
        lambda value: reader("another secret, of another service altogether").encrypt(b"{}").decode(),
        lambda value: reader().encrypt(b"no JSON").decode(),
        lambda value: reader().encrypt(b"[7]").decode(),
        lambda value: reader().encrypt(b'{"member": 7, "id": 7}').decode(),
    ]
    for change in changes:
        await browser.open("/in/Anna")
        keep_cookie(browser, change(jar(browser)[NAME]))
        seen = await browser.open("/who")
        assert (seen.status, seen.text) == (200, "nobody")
        assert (await browser.open("/token/report")).status == 200


async def test_a_cookie_header_that_is_no_text_is_no_session(browser: Browser) -> None:
    for value in ("__Host-weboid=\udcff\udcfe", "__Host-weboid=ü", '__Host-weboid="', "=;;=", "__Host-weboid"):
        seen = await browser.open("/who", Cookie=value)
        assert (seen.status, seen.text) == (200, "nobody"), value


async def test_a_session_ends_twelve_hours_after_it_began_however_often_it_is_used(browser: Browser) -> None:
    long_ago = int(time.time()) - LIFETIME_S
    keep_anna(browser, long_ago - 60)
    assert (await browser.open("/who")).text == "nobody"
    keep_anna(browser, long_ago + 600)
    assert (await browser.open("/who")).text == "Anna"
    await browser.open("/keep")
    assert reader().extract_timestamp(jar(browser)[NAME].encode()) == long_ago + 600


async def test_without_a_secret_each_start_has_its_own_and_one_that_could_be_guessed_is_refused(pool: Pool) -> None:
    async with opened(pool, "") as one, opened(pool, "") as two:
        await one.open("/in/Anna")
        assert (await one.open("/who")).text == "Anna"
        keep_cookie(two, jar(one)[NAME])
        assert (await two.open("/who")).text == "nobody"
    with pytest.raises(ConfigError, match="32"):
        Sessions("hunter2", PeopleConfig(), PUBLIC_URL, Pool(), NOBODY)


async def test_signing_in_and_out_begins_another_session_so_that_none_can_be_planted(browser: Browser) -> None:
    ids = []
    tokens = []
    copied = ""
    for path in ("/token/report", "/in/Anna", "/out", "/in/Anna", "/in/Admin"):
        copied = jar(browser).get(NAME, "")
        await browser.open(path)
        ids.append(json.loads(reader().decrypt(jar(browser)[NAME].encode()))["id"])
        tokens.append((await browser.open("/token/report")).text)
    assert len(set(ids)) == 5
    for old in tokens[:-1]:
        assert (await browser.send("/form/report", {"token": old})).status == 403
    assert (await browser.send("/form/report", {"token": tokens[-1]})).status == 200
    assert (await browser.open("/who")).text == "Admin"
    keep_cookie(browser, copied)
    assert (await browser.open("/who")).text == "nobody", "signing in again ends the session before"


async def test_a_copied_cookie_is_worth_nothing_after_signing_out_in_any_process(pool: Pool) -> None:
    async with opened(pool) as one, opened(pool) as two:
        await one.open("/in/Anna")
        token = (await one.open("/token/report")).text
        copied = jar(one)[NAME]
        keep_cookie(two, copied)
        assert (await two.open("/who")).text == "Anna"
        await one.open("/out")
        for browser in (one, two):
            keep_cookie(browser, copied)
            assert (await browser.open("/who")).text == "nobody"
            assert (await browser.open("/report")).text == "sign-in"
            assert (await browser.open("/plain")).text == "False"
            assert (await browser.send("/form/report", {"token": token})).status == 403
            # The browser gets a session of its own again, in which forms work.
            fresh = (await browser.open("/token/report")).text
            assert jar(browser)[NAME] != copied
            assert (await browser.send("/form/report", {"token": fresh})).status == 200


async def test_what_is_stored_of_an_ended_session_is_a_hash_until_it_would_have_ended(
    browser: Browser, pool: Pool
) -> None:
    began = int(time.time()) - LIFETIME_S + 600
    keep_anna(browser, began)
    await browser.open("/out")
    async with pool.connection() as conn:
        rows = await conn.execute("SELECT session, extract(epoch FROM until) FROM ended_session")
        ((session, until),) = await rows.fetchall()
    assert len(session) == 16
    assert session.strip(b"i")
    assert began + LIFETIME_S <= until <= began + LIFETIME_S + 3600


async def test_sessions_of_nobody_cost_no_row_and_no_question(pool: Pool) -> None:
    async with opened(pool) as browser:
        token = (await browser.open("/token/report")).text
        await browser.open("/out")
        async with pool.connection() as conn:
            assert await (await conn.execute("SELECT FROM ended_session")).fetchone() is None
        token = (await browser.open("/token/report")).text
        await pool.close()
        assert (await browser.send("/form/report", {"token": token})).status == 200


async def test_without_the_store_nobody_acts_and_pages_are_those_of_nobody(pool: Pool) -> None:
    async with opened(pool) as browser:
        await browser.open("/in/Anna")
        token = (await browser.open("/token/report")).text
        await pool.close()
        assert (await browser.open("/who")).text == "nobody"
        assert (await browser.open("/token/report")).status == 200
        assert (await browser.open("/report")).status == 503
        assert (await browser.open("/admin")).status == 503
        assert (await browser.send("/form/report", {"token": token})).status == 503
        kept = jar(browser)[NAME]
        assert (await browser.open("/out")).status == 503
        assert jar(browser)[NAME] == kept, "a failed sign-out can be tried again"


async def test_who_may_report_and_who_may_administer(browser: Browser) -> None:
    for name, report, admin in [
        ("", (403, "sign-in"), (403, "administrator")),
        ("Anna", (200, "Anna"), (403, "administrator")),
        ("Blocked", (403, "blocked-there"), (403, "administrator")),
        ("New", (403, "few-edits"), (403, "administrator")),
        ("Admin", (200, "Admin"), (200, "Admin")),
        ("Lost", (403, "blocked-there"), (403, "administrator")),
    ]:
        if name:
            await browser.open(f"/in/{name}")
        seen = await browser.open("/report")
        assert (seen.status, seen.text) == report, name
        seen = await browser.open("/admin")
        assert (seen.status, seen.text) == admin, name


async def test_what_is_kept_is_taken_once_and_in_time_only(browser: Browser) -> None:
    await browser.open("/keep")
    assert json.loads((await browser.open("/take/600")).text) == {"state": "x"}
    assert (await browser.open("/take/600")).status == 400
    answer = {"id": "i" * 22, "flow": reader().encrypt_at_time(b'{"state": "x"}', int(time.time()) - 700).decode()}
    keep_cookie(browser, reader().encrypt(json.dumps(answer).encode()).decode())
    assert (await browser.open("/take/600")).status == 400


async def test_a_form_of_ours_is_read_and_makes_the_session_a_persons(browser: Browser) -> None:
    one, two = (await browser.open("/token/report")).text, (await browser.open("/token/report")).text
    assert one != two
    assert (await browser.open("/plain")).text == "False"
    fields = {"url": " http://a.demo/ ", "note": "zwei\r\nZeilen ü", "other": "passed over", "lang": "de"}
    for token in (one, two, one):
        seen = await browser.send("/form/report", {"token": token, **fields})
        assert json.loads(seen.text) == {"url": "http://a.demo/", "note": "zwei\r\nZeilen ü", "lang": "de"}
    assert (await browser.open("/plain")).text == "True"


async def test_a_form_without_our_token_is_refused(browser: Browser) -> None:
    async with open_browser(browser.url) as stranger:
        theirs = (await stranger.open("/token/report")).text
    assert (await browser.send("/form/report", {"token": theirs})).status == 403
    token = (await browser.open("/token/report")).text
    other = (await browser.open("/token/replacement")).text
    wrong = token[:-1] + ("0" if token[-1] != "0" else "1")
    for value in ("", "x", "ü" * 30, wrong, other, theirs, token + "0", token[22:], token[:22]):
        seen = await browser.send("/form/report", {"token": value})
        assert (seen.status, seen.text) == (403, "form"), value
    assert (await browser.send("/form/report", {})).status == 403
    assert (await browser.open("/plain")).text == "False"


async def test_a_form_with_a_token_needs_origin_or_sec_fetch_site_and_neither_against_it(browser: Browser) -> None:
    for origin, site, status in [
        ("https://evil.demo", "", 403),
        ("null", "", 403),
        (PUBLIC_URL + ".evil.demo", "", 403),
        ("http://weboid.demo", "", 403),
        (PUBLIC_URL, "cross-site", 403),
        (PUBLIC_URL, "same-site", 403),
        (PUBLIC_URL, "none", 403),
        ("https://evil.demo", "same-origin", 403),
        ("", "cross-site", 403),
        ("", "", 403),
        (PUBLIC_URL, "", 200),
        ("", "same-origin", 200),
        ("null", "same-origin", 200),
        (browser.url, "same-origin", 200),  # as it was really asked
    ]:
        token = (await browser.open("/token/report")).text
        headers = {"Origin": origin, "Sec-Fetch-Site": site}
        seen = await browser.send("/form/report", {"token": token}, **headers)
        assert seen.status == status, headers
        assert status == 200 or seen.text == "form", headers


async def test_a_body_that_no_form_of_ours_sends_is_refused(browser: Browser) -> None:
    for body, headers, status in [
        (b"token=TOKEN&url=a&url=b", {}, 400),
        (b"token=TOKEN&token=TOKEN", {}, 400),
        (b"token=TOKEN&url=%ff%fe", {}, 400),
        (b"token=TOKEN&url=\xff", {}, 400),
        (b"token=TOKEN&url=a%00b", {}, 400),
        (b"token=TOKEN&url=%1b[31m", {}, 400),
        (b"token=TOKEN" + b"&a=b" * 100, {}, 400),
        (b"token=TOKEN&url=" + b"a" * MOST_FORM, {}, 413),
        (b"token=TOKEN&url=" + b"a" * 900_000, {}, 413),
        (b'{"token": "TOKEN"}', {"Content-Type": "application/json"}, 415),
        (b"token=TOKEN", {"Content-Type": "text/plain"}, 415),
        (b"token=TOKEN", {"Content-Type": "multipart/form-data; boundary=x"}, 415),
        (b"token=TOKEN", {"Content-Encoding": "identity"}, 415),
        (b"", {}, 403),
        (b"&&&==&", {}, 403),
    ]:
        token = (await browser.open("/token/report")).text
        given = {"Origin": PUBLIC_URL, "Content-Type": "application/x-www-form-urlencoded"} | headers
        data = body.replace(b"TOKEN", token.encode())
        async with browser.client.post(browser.url + "/form/report", data=data, headers=given) as response:
            assert response.status == status, await response.text()


async def test_a_body_in_chunks_is_bounded_too(browser: Browser) -> None:
    token = (await browser.open("/token/report")).text

    async def chunks() -> AsyncIterator[bytes]:
        yield f"token={token}&url=".encode()
        for _ in range(100):
            yield b"a" * 1_000

    given = {"Origin": PUBLIC_URL, "Content-Type": "application/x-www-form-urlencoded"}
    async with browser.client.post(browser.url + "/form/report", data=chunks(), headers=given) as response:
        assert response.status == 413


async def test_the_keys_of_cookies_and_of_forms_are_not_the_same() -> None:
    sessions: Any = Sessions(SECRET, PeopleConfig(), PUBLIC_URL, Pool(), NOBODY)
    assert sessions._form_key not in (sessions._fernet._signing_key + sessions._fernet._encryption_key, SECRET.encode())
