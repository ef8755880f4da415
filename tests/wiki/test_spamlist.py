"""Spam lists as a wiki gives them (L-3)."""

import json

import aiohttp
import pytest
from support.wikireplay import exchange, open_wiki_replay, page_content

from weboid.core.url.spam_lines import BLOCKED
from weboid.errors import SourceError
from weboid.wiki.action import ActionApi, ApiPatience
from weboid.wiki.spamlist import DOMAINS_TITLE, ListTexts, fetch_global_list, fetch_local_lists

QUICK = ApiPatience(tries=2, timeout_s=5, first_pause_s=0.001, longest_pause_s=0.1, answer_mib=1)
BLACK, WHITE = "MediaWiki:Spam-blacklist", "MediaWiki:Spam-whitelist"
NO_DOMAINS = page_content(DOMAINS_TITLE, None)


async def test_both_lists_are_fetched_and_a_missing_page_is_an_empty_one(session: aiohttp.ClientSession) -> None:
    names = [" Evil.Com", "https://b.org/x", "müller.de", "com", "7", "2.7", "a\nb", 5]
    items = [*({"domain": name, "notes": "n"} for name in names), {"notes": "y"}, "c.org", None]
    domains = page_content(DOMAINS_TITLE, json.dumps(dict(enumerate(items))))
    pages = [page_content(BLACK, "bad\\.com"), domains, page_content(WHITE, "good\\.com # ä")]
    async with open_wiki_replay(pages) as replay:
        api = ActionApi(replay.url, session, "Weboid-test", QUICK)
        blocked = "\n".join(BLOCKED + host for host in ("evil.com", "b.org", "xn--mller-kva.de"))
        assert await fetch_local_lists(api) == ListTexts(f"bad\\.com\n{blocked}", "good\\.com # ä")
        assert not replay.unknown
    async with open_wiki_replay([page_content(BLACK, None), NO_DOMAINS, page_content(WHITE, None)]) as replay:
        assert await fetch_local_lists(ActionApi(replay.url, session, "Weboid-test", QUICK)) == ListTexts("", "")
    for text in ("{7", '"a.com"'):
        async with open_wiki_replay([page_content(BLACK, None), page_content(DOMAINS_TITLE, text)]) as replay:
            with pytest.raises(SourceError, match="is no list of domains"):
                await fetch_local_lists(ActionApi(replay.url, session, "Weboid-test", QUICK))


async def test_the_list_of_a_farm_has_a_title_of_its_own_and_none_is_read_without_end(
    session: aiohttp.ClientSession,
) -> None:
    async with open_wiki_replay([page_content("Spam blacklist", "a"), page_content("Project:Spam", "b")]) as replay:
        api = ActionApi(replay.url, session, "Weboid-test", QUICK)
        assert await fetch_global_list(api) == ListTexts("a")
        assert await fetch_global_list(api, "Project:Spam") == ListTexts("b")
    async with open_wiki_replay([page_content(BLACK, "x" * (2 << 20))]) as replay:
        with pytest.raises(SourceError, match="more than 1 MiB"):
            await fetch_local_lists(ActionApi(replay.url, session, "Weboid-test", QUICK))


@pytest.mark.parametrize(
    "answer",
    [
        {"batchcomplete": True},
        {"query": {"pages": []}},
        {"query": {"pages": [{"title": BLACK, "invalid": True}]}},
        {"query": {"pages": [{"title": BLACK, "revisions": [{"slots": {"main": {"texthidden": True}}}]}]}},
        {"query": {"pages": [{"title": BLACK, "revisions": []}]}},
        {"query": {"pages": "?"}},
    ],
)
async def test_what_cannot_be_read_is_no_empty_list(session: aiohttp.ClientSession, answer: object) -> None:
    async with open_wiki_replay([exchange(page_content(BLACK, None).request, answer)]) as replay:
        with pytest.raises(SourceError, match="'MediaWiki:Spam-blacklist'; what was fetched before stays"):
            await fetch_local_lists(ActionApi(replay.url, session, "Weboid-test", QUICK))
