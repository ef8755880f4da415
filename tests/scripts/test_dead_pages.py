"""``-weboid:dead``: pages with newly dead links, each once, also after a stop in between."""

import pytest
from support.repair_scene import URL, Scene, add_page, run

from weboid_scripts.common.run_page import RunStopped


def test_dead_pages_come_from_the_feed_once(wiki: Scene) -> None:
    first, second = add_page(wiki, "A"), add_page(wiki, "B")
    wiki.service.add_change(URL, {first: "A", 999: "Gone", 998: "Un|title"})
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first)]
    wiki.service.add_change(URL, {second: "B"})
    reads = wiki.wiki.reads()
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first), str(second)]
    assert wiki.wiki.reads() == reads + 1
    run(wiki, "-weboid:dead", "-always")
    assert wiki.wiki.reads() == reads + 1


def test_a_service_that_was_set_up_anew_is_gone_through_from_its_beginning(
    wiki: Scene, capfd: pytest.CaptureFixture[str]
) -> None:
    first, second = add_page(wiki, "A"), add_page(wiki, "B")
    for _ in range(3):
        wiki.service.add_change(URL, {first: "A"})
    run(wiki, "-weboid:dead", "-always")
    wiki.service.changes.clear()
    wiki.service.add_change(URL, {second: "B"})
    capfd.readouterr()
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first), str(second)]
    assert "ends at 1, before 3" in "".join(capfd.readouterr())
    run(wiki, "-weboid:dead", "-always")
    assert "anew" not in "".join(capfd.readouterr())


def test_a_run_that_is_stopped_keeps_its_place(wiki: Scene) -> None:
    wiki.service.add_change(URL, {add_page(wiki, "A"): "A"})
    wiki.wiki.has_messages = True
    with pytest.raises(RunStopped):
        run(wiki, "-weboid:dead", "-always")
    wiki.wiki.has_messages = False
    run(wiki, "-weboid:dead", "-always")
    assert len(wiki.wiki.edits) == 1


def test_links_on_very_many_pages_are_followed_on_the_wiki(wiki: Scene) -> None:
    first, second = add_page(wiki, "A"), add_page(wiki, "B")
    wiki.service.add_change(URL, {first: "A"})
    wiki.service.changes[-1]["more"] = True
    wiki.wiki.users[URL.removeprefix("http://")] = [first, second]
    run(wiki, "-weboid:dead", "-always")
    assert [edit["pageid"] for edit in wiki.wiki.edits] == [str(first), str(second)]
