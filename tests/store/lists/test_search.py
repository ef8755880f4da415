"""The search by pattern (W-5): what it finds, how much it looks at, and that SQL and Python judge alike."""

import itertools
import random
import re
from collections.abc import Callable, Collection, Sequence

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.intakes import record_pages
from support.records import random_host_record, random_record
from support.stored import WikiInStore, key, open_wiki

from weboid.core.record.policy import DEFAULT, Policy
from weboid.core.url.farms import WMFLABS
from weboid.core.url.keys import key_of
from weboid.core.url.patterns import parse_pattern
from weboid.core.url.urls import Url, parse
from weboid.core.verdict.verdict import Verdict, finding_of
from weboid.core.verdict.wiki_rules import WikiRules
from weboid.feed.intake import page_urls
from weboid.store.db.pool import Connection
from weboid.store.db.rows import HostKey, verdict_values
from weboid.store.lists import search
from weboid.store.lists.search import Matches, SearchSpot, list_matches
from weboid.store.urls.check import CheckedUrl, record_checks, record_hosts
from weboid.store.urls.url import find_urls
from weboid.wiki.source import PageLinks

HOSTS = [
    *("press.org", "www.press.org", "news.a.press.org", "news.b.c.press.org", "xpress.org", "press-a.org"),
    *("amazonaws.com", "a.amazonaws.com", "bucket.s3.amazonaws.com", "xn--mller-kva.de", "192.0.2.7", "[2001:db8::1]"),
]
PATHS = ["/", "/a_b", "/aXb", "/a%25b", "/a%5Cb/c.pdf", "/a*b", "/%C3%A4/c.pdf", "/?a=1", "/100%25", "/A_B"]
SITES = ["http://{}", "https://{}", "http://{}:8080", "ftp://{}"]
URLS = [site.format(host) + path for host in HOSTS for path in PATHS for site in SITES]
PATTERNS = [
    *("*.press.org", "press.org", "www.press.org/a", "news.*.press.org", "*.news*.press.org", "*.c.press.org"),
    *("*.amazonaws.com", "*.müller.de/ä", "192.0.2.7", "[2001:db8::1]:8080/", "*://press.org:443", "ftp://*.press.org"),
    *("*.press.org/a_b", "*.press.org/a*b", "*.press.org/*.pdf", "*.press.org/a%5Cb", "*.press.org/%25"),
    *("*.press.org/100%25", "*.press.org?a", "https://press.org/a_b", "http://*.press.org:8080/*%25", "*.never.org"),
]

Range = tuple[str, str]


def _regex(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))))


def _fits(text: str) -> Callable[[Url], bool]:
    """What a pattern of `PATTERNS` says, read in another way than the program's."""
    if "*" not in text and "://" in text:
        return lambda url: str(url) == text
    scheme, _, rest = text.rpartition("://")
    authority, *path = re.split(r"(?=[/?])", rest, maxsplit=1)
    host, port = re.fullmatch(r"(\[.*\]|[^:]*)(?::(\d+))?", authority).groups()  # type: ignore[union-attr]
    begin = parse(f"http://a.aa{path[0]}").path if path else "/"
    names = [host.strip("[]").replace("müller", "xn--mller-kva")]
    if host.startswith("*."):
        names.append(names[0].removeprefix("*."))
    own = {"http": 80, "https": 443, "ftp": 21}

    def fits(url: Url) -> bool:
        return (
            any(_regex(name).fullmatch(url.host) for name in names)
            and scheme in ("", "*", url.scheme)
            and (port is None or int(port) == (url.port or own[url.scheme]))
            and bool(_regex(begin + "*").fullmatch(url.path))
        )

    return fits


async def _walked(conn: Connection, pattern: str, *, limit: int = 50, **rest: object) -> list[search.Match]:
    """All matches, part by part."""
    found: list[search.Match] = []
    after: SearchSpot | None = None
    for _ in range(1_000):
        part: Matches = await list_matches(
            conn,
            parse_pattern(pattern),
            after=after,
            limit=limit,
            **rest,  # type: ignore[arg-type]
        )
        assert len(part.matches) <= limit
        found += part.matches
        if part.after is None:
            return found
        after = part.after
    raise AssertionError("the search has no end")


async def _add(wiki: WikiInStore, pages: Sequence[PageLinks]) -> None:
    await wiki.do(record_pages, wiki.wiki.wiki, [page_urls(page, WMFLABS) for page in pages], 100)


async def _judge(wiki: WikiInStore, chance: random.Random) -> None:
    async with wiki.pool.connection() as conn:
        keys = [key(url) for url in URLS if chance.random() < 0.9]
        keys = sorted(await find_urls(conn, keys))
        await record_checks(conn, [CheckedUrl(each, random_record(chance), 150) for each in keys])
        hosts = sorted({HostKey(each.bucket, each.host_key) for each in keys})
        await record_hosts(conn, {host: random_host_record(chance) for host in hosts})


_examples = itertools.count()


@settings(max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    seed=st.integers(0, 10**6),
    sizes=st.sampled_from([(50, 500, 20, 1_000, 500), (7, 2, 3, 4, 9), (1, 1, 1, 1, 2), (100, 3, 50, 20, 500)]),
    policy=st.sampled_from([DEFAULT, Policy(dead_strikes=4, dead_span=30), Policy(missing_span=20)]),
)
async def test_the_search_finds_just_what_a_filter_over_all_urls_finds(
    database: str, seed: int, sizes: tuple[int, ...], policy: Policy
) -> None:
    chance = random.Random(seed)
    used = {page: chance.sample(URLS, 60) for page in range(1, 9)}
    limit, hosts, each, stretch, candidates = sizes
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(search, "HOSTS", hosts)
        patch.setattr(search, "EACH", each)
        for name, value in (("_FIRST_STRETCH", stretch), ("_LONGEST_STRETCH", 2 * stretch)):
            patch.setattr(search, name, value)
        patch.setattr(search, "_MOST_CANDIDATES", candidates)
        latest = next(_examples) + 1
        async with open_wiki(database, {}, latest=latest) as wiki:
            await _add(
                wiki,
                [
                    PageLinks(page, page % 3, f"P{page}", latest, None, tuple(sorted(urls)))
                    for page, urls in used.items()
                ],
            )
            await _judge(wiki, chance)
            async with wiki.pool.connection() as conn:
                stored = (await find_urls(conn, sorted(map(key, URLS)))).values()
                for pattern in chance.sample(PATTERNS, 6):
                    verdict = chance.choice([None, Verdict.WORKING, Verdict.DOUBTFUL, Verdict.DEAD])
                    namespaces: Collection[int] | None = chance.choice([None, {0}, {1, 2}, {7}])
                    of_wiki = chance.random() < 0.6
                    pages: dict[str, list[int]] = {}
                    for page, urls in used.items():
                        if namespaces is None or page % 3 in namespaces:
                            for url in urls:
                                pages.setdefault(str(parse(url)), []).append(page)
                    fits = _fits(pattern)
                    wanted = {
                        str(known.url): pages.get(str(known.url), []) if of_wiki else []
                        for known in stored
                        if fits(known.url)
                        and verdict in (None, finding_of(known.record, known.host, policy).verdict)
                        and (not of_wiki or str(known.url) in pages)
                    }
                    found = await _walked(
                        conn,
                        pattern,
                        limit=limit,
                        verdict=verdict,
                        wiki=wiki.wiki.wiki if of_wiki else None,
                        namespaces=namespaces,
                        rules=WikiRules(policy),
                        within_s=600,
                    )
                    assert len(found) == len({match.known.key for match in found})
                    assert {str(match.known.url): [page.page for page in match.pages] for match in found} == {
                        url: some[: search.PAGES] for url, some in wanted.items()
                    }, (pattern, verdict, namespaces)
                    assert [match.more for match in found] == [
                        len(wanted[str(match.known.url)]) > search.PAGES for match in found
                    ]


async def test_uses_beyond_those_that_are_looked_at_are_said_to_be_possible(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MOST_USES", 10)
    often, seldom = "http://press.org/often", "http://press.org/seldom"
    async with open_wiki(database, {page: [often] for page in range(1, 31)}) as wiki:
        await _add(wiki, [PageLinks(40, 7, "P40", 1, None, (often, seldom))])
        async with wiki.pool.connection() as conn:
            found = await _walked(conn, "press.org", wiki=wiki.wiki.wiki, namespaces={7})
            shown = {str(match.known.url): ([page.page for page in match.pages], match.more) for match in found}
            assert shown == {often: ([], True), seldom: ([40], False)}
            found = await _walked(conn, "press.org", wiki=wiki.wiki.wiki, namespaces={0})
            assert [(str(match.known.url), len(match.pages), match.more) for match in found] == [(often, 5, True)]


async def test_a_call_ends_when_its_time_is_over_and_tells_where_to_go_on(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "EACH", 5)
    async with (
        open_wiki(database, {1: [f"http://press.org/{n}" for n in range(40)]}) as wiki,
        wiki.pool.connection() as conn,
    ):
        part = await list_matches(conn, parse_pattern("press.org/nowhere"), within_s=1e-9)
        assert (part.matches, part.after is None) == ((), False)
        monkeypatch.setattr(search, "MOST_STRETCHES", 1)
        part = await list_matches(conn, parse_pattern("press.org"))
        assert (len(part.matches), part.after is None) == (5, False)


async def test_hosts_that_do_not_match_cost_a_bounded_number_of_statements(
    database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "HOSTS", 2)
    monkeypatch.setattr(search, "MOST_STRETCHES", 3)
    async with (
        open_wiki(database, {1: [f"http://h{n}.press.org/" for n in range(30)]}) as wiki,
        wiki.pool.connection() as conn,
    ):
        part = await list_matches(conn, parse_pattern("h9*.press.org"))
        assert (part.matches, part.after is None) == ((), False)
        assert [str(match.known.url) for match in await _walked(conn, "h9*.press.org")] == ["http://h9.press.org/"]


async def test_the_indexes_carry_it(database: str) -> None:
    """In a store in which each of these ways would be the cheapest, ranges of keys are read and nothing else."""
    async with open_wiki(database, {1: URLS}) as wiki, wiki.pool.connection() as conn:
        await conn.execute(b"SET LOCAL plan_cache_mode = force_generic_plan")
        await conn.execute(b"SET LOCAL enable_seqscan = off")
        await conn.execute(b"SET LOCAL enable_bitmapscan = off")
        values = {
            **search._values(parse_pattern("*.press.org/a*"), search._Filter(Verdict.DEAD, True)),
            **verdict_values(DEFAULT),
            "first": "org.press.",
            "end": "org.press/",
            "after": "",
            "after_url_key": 0,
            "budget": 100,
            "limit": 50,
        }
        plan = await _plan(conn, search.SQL["list_stretch"], values)
        assert re.search(r"Index Scan using host(_\d+)?_reversed.*\n.*Index Cond: .*reversed >= .*reversed < ", plan), (
            plan
        )
        assert re.search(
            r"Index Scan using url(_\d+)?_pkey.*\n.*Index Cond: .*bucket = .*host_key = .*url_key > ", plan
        )
        plan = await _plan(
            conn, search.SQL["find_hosts_end"], {"first": "org.press.", "end": "org.press/", "hosts": 500}
        )
        assert re.search(r"using host(_\d+)?_reversed", plan)
        uses = {"wiki": 1, "namespaces": [0], "most": 1000, "limit": 6}
        keys = {name: [part] for name, part in key_of(parse(URLS[0]))._asdict().items()}
        plan = await _plan(conn, search.SQL["list_uses_of"], {**keys, **uses})
        assert re.search(r"using link(_\d+)?_pkey.*\n.*bucket = .*host_key = .*url_key = .*wiki = ", plan), plan
        assert re.search(r"using page_pkey.*\n.*wiki = .*page = ", plan), plan


async def _plan(conn: Connection, statement: str, values: dict[str, object]) -> str:
    rows = await conn.execute(b"EXPLAIN " + statement.encode(), values)
    return "\n".join([line async for (line,) in rows])
