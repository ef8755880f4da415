"""The URL that was probably meant (L-9), looked at in a loopback world where it is known which pages there are.

The addresses are those of links in real articles, with the errors that they have there.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from ipaddress import ip_network
from urllib.parse import urlsplit

from support.misbehaving import Act, Asked, head_only, reply, serve

from weboid.checking.checker import Checker
from weboid.checking.meant import find_meant
from weboid.checking.turns import LocalTurns
from weboid.config import CrawlConfig, NetConfig
from weboid.core.observe.check_request import CheckRequest
from weboid.core.observe.observation import Observation
from weboid.core.url.urls import parse
from weboid.net.outbound import open_session

NET = NetConfig(user_agent="test", permit=(ip_network("127.0.0.0/8"),), connect_s=30.0, answer_s=30.0)
WORDS = "the quick brown fox jumps over the lazy dog near the bank of a river while seven wise owls watch in silence "

REAL = {
    "http://globalvoicesonline.org/2008/08/17/angola-brazil-a-culture-shock-divide/:": "",
    "http://jacobscreek.com/australia/news/australian-open-success!": "",
    "http://vietvardi.lgia.gov.lv/vv/to_www_obj.objekts?p_id=4427&p_back=0**": "",
    "http://www.caia.arctic.us/?Holi_/_Baisakhi_Celebration:": "",
    "http://www.cnt-ait-fr.org/CNT-AIT/ACCUEIL.html%20Website%20of%20the%20Conf%C3%A9d%C3%A9ration": ".html",
    "http://www.google.com/patents?id=QhIAAAAAEBAJ&dq=patent:40891%7C": "40891",
    "http://www.nytimes.com/2007/10/12/world/12abortion.html?": ".html",
    "http://www.radioecclesia.org/index.php?option=com_content&view=article&id=1686&Itemid=483,": "",
}
"""Of a link what the meant one ends with; empty = it lacks the last characters that are no letters or digits."""
FALSE_FRIENDS = [
    "http://history.nasa.gov/apsr/apsr.ht.",  # meant was apsr.htm
    "http://idea.ed.gov/explore/view/p/,root,statute,I,A,602,1,",
]


def page(title: str, text: str) -> bytes:
    body = f"<!doctype html><html lang=en><title>{title}</title><h1>{title}</h1><p>{text}</p></html>"
    return reply(200, body=body.encode())


def meant_by(url: str, end: str) -> str:
    return str(parse(url.rstrip("!*:,") if not end else url[: url.index(end) + len(end)]))


async def looked(urls: Iterable[str], pages: Mapping[str, str], manner: Mapping[str, Act]) -> dict[str, str | None]:
    """What is offered for URLs that fail: `pages` are the titles of those that there are, `manner` is how hosts answer
    for all others, by name; else by 404."""

    def script(asked: Asked) -> Act:
        host, _, rest = asked.target.removeprefix("/").partition("/")
        title = pages.get(f"{host}/{rest}")
        act = manner.get(host, reply(404, body=b"no")) if title is None else page(title, f"{title} {WORDS * 3}")
        return head_only(asked, act) if isinstance(act, bytes) else act

    async with serve(script) as site, open_session(NET) as session:
        checker = Checker(session, LocalTurns(0.0), CrawlConfig())

        async def check(request: CheckRequest) -> Observation | None:
            place = urlsplit(request.url)
            path = request.url.partition(f"://{place.netloc}")[2]
            return await checker.ask(replace(request, url=site.url(f"/{place.hostname}{path}")))

        return {url: await find_meant(parse(url), check, CheckRequest(url)) for url in urls}


def place_of(url: str) -> str:
    return url.partition("://")[2]


async def test_what_was_meant_in_real_articles_is_offered_where_it_works_and_nothing_else_is() -> None:
    right = {url: meant_by(url, end) for url, end in REAL.items()}
    pages = {place_of(url): f"Page {number}" for number, url in enumerate(right.values())}
    assert await looked([*REAL, *FALSE_FRIENDS], pages, {}) == {**right, **dict.fromkeys(FALSE_FRIENDS)}
    # Hosts without these pages, whatever they answer for a page that they do not have.
    for act in (
        reply(404, body=b"no"),
        reply(301, "Location: /"),
        page("Page not found", "Sorry, the page that you are looking for does not exist. " * 5),
        reply(503),
    ):
        manner = {urlsplit(url).netloc: act for url in REAL}
        assert await looked(REAL, {"/": "Home"}, manner) == dict.fromkeys(REAL), act
