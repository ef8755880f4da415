import asyncio
from typing import Any
from unittest.mock import patch

import aiohttp
import pytest
from support.wikireplay import Exchange, exchange, open_wiki_replay

from weboid.errors import SourceError
from weboid.wiki import action
from weboid.wiki.action import ActionApi, ApiPatience

QUESTION = {"meta": "siteinfo"}
FINE = exchange(QUESTION, {"batchcomplete": True})
MAXLAG = exchange(
    QUESTION, {"error": {"code": "maxlag", "info": "Waiting for a database"}}, headers={"Retry-After": "0"}
)
QUICK = ApiPatience(tries=3, timeout_s=2, first_pause_s=0.001, longest_pause_s=0.1, answer_mib=1)


def broken(status: int = 200, body: bytes = b"{}", **headers: str) -> Exchange:
    return Exchange(QUESTION, body, status, {name.replace("_", "-"): value for name, value in headers.items()})


async def answer_after(session: aiohttp.ClientSession, *answers: Exchange) -> tuple[dict[str, Any], int]:
    async with open_wiki_replay(answers) as replay:
        answer = await ActionApi(replay.url, session, "Weboid-test", QUICK).fetch_answer(QUESTION)
        return answer, len(replay.asked)


@pytest.mark.parametrize(
    "first",
    [
        MAXLAG,
        broken(502, b"<html>Bad Gateway"),
        broken(429, Retry_After="0"),
        broken(503, Retry_After="Wed, 21 Oct 2026 07:28:00 GMT", Date="Wed, 21 Oct 2026 07:28:00 GMT"),
        broken(503, Retry_After="soon"),
        broken(body=b'{"query": {'),
        broken(body=b"\xff\xfe"),
        broken(body=b"[" * 100_000),
        broken(body=b"[1]"),
        exchange(QUESTION, {"error": {"code": "internal_api_error_DBQueryError", "info": "?"}}),
        exchange(QUESTION, {"error": {"code": "cirrussearch-too-busy-error"}}),  # goldsmith/Wikipedia#98, #220, #271
    ],
)
async def test_a_passing_trouble_is_asked_again(session: aiohttp.ClientSession, first: Exchange) -> None:
    assert await answer_after(session, first, FINE) == ({"batchcomplete": True}, 2)


async def test_byte_order_marks_around_an_answer_do_not_count(session: aiohttp.ClientSession) -> None:
    bom = b"\xef\xbb\xbf"  # of PHP files that begin or end with one, as in Szmyk/mediawiki-discord#7
    answer = broken(body=bom + bom + b'{"batchcomplete": true}\r\n' + bom)
    assert await answer_after(session, answer) == ({"batchcomplete": True}, 1)


@pytest.mark.parametrize(
    ("refusal", "message"),
    [
        (broken(404), "HTTP 404; is it the address of a MediaWiki's api.php"),
        (broken(403), "HTTP 403: it refuses 'Weboid-test', or this machine"),  # mwclient#407
        (broken(302, Location="http://127.0.0.2/w/api.php"), "redirects to 'http://127.0.0.2/w/api.php', which is not"),
        (broken(429, Retry_After="3600"), "asks to wait 3600 s"),
        (broken(body=b'"' + b"x" * (1 << 20) + b'"'), "more than 1 MiB"),
        (exchange(QUESTION, {"error": {"code": "readapidenied", "info": "You need to log in"}}), "readapidenied"),
        (exchange(QUESTION, {"error": "no"}), "an error that cannot be read"),
        *((bad, "answered .*, 3 times in a row; try again later") for bad in (MAXLAG, broken(502), broken(body=b"?"))),
    ],
)
async def test_what_stays_bad_ends_at_once_or_after_the_last_try(
    session: aiohttp.ClientSession, refusal: Exchange, message: str
) -> None:
    async with open_wiki_replay([refusal]) as replay:
        with pytest.raises(SourceError, match=f"{replay.url} .*{message}"):
            await ActionApi(replay.url, session, "Weboid-test", QUICK).fetch_answer(QUESTION)
        assert len(replay.asked) == (3 if "3 times" in message else 1)


async def test_retry_after_is_waited_for(session: aiohttp.ClientSession) -> None:
    patience = ApiPatience(tries=2, first_pause_s=0)
    async with open_wiki_replay([broken(503, Retry_After="7"), FINE]) as replay:
        with patch.object(action, "sleep") as slept:
            await ActionApi(replay.url, session, "Weboid-test", patience).fetch_answer(QUESTION)
    slept.assert_awaited_once_with(7)


async def test_a_server_that_is_not_there_is_reported_and_one_that_keeps_silent_left(
    session: aiohttp.ClientSession, unused_tcp_port: int
) -> None:
    url = f"http://127.0.0.1:{unused_tcp_port}/w/api.php"
    with pytest.raises(SourceError, match="cannot be reached"):
        await ActionApi(url, session, "Weboid-test", QUICK).fetch_answer(QUESTION)
    for wrong in ("not a url", "file:///etc/passwd", "http://"):
        with pytest.raises(SourceError, match="is no URL"):
            await ActionApi(wrong, session, "Weboid-test", QUICK).fetch_answer(QUESTION)

    async def keep_silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\n{")
        await reader.read()  # the question, up to the end that only giving up brings
        writer.close()

    patience = ApiPatience(tries=2, timeout_s=0.05, first_pause_s=0)
    async with await asyncio.start_server(keep_silent, "127.0.0.1", 0) as server:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/w/api.php"
        with pytest.raises(SourceError, match=r"gave no answer within 0\.05 s, 2 times"):
            await ActionApi(url, session, "Weboid-test", patience).fetch_answer(QUESTION)


async def test_long_questions_go_by_post_and_name_the_agent(session: aiohttp.ClientSession) -> None:
    titles = {"titles": "|".join(f"ლატგალია {number}" for number in range(50))}
    async with open_wiki_replay([exchange(titles, {"batchcomplete": True})]) as replay:
        await ActionApi(replay.url, session, "Weboid-test", QUICK).fetch_answer(titles)
        assert (replay.agents, replay.asked[0]["titles"]) == (["Weboid-test"], titles["titles"])
        assert {"formatversion": "2", "maxlag": "5"}.items() <= replay.asked[0].items()
        assert not replay.unknown
