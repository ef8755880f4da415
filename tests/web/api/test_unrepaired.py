"""``/api/unrepaired``: which pages of a list have dead links that are not repaired."""

from typing import Any

import pytest
from support.listed import answer_to
from support.settled import COPY
from support.webservice import DEAD, TODAY, Site, record_weeks

WIKI = "dbname=testwiki@wmflabs"
OTHER = ["http://dead.demo/1", "http://dead.demo/2"]


async def asked(site: Site, ids: str, status: int = 200) -> Any:
    form = {"dbname": "testwiki@wmflabs", "pageid": ids}
    async with site.client.post(f"{site.url}/api/unrepaired", data=form) as response:
        assert response.status == status, await response.text()
        return await response.json()


async def test_pages_are_counted_without_asking_the_wiki_those_with_most_to_do_first(site: Site) -> None:
    await site.wiki.take_in({4: [DEAD, COPY], 5: [DEAD, *OTHER]}, TODAY - 40)
    async with site.wiki.pool.connection() as conn:
        await record_weeks(conn, OTHER)
    answer = await asked(site, "|".join(map(str, range(1, 501))))
    assert [(page["id"], page["prefixed_title"], page["dead"], page["repaired"]) for page in answer["pages"]] == [
        (5, "Page 5", 3, 0),
        (1, "Page 1", 1, 0),
    ]
    assert answer["missing"][:2] == [3, 6]
    assert answer == await answer_to(site, f"/api/unrepaired?{WIKI}&pageid=5|1|2|4|3") | {"missing": answer["missing"]}
    assert site.source.asked == 0


@pytest.mark.parametrize("ids", ["", "x", "0", "|".join(map(str, range(1, 502)))])
async def test_what_are_no_ids_or_too_many_is_refused(site: Site, ids: str) -> None:
    await asked(site, ids, 400)


async def test_titles_and_unknown_wikis_are_refused(site: Site) -> None:
    assert (await site.fetch(f"/api/unrepaired?{WIKI}&title=Page 1"))[0] == 400
    assert (await site.fetch("/api/unrepaired?dbname=nowiki@wmflabs&pageid=1"))[0] == 404
