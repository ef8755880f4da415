from collections.abc import Iterator
from pathlib import Path

import pytest
import pywikibot
from pywikibot import config, i18n
from support.little_bot_wiki import DBNAME, open_little_bot_wiki, site_of
from support.little_service import LittleService, open_little_service
from support.repair_scene import Scene, settings


@pytest.fixture
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Scene]:
    for name in ("base_dir", "put_throttle", "minthrottle", "noisysleep", "max_retries", "retry_wait", "retry_max"):
        monkeypatch.setattr(config, name, getattr(config, name))
    for name in ("simulate", "colorized_output"):
        monkeypatch.setattr(config, name, False)
    monkeypatch.setattr(i18n, "_messages_package_name", "weboid_scripts.i18n")
    monkeypatch.setattr(i18n, "_messages_available", True)
    with open_little_bot_wiki() as wiki, open_little_service(f"{DBNAME}@WMF") as service:
        site = site_of(wiki, str(tmp_path))
        wiki.forget()
        yield Scene(wiki, service, site, tmp_path)
        pywikibot._sites.clear()


@pytest.fixture
def service() -> Iterator[LittleService]:
    with open_little_service(f"{DBNAME}@WMF") as service:
        yield service


@pytest.fixture
def wiki(scene: Scene) -> Scene:
    scene.wiki.save("MediaWiki:Weboid.json", settings(), model="json")
    return scene
