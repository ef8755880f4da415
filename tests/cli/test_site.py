"""``weboid site``: what it prints, how it ends, and what it says when the call is wrong (issue 33)."""

import asyncio
import gzip
import json
import signal
from pathlib import Path

import pytest
from support.archives import Copy, open_made_archive
from support.commands import Place
from support.misbehaving import Act, Asked, Silence, reply, serve
from support.sites import linked, script_of
from support.waiting import until


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


async def test_a_folder_with_a_broken_link_is_exit_status_1_and_stores_nothing(place: Place, tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    (site / "index.html").write_text(linked("b.html#x", "gone.html"))
    (site / "b.html").write_text("<p id=x>")
    before = set(tmp_path.rglob("*"))
    ran = await place.run("site", "site", "--fragments", "--external", "ignore")
    assert (ran.status, ran.err) == (1, "")
    assert "Broken: 1 URL\n\ngone.html\n" in ran.out
    assert "1 place: index.html:2\n" in ran.out
    assert set(tmp_path.rglob("*")) == before
    (site / "gone.html").write_text("here")
    assert (await place.run("site", "site", "--fragments")).status == 0


@pytest.mark.parametrize("index", ["index.html", "index.htm"])
async def test_a_folder_and_its_index_are_one_page_whatever_the_query(place: Place, tmp_path: Path, index: str) -> None:
    (tmp_path / "site" / "sub").mkdir(parents=True)
    (tmp_path / "site" / index).write_text(linked(index, f"./{index}?a#x", "sub/", f"sub/{index}?b", "sub/index.xhtml"))
    (tmp_path / "site" / "sub" / index).write_text(linked("../", "gone.html") + "<p id=x>")
    ran = await place.run("site", "site", "--fragments", "--external", "ignore", "--format", "jsonl")
    *places, last = ran.lines()
    origin = last["summary"]["starts"][0]
    states = {line["url"].removeprefix(origin) + "#" + line["fragment"]: line["state"] for line in places}
    assert states == {
        "#": "ok", f"{index}#": "ok", f"{index}?a#x": "fragment", "sub/#": "ok", f"sub/{index}?b#": "ok",
        "sub/index.xhtml#": "broken", "sub/gone.html#": "broken",
    }  # fmt: skip
    assert (len(places), last["summary"]["pages"]) == (1 + 5 + 2, 2)
    assert {line["parent"].removeprefix(origin) for line in places if line["parent"]} == {"", "sub/"}


async def test_a_name_without_a_dot_may_be_named_and_a_password_is_not_shown(place: Place) -> None:
    async with serve(script_of({"/": linked("/b?x=1"), "/b?x=1": linked()})) as site:
        url = f"http://me:secret77@localhost:{site.port}/"
        ran = await place.run("site", url, "--format", "jsonl", "--header", "Cookie: k=secret77")
        assert [line["state"] for line in ran.lines()[:-1]] == ["ok", "ok"]
        assert {asked.headers["Authorization"] for asked in site.asked} == {"Basic bWU6c2VjcmV0Nzc="}
        assert {asked.headers["Cookie"] for asked in site.asked} == {"k=secret77"}
        assert {asked.headers["Host"] for asked in site.asked} == {f"localhost:{site.port}"}
    assert "secret77" not in ran.out + ran.err
    assert ran.status == 0


@pytest.mark.parametrize(
    "words",
    [
        ("nowhere",),
        (".",),
        ("ftp://127.0.0.1/",),
        ("http://[x/",),
        ("http://me:secret77\u2100@site.test/",),
        ("http://127.0.0.1/", "--depth", "-1"),
        ("http://127.0.0.1/", "--header", "secret77"),
        ("http://127.0.0.1/", "--header", "a: b\nc: d"),
        ("http://127.0.0.1/", "--keep", "a\nb"),
        ("http://127.0.0.1/", "--keep", ""),
    ],
)
async def test_a_wrong_call_is_exit_status_2(place: Place, words: tuple[str, ...]) -> None:
    ran = await place.run("site", *words)
    assert ran.status == 2
    assert "secret77" not in ran.err
    assert "Traceback" not in ran.err


async def test_a_line_is_written_when_it_is_known_and_a_reader_who_goes_away_ends_it_without_a_word(
    place: Place, tmp_path: Path
) -> None:
    def script(asked: Asked) -> Act:
        return (
            Silence() if asked.target == "/silent" else reply(200, body=linked("/silent", "mailto:a@b.test").encode())
        )

    async with serve(script) as slow:
        process = await place.start("site", slow.url("/"), "--format", "jsonl")
        assert process.stdout
        async with asyncio.timeout(20):
            lines = [json.loads(await process.stdout.readline()) for _ in range(2)]
        assert [line["state"] for line in lines] == ["ok", "not-asked"]
        process.terminate()
        assert await process.wait() == 128 + signal.SIGTERM
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "index.html").write_text(linked(*(f"{number}.html" for number in range(2_000))))
    head = ("bash", "-c", '"$@" | head -n 1; exit ${PIPESTATUS[0]}', "head")
    process = await place.start_anew("site", "site", "--format", "jsonl", "--external", "ignore", before=head)
    out, err = await process.communicate()
    assert (process.returncode, out.count(b"\n"), err) == (128 + signal.SIGPIPE, 1, b"")


async def test_a_dead_external_link_has_its_copy_and_it_is_said_where_none_could_be_looked_up(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    place.environ |= {"WEBOID_NET_PERMIT": "127.0.0.0/8", "WEBOID_CRAWL_DELAY": "0"}
    async with serve(script_of({}), ip="127.0.0.2") as other:
        (tmp_path / "site" / "index.html").write_text(linked(other.url("/index.html")))
        async with open_made_archive({other.url("/index.html"): [Copy(20160401120000)]}) as archive:
            place.environ |= archive.environ()
            ran = await place.run("site", "site", "--archives", "--format", "csv")
        assert f"https://web.archive.org/web/20160401120000/{other.url('/index.html')}" in ran.out
        away = await place.run("site", "site", "--archives")
    assert (away.status, "of 1 dead links no archive could say" in away.err) == (1, True)


async def test_a_sitemap_is_a_start_wherever_it_lies(place: Place, tmp_path: Path) -> None:
    pages: dict[str, str | bytes] = {"/a": linked("/b"), "/b": linked("/c"), "/c": linked(), "/": linked("/linked")}
    async with serve(lambda asked: script_of(pages)(asked)) as site:
        text = f"<urlset><url><loc>{site.url('/a')}</loc></url></urlset>".encode()
        pages["/sitemap.xml"] = reply(200, body=gzip.compress(text), kind="application/gzip")
        (tmp_path / "map.xml").write_bytes(text)
        for call in (("map.xml",), (site.url("/sitemap.xml"),), (site.url("/"), "--sitemap", "only")):
            site.asked.clear()
            ran = await place.run("site", *call, "--format", "jsonl")
            assert ran.status == 0
            assert {asked.target for asked in site.asked} & {"/", "/a", "/b", "/c"} == {"/a", "/b"}
        ran = await place.run("site", site.url("/"), "--sitemap", "too", "--format", "jsonl")
        assert ran.status == 1
        assert {asked.target for asked in site.asked} >= {"/", "/a", "/b", "/c", "/linked"}


async def test_the_sitemap_of_a_folder_names_where_it_is_published_and_what_is_left_out_is_counted(
    place: Place, tmp_path: Path
) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "robots.txt").write_text("Sitemap: https://docs.site.test/map.xml\n")
    locations = ("docs.site.test/a.html", "docs.site.test/gone.html", "other.test/")
    text = "".join(f"<url><loc>https://{each}</loc></url>" for each in locations)
    (tmp_path / "site" / "map.xml").write_text(f"<urlset>{text}</urlset>")
    (tmp_path / "site" / "a.html").write_text(linked("lost.html"))
    ran = await place.run("site", "site", "--sitemap", "only", "--external", "ignore")
    assert "docs.site.test" in ran.err
    for words in ("gone.html\n", "1 place: a.html:1\n", "Not followed: sitemap-other-server 1."):
        assert words in ran.out


async def test_ctrl_c_ends_it_with_the_summary_of_what_came_so_far(place: Place) -> None:
    def script(asked: Asked) -> Act:
        number = int(asked.target.strip("/")) if asked.target.strip("/").isdigit() else 0
        return reply(200, body=linked(*(f"/{3 * number + each}" for each in (1, 2, 3))).encode())

    async with serve(script) as site:
        process = await place.start("site", site.url("/"), "--format", "jsonl", "--external", "ignore")
        await until(lambda: len(site.asked) >= 50)
        process.send_signal(signal.SIGINT)
        out, err = await process.communicate()
    assert process.returncode == 128 + signal.SIGINT
    *_, last = map(json.loads, out.decode().splitlines())
    assert last["summary"]["interrupted"]
    assert last["summary"]["pages"] >= 40
    assert b"Traceback" not in err
