"""Rate limits: the address of the caller, costs, what happens above the limit; trusted clients (W-9)."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from ipaddress import ip_network
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from support.webservice import TODAY, Site, open_service

from weboid.config import WebConfig, load_config
from weboid.errors import ConfigError
from weboid.store.db.pool import open_pool
from weboid.store.people.throttle import Rate, find_day_key
from weboid.web.http import limits
from weboid.web.http.limits import Budget, caller_range, cost_of
from weboid.web.http.tokens import TrustedClients, client_of, clients_of

PAGE = "/api/page?dbname=testwiki@wmflabs&pageid=1"
TOKEN = "correct horse battery staple"
TOKENS = f"bot:{sha256(TOKEN.encode()).hexdigest()}"
PROXIES = tuple(map(ip_network, ("10.0.0.0/8", "fd00::/8")))


@asynccontextmanager
async def limited(database: str, folder: Path, burst: int, **more: str) -> AsyncIterator[Site]:
    """The service with so many units at once, and one a minute."""
    environ = {f"WEBOID_WEB_{name.upper()}": value for name, value in more.items()}
    given = {"WEBOID_WEB_RATE": "1", "WEBOID_WEB_BURST": str(burst), **environ}
    async with open_service(database, folder, environ=given) as site:
        yield site


async def statuses(site: Site, path: str, times: int, **headers: str) -> list[int]:
    return [(await site.fetch(path, **headers))[0] for _ in range(times)]


async def stored_keys(site: Site) -> list[bytes]:
    return [bytes(key) for (key,) in await site.wiki.rows("SELECT key FROM throttle")]  # type: ignore[call-overload]


@pytest.mark.parametrize(
    ("peer", "forwarded", "range_"),
    [
        ("192.0.2.77", [], "192.0.2.0/24"),
        ("2001:db8:1:2:3::4", [], "2001:db8:1::/48"),
        ("::ffff:192.0.2.77", [], "192.0.2.0/24"),
        ("fe80::1%eth0", [], "fe80::/48"),
        ("192.0.2.77", ["203.0.113.5"], "192.0.2.0/24"),
        ("10.1.2.3", ["203.0.113.5"], "203.0.113.0/24"),
        ("::ffff:10.1.2.3", ["203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["203.0.113.5:4711"], "203.0.113.0/24"),
        ("10.1.2.3", ["[2001:db8:1:2::3]:4711"], "2001:db8:1::/48"),
        ("fd00::1", ["2001:db8:1:2::3"], "2001:db8:1::/48"),
        # What stands left of the last one that our proxy saw is whatever the client liked to say.
        ("10.1.2.3", ["198.51.100.1, 203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["198.51.100.1", "203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["198.51.100.1, 203.0.113.5, 10.9.9.9"], "203.0.113.0/24"),
        ("10.1.2.3", ["10.7.7.7, 203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["unknown"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, <script>"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5,"], "10.1.2.0/24"),
        ("10.1.2.3", [""], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, 999.1.1.1"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, " + "10.1.1.1, " * 500 + "10.1.1.1"], "10.1.1.0/24"),
        ("10.1.2.3", ["x" * 8_000], "10.1.2.0/24"),
        ("10.1.2.3", ["10.2.2.2, 10.3.3.3"], "10.2.2.0/24"),
        ("10.1.2.3", [], "10.1.2.0/24"),
        ("", ["203.0.113.5"], "-"),
        ("no address", [], "-"),
    ],
)
def test_the_address_is_the_peers_or_what_a_configured_proxy_says(peer: str, forwarded: list[str], range_: str) -> None:
    assert caller_range(peer, forwarded, PROXIES) == range_.encode()


def test_without_configured_proxies_nobody_is_believed() -> None:
    assert caller_range("10.1.2.3", ["203.0.113.5"], ()) == b"10.1.2.0/24"


@pytest.mark.parametrize(
    ("method", "path", "cost"),
    [
        ("GET", "/healthz", 0),
        ("GET", "/static/x.css", 0),
        ("GET", "/status", 0),
        ("OPTIONS", "/api/page", 0),
        ("GET", "/api/page?pageid=1", 2),
        ("HEAD", "/api/page?pageid=1", 2),
        ("GET", "/api/page?pageid=1|2|3", 4),
        ("GET", "/api/page?title=A%7CB", 3),
        ("GET", "/externalLinkProblem?curid=1|2", 3),
        ("GET", "/api/page?pageid=" + "|" * 1_000, 51),
        ("GET", "/lists/dead", 5),
        ("GET", "/lists/dead?verdict=doubtful", 15),
        ("GET", "/api/page?title=&title=A|B", 3),
        ("GET", "/lists/dead?verdict=&verdict=doubtful", 15),
        ("GET", "/lists/dead?verdict=doubtful%20", 15),
        ("OPTIONS", "/nothing", 10),
        ("POST", "/url", 3),
        ("POST", "/report", 10),
        ("GET", "/report", 2),
        ("GET", "/nothing", 2),
    ],
)
async def test_what_costs_us_more_costs_more(method: str, path: str, cost: int) -> None:
    found = []

    @web.middleware
    async def noted(request: web.Request, handler: object) -> web.StreamResponse:
        found.append(cost_of(request))
        return web.Response()

    app = web.Application(middlewares=[noted])
    for route in (
        "/healthz",
        "/static/{name}",
        "/status",
        "/api/page",
        "/externalLinkProblem",
        "/lists/dead",
        "/url",
        "/report",
    ):
        app.router.add_route("*", route, _nothing)
    app.freeze()
    await app._handle(make_mocked_request(method, path, app=app))
    assert found == [cost]


async def _nothing(_: web.Request) -> web.Response:
    return web.Response()


async def test_as_much_as_the_budget_allows_is_answered_and_then_nothing(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 10) as site:
        assert await statuses(site, PAGE, 8) == [200] * 5 + [429] * 3


async def test_many_at_once_get_no_more_than_the_budget(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 20) as site:
        found = await asyncio.gather(*(statuses(site, PAGE, 2) for _ in range(30)))
        assert sum(status == 200 for few in found for status in few) == 10


async def test_a_refusal_says_when_in_the_format_asked_for(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2) as site:
        await site.fetch(PAGE)
        status, body, response = await site.fetch(PAGE)
        assert (status, response.content_type) == (429, "application/json")
        assert json.loads(body)["error"]["key"] == "weboid-error-too-many-requests"
        assert 100 < int(response.headers["Retry-After"]) <= 120
        assert response.headers["Cache-Control"] == "no-store"
        for path, kind in (
            (f"{PAGE}&format=xml", "application/xml"),
            ("/externalLinkProblem?dbname=testwiki@wmflabs&pageid=1", "text/javascript"),
            ("/?lang=de", "text/html"),
            ("/nothing", "text/html"),
        ):
            status, body, response = await site.fetch(path)
            assert (status, response.content_type) == (429, kind), path
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "Aus deinem Netz" in (await site.fetch("/?lang=de"))[1]
        assert await statuses(site, "/healthz", 5) == [200] * 5


async def test_a_refusal_needs_no_database(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2) as site:
        assert await statuses(site, PAGE, 2) == [200, 429]
        await site.wiki.pool.close()
        assert await statuses(site, PAGE, 2) == [429, 429]
        assert (await site.fetch("/"))[0] == 429


async def test_who_cannot_afford_much_may_still_ask_for_little(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 8) as site:
        many = f"{PAGE}|" + "|".join(map(str, range(2, 8)))
        assert (await site.fetch(many))[0] == 200
        async with site.wiki.pool.connection() as conn:
            await conn.execute("UPDATE throttle SET free = free - interval '3 minutes'")
        assert await statuses(site, many, 2) == [429, 429]
        assert await statuses(site, PAGE, 2) == [200, 429]


async def test_a_database_that_is_gone_is_told_as_that_and_not_as_a_limit(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2) as site:
        await site.wiki.pool.close()
        assert await statuses(site, PAGE, 3) == [503] * 3
        assert (await site.fetch("/healthz"))[0] == 503


async def test_an_answer_that_was_kept_costs_nothing(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 4) as site:
        revision = f"{PAGE}&revid=7"
        assert await statuses(site, revision, 12) == [200] * 12
        assert await statuses(site, PAGE, 3) == [200, 429, 429]


async def test_an_answer_that_was_made_costs_the_same_if_the_caller_had_it_already(
    database: str, tmp_path: Path
) -> None:
    async with limited(database, tmp_path, 6) as site:
        assert await statuses(site, PAGE, 4, If_None_Match="*") == [304] * 3 + [429]


async def test_ranges_behind_a_configured_proxy_have_accounts_of_their_own(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2, proxies="127.0.0.0/8") as site:
        for address in ("203.0.113.5", "198.51.100.7", "2001:db8:1::5"):
            assert await statuses(site, PAGE, 2, X_Forwarded_For=address) == [200, 429]
        assert await statuses(site, PAGE, 1, X_Forwarded_For="203.0.113.200") == [429]
        # A new address in front of one's own buys nothing.
        for spoofed in ("192.0.2.1", "192.0.2.2", "::1"):
            assert await statuses(site, PAGE, 1, X_Forwarded_For=f"{spoofed}, 203.0.113.5") == [429]
        assert await statuses(site, PAGE, 2) == [200, 429]


async def test_a_header_from_anybody_else_buys_nothing(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2, proxies="192.0.2.0/24") as site:
        found = [await statuses(site, PAGE, 1, X_Forwarded_For=f"203.0.{number}.5") for number in range(3)]
        assert found == [[200], [429], [429]]


async def test_no_address_is_stored_and_another_day_has_other_keys(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 100, proxies="127.0.0.0/8") as site:
        await site.fetch(PAGE, X_Forwarded_For="203.0.113.5")
        await site.fetch(PAGE, X_Forwarded_For="203.0.113.6")
        (key,) = await stored_keys(site)
        assert len(key) == 16
        assert not any(part in key for part in (b"203", bytes([203, 0, 113])))
        text = str(await site.wiki.rows("SELECT * FROM throttle"))
        assert "203.0" not in text


async def test_another_day_has_another_key_for_the_same_range(database: str) -> None:
    day = 120
    async with open_pool(database, size=2, part="test") as pool:
        accounts = [Budget(pool, Rate(1, 1), lambda: day) for _ in range(2)]
        today = {await account.key(b"192.0.2.0/24") for account in accounts}
        day += 1
        tomorrow = {await account.key(b"192.0.2.0/24") for account in accounts}
        assert (len(today), len(tomorrow), len(today | tomorrow)) == (1, 1, 2)


async def test_what_means_nothing_any_more_is_forgotten_while_the_service_runs(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_TIDYING_S", 0.05)
    async with limited(database, tmp_path, 10) as site:
        await site.fetch(PAGE)
        async with site.wiki.pool.connection() as conn:
            await find_day_key(conn, TODAY - 1)
            await conn.execute("UPDATE throttle SET free = free - interval '1 hour'")
        async with asyncio.timeout(30):
            while await stored_keys(site) or len(await site.wiki.rows("SELECT day FROM throttle_key")) > 1:
                await asyncio.sleep(0.05)
        assert await site.wiki.rows("SELECT day FROM throttle_key") == [(TODAY,)]


async def test_no_number_of_ranges_takes_more_memory_than_a_bound(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "_MOST_KEYS", 10)
    async with open_pool(database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 1), lambda: TODAY)
        for number in range(30):
            key = await account.key(str(number).encode())
            assert [await account.spend(key, 1) > 0 for _ in range(2)] == [False, True]
            account.give_back(key, 1)
        assert (len(account.over), len(account.credit)) == (10, 10)


async def test_what_is_given_back_is_spent_once(database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 4), lambda: TODAY)
        key = await account.key(b"192.0.2.0/24")
        assert await account.spend(key, 3) == 0
        account.give_back(key, 3)
        assert [await account.spend(key, 2) > 0 for _ in range(3)] == [False, True, True]
        assert [await account.spend(key, 1) > 0 for _ in range(3)] == [False, False, True]


async def test_without_a_rate_nobody_is_limited_and_nothing_is_stored(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 1, rate="0") as site:
        assert await statuses(site, PAGE, 5) == [200] * 5
        assert await stored_keys(site) == []


async def test_a_trusted_client_is_not_limited_wherever_it_is(database: str, tmp_path: Path) -> None:
    async with limited(database, tmp_path, 2, tokens=TOKENS) as site:
        for scheme in ("Bearer", "bearer"):
            assert await statuses(site, PAGE, 5, Authorization=f"{scheme} {TOKEN}") == [200] * 5
        assert await statuses(site, PAGE, 2) == [200, 429]
        assert await statuses(site, PAGE, 2, Authorization="Basic dXNlcjpwYXNz") == [429] * 2


@pytest.mark.parametrize(
    "given", ["Bearer x", "Bearer", "Bearer ", "BEARER \xff", f"Bearer {TOKEN}x", f"Bearer {TOKENS}"]
)
async def test_a_token_that_nobody_has_is_told_as_that(database: str, tmp_path: Path, given: str) -> None:
    async with limited(database, tmp_path, 100, tokens=TOKENS) as site:
        for path in (PAGE, "/", "/healthz"):
            status, body, response = await site.fetch(path, Authorization=given)
            assert status == 401
            assert response.headers["WWW-Authenticate"].startswith("Bearer ")
            assert "token" in body
            assert TOKEN not in body


def test_a_client_is_known_by_any_of_its_tokens() -> None:
    clients = clients_of([TOKENS, f"other:{sha256(b'two').hexdigest()}", f"bot:{sha256(b'three').hexdigest().upper()}"])
    assert [clients.name_of(token) for token in (TOKEN, "two", "three", "", "four")] == [
        "bot",
        "other",
        "bot",
        None,
        None,
    ]
    assert clients_of([]) == TrustedClients(())


def test_a_request_tells_whose_it_is() -> None:
    request = make_mocked_request("GET", "/", headers={"Authorization": f"Bearer {TOKEN}"})
    assert client_of(request) is None
    assert clients_of([TOKENS]).note(request) == client_of(request) == "bot"


@pytest.mark.parametrize(
    "entry", ["secret", "bot:secret", ":" + "a" * 64, "bot:" + "g" * 64, "b t:" + "a" * 64, "bot:"]
)
def test_a_malformed_token_is_told_without_telling_it(entry: str) -> None:
    with pytest.raises(ConfigError, match=r"WEBOID_WEB_TOKENS\): entry 2 must be") as raised:
        clients_of([TOKENS, entry])
    assert "secret" not in str(raised.value).replace(entry, "") or entry != "secret"
    assert entry not in str(raised.value)


def test_a_secret_of_the_wrong_type_is_told_without_telling_it(tmp_path: Path) -> None:
    for key, value in (("tokens", "[4711]"), ("secret", "4711")):
        file = tmp_path / "weboid.toml"
        file.write_text(f"[web]\n{key} = {value}\n")
        with pytest.raises(ConfigError, match=key) as raised:
            load_config(file, {})
        assert "4711" not in str(raised.value)


def test_the_defaults_let_sensible_uses_pass() -> None:
    """A network of 250 editors with the gadget who read two pages a minute each, uncached, and one of them browses."""
    config = WebConfig()
    assert config.rate >= 250 * 2 * 2 + 60 * 3
    assert config.burst >= 20 * 51
