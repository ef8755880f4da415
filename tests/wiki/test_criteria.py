import json
import random
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from support.mariadb import MariaServer
from support.shared import shared
from support.wikireplay import Exchange, WikiReplay, exchange, in_parts, open_wiki_replay

from weboid.errors import ConfigError, SourceError
from weboid.wiki import criteria
from weboid.wiki.api import ApiSource
from weboid.wiki.criteria import Criterion, build, categories, read_criteria
from weboid.wiki.dump_rows import list_columns
from weboid.wiki.interwiki import InterwikiMap
from weboid.wiki.replica import ReplicaSource
from weboid.wiki.source import PageState, WikiSource

LINKS = {"prop": "extlinks|iwlinks|info", "ellimit": "500", "iwlimit": "500"}
USING = {"generator": "embeddedin", "geilimit": "500", "prop": "info"}
TYPES = ("page", "subcat", "page|subcat")

# A tree with a cycle, a category in two places, one without members and one that is listed as its own member.
TREE = {
    "Lights": ["Harbour light", "Category:Towers", "Category:Lamps"],
    "Towers": ["High tower", "Harbour light", "Category:Stairs", "Category:Towers"],
    "Lamps": ["Category:Oil", "Lamp", "Talk:Lamp", "Wick", "Glass"],
    "Oil": ["Whale oil", "Category:Lights", "Category:Deep"],
    "Stairs": ["Category:Oil"],
    "Deep": ["Deep oil", "Category:Deeper"],
    "Deeper": ["Deeper oil"],
    "Empty": [],
}
NAMES = sorted({title for members in TREE.values() for title in members})
IDS = {title: number for number, title in enumerate(NAMES, 1)}
PREFIXES = {"Category": 14, "Talk": 1}


FACTS = {"contentmodel": "wikitext", "lastrevid": 7, "touched": "2026-01-02T03:04:05Z"}


def listed(title: str, **more: Any) -> dict[str, Any]:
    namespace = PREFIXES.get(title.partition(":")[0], 0)
    # What a namespace is called is each wiki's own affair.
    shown = title.replace("Category:", "Kategorie:")
    return {"pageid": IDS.get(title, 100 + ord(title[0])), "ns": namespace, "title": shown, **FACTS, **more}


def tree_answers(tree: Mapping[str, Sequence[Mapping[str, Any]]], at_once: int) -> Iterator[Exchange]:
    """All that can be asked of the members of the tree's categories."""
    for title, members in tree.items():
        for types in TYPES:
            of_types = [page for page in members if ("subcat" if page["ns"] == 14 else "page") in types.split("|")]
            question = {"gcmtitle": f"Category:{title}", "gcmtype": types, "gcmlimit": "500", "prop": "info"}
            yield from in_parts({"generator": "categorymembers", **question}, of_types, at_once)


@asynccontextmanager
async def opened(*exchanges: Exchange) -> AsyncIterator[tuple[ApiSource, WikiReplay]]:
    async with open_wiki_replay(exchanges) as replay, aiohttp.ClientSession() as session:
        yield ApiSource(replay.url, session, user_agent="Weboid-test"), replay
        assert not replay.unknown


def lights(at_once: int = 2) -> list[Exchange]:
    return list(tree_answers({title: list(map(listed, members)) for title, members in TREE.items()}, at_once))


async def titles_of(criterion: Criterion, source: WikiSource, place: str = "") -> list[str]:
    return [page.title for _, pages in await stretches_of(criterion, source, place) for page in pages]


async def stretches_of(
    criterion: Criterion, source: WikiSource, place: str = ""
) -> list[tuple[str, Sequence[PageState]]]:
    return [(stretch.place, stretch.pages) async for stretch in criterion.walk(source, place)]


def one(**values: object) -> Criterion:
    (criterion,) = build(values)
    return criterion


def state(title: str, namespace: int = 0, **more: Any) -> PageState:
    return PageState(1, namespace, title, 1, None, **more)


async def assert_resumable(criterion: Criterion, source: WikiSource) -> int:
    """From each place the rest comes, no page is lost and what is behind does not come again; the number of places."""
    walk = await stretches_of(criterion, source)
    trees = criterion.trees
    for number, (place, _) in enumerate(walk, 1):
        assert await stretches_of(criterion, source, place) == walk[number:]
        assert criterion.trees == trees
    return len(walk)


async def test_a_tree_with_a_cycle_is_walked_once_level_by_level() -> None:
    async with opened(*lights()) as (source, replay):
        criterion = one(categories=["Lights"])
        times = Counter(await titles_of(criterion, source))
        assert times == Counter(
            title.removeprefix("Talk:")
            for members in TREE.values()
            for title in members
            if not title.startswith("Category:")
        )
        depths = {"Deep": 3, "Deeper": 4, "Lamps": 1, "Lights": 0, "Oil": 2, "Stairs": 2, "Towers": 1}
        assert criterion.trees == depths
        asked = [question["gcmtitle"] for question in replay.asked if "continue" not in question]
        levels = [["Lights"], ["Lamps", "Towers"], ["Oil", "Stairs"], ["Deep"], ["Deeper"]]
        assert asked == [f"Category:{title}" for level in levels for title in level]


async def test_a_tree_is_walked_down_to_its_depth_which_is_that_of_the_shortest_way() -> None:
    first, second = {"Harbour light"}, {"High tower", "Lamp", "Wick", "Glass"}
    async with opened(*lights()) as (source, _):
        for depth, titles, trees in ((0, first, ["Lights"]), (1, first | second, ["Lamps", "Lights", "Towers"])):
            criterion = one(categories=["Lights"], category_depth=depth)
            assert set(await titles_of(criterion, source)) == titles
            assert list(criterion.trees) == trees
            assert criterion.tree_depth == depth
        found = await titles_of(one(categories=["Lights", "Oil"], category_depth=1), source)
        assert "Deep oil" in found
        assert "Deeper oil" not in found
        pages = [page for _, some in await stretches_of(one(categories=["Lamps"]), source) for page in some]
        assert {page.namespace for page in pages} == {0, 1}, "those of all namespaces, but no categories"
        assert [page.mark for page in pages if page.namespace == 1] == [20260102030405]


@pytest.mark.parametrize("at_once", [1, 500])
async def test_a_walk_of_trees_can_be_resumed_at_every_place(at_once: int) -> None:
    async with opened(*lights(at_once)) as (source, replay):
        criterion = one(categories=["Lights"])
        assert await assert_resumable(criterion, source) >= 7
        places = [place for place, _ in await stretches_of(criterion, source)]
        replay.asked.clear()
        await stretches_of(criterion, source, places[-1])
        assert {question["gcmtype"] for question in replay.asked} == {"subcat"}, "of what is behind it no pages"


async def test_more_categories_than_memory_may_hold_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(categories, "_MOST_CATEGORIES", 5)
    async with opened(*lights()) as (source, _):
        with pytest.raises(SourceError, match="more than 5 categories below Lights; lower category_depth"):
            await titles_of(one(categories=["Lights"]), source)


async def test_a_root_without_members_is_reported_to_the_operator(caplog: pytest.LogCaptureFixture) -> None:
    async with opened(*lights()) as (source, _):
        assert await titles_of(one(categories=["Category:Empty"]), source) == []
        assert "'Empty' is empty here" in caplog.text
        caplog.clear()
        assert await titles_of(one(categories=["Stairs"], category_depth=0), source) == []
        assert "'Stairs' is empty here" in caplog.text


async def test_the_trees_of_a_real_wiki_are_those_that_its_tables_hold() -> None:
    tree, titles = real_tree()
    chance = random.Random(7)
    roots = chance.sample(sorted(title for title, members in tree.items() if any(p["ns"] == 14 for p in members)), 4)
    async with opened(*tree_answers(tree, 500)) as (source, _):
        sizes = []
        for root in roots:
            criterion = one(categories=[root], category_depth=50)
            pages = {page.page for _, some in await stretches_of(criterion, source) for page in some}
            wanted_pages, wanted_trees = closure(tree, root)
            assert pages == wanted_pages
            assert list(criterion.trees) == sorted(wanted_trees)
            sizes.append(len(criterion.trees))
        assert max(sizes) > 10
    assert len(titles) == 2004


async def test_a_replica_knows_all_criteria(mariadb_server: MariaServer) -> None:
    files = [Path(__file__).parent / "fixtures" / f"{table}.sql" for table in ("page", "externallinks")]
    access = mariadb_server.replicate("usewiki", *files, also=[USES])
    source = ReplicaSource(access, interwiki=InterwikiMap(()), namespaces=())
    found: list[tuple[dict[str, Any], list[int]]] = [
        ({"categories": ["Lights"]}, [1, 3, 4]),
        ({"categories": ["Lights"], "category_depth": 0}, [1]),
        ({"templates": ["Light list", "Lamp"]}, [1, 10, 3]),
        ({"properties": ["P31"]}, [1, 4, 10]),
        ({"namespaces": [1, 0]}, [1, 3, 4, 5, 10]),
        ({"pages": ["Old light", "Talk:Harbour_light", "Nowhere"]}, [1, 10]),
    ]
    try:
        for values, ids in found:
            walk = await stretches_of(one(**values), source)
            assert [page.page for _, pages in walk for page in pages] == ids, values
    finally:
        await source.close()


USES = (Path(__file__).parent / "fixtures" / "uses.sql").read_text(encoding="utf-8")


def closure(tree: Mapping[str, Sequence[Mapping[str, Any]]], root: str) -> tuple[set[int], set[str]]:
    """The pages and categories below a category, found another way: to and fro until nothing is new."""
    trees = {root}
    while (
        fresh := {
            page["title"].partition(":")[2] for title in trees for page in tree.get(title, ()) if page["ns"] == 14
        }
        - trees
    ):
        trees |= fresh
    pages = {page["pageid"] for title in trees for page in tree.get(title, ()) if page["ns"] not in (6, 14)}
    return pages, trees


@cache
def real_tree() -> tuple[dict[str, list[dict[str, Any]]], dict[int, dict[str, Any]]]:
    """Of a real wiki the members of each category, as its API would tell them, and all its pages."""
    folder = shared("ltgwiki/page.sql.gz").parent
    pages: dict[int, dict[str, Any]] = {}
    for columns in list_columns(folder / "page.sql.gz", "page", ("page_id", "page_namespace", "page_title")):
        for number, namespace, title in zip(*columns, strict=True):
            shown = f"K:{title}" if namespace == "14" else f"X:{title}" if namespace != "0" else title
            facts = {"pageid": int(number), "ns": int(namespace), "title": shown.replace("_", " ")}
            pages[int(number)] = facts | FACTS
    targets = {
        target: title.replace("_", " ")
        for columns in list_columns(folder / "linktarget.sql.gz", "linktarget", ("lt_id", "lt_namespace", "lt_title"))
        for target, namespace, title in zip(*columns, strict=True)
        if namespace == "14"
    }
    # A category that is a member of another but has no members itself may have no link target.
    tree: dict[str, list[dict[str, Any]]] = {
        page["title"].partition(":")[2]: [] for page in pages.values() if page["ns"] == 14
    }
    for columns in list_columns(folder / "categorylinks.sql.gz", "categorylinks", ("cl_from", "cl_target_id")):
        for number, target in zip(*columns, strict=True):
            if pages[int(number)]["ns"] != 6:
                tree.setdefault(targets[target], []).append(pages[int(number)])
    return tree, pages


async def test_namespaces_are_walked_one_after_the_other_and_can_be_resumed() -> None:
    question = {"generator": "allpages", "gapfilterredir": "nonredirects", "gaplimit": "500", "prop": "info"}
    exchanges = [
        each
        for namespace, titles in ((0, ["A", "B", "C"]), (1, []), (100, ["D", "E"]))
        for each in in_parts(question | {"gapnamespace": str(namespace)}, list(map(listed, titles)), 2)
    ]
    async with opened(*exchanges) as (source, _):
        criterion = one(namespaces=[100, 1, 0])
        assert await titles_of(criterion, source) == ["A", "B", "C", "D", "E"]
        assert await assert_resumable(criterion, source) == 4


async def test_a_walk_of_pages_of_a_template_or_by_title_can_be_resumed() -> None:
    exchanges = [
        *in_parts(USING | {"geititle": "Template:Light list"}, [listed("A"), listed("B"), listed("C")], 2),
        *in_parts(USING | {"geititle": "Template:Lamp"}, [listed("D")], 2),
    ]
    async with opened(*exchanges) as (source, _):
        criterion = one(templates=["Template:Light_list", "Lamp"])
        assert await titles_of(criterion, source) == ["A", "B", "C", "D"]
        assert await assert_resumable(criterion, source) == 3
        assert criterion.covers(state("A")) is None
    titles = [f"Page {number:02}" for number in range(60)]
    exchanges = []
    for some in (titles[:50], titles[50:]):
        pages = [listed(title, pageid=int(title[-2:]) + 1) for title in some if title != "Page 55"]
        question = {"titles": "|".join(some), "redirects": "1", **LINKS}
        exchanges.append(exchange(question, {"batchcomplete": True, "query": {"pages": pages}}))
    async with opened(*exchanges) as (source, _):
        criterion = one(pages=titles)
        assert await titles_of(criterion, source) == [title for title in titles if title != "Page 55"]
        assert await assert_resumable(criterion, source) == 2


async def test_the_place_of_another_criterion_is_as_none() -> None:
    using = in_parts(USING | {"geititle": "Template:L"}, [listed("A")], 1)
    async with opened(*lights(), *using) as (source, _):
        for criterion in (one(categories=["Lights"]), one(templates=["L"])):
            whole = await stretches_of(criterion, source)
            for place in ("7", "not JSON", '["gone", "x"]', "[]", '{"a": 1}', "[5, 6, 7]"):
                assert await stretches_of(criterion, source, place) == whole, place


def test_what_a_page_itself_shows_decides_at_once_and_what_is_excluded_is_never_covered() -> None:
    assert one(namespaces=[0, 4]).covers(state("A", 4)) is True
    assert one(namespaces=[0, 4]).covers(state("A", 1)) is False
    assert one(pages=["A_b"]).covers(state("A b")) is True
    assert one(pages=["A_b"]).covers(state("C")) is None
    assert one(categories=["C"]).covers(state("A")) is None
    assert one(categories=["C"]).covers(state("A", 14)) is False
    assert one(properties=["P31"]).covers(state("A")) is None
    chosen = read_criteria({"pages": ["User list"]}, {"namespaces": [2], "pages": ["Sandbox"], "categories": ["Old"]})
    assert [criterion.key for criterion in chosen.included] == ["namespaces", "pages"]
    assert [criterion.key for criterion in chosen.excluded] == ["categories", "namespaces", "pages"]
    assert chosen.covers(state("Berlin")) is True
    assert chosen.covers(state("Sandbox")) is False
    assert chosen.covers(state("List", 2)) is False
    assert chosen.covers(state("List", 4)) is None
    assert chosen.covers(state("Berlin", redirect=True)) is False
    assert chosen.covers(state("Berlin", model="json")) is False
    # The main namespace is watched unless others are named.
    assert read_criteria({}, {}).covers(state("A")) is True
    assert read_criteria({"namespaces": []}, {}).included == ()
    assert read_criteria({"namespaces": []}, {}).covers(state("A")) is False
    assert read_criteria({}, {}).excluded == ()


def test_a_plan_is_the_same_as_long_as_the_criteria_are_and_no_two_read_one_key() -> None:
    plan = read_criteria({"pages": ["A"], "namespaces": [0]}, {"templates": ["T"]}).plan
    assert plan == read_criteria({"namespaces": [0], "pages": ["A"]}, {"templates": ["T"]}).plan
    assert plan == read_criteria({"pages": ["A"]}, {"templates": ["T"]}).plan
    assert plan != read_criteria({"pages": ["A"], "templates": ["T"]}, {}).plan
    from importlib import import_module
    from pkgutil import iter_modules

    keys = [
        key
        for module in iter_modules(criteria.__path__)
        for key in import_module(f"{criteria.__name__}.{module.name}").KEYS
    ]
    assert len(keys) == len(set(keys)) == 6


def test_a_value_that_cannot_be_used_is_reported_with_its_key() -> None:
    unusable: dict[str, Sequence[object]] = {
        "namespaces": (0, [-1], [True], "0", [1 << 40]),
        "categories": ("Physik", [1], ["_"], ["Category:"]),
        "pages": (["A|B"], ["A\x1fB"]),
        "templates": ({"A": 1}, ["Template: "]),
        "properties": (["Q31"], ["P031"]),
        "colour": (["red"],),
        "category_depth": (3,),
    }
    cases = [(key, {key: value}) for key, values in unusable.items() for value in values]
    cases += [("category_depth", {"categories": ["A"], "category_depth": depth}) for depth in (-1, 1e3)]
    for key, values in cases:
        with pytest.raises(ConfigError, match=key):
            build(values)


ONE_FILE = '''
"""The criterion of backlinks: the pages that link to one of these."""

from weboid.wiki.criteria import Criterion, texts, walk_each
from weboid.wiki.source import Selection

KEYS = frozenset({"linking_to"})


def criteria_of(values):
    found = texts(values, "linking_to")
    return [LinkingTo(found)] if found else []


class LinkingTo(Criterion):
    def __init__(self, titles):
        self.key = "linking_to"
        self._selections = {
            title: Selection({"generator": "backlinks", "gbltitle": title}, "select_links", {"title": title})
            for title in titles
        }

    def walk(self, source, place=""):
        return walk_each(source, self._selections, place)
'''


async def test_adding_a_criterion_takes_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ConfigError, match="linking_to"):
        build({"linking_to": ["Lamp"]})
    (tmp_path / "backlinks_for_a_test.py").write_text(ONE_FILE)
    monkeypatch.setattr(criteria, "__path__", [*criteria.__path__, str(tmp_path)])
    question = {"generator": "backlinks", "gbltitle": "Lamp", "gbllimit": "500", "prop": "info"}
    async with opened(*in_parts(question, [listed("A"), listed("B")], 1)) as (source, _):
        criterion = one(linking_to=["Lamp"])
        assert await titles_of(criterion, source) == ["A", "B"]
        assert await assert_resumable(criterion, source) == 2
        assert criterion.covers(state("A")) is None
        assert criterion.trees == {}
    plan = json.loads(read_criteria({"linking_to": ["Lamp"]}, {}).plan)
    assert plan[0] == {"linking_to": ["Lamp"], "namespaces": [0]}
