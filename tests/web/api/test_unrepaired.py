"""``/api/unrepaired``: which pages of a list have dead links that are not repaired."""

from typing import Any

from support.listed import answer_to
from support.settled import COPY
from support.webservice import DEAD, TODAY, Site, record_weeks

WIKI = "dbname=testwiki@wmflabs"
OTHER = ["http://dead.demo/1", "http://dead.demo/2"]


async def asked(site: Site, ids: str) -> Any:
    form = {"dbname": "testwiki@wmflabs", "pageid": ids}
    async with site.client.post(f"{site.url}/api/unrepaired", data=form) as response:
        assert response.status == 200, await response.text()
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
