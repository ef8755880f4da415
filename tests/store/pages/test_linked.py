"""One statement says of a page's links what `find_urls` says of them, and which of them are spam there."""

import random
from collections import Counter

from support.observations import FINE, LOST
from support.records import random_host_record, random_record
from support.stored import WikiInStore, key, open_wiki

from weboid.assets import asset
from weboid.core.archive.outcomes import LookupOutcome
from weboid.core.observe.observation import Observation
from weboid.core.url.classify import classify
from weboid.core.url.keys import UrlKey, bucket
from weboid.core.verdict.link_report import Extent, Known, is_included, keyed_link, keyed_reports
from weboid.core.wikitext.settings import NOTHING_SAID
from weboid.mechanism.slices import at_once
from weboid.store.archives.wiki_settings import StoredSettings, find_settings, record_settings
from weboid.store.pages.linked import find_linked
from weboid.store.pages.spam import list_spam_links, record_spam_links
from weboid.store.people.replacement import lease_replacements, record_checked, record_replacement
from weboid.store.people.report import record_domain_report, record_report
from weboid.store.urls.check import CheckedUrl, record_checks, record_hosts
from weboid.store.urls.lock import hosts_of
from weboid.store.urls.url import find_urls

LOST_URLS = [f"http://{host}.demo/lost/{number}" for host in ("a", "www.b", "c") for number in range(3)]
FINE_URLS = [f"https://d{number}.demo/" for number in range(5)]
COPY = "https://web.archive.org/web/20160102030405/http://a.demo/lost/0"
URLS = [*LOST_URLS, *FINE_URLS, COPY]
UNKNOWN = "http://unknown.demo/"


def answer(url: str, day: int) -> Observation:
    return LOST if "lost" in url else FINE


async def people_say(wiki: WikiInStore) -> None:
    async with wiki.pool.connection() as conn:
        await record_report(conn, await wiki.known(LOST_URLS[0]), 123, "7", "Ann")
        await record_domain_report(conn, "b.demo", 121, "7", "Ann")
        for target, archive in (("http://e.demo/", 0), ("https://archive.today/x", 1), ("https://archive.demo/y", 2)):
            await record_replacement(
                conn, key(LOST_URLS[0]), archive=archive, target=target, day=121, subject="7", name="Ann"
            )
        for leased in await lease_replacements(conn, 121, limit=5):
            await record_checked(conn, leased, asked=121, due=150, strikes=0, works=True)
        # Half of a domain's URLs are reported; and something of a "domain" that is only the end of others.
        await conn.execute("INSERT INTO domain_report VALUES (%s, 'c.demo', 122, NULL, NULL)", (bucket("c.demo"),))
        for host in ("a.demo", "b.demo"):
            await conn.execute("INSERT INTO domain_report VALUES (%s, 'demo', 119, '7', 'Ann')", (bucket(host),))
            await conn.execute("INSERT INTO domain_report VALUES (%s, 'mo', 119, NULL, NULL)", (bucket(host),))


async def copies_are_kept(wiki: WikiInStore) -> None:
    async with wiki.pool.connection() as conn:
        for url in (*LOST_URLS[1:4], FINE_URLS[0]):
            await conn.execute(
                "INSERT INTO snapshot"
                " (bucket, host_key, url_key, archive, stamp, origin, due, asked, wanted, note, address) VALUES"
                " (%s, %s, %s, 1, 20160102030405, 1, 200, 120, 99, 2, NULL),"
                " (%s, %s, %s, 2, 20170102030405, 0, 200, NULL, NULL, 0, 'https://archive.today/x')",
                (*key(url), *key(url)),
            )
        for url in LOST_URLS[2:]:
            await conn.execute(
                "INSERT INTO lookup (bucket, host_key, url_key, archive, outcome, asked, due, passed)"
                " VALUES (%s, %s, %s, 1, %s, 118, 140, %s)",
                (*key(url), LookupOutcome.NONE.number, '{"a": "é"}'),
            )


async def require_same(wiki: WikiInStore, urls: list[str]) -> None:
    links = [keyed_link(classify(url, None)) for url in urls]
    keys = [key(url) for url in urls]
    async with wiki.pool.connection() as conn:
        linked = await find_linked(conn, keys, wiki.wiki.wiki, [1, 2], Extent.ALL)
        named = await find_linked(conn, keys, wiki.wiki.wiki, (), Extent.ALL, named=True)
        few = {each: await find_linked(conn, keys, wiki.wiki.wiki, [1, 2], each) for each in Extent}
        known = await find_urls(conn, keys)
        assert linked.spam == await list_spam_links(conn, wiki.wiki.wiki, [1, 2])
        assert linked.settings == (await find_settings(conn, wiki.wiki.wiki) if urls else NOTHING_SAID)
    assert linked.urls.keys() == named.urls.keys() == known.keys()
    reports = [at_once(keyed_reports(links, each)) for each in (linked.urls, named.urls, known)]
    assert reports == [reports[0]] * 3
    assert {key: url.url for key, url in named.urls.items()} == {key: url.url for key, url in known.items()}
    assert {url.url for url in linked.urls.values()} <= {None}
    assert (named.spam, named.settings) == ({}, linked.settings)
    spam: set[UrlKey] = set(linked.spam.get(1, ()))
    for extent, some in few.items():
        whole = at_once(keyed_reports(links, known, spam=spam))
        assert (some.spam, some.settings, {*some.urls} | some.working) == (linked.spam, linked.settings, {*known})
        stored: dict[UrlKey, Known] = {**some.urls, **{each: known[each] for each in spam & some.working}}
        lean = at_once(keyed_reports(links, stored, spam=spam, extent=extent, working=some.working - spam))
        assert [link for link in lean if is_included(link, extent)] == [
            link for link in whole if is_included(link, extent)
        ]
        assert Counter(link.finding.verdict for link in lean) == Counter(link.finding.verdict for link in whole)


async def test_it_says_what_the_separate_statements_say(database: str) -> None:
    async with open_wiki(database, {1: URLS}) as wiki:
        for day in (100, 103, 107, 110, 114, 115, 116):
            await wiki.round(day, answer)
        await require_same(wiki, [*URLS, UNKNOWN])
        await people_say(wiki)
        await copies_are_kept(wiki)
        async with wiki.pool.connection() as conn:
            await conn.execute("UPDATE cited_copy SET due = 140")
            one, other = {key(UNKNOWN): UNKNOWN, key(FINE_URLS[0]): "HTTPS://d0.demo"}, {key(UNKNOWN): UNKNOWN.upper()}
            await record_spam_links(conn, wiki.wiki.wiki, {1: one, 2: other})
            text = (asset("wikis") / "dewiki.json").read_text(encoding="utf-8")
            await record_settings(conn, StoredSettings(wiki.wiki.wiki, 120, text))
        await require_same(wiki, [UNKNOWN, *URLS])
        await require_same(wiki, [UNKNOWN])
        await require_same(wiki, [])


async def test_it_says_the_same_of_whatever_records_there_are(database: str) -> None:
    print(f"seed {(seed := random.randrange(10**6))}")
    chance = random.Random(seed)
    async with open_wiki(database, {1: URLS}) as wiki, wiki.pool.connection() as conn:
        keys = sorted(map(key, LOST_URLS + FINE_URLS))
        checked = [CheckedUrl(each, random_record(chance), 150) for each in keys if chance.random() < 0.9]
        await record_checks(conn, checked)
        await record_hosts(conn, {host: random_host_record(chance) for host in sorted(hosts_of(keys))})
        await conn.commit()
        await require_same(wiki, [*URLS, UNKNOWN])
