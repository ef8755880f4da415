"""Attacks on a running service, each with what it must not achieve; some of them once succeeded.

Malformed requests are in ``test_hostile_requests``, sessions in ``identity/test_session``, forbidden targets of
replacements in ``people/test_replacement``.
"""

import asyncio
import logging
import re
import tracemalloc
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import aiohttp
import pytest
from lxml import etree
from support.listed import add_pages, texts
from support.people import BOSS, PUBLIC_URL, Browser, People, Seen, open_people
from support.stored import WikiInStore, key
from support.webservice import (
    DEAD,
    HOSTILE_TITLE,
    MOVED,
    PAGES,
    PDF,
    SCRIPT,
    SPOOFED,
    TODAY,
    WALLED,
    Site,
    open_service,
)
from yarl import URL

from weboid.assets import toml_next_to
from weboid.core.record.days import iso
from weboid.errors import StoreError
from weboid.maintain.dataset import publish
from weboid.store.pages import pending
from weboid.store.pages.spam import record_spam_links
from weboid.web.api import dataset
from weboid.web.http import page_script
from weboid.web.words.language import accepted_language, languages
from weboid.web.words.messages import messages_in

TOKEN = "a token for tests"
WIKI = "dbname=testwiki@wmflabs"
REPORT = f"/report?url={quote(DEAD, safe='')}"
REPLACEMENT = REPORT.replace("/report", "/replacement")
BASE = {"dbname": "testwiki@wmflabs", "url": DEAD, "pageid": "1"}
_CASES = toml_next_to(__file__)
GETS: dict[str, list[str]] = _CASES["gets"]
"""The addresses, with the parameters that each reads."""

TRUSTED = ("/api/pages", "/api/ping")
POSTS = (
    *("/account/in", "/account/out", "/report", "/report/look", "/report/remove", "/check", "/url", "/search"),
    *("/replacement", "/replacement/look", "/replacement/remove", "/admin/undo", "/admin/block", "/admin/unblock"),
    *("/admin/lift", "/admin/revert"),
)
SENDERS = (("https://evil.demo", "cross-site"), ("null", ""), ("", ""), (PUBLIC_URL, "same-origin"))
"""Of a form: Origin and Sec-Fetch-Site, empty where a browser sends none. The last are our own."""

FORMS = (
    ("/search?pattern=dead.demo", "/search", ("pattern", "dbname", "namespace", "verdict", "after", "token")),
    (REPORT, "/report", ("url", "dbname", "extent", "lang", "token")),
    ("/url?url=http://a.demo/old", "/url", ("url", "dbname", "after", "at", "lang")),
    (REPORT, "/report/remove", ("url", "extent")),
    (REPLACEMENT, "/replacement", ("url", "dbname", "target", "lang")),
    (REPLACEMENT, "/replacement/remove", ("url", "archive", "target")),
    ("/admin?subject=7", "/admin/block", ("subject", "reason", "lang")),
    ("/admin?subject=7", "/admin/unblock", ("subject",)),
    ("/account", "/account/out", ("lang",)),
)
OTHERS = ("/healthz", "/metrics", "/api/openapi.json", "/static/x", "/data/x", "/nothing")
NUMBERS = (
    *("0", "-1", "2147483648", "9223372036854775808", "\u0663", "9" * 400, "0.0.-9223372036854775809.0"),
    *("4294967296.1.1.1", "1.9223372036854775807.1.1", "9999999999.9999999999", "0001-01-01", "9999-12-31"),
)
TEXTS = (
    *("\x00", "\udc80", "\ud800", "'\"><svg/onload=alert(1)>", "{{7*7}}${7*7}$1{0}%s%%%", "a\r\nX-Split: 1"),
    *("javascript:alert(1)//evil.demo/", "//evil.demo/", "/\\evil.demo", "\ufdfa" * 300, "|" * 60, "*" * 60),
)
NUMBERED = {
    *("pageid", "curid", "revid", "namespace", "page", "since", "after", "spamafter", "before", "subject", "archive")
}
"""Names whose values are numbers, days or places in a list."""


@pytest.fixture
async def people(site_database: str, tmp_path: Path) -> AsyncIterator[People]:
    tokens = f"ours:{sha256(TOKEN.encode()).hexdigest()}"
    async with open_people(site_database, tmp_path, {"WEBOID_WEB_TOKENS": tokens}) as opened:
        yield opened


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Fails a test after which a traceback stands in the log."""
    yield
    for record in caplog.get_records("call"):
        assert record.exc_info is None, record.getMessage()


def attack(name: str, value: str) -> str:
    """A parameter with whatever bytes the value stands for; surrogates are bytes that are no UTF-8."""
    return f"{name}={quote(value.encode('utf-8', 'surrogatepass'), safe='')}"


async def hold(wiki: WikiInStore) -> list[list[object]]:
    """All that people can change."""
    tables = ("report", "domain_report", "replacement", "audit", "blocked", "pending")
    return [list(await wiki.rows(f"SELECT * FROM {table} ORDER BY 1, 2")) for table in tables]  # noqa: S608 (ours)


async def asked(browser: Browser, method: str, path: str) -> Seen:
    """Whatever method a browser is made to use."""
    address = URL(browser.url + path, encoded=True)
    async with browser.client.request(method, address, allow_redirects=False) as response:
        cookies = tuple(response.headers.getall("Set-Cookie", ()))
        return Seen(response.status, await response.text(), dict(response.headers), cookies)


async def posted(site: Site, kind: str, body: bytes) -> int:
    """The status of what is handed in with such a body in chunks, of unknown length."""

    async def chunks() -> AsyncIterator[bytes]:
        for start in range(0, len(body), 1 << 16):
            yield body[start : start + (1 << 16)]

    headers = {"Content-Type": kind}
    async with site.client.post(f"{site.url}/api/ping?{WIKI}", data=chunks(), headers=headers) as response:
        return response.status


def nasty(name: str) -> Sequence[str]:
    """Harmful values that may be sent under a name."""
    return (*TEXTS, *NUMBERS) if name in NUMBERED else TEXTS


@pytest.mark.usefixtures("quiet")
async def test_no_value_of_any_parameter_is_our_failure_or_comes_back_as_markup(people: People) -> None:
    browser = await people.browser("Boss")
    found = []
    for path, name in ((path, name) for path, names in GETS.items() for name in names):
        is_page = name in ("title", "curid", "page", "category", "namespace", "after")
        base = [pair for pair in BASE.items() if pair[0] != "pageid" or not is_page]
        for value in nasty(name):
            query = "&".join([attack(name, value), *(attack(*pair) for pair in base if pair[0] != name)])
            trust = {"Authorization": f"Bearer {TOKEN}"} if path in TRUSTED else {}
            seen = await browser.open(f"{path}?{query}", **trust)
            is_html = "html" in seen.headers.get("Content-Type", "")
            is_split = "X-Split" in seen.headers or "evil.demo" in seen.location
            hrefs = re.findall(r'(?:href|action|src)="([^"]*)', seen.text) if is_html else ()
            leads_out = any(href.startswith(("//", "javascript:")) for href in hrefs)
            if seen.status >= 500 or is_split or leads_out or (is_html and "<svg/onload" in seen.text):
                found.append((path, name, value, seen.status))
    assert not found


@pytest.mark.usefixtures("quiet")
async def test_no_value_of_any_field_of_a_form_is_our_failure_or_comes_back_as_markup(people: People) -> None:
    boss = await people.browser("Boss")
    assert (await boss.send_form(REPORT, "/report")).status == 303
    assert (await boss.send_form(REPLACEMENT, "/replacement", target="http://new.demo/")).status == 303
    found = []
    for page, path, names in FORMS:
        form = (await boss.open(page)).form(path)
        for name in names:
            for value in nasty(name):
                seen = await boss.send(path, {**form, name: value.encode("utf-8", "replace").decode()})
                await people.later()
                is_split = "X-Split" in seen.headers or seen.location.startswith(("//", "/\\", "http"))
                if seen.status >= 500 or is_split or "<svg/onload" in seen.text:
                    found.append((path, name, value, seen.status))
    assert not found


async def test_nothing_is_changed_by_whatever_link_an_administrator_is_made_to_follow(people: People) -> None:
    boss = await people.browser("Boss")
    await boss.send_form(REPORT, "/report")
    before = await hold(people.site.wiki)
    fields = {"extent": "url", "subject": "7", "target": "http://new.demo/", "archive": "0", "reason": "x"}
    query = "&".join(attack(*pair) for pair in (BASE | fields).items())
    for path in (*GETS, *POSTS):
        if path != "/api/ping":
            await boss.open(f"{path}?{query}")
            await boss.open(f"{path}?{query}&_method=POST", X_HTTP_Method_Override="POST")
    assert await hold(people.site.wiki) == before


async def test_no_form_does_anything_from_another_site_without_its_own_token_or_as_anything_but_a_form(
    people: People,
) -> None:
    # Browsers send no cookie of ours from another site, but would keep one that came back.
    boss, nobody = await people.browser("Boss"), await people.browser()
    before, fields = await hold(people.site.wiki), {**BASE, "subject": "7", "target": "http://new.demo/"}
    for path in POSTS:
        for browser, other in ((boss, nobody), (nobody, boss)):
            stolen = (await other.open("/search")).form("/search")["token"]
            another = (await browser.open(REPORT)).form("/report/look" if browser is nobody else "/report")["token"]
            for token in (stolen, another if path not in ("/report", "/report/look") else "", ""):
                for origin, fetch_site in SENDERS:
                    given = {**fields, "token": token}
                    seen = await browser.send(path, given, Origin=origin, Sec_Fetch_Site=fetch_site)
                    assert (seen.status, seen.cookies) == (403, ()), (path, token, origin)
                    assert "Access-Control-Allow-Origin" not in seen.headers
        address, ours = boss.url + path, {"Origin": PUBLIC_URL}
        async with boss.client.post(address, json=fields, headers=ours) as response:
            assert response.status == 415, path
    assert await hold(people.site.wiki) == before
    assert "Boss" in (await boss.open("/account")).text


async def test_every_answer_has_its_shell_and_no_private_one_is_kept_or_open_to_other_sites(people: People) -> None:
    boss, nobody = await people.browser("Boss"), await people.browser()
    query = "&".join(attack(*pair) for pair in BASE.items())
    for path in (*GETS, *POSTS, *OTHERS):
        answer = [
            (browser is boss, await asked(browser, method, f"{path}?{query}"))
            for browser, method in ((boss, "GET"), (nobody, "GET"), (boss, "HEAD"), (nobody, "POST"), (boss, "OPTIONS"))
        ]
        if tag := answer[0][1].headers.get("ETag"):
            answer.append((True, await boss.open(f"{path}?{query}", If_None_Match=tag)))
            assert (answer[-1][1].status, answer[-1][1].text) == (304, ""), path
        for is_boss, seen in answer:
            where = (path, seen.status, dict(seen.headers))
            assert seen.headers["X-Frame-Options"] == "DENY", where
            assert "frame-ancestors 'none'" in seen.headers["Content-Security-Policy"], where
            assert "default-src 'none'" in seen.headers["Content-Security-Policy"], where
            assert "unsafe" not in seen.headers["Content-Security-Policy"], where
            assert seen.headers["X-Content-Type-Options"] == "nosniff", where
            assert (seen.headers["Referrer-Policy"], seen.headers["Server"]) == ("same-origin", "Weboid"), where
            assert "Traceback" not in seen.text, where
            assert "Content-Type" in seen.headers or not seen.text, where
            is_private = bool(seen.cookies) or (is_boss and "Boss" in seen.text)
            if is_private or seen.status >= 400:
                assert seen.headers["Cache-Control"] == "no-store", where
                assert "ETag" not in seen.headers, where
            if is_private or seen.headers.get("Content-Type", "").startswith("text/html"):
                assert "Access-Control-Allow-Origin" not in seen.headers, where


async def test_nothing_hostile_gets_out_of_any_page_list_or_feed(people: People) -> None:
    site, boss = people.site, await people.browser("Boss")
    hostile = ["http://dead.demo/</script>%E2%80%AE", 'http://a.demo/"><b>', WALLED, SPOOFED, MOVED]
    await add_pages(site, {9: (HOSTILE_TITLE, hostile)})
    await site.wiki.do(record_spam_links, site.wiki.wiki.wiki, {9: {key(MOVED): MOVED}})
    site.source.found[9] = replace(site.source.found[3], page=9, urls=(*sorted(hostile), SCRIPT))
    lists = [
        f"/lists/{name}?{WIKI}{more}" for name, more in (("spam", ""), ("dead", ""), ("dead", "&verdict=doubtful"))
    ]
    data = [*lists, f"{lists[1]}&domain=dead.demo", f"/api/page?{WIKI}&pageid=1|9&all=1", f"/changes?{WIKI}"]
    pages = [*data[:-1], "/", *(f"/externalLinkInfo?{WIKI}&pageid={page}&all=1" for page in (1, 3, 9))]
    seen = [await boss.send_form("/search", "/search", pattern="*.a.demo", dbname="testwiki@wmflabs")]
    assert len(texts(seen[0].text, "//div[@class='match']")) >= 3
    urls = [*hostile, f'{PDF}#"><script>alert(1)</script>\u202e']
    seen += [await boss.open(f"/url?{attack('url', url)}&{WIKI}") for url in urls]
    seen += [await boss.open(path if path == "/" else f"{path}&format=html") for path in pages]
    for page in seen:
        assert page.status == 200
        assert set(texts(page.text, "//script | //b | //style | //@style | //@onclick")) <= {page_script.SCRIPT.strip()}
        for address in texts(page.text, "//@href | //@src | //@action"):
            assert re.match(r"https?://[a-z0-9.:-]+/|/|\?|#main$", address), address
        rel = {"nofollow noopener noreferrer"}
        assert set(texts(page.text, '//*[@class="links"]//a[starts-with(@href, "http")]/@rel')) <= rel
        assert not re.search("[\u202a-\u202e\u2028]", re.sub(r'value="[^"]*"', "", page.text))
    for path in (*data, f"/externalLinkProblem?{WIKI}&pageid=9"):
        body = (await boss.open(path + ("" if "Problem" in path else "&format=json"))).text
        assert body.isascii(), path
        assert not re.search("[<>&]", body), path
    for path in data:
        tree = etree.fromstring((await boss.open(f"{path}&format=xml")).text.encode())
        assert HOSTILE_TITLE in [page.get("title") for page in tree.iter("page")], path


async def test_no_answer_believes_the_name_under_which_it_was_asked(site: Site) -> None:
    for path in [*PAGES.values(), "/feeds/dead?" + WIKI, "/api/openapi.json", "/data?format=json"]:
        evil = dict.fromkeys(("Host", "X-Forwarded-Host", "X-Original-URL", "X-Rewrite-URL", "Forwarded"), "evil.demo")
        async with site.client.get(site.url + path, headers={**evil, "X-Original-URL": "/metrics"}) as response:
            assert "evil.demo" not in await response.text() + str(response.headers)
            assert "python_gc" not in await response.text()


async def test_a_cookie_that_a_neighbour_can_set_is_no_session_of_ours(people: People) -> None:
    boss = await people.browser("Boss")
    (cookie,) = [each for each in boss.client.cookie_jar if each.key == "__Host-weboid"]
    async with aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar()) as client:
        browser = Browser(people.site.url, client)
        for name in ("weboid", "__host-weboid", "__Host-weboid2"):
            assert "Boss" not in (await browser.open("/account", Cookie=f"{name}={cookie.value}")).text
        assert "Boss" in (await browser.open("/account", Cookie=f"{cookie.key}={cookie.value}")).text
        both = await browser.open("/account", Cookie=f"{cookie.key}={cookie.value}; {cookie.key}=x; x={cookie.key}=y")
        assert both.status == 200


async def test_who_is_no_administrator_any_more_has_no_old_session_that_is_one(
    people: People, site_database: str, tmp_path: Path
) -> None:
    boss = await people.browser("Boss")
    assert (await boss.open("/admin")).status == 200
    environ = {"WEBOID_WEB_SECRET": people.site.config.web.secret, "WEBOID_PEOPLE_ADMINISTRATORS": "12"}
    async with open_service(site_database, tmp_path, environ=environ) as site:
        later = Browser(site.url, boss.client)
        jar = {each.key: each.value for each in boss.client.cookie_jar}
        cookie = f"__Host-weboid={jar['__Host-weboid']}"
        assert (await later.open("/admin", Cookie=cookie)).status == 403
        assert "Boss" in (await later.open("/account", Cookie=cookie)).text


async def test_an_administrator_can_shut_out_no_administrator(people: People) -> None:
    boss = await people.browser("Boss")
    fields = (await boss.open(f"/admin?subject={BOSS}")).form("/admin/block")
    seen = await boss.send("/admin/block?lang=qqx", fields)
    assert (seen.status, "weboid-error-block-administrator" in seen.text) == (409, True)
    assert await people.site.wiki.rows("SELECT FROM blocked") == []


async def test_the_sender_of_a_body_cannot_choose_how_it_is_read(site: Site) -> None:
    form = "application/x-www-form-urlencoded"
    for charset in ("rot13", "zlib", "nonsense", "punycode", "idna", "utf-16", '"\\', "utf-7"):
        assert await posted(site, f"{form}; charset={charset}", b"pageid=5") == 202, charset
    # A minute of our time, once.
    assert await posted(site, f"{form}; charset=punycode", b"-" + b"9999" * 200_000) == 413
    assert await posted(site, form, b"a&" * 500_000) == 413
    assert await posted(site, form, b"pageid=1&_=" + b"1" * 5_000) == 413
    assert await posted(site, form, b"pageid=1&pageid=2") == await posted(site, form, b"pageid=%ff%00") == 400
    assert await posted(site, form, b"a&" * 1_000) == 400
    assert await posted(site, "multipart/form-data; boundary=x", b"--x\r\n" * 1_000) == 415


def test_languages_that_nobody_speaks_take_no_time() -> None:
    # The square of this would take a minute.
    for accepted in ("de" + " " * 300_000 + "!", " " * 300_000 + "!", "de;" + " " * 300_000 + "q", "de-" * 100_000):
        assert accepted_language(accepted) in languages().values()


def test_what_somebody_made_up_does_not_stay_in_memory() -> None:
    say = messages_in(languages()["en"])
    say.text("weboid-error-unknown-page", "x", "y")
    tracemalloc.start()
    for number in range(1_000):
        made_up = f"{number}" * 1_000
        say.text("weboid-error-unknown-page", made_up, "y")
        say.html("weboid-error-unknown-page", made_up, "y")
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 500_000


async def test_made_up_pages_fill_no_disk_and_waste_no_wikis_time(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pending, "MOST_WAITING", 100)
    answers = []
    for number in range(4):
        pages = "|".join(str(1_000 * number + page) for page in range(1_000, 1_050))
        titles = "|".join(f"{number} {title}" for title in range(50))
        answers += [
            (await site.fetch(f"/api/ping?{WIKI}&{each}"))[0] for each in (f"pageid={pages}", f"title={titles}")
        ]
    assert answers == [202] * 2 + [503] * 6
    assert await site.wiki.rows("SELECT count(*) FROM pending") == [(100,)]
    # Reading is as ever, and pages that are watched are touched.
    assert (await site.fetch(f"/api/page?{WIKI}&pageid=3"))[0] == 200
    assert await site.wiki.rows("SELECT count(*) FROM pending") == [(100,)]


async def test_a_file_that_breaks_off_holds_no_error_in_its_midst(
    site: Site, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    await publish(site.wiki.pool, TODAY)

    async def gone(*_: object) -> None:
        raise StoreError("the database failed")

    monkeypatch.setattr(dataset, "find_piece", gone)
    url = URL(site.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    writer.write(b"GET /data/statuses-wmflabs-%s.csv.gz HTTP/1.1\r\nHost: a\r\n\r\n" % iso(TODAY).encode())
    async with asyncio.timeout(30):
        answer = await reader.read()
    writer.close()
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1") == 1
    assert b"weboid-error" not in answer.partition(b"\r\n\r\n")[2]
    assert not [record for record in caplog.records if record.levelno > logging.WARNING]


async def test_what_is_public_says_nothing_of_who_said_what(people: People) -> None:
    anna = await people.browser("Anna")
    assert (await anna.send_form(REPORT, "/report")).status == 303
    nobody = await people.browser()
    await nobody.send_form(REPORT, "/report/look")
    for path in (*PAGES.values(), "/metrics", "/status?format=json", f"/api/page?{WIKI}&pageid=1&all=1", REPORT):
        text = (await nobody.open(path)).text
        assert "Anna" not in text, path
        assert "127.0.0.1" not in text.replace(PUBLIC_URL, "").replace(URL(people.provider.url).authority, ""), path


async def test_a_body_that_declares_to_be_too_long_is_refused_before_it_comes(site: Site) -> None:
    at = URL(site.url)
    for kind in ("application/x-www-form-urlencoded", "text/plain"):
        reader, writer = await asyncio.open_connection(at.host, at.port)
        head = f"POST /api/ping?{WIKI} HTTP/1.1\r\nHost: {at.authority}\r\nContent-Type: {kind}\r\n"
        writer.write(f"{head}Content-Length: {100 << 20}\r\n\r\n".encode())
        async with asyncio.timeout(5):
            assert (await reader.readline()).split()[1] in (b"413", b"415"), kind
        writer.close()
