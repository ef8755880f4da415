"""The public data set over HTTP."""

import gzip
import json

from support.webservice import TODAY, Site

from weboid.core.record.days import iso
from weboid.maintain.dataset import publish


async def test_before_the_first_file_the_page_says_so(site: Site) -> None:
    status, body, _ = await site.fetch("/data")
    assert status == 200
    assert "There is no file yet" in body


async def test_the_file_that_is_listed_can_be_had_whole(site: Site) -> None:
    await publish(site.wiki.pool, TODAY)
    (answer,) = json.loads(await site.text("/data?format=json"))["files"]
    name = f"statuses-wmflabs-{iso(TODAY)}.csv.gz"
    assert (answer["name"], answer["url"]) == (name, f"https://weboid.demo/data/{name}")
    assert name in (await site.fetch("/data"))[1]
    async with site.client.get(f"{site.url}/data/{name}") as response:
        packed = await response.read()
        assert response.headers["Content-Type"] == "application/gzip"
        assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert len(packed) == answer["bytes"]
    rows = gzip.decompress(packed).decode().splitlines()
    assert rows[0] == "wiki,host,status,state,urls,uses,dead"
    assert len(rows) == answer["lines"] + 1
    status, body, response = await site.fetch(f"/data/{name}", method="HEAD")
    assert (status, body, response.headers["Content-Length"]) == (200, "", str(answer["bytes"]))


async def test_any_other_name_is_not_there(site: Site) -> None:
    for name in ("statuses-WMF-2026-01-01.csv.gz", "..%2f..%2fetc%2fpasswd", "x"):
        assert (await site.fetch(f"/data/{name}"))[0] == 404


async def test_a_file_of_any_farm_that_may_be_configured_can_be_had(site: Site) -> None:
    name = "A_long-name_of-a_farm_with_32_ch"
    await site.wiki.execute("UPDATE farm SET name = %s WHERE farm = 0", [name])
    await publish(site.wiki.pool, TODAY)
    (answer,) = json.loads(await site.text("/data?format=json"))["files"]
    assert name in answer["name"]
    assert (await site.fetch(f"/data/{answer['name']}", method="HEAD"))[0] == 200
