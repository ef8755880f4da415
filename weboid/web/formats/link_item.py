"""One link in HTML, as a row of the table of a page's links or as an item of a list; written here and in no template.

A page has hundreds of them, and a template takes several times as long for each. All text is escaped here unless it is
Markup already. Every action stands in the open, without scripts; wikitext to be copied is in a field.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from markupsafe import Markup, escape

from weboid.web.request.route import address_of
from weboid.web.words.messages import Messages

_KEPT: Final = 4_096
_EDIT: Final = address_of("edit-section")
_WORKING: Final = (("url", "", "weboid-url-more"),)
_OTHER: Final = (("report", "#check", "weboid-check-link"), *_WORKING)
_DEAD: Final = (
    ("report", "", "weboid-report-link"),
    _OTHER[0],
    ("replacement", "", "weboid-replacement-link"),
    *_WORKING,
)
"""The actions by verdict: a route, an anchor on its page, and the words."""
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.~/:?=%+-]*")
"""URLs that are the same in HTML, which `escape` finds out in three times the time."""


class StateView(NamedTuple):
    """The words about the state of a link, and the same as HTML from `chip` on: `why` is the reason with its evidence,
    `actions` are divided at the query."""

    verdict: str
    words: str
    reason: str | None
    evidence: Sequence[str]
    """Sentences: what proves the verdict, or which proof is missing yet."""
    checked: Markup | None
    chip: str
    why: str
    checks: str
    actions: Sequence[str]


class LinkView(NamedTuple):
    """The values of one link; not a dictionary, as templates look for attributes first."""

    state: StateView
    url: str
    host: str | None
    """Its host in Unicode, to be shown alongside the URL and never instead of it."""
    normal: str | None
    href: str | None
    suspicious: bool
    details: Sequence[str]
    """The target, the file type, the claims of people."""
    copies: Sequence[Markup]
    """Copies in web archives as links, or why there is none."""
    forms: Sequence[str]
    is_repaired: bool = False
    """True if the page offers a copy already: the item is marked quietly."""
    is_reported: bool = False
    """True if somebody reported that it works by hand."""
    copy: str | None = None
    """The address of the copy that is shown first."""
    wikitext: str | None = None
    """The words of the wiki for that copy, or for there being none."""


def link_item(link: LinkView, query: str | None, say: Messages) -> str:
    """The link as an item of a list; `query` is the query of the pages about it, none if there are no such pages."""
    return (
        f'<li class="{_class_of(link)}">\n<p class="what">{_chips(link, say)}\n{_address(link)}</p>\n'
        f"{link.state.why}{_notes(link, say)}{link.state.checks}{_actions_html(link, query, say)}</li>\n"
    )


def link_row(
    link: LinkView, query: str | None, say: Messages, *, is_stated: bool = False, is_editable: bool = False
) -> str:
    """The link as a row of a table, under the headings of `link_table`; `is_stated`: the row of its host has its state.

    `query` as in `link_item`, with the page; `is_editable`: its wiki's editor is known.
    """
    if is_stated:
        chip = f" {_reported_chip(say)}" if link.is_reported else ""
        head = f' stated"><th scope="row" colspan="2">{_address(link)}{chip}</th>'
    else:
        state = f'<td class="state">{_chips(link, say)}{link.state.why}</td>'
        head = f'"><th scope="row">{_address(link)}</th>{state}'
    return (
        f'<tr class="{_class_of(link)}{head}<td class="checks">{link.state.checks}</td>'
        f'<td class="act">{_notes(link, say)}{_actions_html(link, query, say, is_editable)}</td></tr>\n'
    )


def why_html(reason: str | None, evidence: Sequence[str]) -> str:
    """The paragraphs of a reason and of its evidence."""
    why = _reason(reason) if reason else ""
    if not evidence:
        return why
    proof = [words if isinstance(words, Markup) else escaped(words) for words in evidence]
    return f'{why}<p class="evidence"><bdi>{"</bdi> <bdi>".join(proof)}</bdi></p>\n'


@lru_cache(_KEPT)
def chip_html(verdict: str, words: str, icon: str) -> str:
    """The chip that says the verdict."""
    text = f'<bdi class="cdx-info-chip__text">{escape(words)}</bdi>'
    return f'<span class="cdx-info-chip chip {verdict}">{icon}{text}</span>'


def _class_of(link: LinkView) -> str:
    return f"link repaired {link.state.verdict}" if link.is_repaired else f"link {link.state.verdict}"


def _chips(link: LinkView, say: Messages) -> str:
    return f"{link.state.chip} {_reported_chip(say)}" if link.is_reported else link.state.chip


@lru_cache(_KEPT)
def _reported_chip(say: Messages) -> Markup:
    """The chip of a link of which somebody said that it works by hand."""
    words = Markup('<span class="cdx-info-chip__text">{}</span>').format(say.html("weboid-chip-reported"))
    return Markup('<span class="cdx-info-chip chip working">{}</span>').format(words)


def _notes(link: LinkView, say: Messages) -> str:
    if not (link.suspicious or link.details or link.copies or link.forms):
        return ""
    warning = f'<p class="warning">{say.html("weboid-note-suspicious")}</p>' if link.suspicious else ""
    copies = [f'<p class="copy"><bdi>{words}</bdi></p>\n' for words in link.copies]
    given = say.html("weboid-form-given") if link.forms else ""
    forms = [f'<p>{given} <bdi class="url" dir="ltr">{escape(form)}</bdi></p>\n' for form in link.forms]
    return "".join([warning, *[_paragraph(words) for words in link.details], *copies, *forms])


def _address(link: LinkView) -> str:
    url = link.url if _PLAIN.fullmatch(link.url) else escape(link.url)
    host = "" if link.host is None else f' <span class="host">(<bdi>{escape(link.host)}</bdi>)</span>'
    if link.href is None:
        return f'<bdi class="url" dir="ltr">{url}</bdi>{host}'
    href = url if link.href == link.url else escape(link.href)
    return f'<a class="url" href="{href}" rel="nofollow noopener noreferrer"><bdi dir="ltr">{url}</bdi></a>{host}'


escaped: Final = lru_cache(_KEPT)(escape)
"""Of texts, none of which is Markup: to a cache, both are equal."""


@lru_cache(_KEPT)
def _reason(words: str) -> str:
    return _paragraph(words)


def _paragraph(words: str) -> str:
    return f"<p><bdi>{escape(words)}</bdi></p>\n"


def _actions_html(link: LinkView, query: str | None, say: Messages, is_editable: bool = False) -> str:
    # Templates have queries as Markup, whose own method would escape the pieces.
    actions = str.join(query, link.state.actions) if query else ""
    copy = ""
    if link.copy:
        copy = f'<a href="{escape(link.copy)}" rel="nofollow noopener noreferrer">{say.html("weboid-open-copy")}</a>\n'
    if link.wikitext:
        copy += (
            f"<label>{say.html('weboid-url-wikitext')} "
            f'<input class="wikitext" readonly dir="ltr" value="{escape(link.wikitext)}"></label>\n'
        )
    if is_editable and query and link.state.verdict != "working":
        copy += f'<a href="{_EDIT}{query}" rel="nofollow">{say.html("weboid-edit-section")}</a>\n'
    return f'<p class="actions">{copy}{actions}</p>\n' if copy or actions else ""


@lru_cache(_KEPT)
def actions_html(verdict: str, say: Messages) -> tuple[str, ...]:
    """The links to the pages about a link, divided where its query belongs; of one that works only to its own."""
    pieces = [""]
    for route, anchor, key in _WORKING if verdict == "working" else _DEAD if verdict == "dead" else _OTHER:
        pieces[-1] += f'<a href="{address_of(route)}'
        pieces.append(f'{anchor}" rel="nofollow">{say.html(key)}</a>\n')
    return tuple(pieces)
