import logging

import pytest
from support.webservice import Site

REQUESTS = 40


async def test_a_database_that_is_away_costs_a_line_and_not_one_a_request(
    site: Site, caplog: pytest.LogCaptureFixture
) -> None:
    await site.wiki.pool.close()
    caplog.clear()
    paths = [f"/lists/dead?dbname=testwiki@wmflabs&after={number}.0" for number in range(REQUESTS // 2)]
    paths += ["/api/page?dbname=testwiki@wmflabs&pageid=2"] * (REQUESTS // 2)
    assert {(await site.fetch(path))[0] for path in paths} == {503}
    logged = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert len(logged) == len({line.partition(":")[0] for line in logged}) < 6
    assert [line for line in logged if line.startswith("the database is away: ")]
