"""What people do to pages between the bot's reading and its edit, on a real MediaWiki: nothing of theirs is lost.

Conflicts, protection and filters are in ``test_repair_troubles``.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from support.little_service import link, open_little_service
from support.pwb import BOT, BotWiki, Operator

from weboid.assets import asset

pytestmark = pytest.mark.long

WIKI = "testwiki@WMF"
URL = "http://mill.example/history"
COPY = f"https://web.archive.org/web/20160502000000/{URL}"
TEXT = f"The mill.<ref>{{{{cite web|url={URL}|title=Mill}}}}</ref>\n\nThe brook.\n\nThe end."
TITLES = ("Changed elsewhere", "Gone", "Moved")


def test_pages_that_are_changed_deleted_and_moved_meanwhile(
    bot_wiki: BotWiki, operator: Operator, tmp_path: Path
) -> None:
    admin = bot_wiki.admin
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    file = tmp_path / "settings.json"
    file.write_text(json.dumps({**settings, "dbname": WIKI}), encoding="utf-8")
    for title in TITLES:
        admin.save(title, TEXT)

    def meanwhile(_: Any) -> None:
        # The bot has read all texts before it asks for their links.
        admin.save("Changed elsewhere", TEXT.replace("The end.", "The very end."))
        admin.do("delete", title="Gone")
        admin.do("move", **{"from": "Moved", "to": "Moved on"})

    with open_little_service(WIKI) as service:
        for title in TITLES:
            service.pages[admin.page_id(title)] = [link(URL, copies=[(COPY, "20160502000000")])]
        service.misdeeds = [meanwhile]
        words = [f"-page:{title}" for title in TITLES]
        ran = operator.pwb("weboid_repair", *words, "-always", f"-service:{service.base}", f"-settings:{file}")

    assert ran.status == 0, ran.out
    assert f"archive-url={COPY}" in admin.text("Changed elsewhere")
    assert admin.text("Changed elsewhere").endswith("The very end.")
    assert admin.history("Gone") == []
    assert admin.text("Moved") == "#REDIRECT [[Moved on]]"
    assert f"archive-url={COPY}" in admin.text("Moved on")
    assert [each["user"] for each in admin.history("Moved on")].count(BOT) == 1
    assert "1  deleted" in ran.out
