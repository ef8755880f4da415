"""The words for repairs: what was done with a link and why, why one was left, and the summary of the edit.

The summary is in the language of the wiki, all else in that of the reader.
"""

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from weboid.bot.archived import CopyStanding
from weboid.bot.decisions import RepairAction
from weboid.bot.repair import LinkChange
from weboid.core.archive.copies import CopyState
from weboid.core.verdict.link_report import LinkReport
from weboid.core.wikitext.settings import WikiSettings
from weboid.web.request.problem import Problem
from weboid.web.words.copies import copy_summary
from weboid.web.words.language import DEFAULT, languages, requested_language
from weboid.web.words.messages import Messages, messages_in
from weboid.web.words.phrases import in_words

LEFT: Final = (
    *("frozen", "chosen", "not-chosen", "unknown", "subscription", "archived", "tagged", "no-archive", "bad-copy"),
    *("obsolete-template", "ignored", "outside-references", "not-writable", "repeats", "not-in-text", "kept-off"),
    "switched-off",
)
"""Stable words for why a link was left alone; the verdict's or the copies' own are others."""
_OF_COPIES: Final = frozenset(f"archive-{state.value}" for state in CopyState)
_BAD_COPY: Final = "bad-copy"
_BAD_COPIES: Final = frozenset(f"archive-{standing.value}" for standing in CopyStanding)
_TOOL: Final = re.compile(r"https://([a-z0-9-]+)\.toolforge\.org/(.+)")
_VERDICTS: Final = frozenset({"doubtful", "unknown", "spam", "invalid"})


def change_words(action: RepairAction, link: LinkReport | None, day: int, say: Messages) -> str:
    """The repair of a link in words, with its verdict."""
    done = say.text(f"weboid-repair-{action.value}", 1)
    return done if link is None else say.text("weboid-repair-because", done, in_words(link, day, say)[0])


def left_words(why: str, link: LinkReport | None, day: int, say: Messages) -> str:
    """The reason in words for which a link was left alone."""
    if link is not None and why in _VERDICTS:
        return in_words(link, day, say)[0]
    if link is not None and why in _OF_COPIES and (words := copy_summary(link, day, say)) is not None:
        return words
    why = _BAD_COPY if why in _BAD_COPIES else why
    return say.text(f"weboid-repair-left-{why if why in LEFT else 'not-writable'}")


def summary_of(changes: Iterable[LinkChange], settings: WikiSettings, address: str, *, is_wikimedia: bool) -> str:
    """The summary of the edit in the language of the wiki, with the address of the page about it; empty without
    changes. On Wikimedia's wikis tools at Toolforge are linked by their prefix; other addresses are plain text there.
    """
    counted = Counter(change.action.value for change in changes)
    if not counted:
        return ""
    say = _messages_of(settings.lang)
    done = [say.text(f"weboid-repair-{action}", count) for action, count in sorted(counted.items())]
    tool = _TOOL.fullmatch(address) if is_wikimedia else None
    label = say.text("weboid-repair-details")
    link = f"[[toolforge:{tool[1]}/{tool[2]}|{label}]]" if tool else address
    return say.text("weboid-repair-summary", ", ".join(done), link)


def _messages_of(code: str) -> Messages:
    try:
        return messages_in(requested_language(code))
    except Problem:
        return messages_in(languages()[DEFAULT])
