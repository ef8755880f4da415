"""``/internal/crawl/…`` (O-1): who may call, and what hostile bodies bring about: nothing."""

import zlib
from collections.abc import Callable, Iterable
from dataclasses import replace
from io import BytesIO
from random import Random
from typing import Any, Final
from uuid import UUID, uuid4

import aiohttp
import msgspec
import pytest
from support.observations import FINE
from support.remote import TOKEN, crawler_client, open_bad_network, open_server, server_config
from support.stored import WikiInStore

from weboid.core.document.face import Answer, Face, Kind, Look, Role
from weboid.core.document.portrait import Portrait
from weboid.core.record.days import NEVER_DUE
from weboid.core.record.history import Entry
from weboid.core.record.moment import Moment
from weboid.core.record.record import UNKNOWN_HOST, HostRecord, UrlRecord
from weboid.core.record.streak import Evidence, Streak
from weboid.errors import ConfigError, StoreAway, StoreError
from weboid.remote.crawl.calls import CrawlerCalls, remote_crawl_store
from weboid.remote.crawl.server import MOST_INFLATED
from weboid.remote.http.messages import CRAWLERS, MOST_SENT
from weboid.remote.http.rpc import connected
from weboid.remote.http.wire import Life
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked
from weboid.store.upkeep.alarm import AlarmKind

KIND, PATH, SCHEME = CRAWLERS.kind, CRAWLERS.path, CRAWLERS.scheme
GREET: Final = PATH + "greet"


def body(arguments: object, worker: object = "w", request: object = None) -> bytes:
    """A call as it is sent."""
    call = {"worker": worker, "request": request or str(UUID(int=7)), "arguments": arguments}
    return zlib.compress(msgspec.msgpack.encode(call))


async def sent(
    server: str, name: str, data: bytes, token: str | None = f"{SCHEME} {TOKEN}", kind: str = KIND
) -> tuple[int, bytes]:
    """The status and the body of the answer."""
    headers = {"Content-Type": kind} | ({"Authorization": token} if token is not None else {})
    async with (
        aiohttp.ClientSession() as client,
        client.post(server + PATH + name, data=BytesIO(data), headers=headers) as answer,
    ):
        return answer.status, await answer.read()


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


def far_checked(url: StoredUrl, host: StoredHost, day: int = 100) -> Checked:
    """A check that could be one."""
    record = UrlRecord((Entry(FINE.status, day, day),), reason=FINE.reason, http=200)
    return Checked(url, host, day, FINE, record, day + 7, UNKNOWN_HOST, UNKNOWN_HOST)


LONG_AGO: Final = Streak(3, 70, 99, Evidence(30, 3, 30, hours=True, weekdays=True))
UNSOUND: Final[dict[str, Callable[[Checked], Checked]]] = {
    "no history": lambda c: replace(c, record=c.record._replace(history=())),
    "a long history": lambda c: replace(c, record=c.record._replace(history=c.record.history * 6)),
    "days below 0": lambda c: replace(c, record=c.record._replace(history=(Entry(FINE.status, -1, 5),))),
    "no reason": lambda c: replace(c, record=c.record._replace(reason=None)),
    "another type": lambda c: replace(c, record=c.record._replace(mime="x/y")),
    "a code below 0": lambda c: replace(c, record=c.record._replace(http=-1)),
    "an endless target": lambda c: replace(c, record=c.record._replace(target="http://a.demo/" + "x" * 99_999)),
    "strikes below 0": lambda c: replace(c, record=c.record._replace(streak=replace(LONG_AGO, strikes=-3))),
    "more than all evidence": lambda c: replace(c, host_after=HostRecord(replace(LONG_AGO, evidence=Evidence(9_999)))),
    "a script as target": lambda c: replace(c, record=c.record._replace(target="javascript:alert(1)")),
    "strikes that no column takes": lambda c: replace(
        c, record=c.record._replace(streak=replace(LONG_AGO, strikes=2**40))
    ),
    "strikes of the host, too": lambda c: replace(c, host_after=HostRecord(replace(LONG_AGO, strikes=2**15))),
    "a size that no column takes": lambda c: replace(c, record=c.record._replace(size_kib=2**31)),
    "a code that no column takes": lambda c: replace(c, record=c.record._replace(http=2**15)),
    "strikes without days": lambda c: replace(c, record=c.record._replace(streak=replace(LONG_AGO, since=None))),
    "a day after the last": lambda c: replace(c, record=c.record._replace(streak=replace(LONG_AGO, until=2**15))),
    "never due": lambda c: replace(c, due=NEVER_DUE),
    "a day below 0": lambda c: replace(c, day=-1),
    "a host not held": lambda c: replace(c, host=replace(c.host, key=HostKey(c.host.key.bucket ^ 1, 7))),
    "a host that is another": lambda c: replace(c, host=replace(c.host, key=HostKey(c.host.key.bucket, 7))),
    "a portrait": lambda c: replace(c, seen=replace(FINE, portrait=Portrait(title=(1 << 20,) * 500))),
    "a face": lambda c: replace(c, seen=replace(FINE, face=Face((Answer(1 << 20, Role.FAR, 1, Look(Kind.PAGE)),)))),
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
            given = {"checks": [spoiled(sound)], "held": dict(held)}
            assert (name, (await sent(server, "record", body(given, "one")))[0]) == (name, 400)
        assert await wiki.rows("SELECT * FROM url CROSS JOIN host") == before
        # A URL that is not stored is none of ours, and one without the lease is another's (U-9).
        unknown = replace(sound, url=replace(url, key=url.key._replace(url_key=5)))
        assert (await work.record([unknown], held)).written == 0
        assert (await work.record([sound], {bucket: epoch + 1 for bucket, epoch in held.items()})).lost == 1
        assert await wiki.rows("SELECT * FROM url") == urls
        assert (await work.record([sound], held)).written == 1


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
    other = msgspec.msgpack.decode(zlib.decompress((await sent(server, "lease", another))[1]))
    assert other == {}


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
