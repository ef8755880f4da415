"""The wiki of the tests of bots is what they need: a bot that edits, people who revert, protection, a blacklist."""

import pytest
from support.pwb import BOT, BotWiki, Operator

pytestmark = pytest.mark.long

_SCRIPT = """
import pywikibot
page = pywikibot.Page(pywikibot.Site(), "Bots at work")
for text in ("first", "first, then second"):
    page.text = text
    page.save("A bot was here", bot=True)
print("saved as", pywikibot.Site().user())
"""


def test_a_bot_edits_and_is_reverted(bot_wiki: BotWiki, operator: Operator) -> None:
    (operator.folder / "edits.py").write_text(_SCRIPT, encoding="utf-8")
    ran = operator.pwb("edits")
    assert (ran.status, f"saved as {BOT}" in ran.out) == (0, True), ran.out
    person = bot_wiki.person("Reader")
    undone = person.undo("Bots at work", person.revision("Bots at work"), "No, thanks")
    assert person.text("Bots at work") == "first"
    bot_wiki.run_jobs()
    history = person.history("Bots at work")
    assert [each["user"] for each in history] == ["Reader", BOT, BOT]
    assert (history[0]["revid"], "mw-undo" in history[0]["tags"]) == (undone, True)
    assert "mw-reverted" in history[1]["tags"]


def test_the_wiki_protects_pages_and_has_a_blacklist(bot_wiki: BotWiki) -> None:
    bot_wiki.admin.save("Closed", "text")
    bot_wiki.admin.protect("Closed")
    person = bot_wiki.person("Reader")
    with pytest.raises(RuntimeError, match="protectedpage"):
        person.save("Closed", "other text")
    bot_wiki.blacklist(r"spam\.example")
    with pytest.raises(RuntimeError, match="spamblacklist"):
        person.save("Open", "[http://spam.example/ buy]")
    bot_wiki.blacklist()
    assert person.save("Open", "[http://spam.example/ buy]")
