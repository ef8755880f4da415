"""Many titles, the filter of W-4, and cached answers for callers that name the revision (W-10)."""

import json
from typing import Any

import pytest
from support.listed import answer_to
from support.webservice import DEAD, WALLED, Site

from weboid.core.url.keys import UrlKey, key_of
from weboid.core.url.urls import parse
from weboid.web.http.cache import AnswerCache
from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"
CALL = "/externalLinkProblem?dbname=testwiki@wmflabs"


def links_of(document: Any) -> list[tuple[str | None, str]]:
    (page,) = document["pages"]
    return [(link["normal"], link["verdict"]) for link in page["links"]]


async def test_many_titles_come_in_their_order_and_missing_ones_are_named(site: Site) -> None:
    for site.source.silent in (False, True):
        document = await answer_to(site, f"{API}&title=Page_2|Nowhere|Page_1|Page 2")
        assert [page["id"] for page in document["pages"]] == [2, 1]
        assert document["missing"] == ["Nowhere"]


async def test_a_filter_looks_at_all_links_and_is_reported(site: Site) -> None:
    document = await answer_to(site, f"{API}&pageid=1&verdict=doubtful|dead")
    assert (document["extent"], document["verdicts"]) == ("all", ["doubtful", "dead"])
    assert sorted(links_of(document)) == sorted([(WALLED, "doubtful"), (DEAD, "dead")])
    working = links_of(await answer_to(site, f"{API}&pageid=1&verdict=working"))
    assert working
    assert {verdict for _, verdict in working} == {"working"}
    assert (await answer_to(site, f"{API}&pageid=1"))["verdicts"] == []


async def test_every_format_has_the_filter_but_the_call_that_is_always_about_dead_links(site: Site) -> None:
    html = await site.text("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&verdict=doubtful")
    assert WALLED in html
    assert DEAD.partition("?")[0] not in html
    xml = await site.text(f"{API}&pageid=1&verdict=doubtful&format=xml")
    assert WALLED in xml
    assert DEAD.partition("?")[0] not in xml
    assert (await site.fetch(f"{CALL}&pageid=1&verdict=working"))[1] == (await site.fetch(f"{CALL}&pageid=1"))[1]


@pytest.mark.parametrize("path", [f"{API}&pageid=1", f"{API}&title=Page_1&format=xml", f"{CALL}&pageid=1"])
async def test_who_names_the_revision_gets_an_answer_that_is_kept(site: Site, path: str) -> None:
    _, first, response = await site.fetch(f"{path}&revid=7")
    assert response.headers["Cache-Control"] == "public, max-age=600"
    assert "Age" not in response.headers
    _, plain, response = await site.fetch(path)
    assert (first, response.headers["Cache-Control"]) == (plain, "no-cache")
    asked = site.source.asked
    await site.wiki.pool.close()
    status, again, response = await site.fetch(f"{path}&revid=7")
    assert (status, again, site.source.asked) == (200, first, asked)
    assert response.headers["Cache-Control"] == "public, max-age=600"
    assert int(response.headers["Age"]) < 600
    status, _, response = await site.fetch(f"{path}&revid=7", If_None_Match=response.headers["ETag"])
    assert (status, "Age" in response.headers) == (304, True)


@pytest.mark.parametrize(
    "path", [f"{API}&pageid=1", f"{API}&title=Page_2|Page_1&format=xml", f"{CALL}&pageid=1", f"{API}&pageid=1|77"]
)
async def test_who_names_none_gets_what_is_kept_if_the_wiki_says_the_same_while_the_store_is_away(
    site: Site, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The list of wikis is read at every request, as if each came a minute after the other.
    monkeypatch.setattr("weboid.web.answer.wiki_names._KEPT_S", -1.0)
    _, first, response = await site.fetch(path)
    tag, asked = response.headers["ETag"], site.source.asked
    await site.wiki.pool.close()
    status, again, response = await site.fetch(path)
    assert (status, again, response.headers["ETag"]) == (200, first, tag)
    assert response.headers["Cache-Control"] == "no-cache"
    assert "Age" not in response.headers
    assert (await site.fetch(path, If_None_Match=tag))[0] == 304
    assert site.source.asked > asked


@pytest.mark.parametrize(
    "other",
    [
        PageLinks(1, 0, "Page 1", 8, None, (DEAD,)),
        PageLinks(1, 0, "Page 1", 7, None, (DEAD,)),
        PageLinks(1, 0, "Page one", 7, None, (DEAD,)),
        None,
    ],
)
async def test_what_is_kept_is_reported_to_nobody_else_once_the_wiki_says_otherwise(
    site: Site, other: PageLinks | None
) -> None:
    before = await answer_to(site, f"{API}&pageid=1|2&all=1")
    if other is None:
        del site.source.found[1]
    else:
        site.source.found[1] = other
    after = await answer_to(site, f"{API}&pageid=1|2&all=1")
    assert after != before
    assert after["missing"] == ([] if other else ["1"])
    if other is not None:
        assert links_of({"pages": after["pages"][:1]}) == [(DEAD, "dead")]


async def test_another_extent_language_format_or_page_is_another_answer(site: Site) -> None:
    more = ("", "&all=1", "&extent=findings", "&extent=notes", "&lang=de", "&verdict=dead", "&format=xml")
    paths = [f"{API}&revid=7&pageid=1{query}" for query in more]
    paths += [f"{API}&revid=7&{page}" for page in ("pageid=2", "title=Page_1")]
    paths += [f"{CALL}&revid=7&pageid=1{query}" for query in ("", "&callback=f")]
    first = [(await site.fetch(path))[1] for path in paths]
    asked = site.source.asked
    assert asked == len(paths)
    assert [(await site.fetch(path))[1] for path in paths] == first
    assert site.source.asked == asked
    assert len(set(first)) == len(paths)


async def test_another_revision_than_the_live_one_is_answered_as_usual_and_not_kept(site: Site) -> None:
    for revision in (6, 8):
        _, body, response = await site.fetch(f"{API}&pageid=1&revid={revision}")
        assert json.loads(body)["pages"][0]["revision"] == 7
        assert response.headers["Cache-Control"] == "no-cache"
    site.source.found[1] = PageLinks(1, 0, "Page 1", 8, None, ())
    assert links_of(await answer_to(site, f"{API}&pageid=1&revid=8&all=1")) == []


async def test_what_is_not_live_is_not_kept_even_if_the_revision_fits(site: Site) -> None:
    site.source.silent = True
    _, body, response = await site.fetch(f"{API}&pageid=1&revid=1")
    assert (json.loads(body)["pages"][0]["revision"], response.headers["Cache-Control"]) == (1, "no-cache")
    site.source.silent = False
    assert (await answer_to(site, f"{API}&pageid=1&revid=1"))["pages"][0]["live"]


async def test_what_is_kept_grows_old_and_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = AnswerCache(most_bytes=190_000)
    for number in range(50):
        kept.keep(number, b"x" * 9_000, "tag", (), 0)
        assert kept.find(0) is not None
    assert [number for number in range(50) if kept.find(number)] == [0, *range(41, 50)]
    kept.keep("large", b"x" * 50_000, "tag", (), 0)
    assert kept.find("large") is None
    kept.keep("unchecked", b"x", "tag", (), 0, lasts_s=0)
    assert kept.find("unchecked") is None
    monkeypatch.setattr("weboid.web.http.cache.KEPT_S", 0)
    assert kept.find(49) is None
    kept.tidy()
    assert len(kept) == 0


def urls_of(begin: int, number: int) -> list[UrlKey]:
    return [key_of(parse(f"http://site{each % 50}.demo/{each}")) for each in range(begin, begin + number)]


async def test_nothing_is_kept_of_which_it_is_not_remembered_whether_it_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("weboid.web.http.cache._MOST_CHANGED", 10)
    kept = AnswerCache()
    before = kept.position
    await kept.drop(urls_of(0, 5))
    kept.keep("a", b"x", "tag", urls_of(5, 5), before)
    kept.keep("b", b"x", "tag", urls_of(4, 5), before)
    assert (kept.find("a") is None, kept.find("b") is None) == (False, True)
    await kept.drop(urls_of(100, 10))
    kept.keep("c", b"x", "tag", urls_of(200, 5), before)
    assert kept.find("c") is None
    kept.keep("c", b"x", "tag", urls_of(200, 5), kept.position)
    assert kept.find("c") is not None
    before = kept.position
    kept.drop_all()
    kept.keep("d", b"x", "tag", (), before)
    assert kept.find("d") is None
