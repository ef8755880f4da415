"""Options and settings of the scripts: what they are, the plan of those who give none, and what is wrong."""

import json
import re
from pathlib import Path

import pytest
from support.little_bot_wiki import BOT
from support.repair_scene import WIKI, Scene, add_page, run, settings

from weboid.errors import WeboidError
from weboid_scripts import weboid_repair
from weboid_scripts.common.options import OptionRefused
from weboid_scripts.common.saving import Saver
from weboid_scripts.common.wiki_settings import SettingsRefused
from weboid_scripts.weblinks.dead_links import Rule
from weboid_scripts.weblinks.weblinks_options import WeblinksOptions, read_options


def test_without_pages_it_shows_its_plan(wiki: Scene, capfd: pytest.CaptureFixture[str]) -> None:
    run(wiki, "-rate:3", "-runpage:User:WeboidBot/Switch")
    out = "".join(capfd.readouterr())
    for word in (WIKI, BOT, wiki.service.base, "page MediaWiki:Weboid.json", "3 edits a minute", "WeboidBot/Switch"):
        assert word in out
    assert (wiki.service.asked, wiki.wiki.counted["edit"]) == ([], 0)


def test_settings_that_do_not_fit_are_reported_with_all_faults(scene: Scene) -> None:
    page = json.loads(settings(run="maybe"))
    page["cite"]["names"] = "Cite web"
    scene.wiki.save("MediaWiki:Weboid.json", json.dumps(page), model="json")
    with pytest.raises(SettingsRefused) as refused:
        run(scene, "-page:A", "-always")
    assert "options.run" in str(refused.value)
    assert "cite.names" in str(refused.value)


def test_settings_may_come_from_a_file(scene: Scene, tmp_path: Path) -> None:
    file = tmp_path / "settings.json"
    file.write_text(settings(), encoding="utf-8")
    add_page(scene, "A")
    run(scene, f"-settings:{file}", "-page:A", "-always")
    assert len(scene.wiki.edits) == 1


def test_wrong_options_are_reported_before_anything_is_read(scene: Scene) -> None:
    for words, says in [
        (["-frobnicate"], "-frobnicate.*-help"), (["-rate:fast"], "-rate:6"), (["-rate:0"], "-rate:6"),
        (["-rate:nan"], "-rate:6"), (["-weboid:alive"], "-weboid:dead"),
        (["-weboid:dead", "-page:A"], "other generators"), (["-always:yes"], "-always alone"),
        (["-settings:/nowhere.json"], "no file"), (["-runpage:[[X"], "no title"), (["-service:"], "needs a value"),
        (["-farm:A", "-farm:B"], "twice"),
    ]:  # fmt: skip
        message = ""
        try:
            weboid_repair.repair_pages(scene.site, words)
        except WeboidError as error:
            message = str(error)
        assert re.search(says, message), words
        assert scene.wiki.reads() == scene.wiki.counted["edit"] == 0, words


def test_a_rate_is_kept(scene: Scene) -> None:
    now_s = [100.0]
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        now_s[0] += seconds

    saver = Saver(scene.site, BOT, rate=6, clock=lambda: now_s[0], wait=wait)
    for spent_s in (1.0, 4.0, 30.0, 0.0):
        saver.wait_for_turn()
        now_s[0] += spent_s
    assert waited == [9.0, 6.0]


def read(*arguments: str, talk: bool = False) -> WeblinksOptions:
    return read_options(arguments, journal="/somewhere/journal", days=7, talk=talk)


def test_without_options_it_is_as_pywikibot_is_configured() -> None:
    options = read("-start:!", "-ns:0")
    assert options.others == ["-start:!", "-ns:0"]
    assert (options.rule, options.scan, options.talk, options.repeat) == (Rule(days=7), False, False, False)
    assert options.journal == Path("/somewhere/journal")
    assert read(talk=True).talk
    assert not read("-notalk", talk=True).talk
    assert read("-talk").talk


@pytest.mark.parametrize(
    "arguments",
    [
        ["-day:"], ["-day"], ["-day:-1"], ["-day:1.5"], ["-day:99999"], ["-day:٣"], ["-ignore:99"], ["-ignore:1000"],
        ["-day:1", "-day:2"], ["-talk", "-notalk"], ["-scan:now"], ["-xml:/nowhere/at/all"], ["-xmlstart:A"],
        ["-journal:a", "-journal:b"], ["-rate:0"], ["-rate:fast"], ["-runpage:{{A}}"],
    ],
)  # fmt: skip
def test_wrong_options_are_refused(arguments: list[str]) -> None:
    with pytest.raises(OptionRefused, match=arguments[0].partition(":")[0]):
        read(*arguments)
