"""What people do to pages between the bot's reading and its edit, on a real MediaWiki: nothing of theirs is lost."""

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
SPAM = "http://listed.example/page"
TEXT = "The mill.<ref>{{{{Cite mill|url={0}|title=Mill}}}}</ref>\n\nThe brook.\n\nThe end."
TITLES = ("Untouched", "Changed elsewhere", "Changed here", "Gone", "Closed", "Listed", "Moved")


def copy_of(url: str) -> str:
    return f"https://web.archive.org/web/20160502000000/{url}"


def test_what_people_do_meanwhile_counts(bot_wiki: BotWiki, operator: Operator, tmp_path: Path) -> None:
    admin = bot_wiki.admin
    settings = json.loads((asset("wikis") / "enwiki.json").read_text(encoding="utf-8"))
    file = tmp_path / "settings.json"
    cite = {**settings["cite"], "names": ["Cite mill"]}
    file.write_text(json.dumps({**settings, "dbname": WIKI, "cite": cite}), encoding="utf-8")
    admin.save("Template:Cite mill", "[{{{url}}} {{{title}}}] [{{{archive-url}}} copy]")
    urls = {title: SPAM if title == "Listed" else URL for title in TITLES}
    for title, url in urls.items():
        admin.save(title, TEXT.format(url))

    def meanwhile(_: Any) -> None:
        # The bot has read all texts before it asks for their links.
        admin.save("Changed elsewhere", TEXT.format(URL).replace("The end.", "The very end."))
        admin.save("Changed here", TEXT.format(URL).replace("title=Mill", "title=The old mill"))
        admin.do("delete", title="Gone")
        admin.protect("Closed")
        bot_wiki.blacklist(r"listed\.example")
        admin.do("move", **{"from": "Moved", "to": "Moved on"})

    with open_little_service(WIKI) as service:
        for title, url in urls.items():
            service.pages[admin.page_id(title)] = [link(url, copies=[(copy_of(url), "20160502000000")])]
        service.misdeeds = [meanwhile]
        words = [f"-page:{title}" for title in TITLES]
        ran = operator.pwb("weboid_repair", *words, "-always", f"-service:{service.base}", f"-settings:{file}")
    bot_wiki.blacklist()

    assert ran.status == 0, ran.out
    for title, kept in (
        ("Untouched", "The end."),
        ("Changed elsewhere", "The very end."),
        ("Changed here", "old mill"),
    ):
        assert f"archive-url={copy_of(URL)}" in admin.text(title), ran.out
        assert kept in admin.text(title)
        assert [each["user"] for each in admin.history(title)].count(BOT) == 1
    assert "Gone" not in [
        page["title"] for page in admin.ask(action="query", list="allpages", aplimit=500)["query"]["allpages"]
    ]
    assert admin.text("Closed") == TEXT.format(URL)
    assert admin.text("Listed") == TEXT.format(SPAM)
    assert admin.text("Moved") == "#REDIRECT [[Moved on]]"
    assert copy_of(URL) in admin.text("Moved on")
    for word in ("deleted", "protected", "spam-blacklist"):
        assert f"1  {word}" in ran.out
