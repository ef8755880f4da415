"""Keeps the reports of dead links on the talk pages of a wiki up to date (B-7); their text is made by ``talk``."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import pywikibot
from pywikibot import i18n

from weboid.assets import asset
from weboid.bot.exclusion import excludes
from weboid.core.record.reasons import BY_WORD
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings
from weboid.core.wikitext.templates import date_text
from weboid_scripts.common.read_page import ReadPage
from weboid_scripts.common.run_page import RunPage
from weboid_scripts.common.saving import CONFLICT, NotSaved, Saver
from weboid_scripts.weblinks.dead_links import LinkJudgement, LinkStanding
from weboid_scripts.weblinks.link_lines import shown
from weboid_scripts.weblinks.scan_memory import ScanMemory
from weboid_scripts.weblinks.talk import TalkAction, TalkEdit, TalkEntry, TalkWords, has_report, talk_edit

SCRIPT: Final = "weboid_weblinks"
"""The name by which pages exclude this script."""
_AT_ONCE: Final = 50
"""Talk pages in one request."""
_WIKITEXT: Final = "wikitext"


@dataclass(frozen=True, slots=True)
class JudgedPage:
    """A page with what was made of its links."""

    page: int
    title: str
    links: tuple[LinkJudgement, ...]


class TalkPages:
    """The talk pages of a wiki. With `saver` None nothing is saved, only printed; `account` is the bot's name there."""

    def __init__(
        self, site: Any, dbname: str, memory: ScanMemory, *, account: str, saver: Saver | None, run_page: RunPage
    ) -> None:
        self._site = site
        self._dbname = dbname
        self._memory = memory
        self._key = memory.report_key()
        self._account = account
        self._saver = saver
        self._run_page = run_page
        self._words = _words(site)
        self._signature: str | None = None

    def report(self, pages: Iterable[JudgedPage], settings: WikiSettings) -> list[TalkAction]:
        """Brings the reports of these pages up to date; what was done, of each that was saved."""
        talks = []
        for judged in pages:
            page = pywikibot.Page(self._site, judged.title)
            talk = None if page.isTalkPage() else page.toggleTalkPage()
            if talk is not None:
                talks.append((talk, judged))
        for _ in self._site.preloadpages([talk for talk, _ in talks], groupsize=_AT_ONCE):
            pass  # What is read goes into the pages themselves.
        done = [self._report(talk, judged, settings) for talk, judged in talks]
        return [action for action in done if action is not TalkAction.NOTHING]

    def _report(self, talk: Any, judged: JudgedPage, settings: WikiSettings) -> TalkAction:
        entries = [_entry(link, settings) for link in judged.links if is_reported(link)]
        read = ReadPage(0, talk.title(), 0, "")
        if talk.exists():
            if talk.isRedirectPage() or talk.content_model != _WIKITEXT:
                return TalkAction.NOTHING
            read = ReadPage(talk.pageid, talk.title(), talk.latest_revision_id, talk.text)
        before = self._memory.reported(self._dbname, judged.page)
        unwell = [link.link for link in judged.links if _is_open(link)]
        reported = before & {link.normal for link in unwell}
        edit = TalkEdit(read.text, TalkAction.NOTHING)
        is_needed = bool(entries) or has_report(read.text, self._key)
        if is_needed and not excludes(read_wikitext(read.text), settings, bot=self._account, script=SCRIPT):
            edit = talk_edit(
                read.text,
                entries,
                self._words,
                key=self._key,
                signature=self._signed(),
                open_urls=[link.url for link in unwell],
                reported=reported,
            )
        is_done = edit.action is not TalkAction.NOTHING and self._save(read, edit)
        if self._saver is not None:
            now = reported | edit.links if is_done else reported
            if now != before:
                self._memory.note_reported(self._dbname, judged.page, now)
        return edit.action if is_done else TalkAction.NOTHING

    def _save(self, read: ReadPage, edit: TalkEdit) -> bool:
        """True if the page was saved, or would have been. Raises RunStopped, WikiSilent."""
        title = shown(read.title)
        pywikibot.info(f"<<lightaqua>>** Report of dead links on [[{title}]]: {edit.action.value}<<default>>")
        if self._saver is None:
            pywikibot.showDiff(read.text, edit.text)
            return True
        self._saver.wait_for_turn()
        if not self._run_page.before_edit(read):
            pywikibot.warning(f"[[{title}]] was not saved ({CONFLICT}): somebody has edited it.")
            return False
        summary = str(
            i18n.twtranslate(self._site, f"weboid-talk-summary-{edit.action.value}", {"count": len(edit.links)})
        )
        # Of one page: protected, a blacklisted link, an edit in between. The next run tries again.
        if isinstance(result := self._saver.save(read, edit.text, summary), NotSaved):
            pywikibot.warning(f"[[{title}]] was not saved ({result.why}): {shown(result.message)}")
            return False
        return True

    def _signed(self) -> str:
        """The bot's signature as the wiki expands it, so that the text that is saved is known beforehand."""
        if self._signature is None:
            request = self._site.simple_request(
                action="parse", text="--~~~~", onlypst=1, contentmodel=_WIKITEXT, title="API", formatversion=2
            )
            self._signature = str(request.submit()["parse"]["text"])
        return self._signature


def is_reported(found: LinkJudgement) -> bool:
    """True if a link belongs into a report: it is dead, and the page has no copy of it yet."""
    return found.standing is LinkStanding.DEAD and not found.link.has_copy


def _is_open(found: LinkJudgement) -> bool:
    """True if a link that was reported may still be dead."""
    return found.standing is not LinkStanding.GOOD and not found.link.has_copy


def _entry(found: LinkJudgement, settings: WikiSettings) -> TalkEntry:
    return TalkEntry(
        found.link.url,
        date_text(settings, found.since) if found.since is not None else "",
        reason_sentence(found.why, settings.lang),
        found.copies[0] if found.copies else "",
    )


def reason_sentence(why: str, language: str) -> str:
    """The sentence for a reason, in that language if it is translated, else in English."""
    if why not in BY_WORD:
        return ""
    key = f"weboid-reason-{why}"
    return next(
        (text for code in (language, language.partition("-")[0], "en") if (text := _messages(code).get(key))), ""
    )


@lru_cache(8)
def _messages(language: str) -> dict[str, str]:
    file = asset("i18n") / f"{language}.json"
    if not file.is_file():
        return {}
    given = json.loads(file.read_text(encoding="utf-8"))
    return {key: text for key, text in given.items() if isinstance(text, str)}


def _words(site: Any) -> TalkWords:
    def word(name: str, **values: str) -> str:
        return str(i18n.twtranslate(site, f"weboid-talk-{name}", values or None))

    return TalkWords(word("caption"), word("before"), word("after"), word("since", day="{day}"), word("archived"))
