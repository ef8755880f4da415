import gzip
import hashlib
import json

from support.webservice import TODAY, Site

from weboid.core.record.days import iso
from weboid.maintain.dataset import publish


async def test_the_file_that_is_listed_can_be_had_whole(site: Site) -> None:
    await publish(site.wiki.pool, TODAY)
    answer, _ = json.loads(await site.text("/data?format=json"))["files"]
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


async def test_a_download_goes_on_where_it_was_broken_off_while_the_file_is_the_same(site: Site) -> None:
    await publish(site.wiki.pool, TODAY)
    _, answer = json.loads(await site.text("/data?format=json"))["files"]
    assert answer["sha256"] in (await site.fetch("/data"))[1]
    address, size, tag = f"{site.url}/data/{answer['name']}", answer["bytes"], f'"{answer["sha256"]}"'
    async with site.client.get(address) as response:
        whole = await response.read()
    assert hashlib.sha256(whole).hexdigest() == answer["sha256"]
    assert (response.headers["ETag"], response.headers["Accept-Ranges"]) == (tag, "bytes")
    for asked, status, first, end in (
        ("bytes=0-0", 206, 0, 1),
        ("bytes=700-1499", 206, 700, 1_500),
        (f"bytes={size - 5}-", 206, size - 5, size),
        (f"bytes={size - 5}-{size + 9}", 206, size - 5, size),
        ("bytes=-7", 206, size - 7, size),
        (f"bytes={size}-", 416, 0, 0),
        ("bytes=5-2", 200, 0, size),
        ("bytes=0-1,5-6", 200, 0, size),
        ("lines=1-2", 200, 0, size),
    ):
        async with site.client.get(address, headers={"Range": asked}) as response:
            assert (response.status, await response.read()) == (status, whole[first:end]), asked
            if status != 200:
                shown = "*" if status == 416 else f"{first}-{end - 1}"
                assert response.headers["Content-Range"] == f"bytes {shown}/{size}"
    for headers, status in (
        ({"Range": "bytes=5-", "If-Range": tag}, 206),
        ({"Range": "bytes=5-", "If-Range": '"another"'}, 200),
        ({"If-None-Match": f'"a", W/{tag}'}, 304),
    ):
        async with site.client.get(address, headers=headers) as response:
            assert response.status == status


async def test_any_other_name_is_not_there(site: Site) -> None:
    for name in ("statuses-WMF-2026-01-01.csv.gz", "..%2f..%2fetc%2fpasswd", "x"):
        assert (await site.fetch(f"/data/{name}"))[0] == 404


async def test_a_file_of_any_farm_that_may_be_configured_can_be_had(site: Site) -> None:
    name = "A_long-name_of-a_farm_with_32_ch"
    await site.wiki.execute("UPDATE farm SET name = %s WHERE farm = 0", [name])
    await publish(site.wiki.pool, TODAY)
    answer, _ = json.loads(await site.text("/data?format=json"))["files"]
    assert name in answer["name"]
    assert (await site.fetch(f"/data/{answer['name']}", method="HEAD"))[0] == 200
