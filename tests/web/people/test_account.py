"""Signing in and out, through a provider on loopback that may misbehave, and all the ways in which it must not work."""

import json
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from support.people import PUBLIC_URL, Browser, environ_at, open_browser
from support.webservice import DEAD, Site, open_service
from yarl import URL

from weboid.config import PeopleConfig
from weboid.demo.littleprovider import CLIENT, Editor, LittleProvider, ProviderReply, open_littleprovider
from weboid.web.identity.member import Member
from weboid.web.identity.oauth import Provider
from weboid.web.people.forms import local_path
from weboid.web.request.problem import Problem

HOSTILE = '<b onmouseover="alert(1)">\u202e&amp;'
EDITORS = (
    Editor(7, "Anna"),
    Editor(8, "Blocked", blocked=True),
    Editor(9, "New", editcount=3),
    Editor("subject-of-another-kind", "Boss"),
    Editor(10, HOSTILE.replace("\u202e", "")),
)


@dataclass
class Scene:
    """The service, the provider, and somebody's browser."""

    site: Site
    provider: LittleProvider
    browser: Browser

    async def name(self) -> str:
        """Who the service says is signed in."""
        text = (await self.browser.open("/account")).text
        return text.partition("<strong><bdi>")[2].partition("</bdi>")[0]

    async def agreed(self, browser: Browser | None = None, page: str = "/account") -> str:
        """The path with which a browser that began on this page comes back when Anna has agreed."""
        who = browser or self.browser
        going = await who.send_form(page, "/account/in")
        return await who.agree(self.provider, going.link(self.provider.url), "Anna")


@asynccontextmanager
async def opened(site_database: str, folder: Path, *, secret: str = "") -> AsyncIterator[Scene]:
    async with AsyncExitStack() as stack:
        provider = await stack.enter_async_context(open_littleprovider(EDITORS))
        way = await stack.enter_async_context(aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()))
        environ = environ_at(provider, administrators="subject-of-another-kind", secret=secret)
        site = await stack.enter_async_context(open_service(site_database, folder, environ=environ, way=way))
        yield Scene(site, provider, await stack.enter_async_context(open_browser(site.url)))


@pytest.fixture
async def scene(site_database: str, tmp_path: Path) -> AsyncIterator[Scene]:
    """A service at which people can sign in, and nobody has."""
    async with opened(site_database, tmp_path) as found:
        yield found


async def test_somebody_signs_in_sees_who_they_are_and_signs_out(scene: Scene) -> None:
    browser = scene.browser
    assert "/account/in" in (await browser.open("/account")).text
    seen = await browser.go(scene.provider, "Anna")
    assert (seen.status, seen.location) == (303, "/account")
    page = await browser.open("/account")
    assert all(part in page.text for part in ("Anna", ">7</code>", "You can report and suggest things."))
    assert "administrator of this service" not in page.text
    seen = await browser.send_form("/account", "/account/out")
    assert (seen.status, seen.location) == (303, "/account")
    assert await scene.name() == ""


async def test_the_provider_is_asked_with_pkce_and_a_state_and_is_given_our_secret(
    site_database: str, tmp_path: Path
) -> None:
    async with opened(site_database, tmp_path, secret="a client's secret") as scene:
        going = await scene.browser.send_form("/account", "/account/in")
        asked = URL(going.link(scene.provider.url)).query
        assert (asked["code_challenge_method"], asked["redirect_uri"]) == ("S256", PUBLIC_URL + "/account/back")
        assert len(asked["state"]) >= 40
        assert "a client's secret" not in going.text
        assert (await scene.browser.go(scene.provider, "Anna")).status == 303
        assert not scene.provider.refused


async def test_the_way_to_the_provider_is_a_page_and_no_redirect_which_form_action_would_forbid(scene: Scene) -> None:
    going = await scene.browser.send_form("/account", "/account/in")
    address = going.link(scene.provider.url)
    headers = going.headers
    assert (going.status, headers["Refresh"], headers["Cache-Control"]) == (200, f"0; url={address}", "no-store")
    assert "form-action 'self';" in headers["Content-Security-Policy"]


async def test_pages_of_the_account_are_never_kept_and_ordinary_pages_set_no_cookie(scene: Scene) -> None:
    await scene.browser.go(scene.provider, "Anna")
    page = await scene.browser.open("/account")
    assert (page.headers["Cache-Control"], page.headers.get("ETag")) == ("no-store", None)
    assert "Cookie" in page.headers["Vary"]
    wiki = f"{scene.site.wiki.wiki.dbname}@wmflabs"
    async with open_browser(scene.site.url) as stranger:
        for path in (
            *("/", f"/externalLinkInfo?dbname={wiki}&pageid=1", f"/api/page?dbname={wiki}&pageid=1"),
            *(f"/externalLinkProblem?dbname={wiki}&pageid=1", "/status", "/bot", "/no-such-page"),
            "/account/back?code=1&state=2",
        ):
            one, two = await scene.browser.open(path), await stranger.open(path)
            assert not one.cookies + two.cookies, path
            assert one.text == two.text, path


async def test_the_account_page_shows_name_and_subject_and_what_one_may_do_or_why_nothing(scene: Scene) -> None:
    for name, english, german in [
        ("Blocked", ["Your account is blocked"], ""),
        ("New", ["You need at least 50 edits"], "mindestens 50 Bearbeitungen"),
        ("Boss", ["administrator of this service", "subject-of-another-kind"], "/admin?lang=de"),
        (EDITORS[4].username, ["&lt;b onmouseover"], ""),
    ]:
        await scene.browser.go(scene.provider, name)
        page = (await scene.browser.open("/account")).text
        assert [words for words in english if words not in page] == []
        assert german in (await scene.browser.open("/account?lang=de")).text
        assert "<b onmouseover" not in page


@dataclass
class Asked:
    """What asks a provider, without a service around it."""

    provider: LittleProvider
    client: aiohttp.ClientSession

    async def find_member(self) -> Member:
        """Anna agrees, and is asked after."""
        back = PUBLIC_URL + "/account/back"
        self.provider.addresses.add(back)
        ours = Provider(PeopleConfig(self.provider.url, client=CLIENT), self.client, back, "Weboid")
        flow = ours.begin()
        form = dict(URL(flow.address).query) | {"editor": "Anna"}
        async with self.client.post(f"{self.provider.url}/authorize", data=form, allow_redirects=False) as response:
            answered = dict(URL(response.headers["Location"]).query)
        return await ours.find_member(answered, flow.state, flow.verifier)

    async def refused(self) -> int:
        """The status of the problem that comes of it instead."""
        with pytest.raises(Problem) as shown:
            await self.find_member()
        return shown.value.http


@pytest.fixture
async def asked() -> AsyncIterator[Asked]:
    async with open_littleprovider(EDITORS) as provider, aiohttp.ClientSession() as client:
        yield Asked(provider, client)


ANSWER = json.dumps(Editor(7, "Anna").profile() | {"access_token": "t", "token_type": "Bearer"}).encode()
"""What would do for a token, and for a profile."""

ODD: list[dict[str, object]] = [{"sub": value} for value in (..., None, [7], "7 8", "7" * 101)]
ODD += [{"editcount": value} for value in ("5000", -1, ...)]
ODD += [{"blocked": value} for value in (..., "false")]


async def test_a_strange_profile_is_nobodys(asked: Asked) -> None:
    names: list[object] = [7, "\ud800", "A\r\nSet-Cookie: x=y", "A\u2028B", "", "x" * 300, "A\x00", "A\u202eB"]
    for changes in ODD + [{"username": name} for name in names]:
        profile = {name: value for name, value in (Editor(7, "Anna").profile() | changes).items() if value is not ...}
        asked.provider.replies["profile"] = ProviderReply(body=json.dumps(profile).encode())
        assert await asked.refused() == 502, changes


async def test_an_odd_answer_of_the_provider_is_a_problem(asked: Asked) -> None:
    for reply, status in (
        (ProviderReply(500, b"{}"), 503),
        (ProviderReply(401, b"{}"), 403),
        (ProviderReply(302, b"{}"), 502),
        (ProviderReply(200, b"<html>", "text/html"), 502),
        *((ProviderReply(200, body), 502) for body in (b"<html>", b"{}", b"[" * 60_000)),
        (ProviderReply(200, b'{"access_token": "a\\r\\nb", "token_type": "Bearer"}'), 502),
        (ProviderReply(200, b'{"access_token": "", "token_type": "Bearer"}'), 502),
        (ProviderReply(200, ANSWER + b" " * 5_000_000), 502),
    ):
        for part in ("access_token", "profile"):
            asked.provider.replies = {part: reply}
            assert await asked.refused() == status, (part, reply.status, reply.body[:80])


async def test_a_provider_that_sends_us_on_is_not_followed(asked: Asked) -> None:
    async with open_littleprovider() as other:
        other.replies["profile"] = ProviderReply(body=ANSWER)
        asked.provider.replies["profile"] = ProviderReply(302, location=f"{other.url}/resource/profile")
        assert await asked.refused() == 502


async def test_a_provider_that_is_down_signs_nobody_in_until_it_is_up_again(scene: Scene) -> None:
    scene.provider.replies["profile"] = ProviderReply(500)
    seen = await scene.browser.go(scene.provider, "Anna")
    assert seen.status == 503
    assert "does not answer at the moment" in seen.text
    assert await scene.name() == ""
    scene.provider.replies.clear()
    assert (await scene.browser.go(scene.provider, "Anna")).status == 303


async def test_a_provider_that_does_not_answer_in_time_or_at_all_is_reported_as_such() -> None:
    async with aiohttp.ClientSession() as client:
        async with open_littleprovider(EDITORS) as provider:
            settings = PeopleConfig(provider.url, client=CLIENT)
            provider.replies["access_token"] = ProviderReply(pause_s=30)
            slow = Provider(settings, client, "http://x/account/back", "Weboid", timeout_s=0.2)
            with pytest.raises(Problem, match="provider") as shown:
                await slow.find_member({"state": "s", "code": "c"}, "s", "v")
            assert shown.value.http == 503
        gone = Provider(settings, client, "http://x/account/back", "Weboid")
        with pytest.raises(Problem, match="provider") as shown:
            await gone.find_member({"state": "s", "code": "c"}, "s", "v")
        assert shown.value.http == 503


async def test_a_wrong_answer_from_the_provider_signs_nobody_in(scene: Scene) -> None:
    for extra, status in [
        ({"state": "another"}, 400),
        ({"state": ""}, 400),
        ({"iss": "https://evil.demo"}, 400),
        ({"error": "temporarily_unavailable"}, 503),
        ({"error": "invalid_scope\r\n"}, 502),
        ({"code": ""}, 502),
        ({"code": "made-up"}, 403),
    ]:
        scene.provider.extra = extra
        assert (await scene.browser.go(scene.provider, "Anna")).status == status, extra
        assert await scene.name() == "", extra


async def test_a_provider_that_says_who_it_is_is_believed(scene: Scene) -> None:
    scene.provider.extra = {"iss": str(URL(scene.provider.url).origin())}
    assert (await scene.browser.go(scene.provider, "Anna")).status == 303


async def test_a_state_is_good_once_and_used_up_by_a_failure(scene: Scene) -> None:
    browser = scene.browser
    path = await scene.agreed()
    assert (await browser.open("/account/back?state=guess&code=x")).status == 400
    assert (await browser.open(path)).status == 400
    path = await scene.agreed()
    assert (await browser.open(path)).status == 303
    assert (await browser.open(path)).status == 400
    assert await scene.name() == "Anna"


async def test_nobody_can_be_signed_in_by_a_link_of_somebody_else(scene: Scene) -> None:
    async with open_browser(scene.site.url) as attacker:
        path = await scene.agreed(attacker)
        assert (await scene.browser.open(path)).status == 400
        await scene.browser.send_form("/account", "/account/in")
        assert (await scene.browser.open(path)).status == 400
    assert await scene.name() == ""


async def test_a_code_that_was_stolen_is_worth_nothing_without_the_verifier(scene: Scene) -> None:
    async with open_browser(scene.site.url) as browser:
        stolen = URL(await scene.agreed()).query["code"]
        own = await browser.send_form("/account", "/account/in")
        state = URL(own.link(scene.provider.url)).query["state"]
        assert (await browser.open(f"/account/back?code={stolen}&state={state}")).status == 403
    assert scene.provider.refused == ["invalid_grant: code_verifier"]


async def test_the_fullest_cookie_is_one_that_browsers_keep(scene: Scene) -> None:
    subject, name = "7" * 100, "名" * 85
    back = "/url?" + "a" * 1_495
    seen = await scene.browser.send_form(f"/account?back={back}", "/account/in")
    (cookie,) = seen.cookies
    # Anyone who is signed in may begin anew from a page that was open before: their name is in the cookie then.
    room = 4_096 - 4 / 3 * len(f"{subject}{name}".encode()) - 100
    assert 2_000 < len(cookie.partition(";")[0]) < room
    path = await scene.browser.agree(scene.provider, seen.link(scene.provider.url), "Anna")
    assert (await scene.browser.open(path)).location == back


async def test_after_signing_in_somebody_is_where_they_began(scene: Scene) -> None:
    back = "/url?url=http%3A%2F%2Ffine.demo%2F&dbname=x"
    seen = await scene.browser.go(scene.provider, "Anna", back=quote(back, safe=""))
    assert (seen.status, seen.location) == (303, back)
    seen = await scene.browser.send_form("/account?lang=de", "/account/out")
    assert seen.location == "/account?lang=de"
    path = await scene.agreed(page="/account?lang=de")
    assert (await scene.browser.open(path)).location == "/account?lang=de"


OUTSIDE = [
    *("//evil.demo", "/\\evil.demo", "\\\\evil.demo", "https:evil.demo", "https://evil.demo/", "javascript:alert(1)"),
    *("evil.demo", "/\t/evil.demo", "/.//evil.demo", "/..//evil.demo", "/account//evil.demo", "/account#//evil.demo"),
    *("/@evil.demo\r\nSet-Cookie: x=y", "/a b", "/ü", "/?a=\\", "/" + "a" * 2_000, "", " /account", "/account\n"),
]


def test_a_page_of_ours_is_a_way_back_and_another_address_is_none() -> None:
    for address in OUTSIDE:
        assert local_path(address) == "", address
    for address in [
        *("/", "/account", "/url?url=http%3A%2F%2Fa.demo%2F", "/lists/dewiki@WMF", "/report?a=1&b=x+y", "/help/")
    ]:
        assert local_path(address) == address, address


async def test_where_nothing_is_set_up_nobody_can_sign_in_and_all_forms_say_so_at_once(browser: Browser) -> None:
    page = await browser.open("/account")
    assert (page.status, page.cookies) == (200, ())
    assert "<form" not in page.text
    of_page = f"?url={quote(DEAD, safe='')}&dbname=testwiki@wmflabs&pageid=1"
    for seen in (page, *[await browser.open(f"/{name}{of_page}") for name in ("report", "replacement")]):
        assert "Signing in is not set up here." in seen.text
        assert all(words not in seen.text for words in ("to the sign-in first", "Check it now")), seen.text
    assert (await browser.open("/account/back?code=1&state=2")).status == 400
