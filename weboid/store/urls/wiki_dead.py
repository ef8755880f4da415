"""Dead links by the rules of wikis that have some of their own (U-11): marks in `dead`, and lines of the log (U-10).

`dead` has the links that are dead by the rule of all wikis. Of a wiki with rules of its own each is marked where these
say otherwise, and it has the links, too, that are dead by them alone. All of that is concluded by
``core/verdict/wiki_rules``, of URLs that the caller has locked, and never by SQL (D-477).
"""

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from functools import lru_cache
from typing import Any, Final, NamedTuple

from weboid.core.record.policy import Policy
from weboid.core.record.record import HostRecord, UrlRecord
from weboid.core.url.hosts import reversed_name
from weboid.core.url.keys import UrlKey
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.core.verdict.wiki_rules import DEFAULT_RULES, WikiRules, listed
from weboid.core.wikitext.link_lists import LinkLists
from weboid.store.db.rows import key_columns
from weboid.store.db.statements import Connection, fetch_all, fetch_one, statements
from weboid.store.urls.repaired import PageUse, record_repaired
from weboid.store.urls.url import find_urls

SQL: Final = statements("urls/wiki_dead")
CHANGE_SQL: Final = statements("urls/verdict_log")
STRETCH: Final = 1_000
"""URLs that are judged in one transaction."""
LEAST: Final = -(2**63)
"""A number before all keys."""
_ALL_BELOW: Final = "/"


class Judged(NamedTuple):
    """A URL that a wiki with rules of its own uses: was it dead by the wiki's log, and what is it by its rules."""

    wiki: int
    key: UrlKey
    was_dead: bool
    before: Verdict
    after: Verdict
    reason: int | None
    since: int | None

    @property
    def is_dead(self) -> bool:
        """True if the wiki's rules call it dead."""
        return self.after is Verdict.DEAD


class OwnSpot(NamedTuple):
    """A dead link of a wiki, in the order of its pages."""

    page: int
    key: UrlKey


class HostSpot(NamedTuple):
    """A URL in the order of hosts: the place after which a list goes on."""

    reversed: str
    url_key: int


class WithRules(NamedTuple):
    """A wiki with rules of its own; `applied`: all that was dead when they changed has been judged by them."""

    wiki: int
    applied: bool


async def record_rules(conn: Connection, wiki: int, rules: WikiRules) -> bool:
    """Records the rules of a wiki that has some of its own; returns whether they are other ones than before."""
    text = json.dumps({"policy": asdict(rules.policy), "lists": asdict(rules.lists)}, sort_keys=True)
    return await fetch_one(conn, int, SQL["record_rules"], {"wiki": wiki, "rules": text}) is not None


async def record_applied(conn: Connection, wiki: int, *, ends: bool) -> None:
    """Records that all dead links of a wiki have been judged by its rules; `ends`: it has none of its own any more."""
    await conn.execute(SQL["delete_rules" if ends else "record_applied"], {"wiki": wiki})


async def list_with_rules(conn: Connection) -> list[WithRules]:
    """The wikis with rules of their own."""
    return await fetch_all(conn, WithRules, SQL["list_rules"])


async def judge_uses(conn: Connection, keys: Iterable[UrlKey], wiki: int | None = None) -> list[Judged]:
    """Judges these URLs for the wikis with rules of their own that use them, or for one of these."""
    if not (given := sorted(set(keys))):
        return []
    uses = await _list_uses(conn, given, wiki)
    if not uses:
        return []
    known = await find_urls(conn, sorted({key for _, key, _ in uses}))
    rules = await find_rules(conn, {use[0] for use in uses})
    judged = []
    for own, key, was_dead in uses:
        if (url := known.get(key)) is None:
            continue
        checked = finding_of(url.record, url.host, rules[own].policy)
        found = listed(checked, rules[own].flags_of(url.url))
        # What was dead by other rules is not said to have been so before.
        before = Verdict.DEAD if was_dead else Verdict.DOUBTFUL if checked.verdict is Verdict.DEAD else checked.verdict
        judged.append(
            Judged(own, key, was_dead, before, found.verdict, found.reason and found.reason.number, found.since)
        )
    return judged


async def record_for_wikis(conn: Connection, keys: Iterable[UrlKey], day: int, wiki: int | None = None) -> list[Judged]:
    """Marks in `dead` what these URLs are for the wikis with rules of their own, or for one of these, and continues
    their logs; returns what it found. The caller has locked the URLs."""
    judged = await judge_uses(conn, keys, wiki)
    dead = [each for each in judged if each.is_dead]
    alive = [each for each in judged if not each.is_dead]
    if dead:
        since = [day if each.since is None else each.since for each in dead]
        rows = await conn.execute(SQL["record_dead"], {**_columns(dead), "since": since})
        await _record_repaired(conn, [(own, page, UrlKey(*key)) async for own, page, *key in rows])
    if alive:
        await conn.execute(SQL["record_alive"], _columns(alive))
        await conn.execute(SQL["delete_dead"], _columns(alive))
    if changed := [each for each in judged if each.is_dead is not each.was_dead]:
        log = {
            **_columns(changed),
            "day": [day] * len(changed),
            "before": [each.before.value for each in changed],
            "after": [each.after.value for each in changed],
            "reason": [each.reason for each in changed],
        }
        await conn.execute(CHANGE_SQL["record_changes"], log)
    return judged


async def list_waiting(conn: Connection, found: Mapping[UrlKey, tuple[UrlRecord, HostRecord]]) -> set[UrlKey]:
    """Those of these URLs, dead by the rule of all, that some wiki uses by whose thresholds they are not dead yet."""
    uses = await _list_uses(conn, sorted(found), None)
    rules = await find_rules(conn, {use[0] for use in uses}) if uses else {}
    return {key for own, key, _ in uses if finding_of(*found[key], rules[own].policy).verdict is not Verdict.DEAD}


async def list_suspects(conn: Connection, wiki: int, keys: Iterable[UrlKey]) -> set[UrlKey]:
    """Those of these URLs that fail, or are dead by the log of a wiki with rules of its own; none of any other wiki."""
    rows = await conn.execute(SQL["list_suspects"], {"wiki": wiki, **key_columns(sorted(set(keys)))})
    return {UrlKey(*key) async for key in rows}


async def list_shown(conn: Connection, wiki: int, uses: Iterable[PageUse]) -> dict[UrlKey, set[bool]]:
    """Those of the URLs on these pages that may be dead for the wiki, or are by its log or on a page; each with whether
    its links are shown as dead: some, or all, or both."""
    links = set(uses)
    rows = await conn.execute(SQL["list_dead_of_pages"], {"wiki": wiki, "pages": sorted({page for page, _ in links})})
    marks = {(page, UrlKey(*key)): is_shown async for page, *key, is_shown in rows}
    suspects = await list_suspects(conn, wiki, {key for _, key in links})
    shown = defaultdict[UrlKey, set[bool]](set)
    for use in links:
        if use in marks or use[1] in suspects:
            shown[use[1]].add(marks.get(use, False))
    return shown


async def list_own(conn: Connection, wiki: int, after: OwnSpot) -> list[tuple[OwnSpot, bool]]:
    """The next dead links of a wiki that differ from the rule of all, at most `STRETCH`; each with whether it is shown
    as dead."""
    row = {"wiki": wiki, "page": after.page, **after.key._asdict(), "limit": STRETCH}
    rows = await conn.execute(SQL["list_own"], row)
    return [(OwnSpot(page, UrlKey(*key)), is_shown) async for page, *key, is_shown in rows]


async def list_permadead_hosts(conn: Connection, wiki: int) -> list[str]:
    """The hosts in the wiki's list of links that are always dead, by their reversed names."""
    rules = (await find_rules(conn, {wiki}))[wiki]
    return sorted(map(reversed_name, rules.lists.hosts_of_permadead()))


async def list_of_hosts(
    conn: Connection, wiki: int, first: str, after: HostSpot
) -> list[tuple[HostSpot, UrlKey, bool]]:
    """The next URLs on a host and all below it that a wiki uses, at most `STRETCH`; `first` is its reversed name.

    Each with whether all its links there are shown as dead.
    """
    bounds = {"first": first, "end": first[:-1] + _ALL_BELOW, "least": LEAST, "limit": STRETCH}
    row = {"wiki": wiki, **bounds, "after": after.reversed, "after_url_key": after.url_key}
    rows = await conn.execute(SQL["list_of_hosts"], row)
    return [(HostSpot(name, key[2]), UrlKey(*key), is_shown) async for name, *key, is_shown in rows]


async def _list_uses(conn: Connection, keys: Sequence[UrlKey], wiki: int | None) -> list[tuple[int, UrlKey, bool]]:
    rows = await conn.execute(SQL["list_uses"], {**key_columns(keys), "wiki": wiki})
    return [(own, UrlKey(*key), was_dead) async for own, *key, was_dead in rows]


async def _record_repaired(conn: Connection, died: Iterable[tuple[int, int, UrlKey]]) -> None:
    """Derives which links (wiki, page, URL) are repaired that a wiki's rules have just made dead (L-10)."""
    by_wiki = defaultdict[int, list[PageUse]](list)
    for wiki, page, key in died:
        by_wiki[wiki].append((page, key))
    for wiki, uses in by_wiki.items():
        await record_repaired(conn, {key for _, key in uses}, wiki, {page for page, _ in uses})


async def find_rules(conn: Connection, wikis: Iterable[int]) -> dict[int, WikiRules]:
    """The rules of those of these wikis that have some of their own."""
    if not (asked := sorted(wikis)):
        return {}
    rows = await conn.execute(SQL["find_rules"], {"wikis": asked})
    return {wiki: _parsed(text) async for wiki, text in rows}


@lru_cache(maxsize=64)
def _parsed(text: str) -> WikiRules:
    """The rules as they were recorded; those of all wikis for what another version has recorded, until `maintain`."""
    with suppress(TypeError, ValueError, KeyError):
        stored = json.loads(text)
        lists = {name: tuple(entries) for name, entries in stored["lists"].items()}
        return WikiRules(Policy(**stored["policy"]), LinkLists(**lists))
    return DEFAULT_RULES


def _columns(judged: Sequence[Judged]) -> dict[str, list[Any]]:
    return {"wiki": [each.wiki for each in judged], **key_columns(each.key for each in judged)}
