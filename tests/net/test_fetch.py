"""One check against real servers that misbehave: the answer, and the requests that were sent (C-1, C-2, U-5)."""

import asyncio
import gzip
from collections.abc import AsyncIterator
from dataclasses import replace
from time import monotonic

import pytest
from support.misbehaving import Act, Asked, HangUp, Script, Silence, at_once, head_only, noting, reply, serve

from weboid.config import NetConfig
from weboid.core.observe.observation import RawResponse
from weboid.core.observe.observe import observation_of
from weboid.core.record.reasons import Outcome, Reason
from weboid.core.record.status import Status
from weboid.net.fetch import ANSWERS_A_CHECK, fetch_answer
from weboid.net.outbound import open_session

from .test_dial import silent

PAGE = b"<!doctype html><title>A page</title>"
FINE = reply(200, body=PAGE)


async def answered(settings: NetConfig, script: Script, *, get_only: bool = False) -> tuple[RawResponse, list[str]]:
    """The answer to one check of a server, and what it was asked."""
    async with serve(script) as site, open_session(settings) as session:
        return await fetch_answer(session, site.url(), turn=at_once, get_only=get_only), site.lines()


def by_method(head: Act, get: Act) -> Script:
    return lambda asked: head if asked.method == "HEAD" else get


def whole(answer: bytes) -> Script:
    return lambda asked: head_only(asked, answer)


HEAD, GET = "HEAD /", "GET /"
CHUNKED = reply(200, "Transfer-Encoding: chunked", body=None)


@pytest.mark.parametrize(
    ("script", "code", "asked"),
    [
        pytest.param(whole(reply(200, body=PAGE)), 200, [HEAD], id="a sensible answer to HEAD is enough"),
        pytest.param(lambda _: reply(204, body=None, kind=None), 204, [HEAD], id="no content needs no type"),
        pytest.param(by_method(reply(200, body=None), FINE), 200, [HEAD, GET], id="HEAD without a length"),
        pytest.param(by_method(reply(200, kind=None), FINE), 200, [HEAD, GET], id="HEAD without a type"),
        pytest.param(by_method(CHUNKED, FINE), 200, [HEAD, GET], id="HEAD in chunks"),
        *(
            pytest.param(by_method(reply(code, body=None), FINE), 200, [HEAD, GET], id=f"GET is fine after {code}")
            for code in (400, 401, 403, 404, 405, 409, 410, 418, 500, 501, 502, 503, 504)
        ),
        pytest.param(whole(reply(429)), 429, [HEAD], id="who is asked too often is not asked again"),
        pytest.param(whole(reply(429, "Retry-After: 60")), 429, [HEAD], id="nor who names a time"),
        pytest.param(whole(reply(503, "Retry-After: 60")), 503, [HEAD], id="nor who has none for us"),
    ],
)
async def test_a_check_sends_no_request_more_than_it_takes(
    settings: NetConfig, script: Script, code: int, asked: list[str]
) -> None:
    answer, lines = await answered(settings, script)
    assert (answer.code, lines) == (code, asked)
    assert f"{answer.method} /" == asked[-1]
    assert answer.body == (PAGE if asked[-1] == GET and code == 200 else b"")


@pytest.mark.parametrize("head", [HangUp(), HangUp(reset=True), b"nonsense\r\n\r\n", Silence()])
async def test_no_broken_head_is_believed_where_get_is_fine(settings: NetConfig, head: Act) -> None:
    # Of silence GET gets as much time as HEAD has taken.
    settings = replace(settings, answer_s=1.0) if isinstance(head, Silence) else settings
    answer, asked = await answered(settings, by_method(head, reply(200, body=PAGE)))
    assert (answer.code, answer.method, asked) == (200, "GET", ["HEAD /", "GET /"])


@pytest.mark.parametrize(
    ("code", "status", "reason"),
    [
        (404, Status.NOT_FOUND, Reason.NOT_FOUND),
        (410, Status.GONE, Reason.GONE),
        (500, Status.SYNTAX_OR_SERVER_ERROR, Reason.SERVER_ERROR),
        (502, Status.BAD_GATEWAY, Reason.GATEWAY),
        (503, Status.UNAVAILABLE, Reason.UNAVAILABLE),
        (401, Status.NO_ACCESS, Reason.LOGIN),
        (403, Status.NO_ACCESS, Reason.FORBIDDEN),
        (451, Status.NO_ACCESS, Reason.LEGAL),
        (405, Status.METHOD, Reason.METHOD),
        (999, Status.UNKNOWN_CODE, Reason.BOT_WALL),
    ],
)
async def test_what_get_confirms_is_believed(settings: NetConfig, code: int, status: Status, reason: Reason) -> None:
    answer, asked = await answered(settings, lambda asked: head_only(asked, reply(code, body=b"no")))
    assert (answer.code, answer.method, asked) == (code, "GET", ["HEAD /", "GET /"])
    assert answer.body == b"no"
    seen = observation_of(answer)
    assert (seen.status, seen.reason) == (status, reason)


@pytest.mark.parametrize(
    ("act", "reason"),
    [
        (HangUp(), Reason.RESET),
        (HangUp(reset=True), Reason.RESET),
        (b"nonsense\r\n\r\n", Reason.PROTOCOL),
        (b"HTTP/1.1 99999 What\r\n\r\n", Reason.PROTOCOL),
        (b"HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Reason.PROTOCOL),
    ],
)
async def test_what_fails_by_both_methods_is_a_fault(settings: NetConfig, act: Act, reason: Reason) -> None:
    answer, asked = await answered(settings, lambda _: act)
    assert asked == ["HEAD /", "GET /"]
    assert answer.fault is reason
    assert observation_of(answer).status is Status.NETWORK


@pytest.mark.parametrize("act", [Silence(), b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX"])
async def test_an_answer_that_does_not_come_by_either_method_is_a_timeout(hasty: NetConfig, act: Act) -> None:
    answer, asked = await answered(hasty, lambda _: act)
    assert (answer.fault, asked) == (Reason.TIMEOUT, ["HEAD /", "GET /"])
    assert observation_of(answer).status is Status.IP_SILENT


async def test_a_closed_port_is_a_refusal_and_asked_once(settings: NetConfig) -> None:
    async with serve(lambda _: b"", ip="127.0.0.2") as site:
        url = site.url()
    hosts: list[str] = []
    async with open_session(settings) as session:
        answer = await fetch_answer(session, url, turn=noting(hosts))
    assert answer.fault is Reason.CONNECTION_REFUSED
    assert hosts == ["127.0.0.2"]
    assert observation_of(answer).status is Status.IP_SILENT


async def test_a_server_that_does_not_take_the_connection_is_a_timeout_and_asked_once(hasty: NetConfig) -> None:
    hosts: list[str] = []
    with silent("127.0.0.3") as port:
        async with open_session(hasty) as session:
            answer = await fetch_answer(session, f"http://127.0.0.3:{port}/", turn=noting(hosts))
    assert answer.fault is Reason.TIMEOUT
    assert hosts == ["127.0.0.3"]


async def test_the_headers_are_those_of_the_requirement(settings: NetConfig) -> None:
    seen: list[dict[str, str]] = []

    def script(asked: Asked) -> Act:
        seen.append(asked.headers)
        return head_only(asked, reply(404, body=b"no"))

    async with serve(script) as site, open_session(replace(settings, sender="weboid@tools.example")) as session:
        await fetch_answer(session, site.url(), turn=at_once)
    expected = {
        "Host": f"127.0.0.1:{site.port}",
        "User-Agent": settings.user_agent,
        "Accept": "*/*",
        "Accept-Language": "*",
        "Accept-Encoding": "gzip, deflate",
        "Connection": "keep-alive",
        "Cache-Control": "max-age=0",
        "From": "weboid@tools.example",
    }
    assert seen == [expected, expected]


async def test_a_host_that_needs_get_is_asked_by_get_only(settings: NetConfig) -> None:
    answer, asked = await answered(settings, lambda _: reply(200, body=PAGE), get_only=True)
    assert (answer.code, answer.body, asked) == (200, PAGE, ["GET /"])


async def test_the_body_is_bounded(settings: NetConfig) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
        while True:
            yield b"x" * 10_000

    answer, _ = await answered(replace(settings, body_bytes=30_000), lambda _: endless(), get_only=True)
    assert (answer.code, answer.body) == (200, b"x" * 30_000)


async def test_a_page_is_read_until_there_is_text(settings: NetConfig) -> None:
    script = b"<script>" + b"var x = [1, 2, 3];\n" * 10_000 + b"</script>"
    body = b"<html><title>A page</title>" + script + b"<p>The text at last</p>" + script * 3
    for headers, sent in (((), body), (("Content-Encoding: gzip",), gzip.compress(body))):
        act = reply(200, "Content-Type: text/html", *headers, body=sent)
        answer, _ = await answered(settings, lambda _, act=act: act, get_only=True)  # type: ignore[misc]
        assert b"The text at last" in answer.body
        assert len(answer.body) < settings.body_bytes + 1_000
        answer, _ = await answered(replace(settings, text_bytes=0), lambda _, act=act: act, get_only=True)  # type: ignore[misc]
        assert answer.body == body[: settings.body_bytes]


async def test_a_body_that_drips_does_not_unsay_the_status(settings: NetConfig) -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 1000\r\n\r\nfirst"
        while True:
            await asyncio.sleep(0.01)
            yield b"."

    answer, _ = await answered(replace(settings, answer_s=0.5), lambda _: drip(), get_only=True)
    assert answer.code == 200
    assert answer.body.startswith(b"first.")


async def test_headers_that_drip_are_a_timeout(hasty: NetConfig) -> None:
    async def drip() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            await asyncio.sleep(0.02)
            yield b"X-A: b\r\n"

    answer, _ = await answered(hasty, lambda _: drip())
    assert answer.fault is Reason.TIMEOUT


@pytest.mark.parametrize("line", [b"X-A: b\r\n", b"X-A: " + b"b" * 20_000 + b"\r\n", b"b" * 10_000])
async def test_endless_headers_are_beyond_our_limit(settings: NetConfig, line: bytes) -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield b"HTTP/1.1 200 OK\r\n"
        while True:
            yield line

    answer, _ = await answered(settings, lambda _: endless())
    assert answer.fault is Reason.OUR_LIMIT
    assert observation_of(answer).outcome is Outcome.DOUBTFUL


async def test_all_headers_are_kept_and_little_of_each(settings: NetConfig) -> None:
    lines = [f"X-{number}: {'v' * 1200}" for number in range(50)]
    answer, _ = await answered(settings, lambda _: reply(200, *lines))
    assert answer.code == 200
    assert (len(answer.headers), answer.headers["content-type"]) == (52, "text/html")
    assert max(map(len, answer.headers.values())) == 1000


@pytest.mark.parametrize(
    "lines",
    [
        [f"X-{number}: debug" for number in range(108)],
        [f"X-{number}: debug" for number in range(1000)],
        [f"X-{number}: {'v' * 2000}" for number in range(20)],
        [f"X-{number}: {'v' * 8000}" for number in range(30)],
        ["Content-Security-Policy: " + "a" * 80_000],
        ["Content-Security-Policy: " + "a" * 240_000],
    ],
)
async def test_the_headers_of_a_living_page_may_be_as_large_as_in_browsers(
    settings: NetConfig, lines: list[str]
) -> None:
    def script(asked: Asked) -> Act:
        if asked.target == "/":
            return reply(302, *lines, "Location: /b")
        return head_only(asked, reply(200, *lines, body=PAGE))

    answer, asked = await answered(settings, script)
    assert (answer.code, asked) == (200, ["HEAD /", "HEAD /b"])
    assert observation_of(answer).outcome is Outcome.WORKING


async def test_a_whole_check_has_an_end(hasty: NetConfig) -> None:
    async def slow(code: int, *lines: str) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.7 * hasty.answer_s)
        yield reply(code, *lines)

    script = lambda asked: slow(302, f"Location: /{asked.count}")  # noqa: E731
    async with serve(script) as site, open_session(hasty) as session:
        answer = await fetch_answer(session, site.url(), turn=at_once)
        assert answer.fault is Reason.OUR_LIMIT
        assert observation_of(answer).outcome is Outcome.DOUBTFUL
        assert len(site.asked) <= 2 * ANSWERS_A_CHECK / 0.7  # twice: a busy machine sees the end late


async def test_a_dead_server_behind_slow_redirects_is_a_timeout_all_the_same(hasty: NetConfig) -> None:
    patient = replace(hasty, answer_s=1.0)  # a busy machine sees an answer late

    async def slow(asked: Asked) -> AsyncIterator[bytes]:
        await asyncio.sleep(0.6 if asked.target in ("/", "/1") else 60)
        yield reply(302, f"Location: /{asked.count}")

    answer, asked = await answered(patient, slow)
    assert (answer.fault, asked) == (Reason.TIMEOUT, ["HEAD /", "HEAD /1", "HEAD /2", "GET /2"])


async def test_a_mistake_of_ours_is_not_held_against_the_server(settings: NetConfig) -> None:
    async def turn(host: str) -> None:
        raise LookupError(host)

    async with serve(lambda _: reply(200)) as site, open_session(settings) as session:
        with pytest.raises(LookupError):
            await fetch_answer(session, site.url(), turn=turn)


async def test_many_checks_at_once_wait_for_a_seat_without_being_called_slow(settings: NetConfig) -> None:
    async def slow() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.1)
        yield reply(200)

    begun = monotonic()
    async with serve(lambda _: slow()) as site, open_session(replace(settings, connections=2)) as session:
        checks = (fetch_answer(session, site.url(f"/{n}"), turn=at_once) for n in range(12))
        answers = await asyncio.gather(*checks)
    assert {answer.code for answer in answers} == {200}
    # Two at a time took six times as long as one, whose time alone counts.
    assert max(answer.seconds for answer in answers) < (monotonic() - begun) / 2
