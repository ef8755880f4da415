"""Whether an account is still what it was: one question an hour, over real HTTP, to a wiki that may misbehave."""

import asyncio
import itertools
import json
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

import aiohttp
import pytest

from weboid.config import NetConfig, PeopleConfig
from weboid.demo.littleprovider import CLIENT, Editor, LittleProvider, ProviderReply, open_littleprovider
from weboid.errors import ConfigError
from weboid.net.outbound import open_client
from weboid.web.identity.confirmation import FRESH_S, Confirmations
from weboid.web.identity.member import Confirmed, Member, api_of, member_in
from weboid.web.identity.oauth import Provider
from weboid.web.request.problem import Problem

NOW = 1_800_000_000
LONG_AGO = NOW - FRESH_S - 1
ANNA = Member("7", "Anna", 100, False)
EDITOR = Editor(7, "Anna")


@dataclass
class Scene:
    """A provider's wiki and what one process knows of its accounts."""

    provider: LittleProvider
    known: Confirmations
    client: aiohttp.ClientSession

    async def newest(self, member: Member = ANNA, moment: int = LONG_AGO, now: int = NOW) -> Confirmed:
        return await self.known.newest(member, moment, now)

    async def refusal(self, member: Member = ANNA) -> Problem:
        with pytest.raises(Problem) as shown:
            await self.newest(member)
        assert shown.value.http == 503
        return shown.value

    def over(self) -> None:
        """As if the pauses were over."""
        self.known._away.until = 0.0
        for account in self.known._odd:
            trouble = self.known._odd.get(account)
            assert trouble is not None
            trouble.until = 0.0


@asynccontextmanager
async def opened(timeout_s: float = 5.0) -> AsyncIterator[Scene]:
    async with open_littleprovider([EDITOR, Editor(8, "Bert")]) as provider, aiohttp.ClientSession() as client:
        known = Confirmations(PeopleConfig(provider.url, client=CLIENT), client, "Weboid test", timeout_s=timeout_s)
        yield Scene(provider, known, client)
        await known.close()


@pytest.fixture
async def scene() -> AsyncIterator[Scene]:
    """A wiki with two accounts."""
    async with opened() as found:
        yield found


async def test_within_the_hour_nobody_is_asked(scene: Scene) -> None:
    assert await scene.newest(moment=NOW - FRESH_S) == Confirmed(ANNA, NOW - FRESH_S)
    assert scene.provider.asked == []


async def test_after_an_hour_the_wiki_is_asked_once_however_often_somebody_acts(scene: Scene) -> None:
    shown = Confirmed(replace(ANNA, edits=5_000), NOW)
    assert await asyncio.gather(*(scene.newest() for _ in range(5))) == [shown] * 5
    assert await scene.newest(now=NOW + FRESH_S) == replace(shown)
    assert scene.provider.asked == ["Anna"]
    assert (await scene.newest(now=NOW + FRESH_S + 1)).moment == NOW + FRESH_S + 1
    assert scene.provider.asked == ["Anna", "Anna"]


async def test_a_moment_in_the_future_is_no_confirmation(scene: Scene) -> None:
    assert (await scene.newest(moment=NOW + 3_000)).moment == NOW


async def test_a_block_is_seen_and_a_partial_one_is_none(scene: Scene) -> None:
    kinds = itertools.product((True, False), (True, False), (True, False))
    for number, (scene.provider.is_central, blocked, partially) in enumerate(kinds):
        scene.provider.editors["Anna"] = replace(EDITOR, blocked=blocked, partially=partially)
        now = NOW + number * (FRESH_S + 1)
        assert await scene.newest(now=now) == Confirmed(Member("7", "Anna", 5_000, blocked), now)


async def test_a_name_of_nobody_or_of_somebody_else_is_another_account(scene: Scene) -> None:
    scene.provider.editors["Anna"] = Editor(12, "Anna")
    assert await scene.newest() == Confirmed(None, NOW)
    del scene.provider.editors["Bert"]
    assert await scene.newest(Member("8", "Bert", 100, False)) == Confirmed(None, NOW)
    scene.provider.is_central = False
    assert await scene.newest(now=NOW + 4_000) == Confirmed(None, NOW + 4_000)


async def test_what_this_process_knows_is_newer_than_an_old_cookie(scene: Scene) -> None:
    scene.provider.editors["Anna"] = replace(EDITOR, blocked=True)
    assert (await scene.newest()).member == Member("7", "Anna", 5_000, True)
    # Another browser of hers, or a copy of her cookie from before.
    assert (await scene.newest(moment=NOW - 60)).member == Member("7", "Anna", 5_000, True)
    assert (await scene.newest(moment=NOW + 60, now=NOW + 61)).member == ANNA, "she has signed in since"
    assert scene.provider.asked == ["Anna"]


async def test_at_a_sign_in_only_those_who_seem_to_be_blocked_are_asked_after(scene: Scene) -> None:
    assert await scene.known.at_sign_in(ANNA, NOW) == ANNA
    assert scene.provider.asked == []
    scene.provider.editors["Anna"] = replace(EDITOR, partially=True)
    assert await scene.known.at_sign_in(replace(ANNA, blocked=True), NOW) == replace(ANNA, edits=5_000)
    scene.provider.replies["api.php"] = ProviderReply(500)
    assert await scene.known.at_sign_in(replace(ANNA, blocked=True), NOW) == replace(ANNA, blocked=True)


QUERY: dict[str, Any] = {"users": [EDITOR.user(is_central=True)], "globaluserinfo": EDITOR.global_user()}
GOOD: dict[str, Any] = {"batchcomplete": True, "query": QUERY}


def changed(**changes: object) -> bytes:
    """A good answer with other words about the user."""
    user = {name: value for name, value in (EDITOR.user(is_central=True) | changes).items() if value is not ...}
    return json.dumps({"query": {"users": [user], "globaluserinfo": EDITOR.global_user()}}).encode()


ODD = {
    "html": ProviderReply(body=b"<html>", content_type="text/html"),
    "no-json": ProviderReply(body=b"<html>"),
    "deep": ProviderReply(body=b"[" * 60_000),
    "5-MB": ProviderReply(body=json.dumps(GOOD).encode() + b" " * 5_000_000),
    "redirect": ProviderReply(302, b"{}", location="http://127.0.0.1:9/"),
    "401": ProviderReply(401, b"{}"),
    "error": ProviderReply(body=b'{"error": {"code": "readapidenied", "info": "You need read permission"}}'),
    "error-too": ProviderReply(body=json.dumps(GOOD | {"error": {"code": "x"}}).encode()),
    "no-users": ProviderReply(body=b'{"query": {"users": []}}'),
    "two-users": ProviderReply(body=json.dumps({"query": {"users": QUERY["users"] * 2}}).encode()),
    "other-name": ProviderReply(body=changed(name="Bert")),
    "no-id": ProviderReply(body=changed(userid=...)),
    "id-text": ProviderReply(body=changed(userid="7")),
    "edits-none": ProviderReply(body=changed(editcount=None)),
    "edits-negative": ProviderReply(body=changed(editcount=-5)),
    "missing-text": ProviderReply(body=changed(missing="")),
    "ids-text": ProviderReply(body=changed(centralids={"CentralAuth": "7"})),
    "global-list": ProviderReply(body=json.dumps({"query": QUERY | {"globaluserinfo": [7]}}).encode()),
}


@pytest.mark.parametrize("reply", [pytest.param(reply, id=name) for name, reply in ODD.items()])
async def test_an_odd_answer_confirms_nobody(scene: Scene, reply: ProviderReply) -> None:
    scene.provider.replies["api.php"] = reply
    assert (await scene.refusal()).retry_s >= 1
    scene.provider.replies.clear()
    assert (await scene.newest(Member("8", "Bert", 100, False))).moment == NOW, "others can be asked about"
    await scene.refusal()
    assert scene.provider.asked == ["Anna", "Bert"], "not again at once"
    scene.over()
    assert (await scene.newest()).moment == NOW


def test_words_about_a_block_that_are_not_understood_are_a_block() -> None:
    user = EDITOR.user(is_central=True)
    for words in ({"blockid": None}, {"blockedby": ""}, {"blockid": 1, "blockpartial": "true"}, {"hidden": True}):
        found = member_in({"query": {"users": [user | words]}}, ANNA)
        assert found is not None
        assert found.blocked, words


def test_an_account_that_is_not_united_has_its_number_on_this_wiki() -> None:
    user = EDITOR.user(is_central=False) | {"centralids": {"CentralAuth": 0, "local": 7}}
    assert member_in({"query": {"users": [user], "globaluserinfo": {"missing": True}}}, ANNA) is not None
    nobody = Member("0", "Anna", 100, False)
    assert member_in({"query": {"users": [user], "globaluserinfo": {"missing": True}}}, nobody) is None


@pytest.mark.parametrize("reply", [ProviderReply(500), ProviderReply(429)])
async def test_a_wiki_that_cannot_answer_is_left_alone_for_a_growing_pause(scene: Scene, reply: ProviderReply) -> None:
    scene.provider.replies["api.php"] = reply
    pauses = []
    for _ in range(12):
        pauses.append((await scene.refusal()).retry_s)
        await scene.refusal(Member("8", "Bert", 100, False))
        scene.over()
    assert pauses == sorted(pauses)
    assert (pauses[0], pauses[-1]) == (2, 300)
    assert scene.provider.asked == ["Anna"] * 12
    scene.provider.replies.clear()
    assert (await scene.newest()).moment == NOW
    scene.provider.replies["api.php"] = reply
    assert (await scene.refusal(Member("8", "Bert", 100, False))).retry_s == 2


async def test_a_wiki_that_is_silent_or_gone_confirms_nobody_and_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.INFO, "weboid")
    async with opened(timeout_s=0.2) as scene:
        scene.provider.replies["api.php"] = ProviderReply(pause_s=30)
        for _ in range(3):
            await scene.refusal()
            scene.over()
        scene.provider.replies.clear()
        await scene.newest()
    assert [record.levelname for record in caplog.records] == ["WARNING", "WARNING"]
    assert "TimeoutError" in caplog.text
    assert "it is over" in caplog.records[-1].message


async def test_without_an_api_one_has_to_sign_in_again_after_an_hour(scene: Scene) -> None:
    alone = Confirmations(PeopleConfig("https://sso.demo/oauth2", client=CLIENT), scene.client, "Weboid")
    assert await alone.newest(ANNA, NOW - 60, NOW) == Confirmed(ANNA, NOW - 60)
    assert (await alone.newest(ANNA, LONG_AGO, NOW)).member is None


def test_the_api_is_next_to_the_oauth_of_a_wiki() -> None:
    for given, address in [
        (PeopleConfig(), "https://meta.wikimedia.org/w/api.php"),
        (PeopleConfig("https://wiki.demo/rest.php/oauth2/"), "https://wiki.demo/api.php"),
        (PeopleConfig("https://sso.demo/realms/rest.php/oauth2/x"), ""),
        (PeopleConfig("https://sso.demo/o", api="https://wiki.demo/api.php"), "https://wiki.demo/api.php"),
    ]:
        assert api_of(given) == address, given


def test_an_api_without_an_address_is_refused_at_the_start() -> None:
    for address in ["ftp://wiki.demo/api.php", "wiki.demo", "https://", "https://wiki.demo/?x=1"]:
        with pytest.raises(ConfigError, match="api"):
            api_of(PeopleConfig(api=address))


async def test_a_provider_in_a_private_network_is_named_with_what_to_permit(caplog: pytest.LogCaptureFixture) -> None:
    async with open_littleprovider([EDITOR]) as little, open_client(NetConfig(user_agent="Weboid test")) as client:
        settings = PeopleConfig(little.url, client=CLIENT)
        known = Confirmations(settings, client, "Weboid test")
        with pytest.raises(Problem):
            await known.newest(ANNA, LONG_AGO, NOW)
        await known.close()
        provider = Provider(settings, client, "http://127.0.0.1/back", "Weboid test")
        with pytest.raises(Problem):
            await provider.find_member({"state": "s", "code": "c"}, "s", "v")
    assert caplog.text.count('it is in a private network: [net] permit = ["127.0.0.1"]') == 2
