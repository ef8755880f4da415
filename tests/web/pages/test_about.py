"""The pages that explain show what is configured and load nothing from other servers. Search engines may read
them, and walk no live reads (robots.txt, RFC 9309).
"""

import itertools
from pathlib import Path

from protego import Protego
from support.webservice import Site, open_service

from weboid.config import PROJECT_CONTACT


async def test_a_page_that_explains_is_there_without_a_cookie(site: Site) -> None:
    for path, language in itertools.product(("/help", "/bot", "/privacy", "/policy"), ("en", "de")):
        status, body, response = await site.fetch(f"{path}?lang={language}")
        assert (status, f'lang="{language}"' in body, "Set-Cookie" in response.headers) == (200, True, False), path
        assert not any(gap in body for gap in ("⧼", "(weboid-")), path


async def test_help_and_policy_say_the_rule_and_the_limits_that_are_configured(site: Site) -> None:
    others = "at least 35 days if it cannot be reached (42 days if it reports a fault of its own)"
    rule = ("at least 3 in a row", "at least 14 days if the server reports", others)
    web = site.config.web
    units = (f"{web.rate:,} units a minute", f"up to {web.burst:,} at once", "up to 50 per request, or 500 in a form")
    for path, said in (("/help", rule), ("/policy", units)):
        body = await site.text(path)
        assert [words for words in said if words not in body] == []


async def test_site_owners_read_whom_to_write_to_and_what_robots_txt_may_forbid(
    site: Site, database: str, tmp_path: Path
) -> None:
    body = await site.text("/bot")
    assert site.config.contact == ""
    assert f'<code dir="ltr">{PROJECT_CONTACT}</code>' in body
    async with open_service(database, tmp_path, environ={"WEBOID_CRAWL_STRICT": "1"}) as strict:
        assert [" is checked all the same." in page for page in (body, await strict.text("/bot"))] == [True, False]


async def test_robots_may_fetch_what_explains_and_nothing_that_reads_a_wiki_or_the_store(site: Site) -> None:
    status, body, response = await site.fetch("/robots.txt")
    assert (status, response.headers["Content-Type"].partition(";")[0]) == (200, "text/plain")
    page = "dbname=dewiki@WMF&pageid=1"
    allowed = ("/", "/help", "/static/weboid-0123456789abcdef.css")
    for path in (*allowed, "/?dbname=dewiki@WMF&title=A", f"/externalLinkInfo?{page}", f"/api/page?{page}", "/search"):
        can_fetch = Protego.parse(body).can_fetch(f"https://weboid.demo{path}", "Googlebot")
        assert can_fetch is (path in allowed), path
