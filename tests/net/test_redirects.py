"""Redirects: followed as in browsers, and no further than allowed (C-8, C-13)."""

from dataclasses import replace

import pytest
from support.misbehaving import Act, Asked, Script, Silence, Zone, at_once, head_only, name_server, noting, reply, serve

from weboid.assets import toml_next_to
from weboid.config import NetConfig
from weboid.core.observe.observation import Hop, RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import parse
from weboid.net.fetch import Single, fetch_answer
from weboid.net.outbound import open_session

_CASES = toml_next_to(__file__)
FINE = reply(200, body=b"a")
Got = tuple[RawResponse, list[str]]


def going(ways: dict[str, str], code: int = 301, *lines: str) -> Script:
    def script(asked: Asked) -> Act:
        if (location := ways.get(asked.target)) is not None:
            return reply(code, f"Location: {location}", *lines, body=b"")
        return reply(200, body=b"")

    return script


async def answered(settings: NetConfig, script: Script, path: str = "/", spent_s: float = 0) -> Got:
    async with serve(script) as site, open_session(settings) as session:
        return await fetch_answer(session, site.url(path), turn=at_once, spent_s=spent_s), site.lines()


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (301, Status.MOVED_PERMANENTLY),
        (302, Status.FOUND),
        (303, Status.SEE_OTHER),
        (307, Status.REDIRECTED),
        (308, Status.REDIRECTED),
    ],
)
async def test_a_redirect_is_followed_and_its_target_recorded(settings: NetConfig, code: int, status: Status) -> None:
    answer, asked = await answered(settings, going({"/a": "/b"}, code), "/a")
    assert asked == ["HEAD /a", "HEAD /b"]
    assert [hop.code for hop in answer.hops] == [code]
    seen = observation_of(answer)
    assert (seen.status, seen.reason, seen.target) == (status, Reason.MOVED, parse(answer.url[:-1] + "b"))


async def test_a_chain_is_followed_to_its_end_unless_it_is_too_long(settings: NetConfig) -> None:
    ways = {f"/{n}": f"/{n + 1}" for n in range(20)}
    answer, asked = await answered(settings, going(ways), "/0")
    assert (len(asked), len(answer.hops), answer.code) == (21, 20, 200)
    assert answer.final.endswith("/20")
    ways = {f"/{n}": f"/{n + 1}" for n in range(30)}
    answer, asked = await answered(settings, going(ways), "/0")
    assert asked == [f"{method} /{n}" for method in ("HEAD", "GET") for n in range(21)]
    assert answer.code == 301
    seen = observation_of(answer)
    assert (seen.reason, seen.outcome) == (Reason.TOO_MANY_REDIRECTS, Outcome.DOUBTFUL)


@pytest.mark.parametrize("ways", [{"/": "/"}, {"/": "#top"}, {"/": "/a", "/a": "/b", "/b": "/a"}])
async def test_a_loop_is_a_loop_by_both_methods(settings: NetConfig, ways: dict[str, str]) -> None:
    answer, asked = await answered(settings, going(ways, 302))
    assert len(asked) == 2 * len(ways)
    assert observation_of(answer).reason is Reason.REDIRECT_LOOP


@pytest.mark.parametrize("way", ["/", "/error.aspx?aspxerrorpath=/a", "/login?next=/a", "http://127.0.0.9:9999/"])
async def test_where_head_alone_is_led_astray_get_begins_at_the_first_url(settings: NetConfig, way: str) -> None:
    moved = reply(302, f"Location: {way}")
    cases = [(FINE, FINE, "working"), (reply(404), FINE, "failing"), (moved, b"no HTTP\r\n\r\n", "failing")]
    for get, end, outcomes in [*cases, (moved, FINE, "failing doubtful")]:
        acts: dict[str, Act] = {"HEAD /a": moved, "GET /a": get, f"GET {way}": end}
        script = lambda asked, acts=acts: head_only(asked, acts.get(f"{asked.method} {asked.target}", FINE))  # noqa: E731
        answer, asked = await answered(settings, script, "/a")
        assert (observation_of(answer).outcome.value in outcomes, "GET /a" in asked) == (True, True)
    acts["GET /a"] = Silence()
    answer, asked = await answered(settings, script, "/a", 3 * settings.answer_s - 0.4)
    assert (answer.method, answer.fault is not Reason.OUR_LIMIT, "GET /a" in asked) == ("HEAD", True, True)


async def test_a_loop_of_head_only_or_by_an_escape_is_none(settings: NetConfig) -> None:
    answer, _ = await answered(settings, lambda asked: reply(302, "Location: /") if asked.method == "HEAD" else FINE)
    assert (answer.code, answer.method, answer.hops) == (200, "GET", ())
    answer, asked = await answered(settings, going({"/~me": "/%7Eme"}), "/~me")
    assert (answer.code, asked) == (200, ["HEAD /~me", "HEAD /%7Eme"])
    assert answer.final == answer.url


async def test_a_cookie_lets_us_come_back_to_the_same_url_but_does_not_outlive_the_check(settings: NetConfig) -> None:
    def script(asked: Asked) -> Act:
        if asked.headers.get("Cookie") == "seen=1; lang=de":
            return reply(200, body=b"")
        return reply(302, "Location: /", "Set-Cookie: seen=1; Path=/", "Set-Cookie: lang=de", body=b"")

    answer, asked = await answered(settings, script)
    assert (answer.code, asked) == (200, ["HEAD /", "HEAD /"])

    def setting(asked: Asked) -> Act:
        assert "Cookie" not in asked.headers
        return reply(200, "Set-Cookie: a=1", body=b"")

    async with serve(setting) as site, open_session(settings) as session:
        for _ in range(2):
            assert (await fetch_answer(session, site.url(), turn=at_once)).code == 200

    answer, asked = await answered(
        settings, lambda asked: reply(302, "Location: /", f"Set-Cookie: n={asked.count}", body=b"")
    )
    assert len(asked) == 42
    assert observation_of(answer).reason is Reason.REDIRECT_LOOP


@pytest.mark.parametrize(("location", "asked_for"), _CASES["locations"])
async def test_a_location_is_read_as_browsers_read_it(settings: NetConfig, location: str, asked_for: str) -> None:
    answer, asked = await answered(settings, going({"/d/a": location}), "/d/a")
    assert asked == ["HEAD /d/a", f"HEAD {asked_for}"]
    assert answer.code == 200


@pytest.mark.parametrize(
    "location", ["mailto:a@b.test", "ftp://files.test/", "javascript:alert(1)", "data:,x", "file:///etc/passwd"]
)
async def test_another_scheme_is_reported_but_not_followed(settings: NetConfig, location: str) -> None:
    answer, asked = await answered(settings, going({"/": location}))
    assert (answer.fault, asked) == (Reason.REDIRECT_TO_SCHEME, ["HEAD /"])
    assert answer.hops == (Hop(answer.url, 301, location),)


@pytest.mark.parametrize(
    "location", ["http://", "http://[::1", "http://a b.test/", "http://x.test:99999/", "http://printer/", "//%FF.test/"]
)
async def test_a_location_that_leads_nowhere_is_broken(settings: NetConfig, location: str) -> None:
    answer, asked = await answered(settings, going({"/": location}))
    assert (answer.fault, asked) == (Reason.REDIRECT_BROKEN, ["HEAD /", "GET /"])


async def test_a_location_at_a_name_that_browsers_alone_ask_is_our_limit(settings: NetConfig) -> None:
    # validator/validator#720, mitmproxy/mitmproxy#3885
    for host in ("mill-.test", "-mill.test", "a_.b.test.", "LocalHost", "localhost:81"):
        assert (await answered(settings, going({"/": f"//{host}/"})))[0].fault is Reason.OUR_LIMIT


TEXT = b"<p>" + b"One of the words of a page. " * 20


@pytest.mark.parametrize("code", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("lines", [(), ("Location:",), ("Location:   ",)])
@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        (TEXT, Status.CORRECTED, Reason.CODE_CORRECTED),
        (b"<p>Object moved", Status.STRANGE, Reason.OUR_LIMIT),
        (b"", Status.STRANGE, Reason.OUR_LIMIT),
    ],
)
async def test_a_redirect_without_a_target_is_its_body(
    settings: NetConfig, code: int, lines: tuple[str, ...], body: bytes, status: Status, reason: Reason
) -> None:
    def script(asked: Asked) -> Act:
        if asked.target == "/":
            return reply(302, "Location: /x")
        return head_only(asked, reply(code, *lines, body=body))

    for path in ("/", "/x"):
        answer, asked = await answered(settings, script, path)
        seen = observation_of(answer)
        assert (seen.status, seen.reason, asked[-1]) == (status, reason, "GET /x")
        assert seen.outcome in (Outcome.WORKING, Outcome.DOUBTFUL)


@pytest.mark.parametrize("code", [300, 305, 306])
async def test_codes_that_nobody_follows_end_there(settings: NetConfig, code: int) -> None:
    answer, asked = await answered(settings, going({"/": "/b"}, code))
    assert (answer.code, answer.hops, asked) == (code, (), ["HEAD /", "GET /"])


@pytest.mark.parametrize("host", ["10.0.0.1", "169.254.169.254", "[::ffff:10.0.0.1]", "2852039166", "0xA9FEA9FE"])
async def test_a_redirect_to_what_is_not_public_goes_nowhere(settings: NetConfig, host: str) -> None:
    answer, asked = await answered(settings, going({"/": f"http://{host}/latest/meta-data/"}))
    assert (answer.fault, asked) == (Reason.NOT_PUBLIC, ["HEAD /"])
    assert len(answer.hops) == 1


@pytest.mark.parametrize("target", ["127.0.0.1:25", "127.0.0.1:6379", "8.8.8.8:5432", "[::1]:11211", "10.0.0.1:9200"])
async def test_a_redirect_to_a_bad_port_goes_nowhere(settings: NetConfig, target: str) -> None:
    answer, asked = await answered(settings, going({"/": f"http://{target}/"}))
    assert (answer.fault, asked) == (Reason.BAD_PORT, ["HEAD /"])
    seen = observation_of(answer)
    assert (seen.outcome, seen.target, seen.on_other_host) == (
        Outcome.DOUBTFUL,
        parse(f"http://{target}/"),
        not target.startswith("127"),
    )


async def test_the_name_of_a_bad_port_is_not_even_looked_up(settings: NetConfig) -> None:
    async with (
        name_server({"base.test": ["127.0.0.1"]}) as dns,
        open_session(replace(settings, dns=(dns.address,))) as session,
    ):
        answer = await fetch_answer(session, "http://base.test:3306/", turn=at_once)
    assert (answer.fault, dns.asked) == (Reason.BAD_PORT, [])


async def test_userinfo_in_a_location_is_dropped(settings: NetConfig) -> None:
    seen: list[dict[str, str]] = []

    def second(asked: Asked) -> Act:
        seen.append(asked.headers)
        return reply(200, body=b"")

    async with serve(second, ip="127.0.0.4") as other:
        answer, _ = await answered(settings, going({"/": f"http://user:secret@127.0.0.4:{other.port}/"}))
    assert answer.final == other.url()
    assert not {"Authorization", "Referer"} & seen[0].keys()


async def test_every_hop_takes_the_turn_of_its_own_host(settings: NetConfig) -> None:
    zone: Zone = {"one.test": ["127.0.0.5"], "two.test": ["127.0.0.6"]}
    hosts: list[str] = []
    ways: dict[str, str] = {}
    async with (
        name_server(zone) as dns,
        serve(going(ways), ip="127.0.0.5") as one,
        serve(going({}), ip="127.0.0.6") as two,
        open_session(replace(settings, dns=(dns.address,))) as session,
    ):
        ways["/"] = f"//two.test:{two.port}/x"
        answer = await fetch_answer(session, one.url(host="one.test"), turn=noting(hosts))
    # By HEAD, and then by GET, because it ends in another domain.
    assert hosts == ["one.test", "two.test", "two.test"]
    assert answer.hops == (Hop(one.url(host="one.test"), 301, two.url("/x", host="two.test")),)


async def test_a_single_request_ends_at_the_redirect_and_says_where_it_leads(settings: NetConfig) -> None:
    async with serve(going({"/a": "/b"})) as site, open_session(settings) as session:
        answer = await fetch_answer(session, site.url("/a"), turn=at_once, get_only=True, single=Single())
        assert site.lines() == ["GET /a"]
        assert (answer.code, answer.hops) == (301, (Hop(site.url("/a"), 301, site.url("/b")),))


async def test_a_document_that_has_not_changed_is_not_sent_again(settings: NetConfig) -> None:
    def script(asked: Asked) -> Act:
        return reply(304, body=None) if asked.headers.get("If-None-Match") == '"1"' else reply(200, body=b"new")

    async with serve(script) as site, open_session(settings) as session:
        for tag, code in (('"1"', 304), ('"2"', 200)):
            known = Single({"If-None-Match": tag})
            answer = await fetch_answer(session, site.url(), turn=at_once, get_only=True, single=known)
            assert answer.code == code
        assert site.connections == 1


async def test_a_single_request_ends_at_its_own_time(settings: NetConfig) -> None:
    async with serve(lambda _: Silence()) as site, open_session(settings) as session:
        brief = Single(most_s=0.2)
        answer = await fetch_answer(session, site.url(), turn=at_once, get_only=True, single=brief)
        assert answer.fault is Reason.OUR_LIMIT


async def test_a_name_without_a_dot_is_valid_only_where_its_user_has_named_it(settings: NetConfig) -> None:
    named, address = {"wiki": ["127.0.0.1"]}, "http://wiki/"
    assert parse(address, frozenset(named)).host == "wiki"
    async with serve(lambda _: reply(302, "Location: http://other/")) as site, open_session(settings, named) as session:
        answer = await fetch_answer(session, f"http://wiki:{site.port}/", turn=at_once)
        assert (answer.fault, site.asked[0].headers["Host"]) == (Reason.REDIRECT_BROKEN, f"wiki:{site.port}")
    async with open_session(replace(settings, permit=()), named) as session:
        assert (await fetch_answer(session, address, turn=at_once)).fault is Reason.NOT_PUBLIC
    async with open_session(settings) as session:
        with pytest.raises(InvalidUrl):
            await fetch_answer(session, address, turn=at_once)
