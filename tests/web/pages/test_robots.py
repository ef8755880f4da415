"""robots.txt of our own: search engines read what explains, and walk no live reads (RFC 9309)."""

from protego import Protego
from support.webservice import Site


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
