"""Many titles, the filter of W-4, and cached answers for callers that name the revision (W-10)."""

import asyncio
import json

import pytest
from support.webservice import DEAD, WALLED, Site

from weboid.web.http.cache import AnswerCache
from weboid.wiki.source import PageLinks

API = "/api/page?dbname=testwiki@wmflabs"
CALL = "/externalLinkProblem?dbname=testwiki@wmflabs"


async def told(site: Site, query: str) -> dict[str, object]:
    status, body, _ = await site.fetch(f"{API}&{query}")
    assert status == 200, body
    document = json.loads(body)
    assert isinstance(document, dict)
    return document


def links_of(document: object) -> list[tuple[str | None, str]]:
    match document:
        case {"pages": [{"links": list(links)}]}:
            return [(link["normal"], link["verdict"]) for link in links]
    raise AssertionError(document)


@pytest.mark.parametrize("silent", [False, True])
async def test_many_titles_come_in_their_order_and_missing_ones_are_named(site: Site, silent: bool) -> None:
    site.source.silent = silent
    document = await told(site, "title=Page_2|Nowhere|Page_1|Page 2")
    assert [page["id"] for page in document["pages"]] == [2, 1]  # type: ignore[attr-defined]
    assert document["missing"] == ["Nowhere"]


async def test_more_titles_than_fifty_are_refused(site: Site) -> None:
    assert (await site.fetch(f"{API}&title={'|'.join(f'A{number}' for number in range(50))}|Page_1"))[0] == 400
    assert (await site.fetch(f"{API}&title={'|'.join(f'A{number}' for number in range(49))}|Page_1"))[0] == 200


@pytest.mark.parametrize("query", ["title=|", "title=A||B", "title=A|_", "title=A|B%7BC"])
async def test_one_impossible_title_among_others_is_an_error(site: Site, query: str) -> None:
    status, body, _ = await site.fetch(f"{API}&{query}")
    assert (status, json.loads(body)["error"]["key"]) == (400, "weboid-error-title")


async def test_a_filter_looks_at_all_links_and_is_told(site: Site) -> None:
    document = await told(site, "pageid=1&verdict=doubtful|dead")
    assert (document["extent"], document["verdicts"]) == ("all", ["doubtful", "dead"])
    assert sorted(links_of(document)) == sorted([(WALLED, "doubtful"), (DEAD, "dead")])
    working = links_of(await told(site, "pageid=1&verdict=working"))
    assert working
    assert {verdict for _, verdict in working} == {"working"}
    assert (await told(site, "pageid=1"))["verdicts"] == []


async def test_every_format_has_the_filter_but_the_call_that_is_always_about_dead_links(site: Site) -> None:
    _, html, _ = await site.fetch("/externalLinkInfo?dbname=testwiki@wmflabs&pageid=1&verdict=doubtful")
    assert WALLED in html
    assert DEAD.partition("?")[0] not in html
    _, xml, _ = await site.fetch(f"{API}&pageid=1&verdict=doubtful&format=xml")
    assert WALLED in xml
    assert DEAD.partition("?")[0] not in xml
    assert (await site.fetch(f"{CALL}&pageid=1&verdict=working"))[1] == (await site.fetch(f"{CALL}&pageid=1"))[1]


@pytest.mark.parametrize("verdict", ["spam", "dead|", "Dead", "dead,doubtful"])
async def test_a_filter_that_there_is_not_is_refused_on_pages_too(site: Site, verdict: str) -> None:
    for path in (API, "/externalLinkInfo?dbname=testwiki@wmflabs"):
        assert (await site.fetch(f"{path}&pageid=1&verdict={verdict}"))[0] == 400


@pytest.mark.parametrize("path", [f"{API}&pageid=1", f"{API}&title=Page_1&format=xml", f"{CALL}&pageid=1"])
async def test_who_names_the_revision_gets_an_answer_that_is_kept(site: Site, path: str) -> None:
    _, plain, response = await site.fetch(path)
    assert response.headers["Cache-Control"] == "no-cache"
    _, first, response = await site.fetch(f"{path}&revid=7")
    assert (first, response.headers["Cache-Control"]) == (plain, "public, max-age=600")
    assert "Age" not in response.headers
    asked = site.source.asked
    await site.wiki.pool.close()
    status, again, response = await site.fetch(f"{path}&revid=7")
    assert (status, again, site.source.asked) == (200, first, asked)
    assert response.headers["Cache-Control"] == "public, max-age=600"
    assert int(response.headers["Age"]) < 600
    status, _, response = await site.fetch(f"{path}&revid=7", If_None_Match=response.headers["ETag"])
    assert (status, "Age" in response.headers) == (304, True)


async def test_another_extent_language_format_or_page_is_another_answer(site: Site) -> None:
    paths = [
        f"{API}&revid=7&{query}"
        for query in (
            "pageid=1",
            "pageid=2",
            "pageid=1&all=1",
            "pageid=1&lang=de",
            "pageid=1&verdict=dead",
            "title=Page_1",
        )
    ] + [f"{API}&revid=7&pageid=1&format=xml", f"{CALL}&revid=7&pageid=1", f"{CALL}&revid=7&pageid=1&callback=f"]
    first = [(await site.fetch(path))[1] for path in paths]
    asked = site.source.asked
    assert asked == len(paths)
    assert [(await site.fetch(path))[1] for path in paths] == first
    assert site.source.asked == asked
    # A title that is asked for gives the same as its page's id; all else differs.
    assert len(set(first)) == len(paths) - 1


async def test_another_revision_than_the_live_one_is_answered_as_usual_and_not_kept(site: Site) -> None:
    for revision in (6, 8):
        _, body, response = await site.fetch(f"{API}&pageid=1&revid={revision}")
        assert json.loads(body)["pages"][0]["revision"] == 7
        assert response.headers["Cache-Control"] == "no-cache"
    site.source.found[1] = PageLinks(1, 0, "Page 1", 8, None, ())
    assert links_of(await told(site, "pageid=1&revid=8&all=1")) == []


async def test_what_is_not_live_is_not_kept_even_if_the_revision_fits(site: Site) -> None:
    site.source.silent = True
    _, body, response = await site.fetch(f"{API}&pageid=1&revid=1")
    assert (json.loads(body)["pages"][0]["revision"], response.headers["Cache-Control"]) == (1, "no-cache")
    site.source.silent = False
    assert (await told(site, "pageid=1&revid=1"))["pages"][0]["live"]  # type: ignore[index]


@pytest.mark.parametrize("query", ["pageid=1|2&revid=7", "pageid=1&revid=0", "pageid=1&revid=x", "title=A|B&revid=7"])
async def test_a_revision_belongs_to_one_page(site: Site, query: str) -> None:
    status, body, _ = await site.fetch(f"{API}&{query}")
    assert (status, json.loads(body)["error"]["key"]) == (400, "weboid-error-revid")


async def test_simultaneous_callers_who_name_the_revision_share_one_read(site: Site) -> None:
    site.source.pause_s = 0.05
    answers = await asyncio.gather(*(told(site, "pageid=1&revid=7") for _ in range(10)))
    assert (site.source.asked, len({json.dumps(each) for each in answers})) == (1, 1)
    assert answers[0]["day"] == (await told(site, "pageid=1"))["day"]


async def test_what_is_kept_grows_old_and_never_too_large(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = AnswerCache(most_bytes=100_000)
    for number in range(50):
        kept.keep(number, b"x" * 9_000)
        assert kept.find(0) is not None
    found = [number for number in range(50) if kept.find(number)]
    assert found == [0, *range(41, 50)]
    kept.keep("large", b"x" * 50_000)
    assert kept.find("large") is None
    monkeypatch.setattr("weboid.web.http.cache.KEPT_S", 0)
    assert kept.find(49) is None
