"""Notices in place of a document: a login, a refusal, a fault, a question for consent. For copies in archives (A-1).

They are judged more strictly than on living pages: of a copy there may be a better one, nobody can click a notice away
in it, and who is refused it only gets another. Nothing here makes a living page doubtful (C-11).
"""

import re
from functools import partial
from typing import Final
from urllib.parse import urlsplit

from msgspec import Struct

from weboid.core.document.document import Document
from weboid.core.document.folding import Phrases, first_of, folded
from weboid.core.signs.login_walls import is_consent_url, is_login_url
from weboid.core.signs.tables import table_of

_FORM_WORDS: Final = 25
"""A page with a password field and fewer words is a login, whatever it is called."""
_LOGIN_WORDS: Final = 250
_SCRIPTED_WORDS: Final = 40
"""A page that is called a login and has fewer words gets its form from scripts."""
_NOTICE_WORDS: Final = 150
_CONSENT_WORDS: Final = 400
_FAULT_CODE: Final = re.compile(r"(?:error |http |fehler )?50[0-9]\b")


class NoticeWords(Struct, frozen=True, forbid_unknown_fields=True):
    """The titles and headings of notices by their kind."""

    login: Phrases
    refused: Phrases
    fault: Phrases
    paywall: Phrases
    consent: Phrases


_words: Final = partial(table_of, __file__, NoticeWords)


def notice_in(asked: str, document: Document) -> str | None:
    """The stable word for the notice that stands in place of the document of the URL `asked`; None if there is none."""
    words = len(document.words)
    if document.is_article or words > _CONSENT_WORDS:
        return None
    if _is_login(asked, document, words):
        return "login"
    titles = [folded(text) for text in (document.title, *document.headings)]
    if words <= _NOTICE_WORDS:
        if _has(_words().refused, titles):
            return "bot-wall"
        if _has(_words().fault, titles) or any(_FAULT_CODE.match(text) for text in titles):
            return "fault"
        if first_of(_words().paywall, folded(document.text)):
            return "payment"
    is_consent = document.canonical is not None and is_consent_url(document.canonical)
    return "consent" if is_consent or _has(_words().consent, titles) else None


def _is_login(asked: str, document: Document, words: int) -> bool:
    """True if a document is a login, which a front page or the URL of a login may be."""
    if urlsplit(asked).path in ("", "/") or is_login_url(asked):
        return False
    if document.asks_password and words <= _FORM_WORDS:
        return True
    if words > (_LOGIN_WORDS if document.asks_password else _SCRIPTED_WORDS):
        return False
    return _has(_words().login, [folded(document.title)])


def _has(candidates: tuple[str, ...], titles: list[str]) -> bool:
    return any(first_of(candidates, title) for title in titles)
