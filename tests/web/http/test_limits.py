"""Rate limits: the address of the caller, costs, what happens above the limit; trusted clients (W-9)."""

import asyncio
import itertools
import json
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from hashlib import sha256
from ipaddress import ip_network
from math import ceil
from pathlib import Path

import pytest
from aiohttp import web
from aiohttp.test_utils import make_mocked_request
from support.waiting import until
from support.webservice import TODAY, Site, open_service

from weboid.errors import ConfigError
from weboid.store.db.pool import Pool, open_pool
from weboid.store.db.statements import Connection
from weboid.store.people import throttle
from weboid.store.people.throttle import Rate
from weboid.web.http import budget
from weboid.web.http.budget import Budget
from weboid.web.http.callers import caller_address, note_account, range_of
from weboid.web.http.limits import cost_of
from weboid.web.http.tokens import clients_of

WIKI = "testwiki@wmflabs"
PAGE = f"/api/page?dbname={WIKI}&pageid=1"
TOKEN = "correct horse battery staple"
TOKENS = f"bot:{sha256(TOKEN.encode()).hexdigest()}"
FROM = {"X_Forwarded_For": "203.0.113.5"}
PROXIES = tuple(map(ip_network, ("10.0.0.0/8", "fd00::/8")))
Limited = Callable[..., AbstractAsyncContextManager[Site]]


@pytest.fixture
def limited(site_database: str, tmp_path: Path) -> Limited:
    """Opens the service with so many units at once, and one a minute."""

    def opened(burst: int, **more: str) -> AbstractAsyncContextManager[Site]:
        given = {"rate": "1", "burst": str(burst), **more}
        environ = {f"WEBOID_WEB_{name.upper()}": value for name, value in given.items()}
        return open_service(site_database, tmp_path, environ=environ)

    return opened


async def statuses(site: Site, path: str, times: int, **headers: str) -> list[int]:
    return [(await site.fetch(path, **headers))[0] for _ in range(times)]


async def stored_keys(site: Site) -> list[bytes]:
    return [bytes(key) for (key,) in await site.wiki.rows("SELECT key FROM throttle")]  # type: ignore[call-overload]


def test_the_address_is_the_peers_or_what_a_configured_proxy_says() -> None:
    for peer, forwarded, range_ in [
        ("192.0.2.77", [], "192.0.2.0/24"),
        ("2001:db8:1:2:3::4", [], "2001:db8:1::/48"),
        ("::ffff:192.0.2.77", [], "192.0.2.0/24"),
        ("fe80::1%eth0", [], "fe80::/48"),
        ("192.0.2.77", ["203.0.113.5"], "192.0.2.0/24"),
        ("10.1.2.3", ["203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["203.0.113.5:4711"], "203.0.113.0/24"),
        ("fd00::1", ["2001:db8:1:2::3"], "2001:db8:1::/48"),
        # What stands left of the last one that our proxy saw is whatever the client liked to say.
        ("10.1.2.3", ["198.51.100.1, 203.0.113.5"], "203.0.113.0/24"),
        ("10.1.2.3", ["198.51.100.1, 203.0.113.5, 10.9.9.9"], "203.0.113.0/24"),
        ("10.1.2.3", ["unknown"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, <script>"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, 999.1.1.1"], "10.1.2.0/24"),
        ("10.1.2.3", ["203.0.113.5, " + "10.1.1.1, " * 500 + "10.1.1.1"], "10.1.1.0/24"),
        ("10.1.2.3", ["10.2.2.2, 10.3.3.3"], "10.2.2.0/24"),
        ("10.1.2.3", [], "10.1.2.0/24"),
        ("", ["203.0.113.5"], "-"),
        ("no address", [], "-"),
    ]:
        assert range_of(caller_address(peer, forwarded, PROXIES)) == range_.encode(), peer
    # Without configured proxies nobody is believed.
    assert range_of(caller_address("10.1.2.3", ["203.0.113.5"], ())) == b"10.1.2.0/24"


async def test_what_costs_us_more_costs_more() -> None:
    costs = [
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
        # What a form is about is charged when it is known, wherever it is named.
        ("POST", "/api/page?pageid=1|2|3", 2),
        ("POST", "/url", 3),
        ("POST", "/report", 10),
        ("GET", "/report", 2),
        ("GET", "/nothing", 2),
    ]
    found = []

    @web.middleware
    async def noted(request: web.Request, handler: object) -> web.StreamResponse:
        found.append((request.method, path, cost_of(request)))
        return web.Response()

    async def nothing(_: web.Request) -> web.Response:
        return web.Response()

    app = web.Application(middlewares=[noted])
    pages = ("/api/page", "/externalLinkProblem", "/lists/dead", "/url", "/report")
    for route in ("/healthz", "/static/{name}", "/status", *pages):
        app.router.add_route("*", route, nothing)
    app.freeze()
    for method, path, _ in costs:
        await app._handle(make_mocked_request(method, path, app=app))
    assert found == costs


async def test_as_much_as_the_budget_allows_is_answered_and_then_nothing_even_to_who_has_it(limited: Limited) -> None:
    async with limited(10, proxies="127.0.0.0/8") as site:
        assert await statuses(site, PAGE, 6, X_Forwarded_For="192.0.2.7", If_None_Match="*") == [304] * 5 + [429]
        assert await statuses(site, PAGE, 8, **FROM) == [200] * 5 + [429] * 3
        at_once = await asyncio.gather(*(statuses(site, PAGE, 2, X_Forwarded_For="198.51.100.7") for _ in range(15)))
        assert sum(status == 200 for few in at_once for status in few) == 5


async def test_a_refusal_says_when_in_the_format_asked_for(limited: Limited) -> None:
    async with limited(2, proxies="127.0.0.0/8") as site:
        await site.fetch(PAGE, **FROM)
        status, body, response = await site.fetch(PAGE, **FROM)
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
            status, body, response = await site.fetch(path, **FROM)
            assert (status, response.content_type) == (429, kind), path
            assert "default-src 'none'" in response.headers["Content-Security-Policy"]
        assert "Aus deinem Netz" in (await site.fetch("/?lang=de", **FROM))[1]
        assert await statuses(site, "/healthz", 5) == [200] * 5


async def test_who_cannot_afford_much_may_still_ask_for_little(limited: Limited) -> None:
    async with limited(8) as site:
        many = f"{PAGE}|" + "|".join(map(str, range(2, 8)))
        assert (await site.fetch(many))[0] == 200
        await site.wiki.execute("UPDATE throttle SET free = free - interval '3 minutes'")
        assert await statuses(site, many, 2) == [429, 429]
        assert await statuses(site, PAGE, 2) == [200, 429]


async def test_a_database_that_is_gone_is_reported_as_that_though_refusals_need_none(limited: Limited) -> None:
    async with limited(2, proxies="127.0.0.0/8") as site:
        assert await statuses(site, PAGE, 2, **FROM) == [200, 429]
        await site.wiki.pool.close()
        assert await statuses(site, PAGE, 2, **FROM) == [429, 429]
        assert await statuses(site, "/", 1, **FROM) == [429]
        assert await statuses(site, f"/api/page?dbname={WIKI}&pageid=2", 3) == [503] * 3
        assert await statuses(site, "/healthz", 1) == [503]


async def test_a_large_answer_that_was_kept_costs_its_address_unless_the_caller_has_it(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("weboid.web.pages.page._MOST_FREE", 100)
    async with limited(6) as site:
        revision = f"{PAGE}&revid=7"
        assert await statuses(site, revision, 1) == [200]
        assert await statuses(site, revision, 5, If_None_Match="*") == [304] * 5
        assert await statuses(site, revision, 3) == [200, 200, 429]


async def posted(site: Site, path: str = "/api/page", client: str = "", **fields: str) -> int:
    """The status of the answer to a form, which a proxy has passed on for a client."""
    headers = {"X-Forwarded-For": client} if client else {}
    async with site.client.post(f"{site.url}{path}", data=fields, headers=headers) as response:
        return response.status


async def test_a_form_costs_as_much_as_an_address_by_its_pages_whether_they_exist_or_not(limited: Limited) -> None:
    for pages, status in ((range(1, 2), 200), (range(1, 501), 200), (range(1_000, 1_100), 404)):
        async with limited(2) as site:
            assert await posted(site, dbname=WIKI, pageid="|".join(map(str, pages))) == status
            assert await posted(site, dbname=WIKI, pageid="1") == 429
            assert await spent(site.wiki.pool) == 1 + len(pages)
            await site.wiki.rows("DELETE FROM throttle RETURNING 1")


async def test_each_part_of_many_pages_costs_its_own_pages(limited: Limited, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("weboid.web.answer.query.MOST_LINKS", 4)
    async with limited(20) as site:
        # Four links of page 1, which has more.
        assert await posted(site, dbname=WIKI, pageid="|".join(map(str, range(1, 501)))) == 200
        assert await statuses(site, PAGE, 10) == [200] * 9 + [429]


async def test_no_address_is_stored_and_another_day_has_another_key(limited: Limited) -> None:
    async with limited(100, proxies="127.0.0.0/8") as site:
        await site.fetch(PAGE, X_Forwarded_For="203.0.113.5")
        await site.fetch(PAGE, X_Forwarded_For="203.0.113.6")
        (key,) = await stored_keys(site)
        assert len(key) == 16
        assert not any(part in key for part in (b"203", bytes([203, 0, 113])))
        assert "203.0" not in str(await site.wiki.rows("SELECT * FROM throttle"))
        day = TODAY
        accounts = [Budget(site.wiki.pool, Rate(1, 1), lambda: day) for _ in range(2)]
        today = {await account.key(b"192.0.2.0/24") for account in accounts}
        day += 1
        tomorrow = {await account.key(b"192.0.2.0/24") for account in accounts}
        assert (len(today), len(tomorrow), len(today | tomorrow)) == (1, 1, 2)


async def test_no_number_of_ranges_takes_more_memory_than_a_bound(
    site_database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(budget, "_MOST_KEYS", 10)
    async with open_pool(site_database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 1), lambda: TODAY)
        for number in range(30):
            key = await account.key(str(number).encode())
            assert [await account.spend(key, 1) > 0 for _ in range(2)] == [False, True]
            account.give_back(key, 1)
        assert (len(account.over), len(account.here)) == (10, 10)


async def test_what_is_given_back_is_spent_once(site_database: str) -> None:
    async with open_pool(site_database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 4), lambda: TODAY)
        key = await account.key(b"192.0.2.0/24")
        assert await account.spend(key, 3) == 0
        account.give_back(key, 3)
        assert [await account.spend(key, 2) > 0 for _ in range(3)] == [False, True, True]
        assert [await account.spend(key, 1) > 0 for _ in range(3)] == [False, False, True]


async def test_units_are_bought_some_at_a_time_and_go_back_when_the_service_ends(
    limited: Limited, site_database: str
) -> None:
    async with limited(200) as site:
        assert await statuses(site, PAGE, 3) == [200] * 3
        assert await spent(site.wiki.pool) == 10
        assert await statuses(site, PAGE, 3) == [200] * 3
        assert await spent(site.wiki.pool) == 20
    async with open_pool(site_database, size=1, part="test") as pool:
        assert await spent(pool) == 12


async def test_one_purchase_is_enough_for_all_accounts_that_wait_and_as_many_wait_as_have_places_in_the_lane(
    limited: Limited, monkeypatch: pytest.MonkeyPatch
) -> None:
    spend, bought, is_over = throttle.spend, list[list[int]](), asyncio.Event()

    async def noted(conn: Connection, costs: dict[bytes, int], rate: Rate) -> dict[bytes, float]:
        bought.append([*costs.values()])
        await is_over.wait()
        return await spend(conn, costs, rate)

    monkeypatch.setattr(budget, "spend", noted)
    async with limited(1_000) as site:
        asked = [asyncio.create_task(site.fetch("/domain/dead.demo")) for _ in range(12)]
        await until(lambda: [each.result()[0] for each in asked if each.done()] == [503] * 3)
        is_over.set()
        assert sorted([(await each)[0] for each in asked]) == [200] * 9 + [503] * 3
        account = Budget(site.wiki.pool, Rate(1, 100), lambda: TODAY)
        key = await account.key(b"192.0.2.0/24")
        waits = await asyncio.gather(*(account.spend(key, 2) for _ in range(200)))
        assert sorted(waits)[:51] == [*[0] * 50, pytest.approx(120, abs=5)]
        assert (bought[0], len(bought) <= 5) == ([50 + 8 * 10], True), bought
        keys = [await account.key(bytes([number])) for number in range(10)]
        assert await asyncio.gather(*(account.spend(key, 2) for key in keys)) == [0] * 10
        assert bought[-1] == [5] * 10


async def spent(pool: Pool) -> int:
    """How many units, at one a minute, the only account has not earned again."""
    async with pool.connection() as conn:
        found = await conn.execute("SELECT extract(epoch FROM free - clock_timestamp())::float8 FROM throttle")
        ((left_s,),) = await found.fetchall()
    return ceil(float(left_s) / 60)


async def test_what_an_answer_cost_in_addition_is_paid_later(database: str) -> None:
    async with open_pool(database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 20), lambda: TODAY)
        key = await account.key(b"192.0.2.0/24")
        assert await account.spend(key, 2) == 0
        account.charge(key, 30)
        assert await account.spend(key, 2) > 60 * 10
        assert await spent(pool) == 32
        assert await Budget(pool, Rate(1, 20), lambda: TODAY).spend(key, 1) > 60 * 10


async def test_at_a_stop_hundreds_of_accounts_settle_at_once(database: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with open_pool(database, size=2, part="test") as pool:
        account = Budget(pool, Rate(1, 100), lambda: TODAY)
        assert [await account.spend(bytes([number]), 1) for number in range(3)] == [0] * 3  # of 5 units that are bought
        for number in range(300):
            account.charge(number.to_bytes(2), 7)
        connection, lent = pool.connection, itertools.count()
        monkeypatch.setattr(pool, "connection", lambda *a, **more: (next(lent), connection(*a, **more))[1])
        async for _ in account.tidying(web.Application()):
            pass
        assert (next(lent), len(account.here)) == (1, 0)
        async with connection() as conn:
            found = await conn.execute("SELECT ceil(extract(epoch FROM free - now()) / 60)::int FROM throttle")
            assert Counter(await found.fetchall()) == {(1,): 3, (7,): 300}
        account.charge(b"late", 1)
        await pool.close()
        async for _ in account.tidying(web.Application()):
            pass
        assert len(account.here) == 1


async def test_where_addresses_are_hidden_people_and_lanes_have_accounts() -> None:
    async def noted(request: web.Request) -> web.Response:
        accounts = [
            note_account(request.clone(remote=remote), (), client=client, person=person)
            for remote in ("203.0.113.5", "10.1.2.3", "::1")
            for client, person in ((None, None), (None, "ann"), ("bot", None), ("bot", "ann"))
        ]
        return web.Response(body=b"|".join(accounts))

    app = web.Application()
    app.router.add_get("/api/page", noted)
    app.freeze()
    answer = await app._handle(make_mocked_request("GET", "/api/page", app=app))
    assert isinstance(answer, web.Response)
    assert isinstance(answer.body, bytes)
    client, person = [b"client bot"] * 2, b"person ann"
    assert answer.body.split(b"|") == [
        *(b"203.0.113.0/24", b"203.0.113.0/24", *client),
        *(b"10.1.2.0/24 pages", person, *client),
        *(b"::/48 pages", person, *client),
    ]


async def test_where_addresses_are_hidden_other_work_eats_no_units_of_pages(limited: Limited) -> None:
    async with limited(10) as site:
        assert await statuses(site, "/lists/dead?dbname=testwiki@wmflabs", 3) == [200, 200, 429]
        assert await statuses(site, "/", 1) == [429]
        assert await statuses(site, "/nothing", 1) == [404]
        assert await statuses(site, PAGE, 6) == [200] * 5 + [429]


async def test_without_a_rate_nobody_is_limited_and_nothing_is_stored(limited: Limited) -> None:
    async with limited(1, rate="0") as site:
        assert await statuses(site, PAGE, 5) == [200] * 5
        assert await stored_keys(site) == []


async def test_a_trusted_client_is_not_limited_wherever_it_is(limited: Limited) -> None:
    async with limited(2, tokens=TOKENS) as site:
        for scheme in ("Bearer", "bearer"):
            assert await statuses(site, PAGE, 5, Authorization=f"{scheme} {TOKEN}") == [200] * 5
        assert await statuses(site, PAGE, 2) == [200, 429]
        assert await statuses(site, PAGE, 2, Authorization="Basic dXNlcjpwYXNz") == [429] * 2


async def test_a_token_that_nobody_has_is_reported_as_that(limited: Limited) -> None:
    wrong = ("Bearer x", "Bearer", "Bearer ", "BEARER \xff", f"Bearer {TOKEN}x", f"Bearer {TOKENS}")
    async with limited(100, tokens=TOKENS) as site:
        for path, given in itertools.product((PAGE, "/", "/healthz"), wrong):
            status, body, response = await site.fetch(path, Authorization=given)
            assert status == 401, given
            assert response.headers["WWW-Authenticate"].startswith("Bearer ")
            assert "token" in body
            assert TOKEN not in body


def test_a_malformed_token_is_reported_without_telling_it() -> None:
    for entry in ["secret", "bot:secret", ":" + "a" * 64, "bot:" + "g" * 64, "b t:" + "a" * 64, "bot:"]:
        with pytest.raises(ConfigError, match=r"WEBOID_WEB_TOKENS\): entry 2 must be") as raised:
            clients_of([TOKENS, entry])
        assert "secret" not in str(raised.value).replace(entry, "") or entry != "secret", entry
        assert entry not in str(raised.value), entry
