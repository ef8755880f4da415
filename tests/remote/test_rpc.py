"""Calls derived from annotated methods: what has no bound is refused, and what is sent is what was given."""

import logging
from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any, get_type_hints

import msgspec
import pytest
from msgspec import Meta, Struct
from msgspec.structs import replace
from support.observations import FINE

from weboid.core.record.record import UNKNOWN_HOST, UrlRecord
from weboid.core.url.keys import key_of
from weboid.core.url.urls import parse
from weboid.mechanism.disturbance import Disturbance
from weboid.remote.crawl.calls import remote_crawl_store
from weboid.remote.crawl.server import CrawlerRights, CrawlServer
from weboid.remote.feed.calls import FeederRights, FeedServer
from weboid.remote.http.messages import BadMessage, decoded, encoded
from weboid.remote.http.rpc import CallKind, Wire, call, connected, table_of
from weboid.remote.http.server import CallServer
from weboid.store.db.rows import HostKey, StoredHost, StoredUrl
from weboid.store.results.record import Checked
from weboid.store.schedule.second_look import TakenLook

Name = Annotated[str, Meta(max_length=9)]


class _Open(Struct):
    text: str


UNBOUNDED = [
    int, Annotated[int, Meta(ge=0)], str, bytes, list[bool], Annotated[list[int], Meta(max_length=1)],
    Annotated[list[str], Meta(max_length=1)], dict[Name, Name], Annotated[Mapping[str, Name], Meta(max_length=1)],
    Annotated[Mapping[Name, str], Meta(max_length=1)], set[Name], frozenset[Name], tuple[Name, ...], tuple[Name, str],
    Sequence[Name], str | None, Name | int, _Open, TakenLook, Any,
]  # fmt: skip
BOUNDED = [Name, HostKey, bool, float, tuple[Name, Name], Annotated[Sequence[Name], Meta(max_length=2)], Name | None]


async def _method(self: object, given: Any) -> None:
    """Takes one argument."""


def _declared(kind: Any) -> None:
    _method.__annotations__["given"] = kind
    call("x")(_method)


@pytest.mark.parametrize("kind", UNBOUNDED)
def test_an_argument_without_a_bound_is_refused(kind: Any) -> None:
    with pytest.raises(TypeError, match="x: given has no bound"):
        _declared(kind)


@pytest.mark.parametrize("kind", BOUNDED)
def test_an_argument_with_bounds_is_taken(kind: Any) -> None:
    _declared(kind)
    assert get_type_hints(_method, include_extras=True)["given"] == kind


def _even(number: int) -> None:
    if number % 2:
        raise BadMessage("odd")


class _Sums:
    def __init__(self, start: int) -> None:
        self.start = start

    @call("sum", is_once=True)
    async def add(
        self,
        numbers: Annotated[
            Collection[int], Meta(max_length=3), Wire(Annotated[list[Any], Meta(max_length=3)], validate=len)
        ],
        *,
        more: Annotated[
            int, Wire(Annotated[int, Meta(ge=0, le=99)], encode=abs, decode=lambda n: 2 * n, validate=_even)
        ],
    ) -> int:
        return self.start + sum(numbers) + more


class _Loopback:
    """Does calls at once, as bytes there and back."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.away = Disturbance(logging.getLogger(), "")

    async def call(self, kind: CallKind, given: Struct) -> Any:
        self.sent.append(encoded(given))
        known, _ = table_of(_Sums)[kind.name]
        return await known.do(_Sums(10), decoded(self.sent[-1], known.given), None)


async def test_a_declared_method_sends_the_call_if_it_is_remote_and_else_does_the_work() -> None:
    caller = _Loopback()
    sums = connected(_Sums, caller)
    assert await sums.add(dict.fromkeys(range(3)), more=-4) == 10 + 0 + 1 + 2 + 8  # of a dictionary the keys
    assert caller.sent == [encoded({"numbers": [0, 1, 2], "more": 4})]
    with pytest.raises(BadMessage, match="odd"):
        await sums.add([], more=3)
    with pytest.raises(BadMessage, match="not of the expected form"):
        await sums.add([1, 2, 3, 4], more=0)
    with pytest.raises(TypeError):
        await sums.add([], less=3)  # type: ignore[call-arg]


async def test_the_target_of_a_redirect_is_sent_as_text_and_nothing_that_is_judged() -> None:
    caller = _Loopback()
    url = StoredUrl(key_of(parse("http://a.demo/")), parse("http://a.demo/"), UrlRecord())
    host = StoredHost(HostKey(*url.key[:2]), "a.demo", UNKNOWN_HOST)
    for target in (parse("http://b.demo/x"), "mailto:me", None):
        seen = replace(FINE, target=target)
        check = Checked(url, host, 100, seen, UrlRecord(), 107, UNKNOWN_HOST, UNKNOWN_HOST)
        with pytest.raises(KeyError):
            await remote_crawl_store(caller).work.record([check], {})
        [sent] = msgspec.msgpack.decode(caller.sent[-1], strict=False)["checks"]
        assert sent["seen"]["target"] == (str(target) if target else None)
        assert [*sent] == ["key", "day", "seen", "effect", "days", "disproved"]
        assert check.seen is seen


CRAWLERS = """
greet(), life(name host machine pid version doing figures is_last), count-due(until limit scheme),
canaries(limit), lease!(until), share(until), renew(held), release(held), count-buckets(until),
hosts(buckets until but limit), urls(hosts day), portions(hosts until),
record!(checks held), paces(), moment(), lived(), accept-day(day is_over), confirm-day!(day),
refuse-day!(since detail), exchange!(day written found), raise-alarm!(kind day detail), lower-alarm!(kind),
slots(notes wanted), rest(host seconds), ask-look(look key), take-looks(limit), answer-look(look outcome)
"""
FEEDERS = """
greet(), life(role life takes was_away gone), wiki(farm dbname api), wikis(), namespaces!(wiki names),
start!(wiki plan day), meet!(wiki pages day move), exclude!(wiki pages move), end-step!(wiki started trees move),
count(wiki started), records(wiki after limit), walk!(wiki pages gone stamp as_of day move), end!(wiki started day),
waiting(wiki until limit), watched(wiki pages), waited!(wiki pages gone stamp as_of done day), trees(wiki titles),
branch!(wiki trees pages day), has-category(),
position(names), apply!(events move day), find-list(farm of known), is-fresh(farm of day),
record-list!(farm of black white day), stretch(wiki after limit), reclassify!(wiki now_spam no_spam day),
applied!(farm of day), find-watch-page(source), record-watch-page!(source text fault day), no-watch-page()
"""
"""The wire: each call with the fields of its message; with ! it is done once only."""


@pytest.mark.parametrize(
    ("answering", "rights", "wire"), [(CrawlServer, CrawlerRights, CRAWLERS), (FeedServer, FeederRights, FEEDERS)]
)
def test_no_name_on_the_wire_changes_as_other_versions_use_it(
    answering: type[CallServer], rights: type, wire: str
) -> None:
    """A parameter that gets another name would give its field another one, too."""
    kinds = [kind for kind, _ in answering.calls.values()]
    words = [f"{kind.name}{'!' * kind.is_once}({' '.join(kind.given.__struct_fields__)})" for kind in kinds]
    assert ", ".join(words) == " ".join(wire.split())
    checks = {how.check for kind in kinds for how in kind.arguments.values() if how.check}
    assert len(checks) > 2
    assert checks <= set(vars(rights))
