"""A run asks for each URL once, and says of every place what became of its target (R-1 … R-11, issue 33)."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from dataclasses import replace
from itertools import pairwise
from time import monotonic
from unittest.mock import AsyncMock

import pytest
from support.misbehaving import Act, Asked, HangUp, reply, serve
from support.sites import Pages, linked, script_of, walked

from weboid.core.url.hosts import InvalidUrl
from weboid.core.url.urls import parse_again
from weboid.errors import StoreError
from weboid.robot.orders import Orders, Restriction
from weboid.site import reading
from weboid.site.externals import Externals
from weboid.site.place import Place


def robots(text: str) -> bytes:
    return reply(200, body=text.encode(), kind="text/plain")


async def test_each_state_is_said_at_its_place() -> None:
    pages: Pages = {
        "/": linked("a", "moved", "gone", "private", "mailto:x@y.example", "http://other.example/", "http://[/", "far"),
        "/a": linked("/"),
        "/moved": reply(301, "Location: /a"),
        "/far": reply(302, "Location: /lost"),
        "/robots.txt": robots("User-agent: *\nDisallow: /private\n"),
    }
    ran = await walked(pages)
    assert ran.states == {
        "/a": "ok", "/moved": "redirect", "/gone": "broken", "/private": "robots", "mailto:x@y.example": "not-asked",
        "http://other.example/": "external", "http://[/": "broken", "/far": "broken", "/": "ok",
    }  # fmt: skip
    gone, moved = ran.place("/gone"), ran.place("/moved")
    assert (gone.status, gone.reason, gone.line, gone.column, gone.depth) == (404, "not-found", 3, 1, 1)
    assert (gone.text, gone.parent) == ("to gone", ran.site.url("/"))
    assert (moved.status, moved.final) == (301, ran.site.url("/a"))
    assert ran.summary.counts == Counter(place.state for place in ran.places)
    assert max(Counter(ran.asked).values()) == 1
    assert ran.site.asked[0].headers["User-Agent"].startswith("Weboid")


async def test_a_url_is_reported_as_it_is_spelled_on_the_page_and_asked_once() -> None:
    ran = await walked({"/": linked("a%28b.html", "a(b.html", "%7Ex", "http://me:secret77@other.example/%7Ex")})
    assert set(ran.states) == {"/a%28b.html", "/a(b.html", "/%7Ex", "http://other.example/~x"}
    assert ran.asked == ["/", "/a(b.html", "/~x"]


async def test_a_name_that_nobody_can_ask_is_broken_but_not_one_of_the_reader_s_machine() -> None:
    pages = {"/": linked("http://http//www.example.org/", "http://intranet/", "http://localhost:8000/")}
    ran = await walked(pages)
    assert {place.state for place in ran.places if place.parent} == {"external"}, "nobody wants to know"
    ran = await walked(pages, externals=Externals(AsyncMock(side_effect=AssertionError)))
    assert [(place.state, place.reason) for place in ran.places if place.parent] == [
        ("broken", "no-dot"),
        ("broken", "no-dot"),
        ("doubtful", "not-public"),
    ]


async def test_redirects_that_lead_nowhere_end_and_are_named() -> None:
    pages: Pages = {
        "/": linked("/one", "/self", "/first"),
        "/one": reply(302, "Location: /two"),
        "/two": reply(302, "Location: /one"),
        "/self": reply(302, "Location: /self"),
        **{f"/{name}": reply(302, f"Location: /{name}x") for name in ("first" + "x" * n for n in range(15))},
    }
    ran = await walked(pages)
    assert [(ran.place(f"/{name}").state, ran.place(f"/{name}").reason) for name in ("one", "self", "first")] == [
        ("broken", "redirect-loop"),
        ("broken", "redirect-loop"),
        ("broken", "too-many-redirects"),
    ]
    assert max(Counter(ran.asked).values()) == 1
    assert len(ran.asked) == 4 + 11


async def test_the_site_is_where_the_start_leads() -> None:
    async with serve(script_of({"/": linked("b"), "/b": linked()}), ip="127.0.0.2") as other:
        ran = await walked({"/": reply(301, f"Location: {other.url('/')}")}, is_far=True)
        assert other.lines() == ["GET /robots.txt", "GET /", "GET /b"]
    assert [place.state for place in ran.places] == ["redirect", "ok"]


async def test_fragments_are_looked_for_where_redirects_end_and_none_is_missed_by_mistake() -> None:
    page = "<p id=there><a name=name></a><p id=caf&eacute;><!-- <p id=no> --><script>'<p id=neither>'</script>"
    names = ("there", "name", "caf%C3%A9", "no", "neither", ":~:text=x", "there:~:text=x", "/app", "a=b", "top", "")
    pages: Pages = {
        "/": linked(*(f"b#{name}" for name in names), "moved#there", "moved#gone", "image#x"),
        "/b": page,
        "/moved": reply(301, "Location: /b"),
        "/image": reply(200, body=b"x", kind="image/png"),
    }
    ran = await walked(pages, fragments=True)
    assert {target for target, state in ran.states.items() if state == "fragment"} == {
        "/b#no",
        "/b#neither",
        "/moved#gone",
    }
    assert ran.states["/moved#there"] == "redirect"
    assert "fragment" not in (await walked(pages)).summary.counts


async def test_the_same_body_in_another_folder_has_other_links() -> None:
    pages: Pages = {
        "/": linked("d/e", "f/e", "index.html"), "/d/e": linked("own"), "/f/e": linked("own"), "/d/own": linked(),
    }  # fmt: skip
    ran = await walked({**pages, "/index.html": pages["/"]})
    assert (ran.states["/d/own"], ran.states["/f/own"]) == ("ok", "broken")
    assert ran.summary.statistics["same_content"] == 1
    assert len([place for place in ran.places if place.parent.endswith("/index.html")]) == 3


async def test_what_is_beyond_the_depth_is_not_asked_but_known_if_it_was_found_nearer() -> None:
    pages: Pages = {"/": linked("/a"), "/a": linked("/b", "/"), "/b": linked("/c")}
    ran = await walked(pages, orders=Orders(1))
    assert ran.states == {"/a": "ok", "/b": "beyond", "/": "ok"}
    assert ran.asked == ["/", "/a"]


async def test_a_page_found_again_nearer_to_the_start_leads_on_without_another_load() -> None:
    pages: Pages = {"/": linked("/slow", "/deep"), "/deep": linked("/x"), "/x": linked("/y"), "/slow": linked("/x")}
    ran = await walked(pages, orders=Orders(3), loaders=2)
    assert sorted(ran.asked) == ["/", "/deep", "/slow", "/x", "/y"]
    assert ran.states["/y"] == "broken"


async def test_filters_are_named_and_meta_robots_is_obeyed() -> None:
    shy = '<meta name=robots content="noindex, nofollow">' + linked("/behind")
    pages: Pages = {
        "/": linked("/shy", "/header", "/skip/x"),
        "/shy": shy,
        "/header": reply(200, "X-Robots-Tag: otherbot: nofollow", body=linked("/b").encode()),
        "/b": reply(200, "X-Robots-Tag: nofollow", body=linked("/c").encode()),
    }
    ran = await walked(pages, orders=Orders(5, link_filters=("exclude:*skip*",)))
    assert (ran.place("/skip/x").state, ran.place("/skip/x").reason) == ("excluded", "exclude")
    assert (ran.states["/behind"], ran.states["/b"], ran.states["/c"]) == ("nofollow", "ok", "nofollow")
    assert (await walked(pages, orders=Orders(5, obeys_robots=False))).states["/behind"] == "broken"


async def test_links_of_a_page_are_bounded_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MOST_LINKS", 5)
    ran = await walked({"/": linked(*(f"/{n}" for n in range(9)))})
    assert len(ran.places) == 1 + 5
    assert ran.summary.filtered_by["page-cut"] == 1


async def test_headers_go_to_the_origin_of_the_start_alone() -> None:
    async with serve(script_of({"/": linked()})) as other:
        pages: Pages = {"/": linked(other.url("/")), "/robots.txt": robots("")}
        orders = Orders(5, Restriction.NONE)
        ran = await walked(pages, headers={"Authorization": "Bearer secret"}, orders=orders)
        assert {asked.headers["Authorization"] for asked in ran.site.asked} == {"Bearer secret"}
        assert other.lines() == ["GET /robots.txt", "GET /"]
        assert not any("Authorization" in asked.headers for asked in other.asked)
    assert "secret" not in str(ran.places) + str(ran.summary)


async def test_a_far_host_is_asked_by_turns_and_faster_only_if_it_says_so_to_us() -> None:
    async def pause(rules: str) -> float:
        moments: list[float] = []

        def script(asked: Asked) -> Act:
            moments.append(monotonic())
            pages: Pages = {"/": linked("/a", "/b", "/c"), "/robots.txt": robots(rules)}
            return script_of(pages)(asked)

        await walked(script, is_far=True)
        return min(after - before for before, after in pairwise(moments[1:]))

    assert await pause("User-agent: *\nCrawl-delay: 0.01\n") > 0.28
    assert 0.09 < await pause("User-agent: Weboid\nCrawl-delay: 0.01\n") < 0.28


async def test_another_host_is_asked_no_faster_than_its_robots_txt_wants() -> None:
    moments: list[float] = []

    async def slow_rules() -> AsyncIterator[bytes]:
        await asyncio.sleep(0.7)
        yield robots("User-agent: *\nCrawl-delay: 0.5\n")

    def script(asked: Asked) -> Act:
        if asked.target == "/robots.txt":
            return slow_rules()
        moments.append(monotonic())
        return reply(200, body=b"<p>" + asked.target.encode())

    async with serve(script, ip="127.0.0.2") as other:
        pages: Pages = {"/": linked(*(other.url(f"/{n}") for n in range(3)))}
        await walked(pages, orders=Orders(1, Restriction.NONE), is_far=True)
    assert len(moments) == 3
    assert min(after - before for before, after in pairwise(moments)) > 0.48


async def test_what_is_excluded_is_not_asked_behind_a_redirect_either() -> None:
    wanted: list[str] = []

    class Noted(Externals):
        def want(self, url: str) -> None:
            wanted.append(url)

    pages: Pages = {
        "/": linked("/a", "/b", "http://other.example/2"),
        "/a": reply(302, "Location: http://other.example/1"),
        "/b": reply(302, "Location: http://third.example/"),
    }
    ran = await walked(pages, orders=Orders(5, link_filters=("exclude:other",)), externals=Noted(AsyncMock()))
    assert wanted == ["http://third.example/"]
    assert ran.states == {"/a": "redirect", "/b": "redirect", "http://other.example/2": "excluded"}


async def test_connections_are_few_and_a_long_page_is_read_whole() -> None:
    long = "<p>word</p>" * 100_000 + '<a href="/end">x</a>'
    pages: Pages = {"/": linked(*(f"/{n}" for n in range(60)), "/long"), "/long": long} | {
        f"/{n}": f"<p>{n}" for n in range(60)
    }
    ran = await walked(pages)
    assert ran.states["/end"] == "broken"
    assert ran.site.connections <= 10


async def test_a_run_that_is_cancelled_gives_what_it_has() -> None:
    def emit(place: Place) -> None:
        if place.url.endswith("/3"):
            task = asyncio.current_task()
            assert task
            main.cancel()

    pages: Pages = {"/": linked("/1")} | {f"/{n}": linked(f"/{n + 1}") for n in range(1, 50)}
    main = asyncio.create_task(walked(pages, emit=emit))
    ran = await main
    assert ran.summary.is_interrupted
    assert 3 <= ran.summary.pages < 10
    assert ran.places[-1].state == "not-asked"


async def test_the_names_of_the_user_s_own_machine_are_one() -> None:
    def script(asked: Asked) -> Act:
        if asked.headers["Host"].startswith("127"):
            return reply(301, f"Location: http://localhost:{asked.headers['Host'].partition(':')[2]}{asked.target}")
        return script_of({"/": linked("/a", "http://localhost:1/"), "/a": linked()})(asked)

    ran = await walked(script)
    assert {(place.state, place.reason) for place in ran.places} == {("redirect", ""), ("ok", ""), ("external", "")}
    with pytest.raises(InvalidUrl):
        parse_again(f"http://localhost:{ran.site.port}/a")


async def test_what_the_user_has_not_named_is_not_asked() -> None:
    async with serve(script_of({"/": linked()}), ip="127.0.0.2") as inner:
        ran = await walked({"/": linked(inner.url("/"))}, orders=replace(Orders(5), restriction=Restriction.NONE))
        assert inner.asked == []
    assert [place.reason for place in ran.places if place.parent] == ["not-public"]


async def test_a_robots_txt_that_leads_out_of_the_web_forbids_nothing() -> None:
    ran = await walked({"/": linked("/a"), "/a": linked(), "/robots.txt": reply(302, "Location: mailto:a@b.test")})
    assert ran.states == {"/a": "ok"}


async def test_an_error_while_places_are_given_is_that_document_s_trouble() -> None:
    def emit(place: Place) -> None:
        if place.url.endswith("/a") and place.state == "ok":
            raise RuntimeError("ours")

    ran = await walked({"/": linked("/a", "/b"), "/a": linked("/c"), "/b": linked("/d")}, emit=emit)
    assert ran.states["/d"] == "broken"
    assert {"/a", "/b", "/d"} <= set(ran.asked)


async def test_an_error_of_the_store_ends_a_run_with_a_summary_of_what_came_before() -> None:
    def emit(place: Place) -> None:
        if place.url.endswith("/a") and place.state == "ok":
            raise StoreError("away")

    ran = await walked({"/": linked("/gone", "/a"), "/a": linked()}, emit=emit, loaders=1)
    assert ran.summary.is_interrupted
    assert ran.states["/gone"] == "broken"


async def test_an_answer_that_the_network_lost_is_asked_for_again() -> None:
    lost: list[str] = []

    def script(asked: Asked) -> Act:
        if asked.target not in ("/", "/robots.txt") and lost.count(asked.target) < (
            1 if asked.target == "/once" else 9
        ):
            lost.append(asked.target)
            return HangUp(reset=True)
        return reply(200, body=linked("/once", "/never").encode())

    ran = await walked(script)
    assert (ran.states["/once"], ran.states["/never"], ran.place("/never").reason) == ("ok", "broken", "reset")
    assert 3 <= lost.count("/never") <= 4
