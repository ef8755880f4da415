import gzip
import os
import random
from collections import defaultdict
from collections.abc import Iterable
from contextlib import aclosing
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weboid.core.url.mediawiki import stored_url
from weboid.errors import SourceError
from weboid.wiki import dump
from weboid.wiki.dump import DumpSource
from weboid.wiki.external_sort import IdSorter
from weboid.wiki.interwiki import Interwiki, InterwikiMap
from weboid.wiki.source import clean_text, stored_urls

FIXTURES = Path(__file__).parent / "fixtures"
TABLES = ("page", "externallinks", "iwlinks", "interwiki")


def written(folder: Path, table: str, rows: Iterable[str]) -> Path:
    path = folder / f"{table}.sql"
    head, *_ = (FIXTURES / f"{table}.sql").read_text().partition("INSERT")
    path.write_text(f"{head}INSERT INTO `{table}` VALUES\n" + ",\n".join(rows) + ";\n")
    return path


async def test_pages_come_in_order_of_ids_in_batches_however_small_memory_is(tmp_path: Path) -> None:
    chance = random.Random(5)
    ids = chance.sample(range(1, 100_000), 1200)
    wanted = {
        page: sorted({f"https://h.net/{chance.randrange(50)}" for _ in range(chance.randrange(4))}) for page in ids
    }
    page = written(
        tmp_path,
        "page",
        (f"({page},0,'P_{page}',0,0,0.1,'','20260101000000',{page},1,'wikitext',NULL)" for page in ids),
    )
    rows = [(page, url) for page, urls in wanted.items() for url in urls for _ in range(chance.randrange(1, 3))]
    rows += [(number, "https://h.net/unasked") for number in (0, 100_001, 4_294_967_295)]
    chance.shuffle(rows)
    links = written(
        tmp_path,
        "externallinks",
        (f"({number},{page},'https://net.h.','{url[13:]}')" for number, (page, url) in enumerate(rows)),
    )
    for memory_bytes in (1 << 21, 5000):
        with patch.multiple(dump, _SORT_BYTES=memory_bytes, _BATCH_PAGES=500, _BATCH_LINKS=700):
            batches = [batch async for batch in DumpSource(page, links, temporary=tmp_path).pages(frozenset({0}))]
        sizes = [(len(batch), sum(len(one.urls) for one in batch)) for batch in batches]
        assert all(size == 500 or 700 <= links < 704 for size, links in sizes[:-1])
        assert all(size <= 500 and links < 704 for size, links in sizes)
        found = [one for batch in batches for one in batch]
        assert [one.page for one in found] == sorted(ids)
        assert {one.page: list(one.urls) for one in found} == wanted
        assert found[0].mark == 20260101000000


async def test_a_reader_may_stop_early_and_progress_tells_bytes_up_to_the_whole(tmp_path: Path) -> None:
    calls: list[tuple[int, int]] = []
    source = DumpSource(*(FIXTURES / f"{table}.sql" for table in TABLES), progress=lambda *bytes_: calls.append(bytes_))
    for _ in range(2):
        calls.clear()
        assert [batch async for batch in source.pages(frozenset({0}))]
        whole = sum((FIXTURES / f"{table}.sql").stat().st_size for table in TABLES[:3])
        assert calls[-1] == (whole, whole)
        assert calls == sorted(calls)
    source = DumpSource(*(FIXTURES / f"{table}.sql" for table in TABLES), temporary=tmp_path)
    with patch.object(dump, "_SORT_BYTES", 0):
        async with aclosing(source.pages(frozenset({0}))) as pages:
            async for _ in pages:
                break
    assert not os.listdir(tmp_path)


async def test_dumps_that_are_old_cut_or_missing_are_reported_and_give_no_page(tmp_path: Path) -> None:
    old = tmp_path / "externallinks.sql"
    old.write_text("CREATE TABLE `externallinks` (\n  `el_id` int,\n  `el_from` int,\n  `el_to` blob\n);\n")
    with pytest.raises(SourceError, match=r"no column el_to_domain_index, el_to_path.*MediaWiki 1\.41 or later"):
        await first_batch(DumpSource(FIXTURES / "page.sql", old))
    for table in ("page", "externallinks"):
        files = {name: FIXTURES / f"{name}.sql" for name in ("page", "externallinks")}
        packed = gzip.compress(files[table].read_bytes())
        files[table] = tmp_path / f"{table}.sql.gz"
        files[table].write_bytes(packed[: len(packed) // 2])
        with pytest.raises(SourceError, match=rf"{table}\.sql\.gz: damaged near byte"):
            await first_batch(DumpSource(files["page"], files["externallinks"]))
    page = written(tmp_path, "page", (f"(7,0,'{title}',0,0,0.1,'','',1,1,'wikitext',NULL)" for title in "AB"))
    with pytest.raises(SourceError, match="page 7 is there twice"):
        await first_batch(DumpSource(page, FIXTURES / "externallinks.sql"))
    page.write_text("-- Host: db1    Database: dewiki_p\n" + (FIXTURES / "page.sql").read_text())
    assert await first_batch(DumpSource(page, FIXTURES / "externallinks.sql", database="dewiki"))
    old.write_text("-- Host: localhost    Database: ltgwiki\n")
    for links, database in ((old, ""), (FIXTURES / "externallinks.sql", "frwiki")):
        with pytest.raises(SourceError, match=r"of the database (ltgwiki, not of dewiki|dewiki, not of frwiki)"):
            DumpSource(page, links, database=database)
    with pytest.raises(SourceError, match=r"gone\.sql: cannot be read"):
        await first_batch(DumpSource(FIXTURES / "page.sql", tmp_path / "gone.sql"))


async def test_interwiki_links_need_a_map_which_may_be_given() -> None:
    interwiki = InterwikiMap([Interwiki("doi", "https://other.net/$1", local=False)])
    page, externallinks, iwlinks = (FIXTURES / f"{table}.sql" for table in TABLES[:3])
    source = DumpSource(page, externallinks, iwlinks, interwiki)
    urls = [url async for batch in source.pages(frozenset({0})) for page in batch for url in page.urls]
    assert "https://other.net/10.5555/12(3)" in urls
    assert not any("words.net" in url for url in urls)
    with pytest.raises(SourceError, match="needs the wiki's interwiki map"):
        DumpSource(page, externallinks, iwlinks)


INDEXES = st.sampled_from(
    ["https://net.a.", "http://V4.192.0.2.7.", "mailto:net.a.@x", "news:a.", "https://net.a.:81", "bad"]
)
PATHS = st.sampled_from(["/", "/x?y", "", "?q", "#f", "x", "//y"]) | st.text(max_size=5)


@given(st.lists(st.tuples(INDEXES | st.text(max_size=8), PATHS)))
def test_remembered_hosts_give_the_same_urls_as_core(rows: list[tuple[str, str]]) -> None:
    indexes, paths = [index for index, _ in rows], [path for _, path in rows]
    assert stored_urls(indexes, paths) == [clean_text(stored_url(index, path)) for index, path in rows]


async def first_batch(source: DumpSource) -> object:
    async with aclosing(source.pages(frozenset({0}))) as pages:
        return await anext(pages)


IDS = st.integers(0, 2000) | st.integers(-5, 10**10)
PIECES = st.lists(st.lists(st.tuples(IDS, st.text(st.characters(codec="utf-8"), max_size=12))))


def sorted_out(
    pieces: list[list[tuple[int, str]]], memory_bytes: int, folder: Path | None = None
) -> list[tuple[int, list[str]]]:
    with IdSorter(memory_bytes, folder) as sorter:
        for piece in pieces:
            sorter.add([number for number, _ in piece], [text for _, text in piece])
        return [(number, sorted(texts)) for groups in sorter.groups() for number, texts in groups]


def expected(pieces: list[list[tuple[int, str]]]) -> list[tuple[int, list[str]]]:
    groups: defaultdict[int, list[str]] = defaultdict(list)
    for piece in pieces:
        for number, text in piece:
            groups[number].append(text)
    return [(number, sorted(texts)) for number, texts in sorted(groups.items())]


@given(PIECES, st.integers(0, 2000))
def test_texts_come_back_with_their_ids_in_order(pieces: list[list[tuple[int, str]]], memory_bytes: int) -> None:
    assert sorted_out(pieces, memory_bytes) == expected(pieces)


def test_many_runs_are_merged_and_leave_no_file_and_a_folder_must_be_writable(tmp_path: Path) -> None:
    chance = random.Random(3)
    pieces = [[(chance.randrange(4_000), f"{chance.random()}" * 3) for _ in range(400)] for _ in range(20)]
    assert sorted_out(pieces, 1 << 17, tmp_path) == expected(pieces)
    assert list(tmp_path.iterdir()) == []
    with IdSorter(0, tmp_path / "missing") as sorter, pytest.raises(SourceError, match="cannot write a temporary file"):
        sorter.add([1], ["a"])


def test_a_bucket_larger_than_memory_is_held_an_id_at_a_time() -> None:
    pieces = [[(number, f"{turn} {'x' * 100}") for number in range(60)] for turn in range(50)]
    with IdSorter(1 << 15) as sorter:
        for piece in pieces:
            sorter.add([number for number, _ in piece], [text for _, text in piece])
        sizes = [len(groups) for groups in sorter.groups()]
    assert sizes == [1] * 60
    assert sorted_out(pieces, 1 << 15) == expected(pieces)
    longer = [[(2, "b" * 300_000)], [(1, "a"), (2, "c" * 200_000)]]
    assert sorted_out(longer, 0) == expected(longer), "a text longer than memory is kept whole"
