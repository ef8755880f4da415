"""``/internal/crawl/…`` (O-1): who may call, and what hostile bodies bring about: nothing."""

import zlib
from collections.abc import Callable, Iterable
from random import Random
from typing import Any, Final
from uuid import UUID, uuid4

import aiohttp
import msgspec
import pytest
from msgspec.structs import replace
from support.observations import FINE, LOST
from support.remote import TOKEN, crawler_client, open_bad_network, open_server, posted_call, server_config
from support.stored import WikiInStore

from weboid.core.document.face import Answer, Face, Kind, Look, Role
from weboid.core.document.portrait import Portrait
from weboid.core.observe.observation import Observation
from weboid.core.record.moment import Moment
from weboid.core.record.policy import DEFAULT
from weboid.core.record.reasons import Reason
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.status import Status
from weboid.core.record.streak import Evidence, Streak
from weboid.core.url.urls import Url
from weboid.core.verdict.judge import judge
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.remote.crawl.calls import CrawlerCalls, remote_crawl_store
from weboid.remote.crawl.server import MOST_INFLATED
from weboid.remote.crawl.sightings import Sighting, sighting_of
from weboid.remote.http.messages import CRAWLERS, MOST_SENT
from weboid.remote.http.rpc import connected
from weboid.remote.http.wire import Life
from weboid.store.db.rows import StoredHost, StoredUrl
from weboid.store.results.record import Checked
from weboid.store.upkeep.alarm import AlarmKind

KIND, PATH, SCHEME = CRAWLERS.kind, CRAWLERS.path, CRAWLERS.scheme
GREET: Final = PATH + "greet"


def body(arguments: object, worker: object = "w", request: object = None) -> bytes:
    call = {"worker": worker, "request": request or str(UUID(int=7)), "arguments": arguments}
    return zlib.compress(msgspec.msgpack.encode(call))


async def sent(
    server: str, name: str, data: bytes, token: str | None = f"{SCHEME} {TOKEN}", kind: str = CRAWLERS.sent_kind
) -> tuple[int, bytes]:
    return await posted_call(server + PATH + name, data, token, kind)


async def test_nobody_without_the_token_is_answered(server: str) -> None:
    wrong = (None, "", SCHEME, f"{SCHEME} wrong", f"{SCHEME} {TOKEN} x", f"Basic {TOKEN}", f"Bearer {TOKEN}", TOKEN)
    for token in wrong:
        assert (token, (await sent(server, "greet", body({}), token))[0]) == (token, 401)


async def test_without_configured_crawlers_there_is_no_such_address(wiki: WikiInStore) -> None:
    async with open_server(wiki.pool, server_config(WEBOID_WEB_CRAWLERS="")) as url:
        assert (await sent(url, "greet", body({})))[0] == 404


HOSTILE: Final = [
    ("greet", b"", 400),
    ("greet", b"\x00" * 100, 400),
    ("greet", zlib.compress(b"\x91" * 100_000), 400),
    ("greet", body({})[:-3], 400),
    ("greet", body({}, worker=""), 400),
    ("greet", body({}, worker="w" * 1_000), 400),
    ("greet", body({}, worker="w\x1b[2J\n"), 400),
    ("greet", body({}, request="7"), 400),
    ("nothing", body({}), 404),
    ("lease", body({"until": ["x", 1]}), 400),
    ("renew", body({"held": {5_000: 1}}), 400),
    ("record", body({"checks": [], "held": {}}), 400),
    ("urls", body({"hosts": [[1, 2]] * 300, "day": 100}), 400),
    ("urls", body({"hosts": [[2**40, 2]], "day": 100}), 400),
    ("raise-alarm", body({"kind": "store", "day": 1, "detail": "x"}), 400),
    ("raise-alarm", body({"kind": "offline", "day": 1, "detail": "x" * 9_999}), 400),
    ("slots", body({"notes": {}, "wanted": {(1, 2): [float("nan"), 2]}}), 400),
    ("rest", body({"host": [1, 2], "seconds": float("inf")}), 400),
    ("exchange", body({"day": 1, "written": [[["network", "x" * 9_999], 1, {"answered": 1}]], "found": {}}), 400),
    ("ask-look", body({"look": "x", "key": [1, 2, 3]}), 400),
    ("take-looks", body({"limit": 101}), 400),
    ("answer-look", body({"look": str(UUID(int=1)), "outcome": "dead"}), 400),
    ("life", body({"name": "a", "host": "", "machine": "", "pid": 1, "version": "", "figures": {"x" * 999: 1.0}}), 400),
    ("exchange", body({"day": 100, "written": [[["network", "x\x00"], 100, {"answered": 1}]], "found": {}}), 400),
]


async def test_what_is_not_understood_is_refused_and_changes_nothing(server: str, wiki: WikiInStore) -> None:
    for number, (name, data, status) in enumerate(HOSTILE):
        assert (number, (await sent(server, name, data))[0]) == (number, status)
    assert await wiki.rows("SELECT * FROM done_request") == []
    assert await wiki.rows("SELECT * FROM slot") == []
    assert await wiki.rows("SELECT * FROM alarm") == []
    assert await wiki.rows("SELECT * FROM second_look") == []


def far_checked(url: StoredUrl, host: StoredHost, day: int = 100, seen: Observation = FINE) -> Checked:
    record, due = judge(url.record, seen, day)
    return Checked(url, host, day, seen, record, due, UNKNOWN_HOST, UNKNOWN_HOST)


def seeing(**other: object) -> Callable[[Sighting], Sighting]:
    return lambda report: replace(report, seen=replace(FINE, **other))


def leading_to(target: object, reason: Reason = Reason.MOVED) -> Callable[[Sighting], Sighting]:
    return seeing(status=Status.MOVED_PERMANENTLY, reason=reason, target=target)


OUT: Final = Reason.REDIRECT_TO_SCHEME
UNSOUND: Final[dict[str, Callable[[Sighting], Sighting]]] = {
    "another type": seeing(mime="x/y"),
    "a code below 0": seeing(http=-1),
    "a code that is none": seeing(http=1_000),
    "a size that no column takes": seeing(size_kib=2**31),
    "an endless target": leading_to("http://a.demo/" + "x" * 29_000),
    "a target with a line of its own": leading_to("http://a.demo/\n* evil"),
    "a target with markup": leading_to("http://a.demo/]] {{delete}}"),
    "a target with a user": leading_to("http://user:pass@a.demo/"),
    "a target in parts": leading_to(Url("http", "a.demo\n", 0, "/")),
    "a target that is no form of it": leading_to("http://A.demo"),
    "a script as target": leading_to("javascript:alert(1)"),
    "an app's address with markup": leading_to("app:]] {{delete}}", OUT),
    "an app's address with a line": leading_to("app:x\ny", OUT),
    "an app's address with a user": leading_to("app://user:pass@x", OUT),
    "an app's endless address": leading_to("app:" + "x" * 8_000, OUT),
    "what was meant": seeing(meant="http://a.demo/\n"),
    "no days to wait": lambda c: replace(c, seen=None),
    "a day below 0": lambda c: replace(c, day=-1),
    "a portrait": seeing(portrait=Portrait(title=(1 << 20,) * 500)),
    "a face": seeing(face=Face((Answer(1 << 20, Role.FAR, 1, Look(Kind.PAGE)),))),
}


async def test_checks_that_can_be_no_check_are_refused_and_change_nothing(server: str, wiki: WikiInStore) -> None:
    async with crawler_client(server) as caller:
        work = remote_crawl_store(caller).work
        held = await work.lease(Moment(100))
        [host] = await work.list_hosts(held, until=Moment(100), but=[], limit=9)
        [url] = (await work.list_urls([host.key], 100))[host.key]
        sound = far_checked(url, host)
        before, urls = await wiki.rows("SELECT * FROM url CROSS JOIN host"), await wiki.rows("SELECT * FROM url")
        for name, spoiled in UNSOUND.items():
            given = {"checks": [spoiled(sighting_of(sound))], "held": dict(held)}
            assert (name, (await sent(server, "record", body(given, "one")))[0]) == (name, 400)
        # Nothing that is judged can be sent, as programs of before did; nor one URL twice.
        for checks in ([sound], [sighting_of(sound)] * 2):
            assert (await sent(server, "record", body({"checks": checks, "held": dict(held)}, "one")))[0] == 400
        assert await wiki.rows("SELECT * FROM url CROSS JOIN host") == before
        # A URL that is not stored is none of ours, and one without the lease is another's (U-9).
        unknown = replace(sound, url=replace(url, key=url.key._replace(url_key=5)))
        assert (await work.record([unknown], held)).written == 0
        assert (await work.record([sound], {bucket: epoch + 1 for bucket, epoch in held.items()})).lost == 1
        assert await wiki.rows("SELECT * FROM url") == urls
        assert (await work.record([sound], held)).written == 1


async def test_the_server_judges_what_a_crawler_has_seen(server: str, wiki: WikiInStore) -> None:
    """However long the streak is that a crawler makes up: it is sent as what was seen today alone."""
    async with crawler_client(server) as caller:
        work = remote_crawl_store(caller).work
        held = await work.lease(Moment(100))
        [host] = await work.list_hosts(held, until=Moment(100), but=[], limit=9)
        [url] = (await work.list_urls([host.key], 100))[host.key]
        streak = Streak(99, 1, 99, Evidence(99, 60))
        honest = far_checked(url, host, seen=LOST)
        made_up = replace(
            honest, record=honest.record._replace(streak=streak), due=30_000, host_after=HostRecord(streak)
        )
        assert (await work.record([made_up], held)).written == 1
        known = await wiki.known("http://a.demo/")
        assert (known.record, known.due) == judge(UrlRecord(), LOST, 100, host_key=host.key.host_key)
        assert known.host == UNKNOWN_HOST
        assert (await work.record([replace(honest, seen=None, due=32_000)], held)).postponed == 1
        assert (await wiki.known("http://a.demo/")).due == 100 + DEFAULT.longest_interval


async def test_a_crawler_of_before_reads_what_to_update(server: str) -> None:
    for kind in (KIND, f"{KIND}; version=2", f"{KIND}; version=4"):
        status, answer = await sent(server, "greet", body({}), kind=kind)
        words = msgspec.msgpack.decode(zlib.decompress(answer))
        assert (status, "update Weboid " + ("on the server" if "4" in kind else "here") in words) == (422, True), words


async def test_what_is_too_long_is_refused_compressed_or_not(server: str) -> None:
    for data in (zlib.compress(b"\x00" * (MOST_INFLATED + 1)), b"x" * (MOST_SENT + 1)):
        assert (await sent(server, "greet", data))[0] == 413


async def test_other_types_of_bodies_and_other_methods_are_refused(server: str) -> None:
    assert (await sent(server, "greet", body({}), kind="application/json"))[0] == 415
    async with aiohttp.ClientSession() as client, client.get(server + GREET) as answer:
        assert answer.status == 405


async def test_what_is_sent_again_is_done_once_and_answered_as_the_first_time(server: str, wiki: WikiInStore) -> None:
    data = body({"until": [100, None]})
    answers = [await sent(server, "lease", data) for _ in range(3)]
    assert len(set(answers)) == 1
    assert answers[0][0] == 200
    assert len(await wiki.rows("SELECT bucket FROM lease WHERE epoch > 0 AND until > now()")) == 1
    another = body({"until": [100, None]}, request=str(uuid4()))
    assert msgspec.msgpack.decode(zlib.decompress((await sent(server, "lease", another))[1])) == {}


async def test_a_call_that_was_not_answered_has_the_same_number_when_it_is_made_again(
    server: str, wiki: WikiInStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with crawler_client(server) as caller:
        answered = caller._answered

        async def lost(name: str, sent: bytes) -> bytes:
            await answered(name, sent)
            raise StoreError("the answer is lost")

        monkeypatch.setattr(caller, "_answered", lost)
        with pytest.raises(StoreError):
            await remote_crawl_store(caller).work.lease(Moment(100))
        monkeypatch.setattr(caller, "_answered", answered)
        assert len(await remote_crawl_store(caller).work.lease(Moment(100))) == 1
        assert len(await remote_crawl_store(caller).work.lease(Moment(100))) == 0


class _Fates(Random):
    """Chooses these, one after the other."""

    def __init__(self, fates: Iterable[str]) -> None:
        super().__init__(0)
        self._fates = iter(fates)

    def random(self) -> float:
        return 0.0

    def choice(self, seq: object) -> Any:
        return next(self._fates)


@pytest.mark.parametrize("trouble", ["drop", "drop-answer", "fail", "cut-off", "other-page"])
async def test_what_is_spoiled_on_the_way_twice_is_asked_again_without_a_pause(
    server: str, wiki: WikiInStore, trouble: str
) -> None:
    async with open_bad_network(server, 0) as (url, network), crawler_client(url) as caller:
        network.random = _Fates([trouble, trouble, "pass", trouble, trouble, trouble])
        assert len(await remote_crawl_store(caller).work.lease(Moment(100))) == 1
        assert caller.away.times == 0
        with pytest.raises(StoreAway):
            await remote_crawl_store(caller).work.count_due(Moment(100), 10)
        assert caller.away.times == 1


async def test_a_wrong_token_is_answered_with_a_hint(server: str) -> None:
    async with crawler_client(server, token="wrong") as caller:
        with pytest.raises(StoreError, match="WEBOID_CRAWL_TOKEN"):
            await connected(CrawlerCalls, caller).greet()


async def test_an_alarm_names_its_crawler(server: str, wiki: WikiInStore) -> None:
    async with crawler_client(server) as caller:
        await remote_crawl_store(caller).alarms.raise_alarm(AlarmKind.OFFLINE, 100, "cut \udce4 off")
        [(detail,)] = await wiki.rows("SELECT detail FROM alarm")
        assert detail == "far: cut ? off"


async def test_a_sign_of_life_is_a_row_until_the_end(server: str, wiki: WikiInStore) -> None:
    async with crawler_client(server) as caller:
        for is_last in (False, False, True):
            await connected(CrawlerCalls, caller).live(
                Life("1-a", "host", "machine", 1, "0", "checking", {"x": 1.0}, is_last)
            )
            rows = await wiki.rows("SELECT role, name, doing FROM part")
            assert rows == ([] if is_last else [("crawl", "far:1-a", "checking")])


async def test_the_token_goes_to_no_address_where_others_could_read_it() -> None:
    for server in [
        *("http://core.demo", "ftp://127.0.0.1", "https://", "core.demo", "https://u:p@core.demo", "https://a/?b")
    ]:
        with pytest.raises(ConfigError, match="WEBOID_CRAWL_CORE"):
            async with crawler_client(server):
                pass
