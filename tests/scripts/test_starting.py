from pathlib import Path

import pytest
from aiohttp import web
from pywikibot import config
from support.little_service import served
from support.pwb import Operator, write_operators_folder
from support.repair_scene import COPY, TEXT, Scene, add_page, settings

from weboid_scripts import weboid_repair
from weboid_scripts.common.starting import run_script


@pytest.fixture
def operator(scene: Scene, tmp_path: Path) -> Operator:
    """An operator of the bot on the small wiki, which has one page to repair."""
    folder = tmp_path / "operator"
    write_operators_folder(folder, scene.wiki.base.removeprefix("http://"))
    scene.wiki.save("MediaWiki:Weboid.json", settings(), model="json")
    add_page(scene, "A")
    return Operator(folder, {"WEBOID_SERVICE": scene.service.base})


def test_a_page_is_repaired(scene: Scene, operator: Operator) -> None:
    ran = operator.pwb("weboid_repair", "-page:A", "-always")
    assert ran.status == 0, ran.out
    assert COPY in scene.wiki.text("A")
    assert "1  archive-added" in ran.out


def test_a_wrong_password_is_reported(scene: Scene, operator: Operator) -> None:
    scene.wiki.account = ""
    ran = operator.pwb("weboid_repair", "-page:A", "-always")
    assert ran.status == 2
    assert "user-password.cfg" in ran.out
    assert "Traceback" not in ran.out


def test_no_way_to_a_wiki_and_what_is_no_wiki_are_reported_at_once_and_once(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    async def page(_: web.BaseRequest) -> web.StreamResponse:
        return web.Response(text="<!doctype html><title>Welcome</title>", content_type="text/html")

    with served(page) as base:
        for name, address, says in (
            ("nobody", "http://nowhere.invalid", "cannot be reached"),
            ("another", base, "does not answer as MediaWiki"),
        ):
            monkeypatch.setitem(config.family_files, name, f"{address}/w/api.php")
            monkeypatch.setattr(config, "family", name)
            monkeypatch.setattr(config, "mylang", name)
            assert run_script(weboid_repair.repair_pages, ["-page:A", "-always"]) == 2
            printed = "".join(capfd.readouterr())
            assert says in printed, name
            assert len(printed.splitlines()) <= 3, name


def test_somebody_who_stops_it_has_a_status_of_its_own(scene: Scene, operator: Operator) -> None:
    scene.wiki.save("User:WeboidBot/Run", "stop")
    assert (operator.pwb("weboid_repair", "-page:A", "-always").status, scene.wiki.text("A")) == (3, TEXT)
