from pathlib import Path

import aiohttp
import pytest
from support.pwb import BotWiki

from weboid.config import PeopleConfig
from weboid.web.identity.confirmation import Confirmations
from weboid.web.identity.member import Member

pytestmark = pytest.mark.long


async def test_accounts_of_a_real_wiki_are_what_they_are(bot_wiki: BotWiki) -> None:
    wiki = bot_wiki.wiki
    answer = wiki.run(
        "eval", text=" ".join(Path(__file__).with_suffix(".php").read_text(encoding="utf-8").split("\n")) + "\n"
    )
    ids = dict(line.partition("=")[::2] for line in answer.splitlines() if line.count("=") == 1)
    assert len(ids) == 5, answer
    async with aiohttp.ClientSession() as client:
        known = Confirmations(PeopleConfig(f"{wiki.rest}/oauth2"), client, "Weboid test")

        async def found(name: str, subject: str = "") -> Member | None:
            return (await known.newest(Member(subject or ids[name], name, 100, False), 0, 1_800_000_000)).member

        for name, blocked in (("Free", False), ("Blocked", True), ("Partly", False), ("Ärztin d'Été", False)):
            assert await found(name) == Member(ids[name], name, 0, blocked), name
        assert await found("Hidden") is None
        assert await found("Nobody by this name", "1") is None
        assert await found("Free", ids["Blocked"]) is None
        await known.close()
