"""W-8 and W-9: pages are handed to the feeder, whole namespaces and categories are for trusted clients."""

import json

import pytest
from lxml import etree
from support.listed import answer_to
from support.webservice import TODAY, Site

PING = "/api/ping?dbname=testwiki@wmflabs"
PAGES = "/api/pages?dbname=testwiki@wmflabs"
TRUSTED = "Bearer known"


async def handed_in(site: Site) -> list[tuple[object, ...]]:
    return await site.wiki.rows("SELECT page, title FROM pending")


async def test_pages_are_touched_or_handed_in_without_asking_the_wiki(site: Site) -> None:
    assert (await answer_to(site, f"{PING}&pageid=1|77|3", 202))["accepted"] == ["1", "77", "3"]
    assert await handed_in(site) == [(3, ""), (77, "")]
    assert (1, TODAY) in await site.wiki.rows("SELECT page, asked FROM page")
    assert site.source.asked == 0
    assert (await answer_to(site, f"{PING}&curid=77", 202))["accepted"] == ["77"]
    assert await handed_in(site) == [(3, ""), (77, "")]


async def test_titles_are_handed_in_as_they_are_unless_the_page_is_watched(site: Site) -> None:
    document = await answer_to(site, f"{PING}&title=Page_2|Talk:Nowhere|Page_2", 202)
    assert document["accepted"] == ["Page 2", "Talk:Nowhere"]
    assert await handed_in(site) == [(0, "Talk:Nowhere")]
    assert (2, TODAY) in await site.wiki.rows("SELECT page, asked FROM page")


async def test_an_id_that_no_page_has_is_not_accepted(site: Site) -> None:
    assert (await answer_to(site, f"{PING}&pageid=9999999999|5", 202))["accepted"] == ["5"]


async def test_it_can_be_sent_as_a_form_and_answers_in_xml_too(site: Site) -> None:
    async with site.client.post(
        f"{site.url}/api/ping?format=xml", data={"dbname": "testwiki@wmflabs", "pageid": "5|6"}
    ) as response:
        assert (response.status, response.content_type) == (202, "application/xml")
        tree = etree.fromstring(await response.read())
    assert [each.text for each in tree.iter("accepted")] == ["5", "6"]
    assert await handed_in(site) == [(5, ""), (6, "")]
    assert response.headers["Cache-Control"] == "no-store"


async def test_looking_whether_it_is_there_hands_nothing_in(site: Site) -> None:
    status, _, response = await site.fetch(f"{PING}&pageid=5", method="HEAD")
    assert (status, response.headers["Allow"]) == (405, "GET, OPTIONS, POST")
    assert await handed_in(site) == []


async def test_whole_namespaces_and_categories_are_for_trusted_clients(trusting: Site) -> None:
    for path in [f"{PING}&namespace=0", f"{PING}&category=A", f"{PAGES}&namespace=0"]:
        assert (await answer_to(trusting, path, 403))["error"]["key"] == "weboid-error-trusted"
        assert (await trusting.fetch(path, Authorization="Bearer other"))[0] == 401, path
        assert (await trusting.fetch(path, Authorization=TRUSTED))[0] in (200, 202), path


async def test_a_namespace_is_reported_part_by_part_each_page_once(
    trusting: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    await trusting.wiki.take_in({page: [f"http://p{page}.demo/"] for page in range(10, 24)}, TODAY)
    for rows in (50, 3, 1):
        monkeypatch.setattr("weboid.web.api.bulk.ROWS", rows)
        ids: list[int] = []
        path = f"{PAGES}&namespace=0&all=1"
        while path:
            part = await answer_to(trusting, path, Authorization=TRUSTED)
            ids += [page["id"] for page in part["pages"]]
            assert all(not page["live"] and page["links"] for page in part["pages"])
            after = part["next"]
            path = f"{PAGES}&namespace=0&all=1&after={after}" if after else ""
        assert sorted(ids) == [1, 2, *range(10, 24)]
    assert trusting.source.asked == 0
    assert (await answer_to(trusting, f"{PAGES}&namespace=7", Authorization=TRUSTED))["pages"] == []


async def test_a_category_is_reported_as_the_wiki_has_it(trusting: Site) -> None:
    trusting.source.members["Lighthouses"] = (2, 77, 1)
    trusting.source.members_at_once = 2
    part = await answer_to(trusting, f"{PAGES}&category=Category:Lighthouses", Authorization=TRUSTED)
    assert ([page["id"] for page in part["pages"]], part["missing"]) == ([2], ["77"])
    part = await answer_to(trusting, f"{PAGES}&category=Lighthouses&after={part['next']}", Authorization=TRUSTED)
    assert ([page["id"] for page in part["pages"]], part["next"]) == ([1], None)


async def test_a_category_can_be_handed_in_as_a_whole(trusting: Site) -> None:
    trusting.source.members["Lighthouses"] = (2, 77)
    document = await answer_to(trusting, f"{PING}&category=Lighthouses", 202, Authorization=TRUSTED)
    assert (document["accepted"], document["next"]) == (["2", "77"], None)
    assert await handed_in(trusting) == [(77, "")]


async def test_a_wiki_that_does_not_answer_leaves_its_categories_unknown(trusting: Site) -> None:
    trusting.source.silent = True
    status, body, response = await trusting.fetch(f"{PAGES}&category=A", Authorization=TRUSTED)
    assert (status, json.loads(body)["error"]["key"]) == (503, "weboid-error-wiki-silent")
    assert response.headers["Retry-After"]
