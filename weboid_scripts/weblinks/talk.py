"""Reports of dead links on talk pages: written once, updated, and removed again when all is well (B-7). Pure.

A report is one section, ended by a comment with a digest of all its text under the bot's key, which nobody else knows.
So what the bot wrote, and nobody has changed since, is known again. A section that somebody has changed or answered
belongs to people from then on.
Whatever URLs and titles are, a report is a section with a list of links, and nothing else.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from enum import Enum
from hmac import compare_digest
from hmac import digest as keyed_digest
from typing import Final, NamedTuple
from unicodedata import normalize

from weboid.bot.answers import key_of
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.templates import text_value, url_value

_MARK: Final = re.compile(r"<!-- weboid-weblinks ([0-9a-f]{32}) -->")
_NEXT_SECTION: Final = re.compile(r"^={1,2}(?!=)[^\n]*=[ \t]*$", re.MULTILINE)
_HEADING: Final = re.compile(r"^=+([^\n]*)", re.MULTILINE)
_GAP: Final = "\n\n"


class TalkAction(Enum):
    """The action on a talk page; the value is the stable word of messages."""

    NOTHING = "nothing"
    WRITE = "written"
    UPDATE = "updated"
    REMOVE = "removed"


@dataclass(frozen=True, slots=True)
class TalkWords:
    """The words of a report in the wiki's language: the heading, and the texts before and after the list."""

    caption: str
    before: str
    after: str
    since: str
    """With ``{day}``."""
    archived: str
    """The label of the link to the archived copy."""


@dataclass(frozen=True, slots=True)
class TalkEntry:
    """A dead link: its URL as in the page, since when in the wiki's form of dates, why as a sentence, a copy's address.

    All but the URL may be empty.
    """

    url: str
    since: str = ""
    why: str = ""
    copy: str = ""


@dataclass(frozen=True, slots=True)
class TalkEdit:
    """The new text of a talk page, what was done, and the normal forms of the links that are reported on it now."""

    text: str
    action: TalkAction
    links: frozenset[str] = frozenset()


class _Section(NamedTuple):
    start: int
    end: int
    text: str


def talk_edit(
    talk: str,
    entries: Iterable[TalkEntry],
    words: TalkWords,
    *,
    key: bytes,
    signature: str,
    open_urls: Collection[str] = (),
    reported: Collection[str] = (),
) -> TalkEdit:
    """The talk page with a report of these links, or without any if there are none.

    `key` makes the digests; `signature` is what the wiki makes of ``~~~~``. Links that others have on the talk page are
    not reported again, nor those that were `reported` before (normal forms) and stand in no report any more. Of
    `open_urls` it is not known whether they still are dead: what is reported of them stays as it is. A report whose
    links and copies are still the same stays as it is, too.
    """
    own = next(_own_sections(talk, key), None)
    rest = _without(talk, own) if own else talk
    lines = _lines_by_link(own.text) if own else {}
    listed = _links_in(own.text) if own else frozenset()
    known = (_links_in(rest) | frozenset(reported)) - listed
    shown = {normal: lines[normal] for normal in map(_normal, open_urls) if normal in lines}
    shown |= {_normal(entry.url): _line(entry, words) for entry in entries if _normal(entry.url) not in known}
    if not shown:
        return TalkEdit(rest, TalkAction.REMOVE) if own else TalkEdit(talk, TalkAction.NOTHING)
    if own is None and _is_open(talk):
        return TalkEdit(talk, TalkAction.NOTHING)
    section = _section(shown.values(), words, _free_caption(rest, words.caption), key, signature)
    if own is None:
        return TalkEdit(f"{talk}{_GAP}{section}" if talk else section, TalkAction.WRITE, frozenset(shown))
    if _links_in(section) == listed:
        return TalkEdit(talk, TalkAction.NOTHING, frozenset(shown))
    return TalkEdit(talk[: own.start] + section + talk[own.end :], TalkAction.UPDATE, frozenset(shown))


def has_report(talk: str, key: bytes) -> bool:
    """True if there is a report under this key that nobody has changed or answered."""
    return next(_own_sections(talk, key), None) is not None


def _normal(url: str) -> str:
    """The normal form; a text that has none stands for itself."""
    return key_of(url) or url


def _section(lines: Iterable[str], words: TalkWords, caption: str, key: bytes, signature: str) -> str:
    parts = [f"== {caption} ==", words.before, "", *lines, ""]
    text = normalize("NFC", "\n".join([*parts, f"{words.after} {' '.join(signature.split())}".strip()]))
    return f"{text}<!-- weboid-weblinks {_digest(text, key)} -->"


def _line(entry: TalkEntry, words: TalkWords) -> str:
    url, label = url_value(entry.url), text_value(entry.url) or ""
    line = f"* [{url} {label}]" if url else f"* {label}"
    if since := text_value(entry.since):
        line += f" – {words.since.replace('{day}', since)}"
    if why := text_value(entry.why):
        line += f" – {why}"
    if copy := url_value(entry.copy):
        line += f" – [{copy} {words.archived}]"
    return line


def _digest(text: str, key: bytes) -> str:
    return keyed_digest(key, text.encode("utf-8", "replace"), "sha256").hex()[:32]


def _own_sections(talk: str, key: bytes) -> Iterator[_Section]:
    """The sections that this bot wrote and nobody has changed or answered. No section has two marks (D-292)."""
    last = 0
    for mark in _MARK.finditer(talk):
        heading = talk.rfind("\n==", last, mark.start())
        start = last if heading < 0 else heading + 1
        text, last = talk[start : mark.start()], mark.end()
        if not text.startswith("==") or not compare_digest(_digest(text, key), mark[1]):
            continue
        following = _NEXT_SECTION.search(talk, mark.end())
        if not talk[mark.end() : following.start() if following else len(talk)].strip():
            yield _Section(start, mark.end(), text)


def _without(talk: str, section: _Section) -> str:
    """The talk page as if the section had never been written."""
    before, after = talk[: section.start], talk[section.end :]
    return before.removesuffix(_GAP) + after if before else after.lstrip("\n")


def _lines_by_link(section: str) -> dict[str, str]:
    """The entries of a section by the normal form of their link."""
    lines: dict[str, str] = {}
    for line in section.split("\n"):
        if line.startswith("* ") and (nodes := read_wikitext(line).links):
            lines.setdefault(_normal(nodes[0].url), line)
    return lines


def _links_in(text: str) -> frozenset[str]:
    """The normal forms of all links."""
    return frozenset(filter(None, (key_of(node.url) for node in read_wikitext(text).links)))


def _free_caption(talk: str, caption: str) -> str:
    """The heading, with a number if there is one of that name already, as an anchor has to lead to one place."""
    there = {heading[1].strip(" \t=") for heading in _HEADING.finditer(talk)}
    number, free = 1, caption
    while free in there:
        number += 1
        free = f"{caption} {number}"
    return free


def _is_open(talk: str) -> bool:
    """True if something at the end of the page would swallow what is written behind it, such as an open comment."""
    probe = "http://weboid.invalid/"
    return probe not in {node.url for node in read_wikitext(f"{talk}{_GAP}== x ==\n* [{probe} x]").links}
