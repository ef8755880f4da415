"""The pages that explain show what is configured and load nothing from other servers. Search engines may read
them, and walk no live reads (robots.txt, RFC 9309).
"""

import itertools

from protego import Protego
from support.webservice import Site

from weboid.config import PROJECT_CONTACT


async def test_a_page_that_explains_is_there_without_a_cookie(site: Site) -> None:
    for path, language in itertools.product(("/help", "/bot", "/privacy", "/policy"), ("en", "de")):
        status, body, response = await site.fetch(f"{path}?lang={language}")
        assert (status, f'lang="{language}"' in body, "Set-Cookie" in response.headers) == (200, True, False), path
        assert not any(gap in body for gap in ("⧼", "(weboid-")), path


async def test_help_tells_the_rule_by_which_links_are_called_dead(site: Site) -> None:
    body = await site.text("/help")
    assert "at least 3 in a row" in body
    assert "at least 14 days if the server reports" in body
    assert "at least 35 days if it cannot be reached (42 days if it reports a fault of its own)" in body


async def test_the_policy_tells_the_limits_that_are_configured(site: Site) -> None:
    body = await site.text("/policy")
    web = site.config.web
    assert f"{web.rate:,} units a minute" in body
    assert f"up to {web.burst:,} at once" in body
    assert "up to 50 per request, or 500 in a form" in body


async def test_site_owners_have_somebody_to_write_to_also_where_no_contact_is_configured(site: Site) -> None:
    body = await site.text("/bot")
    assert site.config.contact == ""
    assert f'<code dir="ltr">{PROJECT_CONTACT}</code>' in body


async def test_robots_may_fetch_what_explains_and_nothing_that_reads_a_wiki_or_the_store(site: Site) -> None:
    status, body, response = await site.fetch("/robots.txt")
    assert (status, response.headers["Content-Type"].partition(";")[0]) == (200, "text/plain")
    for path, allowed in [
        ("/", True),
        ("/help", True),
        ("/static/weboid-0123456789abcdef.css", True),
        ("/?dbname=dewiki@WMF&title=A", False),
        ("/externalLinkInfo?dbname=dewiki@WMF&pageid=1", False),
        ("/api/page?dbname=dewiki@WMF&pageid=1", False),
        ("/search", False),
    ]:
        assert Protego.parse(body).can_fetch(f"https://weboid.demo{path}", "Googlebot") is allowed, path
