"""The outcome of repairs that were made before, and, of those that were taken back, probably why (B-6).

Pure: texts of three revisions, and the wiki's data of those between. The state of each link is compared as
``page_links`` sees it, so that other edits of the page do not matter, nor how a revert was made. In doubt a repair that
was taken back is reported, and not repeated.
"""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum, StrEnum
from hashlib import sha1
from typing import Final, NamedTuple

from weboid.bot.answers import key_of, meant
from weboid.bot.archived import for_readers
from weboid.bot.decisions import RepairAction, Stated
from weboid.bot.links import LinkForm, RepairableLink
from weboid.bot.page_links import page_links
from weboid.bot.rewriting import stated_by
from weboid.core.url.archives import snapshot_of
from weboid.core.verdict.report_json import RevertReason as RevertReason
from weboid.core.wikitext.nodes import Wikitext
from weboid.core.wikitext.reader import read_wikitext
from weboid.core.wikitext.settings import WikiSettings


@dataclass(frozen=True, slots=True)
class EditedLink:
    """One repair of an edit of ours: the link as written then, its normal form, the words of its `RepairAction` and of
    its reason."""

    url: str
    normal: str
    action: str
    why: str


@dataclass(frozen=True, slots=True)
class LaterRevision:
    """A revision after our edit: its user, comment and tags, and the SHA-1 of its text as the API gives it (40
    hexadecimal digits); each is empty where it is hidden."""

    user: str
    comment: str = ""
    tags: frozenset[str] = frozenset()
    sha1: str = ""


@dataclass(frozen=True, slots=True)
class RevisionSigns:
    """The wiki's data around our edit: the tags of our revision, the revisions after it up to the later text, the
    oldest first, and the SHA-1 of those before our parent, as many as are known."""

    tags: frozenset[str] = frozenset()
    later: tuple[LaterRevision, ...] = ()
    earlier: frozenset[str] = frozenset()


class RevertVerdict(StrEnum):
    """The outcome of the repair of one link."""

    KEPT = "kept"
    REVERTED = "reverted"
    """The link is again as it was before the repair."""
    CHANGED = "changed"
    """The link is neither as before nor as repaired."""
    GONE = "gone"
    """The page has no such link any more, or none that a bot may repair."""


@dataclass(frozen=True, slots=True)
class RevertFinding:
    """The outcome of one repair; `why` is None exactly if it was kept.

    `reverter` is the user who did it, None if that is not certain. `is_false_positive`: the repair may have been wrong;
    it is reported, and not repeated before somebody has reviewed that.
    """

    verdict: RevertVerdict
    why: RevertReason | None = None
    reverter: str | None = None
    is_false_positive: bool = False


_REVERTED: Final = "mw-reverted"
_REVERTS: Final = frozenset({"mw-undo", "mw-rollback", "mw-manual-revert"})
_SOME_COPY: Final = "?"
"""A copy of which the page does not say the address."""

_LONGEST: Final = 1_000
_SECTION: Final = re.compile(r"/\*.*?\*/")
_VANDALISM: Final = re.compile(r"\brvv\b|vandal")
_COPY: Final = re.compile(r"\b(?:archiv\w*|arquiv\w*|snapshots?|wayback|mementos?)\b")
_NOT: Final = re.compile(r"n['’]t\b|\b(?:no|not|nicht|kein\w*|ne|pas|não|nao)\b")
_WORKS: Final = re.compile(
    r"\b(?:works?|working|alive|(?:is|still|url|links?|site|page) (?:live|up|ok|okay|fine|good|active|online)|"
    r"reachable|funktionier\w*|geht|erreichbar|aufrufbar|abrufbar|fonctionne\w*|marche|accessible|en ligne|"
    r"funcionam?|funcionando|ativ[oa]|acess[ií]vel|no ar)\b"
)
_BROKEN: Final = re.compile(
    r"\b(?:dead|broken|down|tot|toter?|defekt\w*|kaputt\w*|mort|bris[ée]|cass[ée]|mort[oa]|quebrad[oa]|inativ[oa])\b"
)
_BAD: Final = re.compile(
    r"\b(?:wrong|bad|blank|empty|useless|incorrect|fails?|failed|falsch\w*|leer\w*|unbrauchbar\w*|mauvais\w*|vide|inutile|"
    r"errad[oa]|vazi[oa]|in[uú]til|ruim)\b"
)


class Remark(Enum):
    """The statement of a comment."""

    NOTHING = 0
    VANDALISM = 1
    LINK_WORKS = 2
    WRONG_COPY = 3


class _LinkView(NamedTuple):
    """A link as a page shows it: its copy, if it is called dead, and the form in which that is written."""

    copy: str | None
    is_dead: bool
    form: str


class _Counts(NamedTuple):
    """The number of times that a link is in each state: in the edited text, in the saved one, and now."""

    before: Counter[_LinkView]
    after: Counter[_LinkView]
    now: Counter[_LinkView]


class _Revert(NamedTuple):
    """The user who probably took our edit back, and the comment; if that was all of it, or more than it."""

    user: str | None
    remark: Remark
    is_whole: bool
    is_beyond: bool


def analyse_links(
    repairs: Iterable[EditedLink],
    before: str,
    after: str,
    later: str,
    settings: WikiSettings,
    bot: str,
    signs: RevisionSigns | None = None,
) -> list[RevertFinding]:
    """The outcome of the repairs of one edit, in the order of `repairs`; each text is read once.

    `before` is the text that was edited, `after` what was saved, `later` a newer one; `bot` is the name by which pages
    admit or exclude it, and that of its account.
    """
    texts = [_views_in(text, settings, bot) for text in (before, after, later)]
    revert = _revert(signs or RevisionSigns(), before, bot)
    findings = []
    for repair in repairs:
        key = key_of(repair.url) or repair.normal
        counts = _Counts(*(Counter(views.get(key, ())) for views in texts))
        findings.append(_finding(repair, counts, revert))
    return findings


def changed_links(before: str, after: str, settings: WikiSettings, bot: str) -> list[str]:
    """The links, by normal form, that an edit shows otherwise than before: their copy, if they are called dead, or how
    that is written; in the order of the text that was edited."""
    old, new = (_views_in(text, settings, bot) for text in (before, after))
    return [key for key, views in old.items() if key in new and Counter(views) != Counter(new[key])]


def _views_in(text: str, settings: WikiSettings, bot: str) -> dict[str, list[_LinkView]]:
    wikitext = read_wikitext(text)
    views: dict[str, list[_LinkView]] = {}
    for link in page_links(wikitext, settings, bot):
        if (key := key_of(link.url)) is not None:
            copy = _copy(link)
            views.setdefault(key, []).append(_LinkView(copy, _is_dead(link, wikitext, settings, copy), _form(link)))
    return views


def _copy(link: RepairableLink) -> str | None:
    """The copy that a link has, the same for all spellings of its address; None if it has none."""
    address = link.copy_address
    if address is None:
        return _SOME_COPY if link.archives or link.stamp else None
    snapshot = snapshot_of(meant(address))
    if snapshot is None or snapshot.taken is None:
        return for_readers(address)
    return f"{snapshot.archive.name} {snapshot.taken.isoformat()} {snapshot.original}"


def _is_dead(link: RepairableLink, wikitext: Wikitext, settings: WikiSettings, copy: str | None) -> bool:
    if link.dead_tags or link.kind is LinkForm.DEAD_TAG:
        return True
    if link.citation is None:
        return copy is not None
    (stated, _), status = stated_by(wikitext, settings, link.citation), settings.cite.status
    implies_dead = status is None or status.default_with_archive == status.dead
    is_silent = stated is Stated.NOTHING and implies_dead and copy is not None
    return is_silent or stated in (Stated.DEAD, Stated.DEAD_BY_BOT)


def _form(link: RepairableLink) -> str:
    """The form of the link and its marks, roughly; of a citation also if its copy has a date."""
    dated = None if link.citation is None else link.citation.archive_date
    marks = {
        "in place": link.wrapped is not None,
        "alongside": bool(link.archives),
        "obsolete": bool(link.archives) and link.archives[0].obsolete is not None,
        "dated": dated is not None and bool(dated.value),
        "tagged": bool(link.dead_tags),
    }
    return " ".join((link.kind.value, link.copy_address or "", *(mark for mark, is_so in marks.items() if is_so)))


def remark_in(comment: str) -> Remark:
    """The first of these that a comment says: vandalism, a wrong copy, a link that works."""
    text = _SECTION.sub(" ", comment[:_LONGEST]).casefold()
    if _VANDALISM.search(text):
        return Remark.VANDALISM
    is_denied = _NOT.search(text) is not None
    works, broken = _WORKS.search(text) is not None, _BROKEN.search(text) is not None
    if _COPY.search(text) and (broken or _BAD.search(text) or (works and is_denied)):
        return Remark.WRONG_COPY
    return Remark.LINK_WORKS if works != broken and works != is_denied else Remark.NOTHING


def _revert(signs: RevisionSigns, before: str, bot: str) -> _Revert:
    others = [each for each in signs.later if each.user != bot]
    target = sha1(before.encode("utf-8", "replace"), usedforsecurity=False).hexdigest()
    for each in others:
        if each.sha1 and (each.sha1 == target or each.sha1 in signs.earlier):
            were_more = any(other.user != each.user for other in others[: others.index(each)])
            remark = remark_in(each.comment)
            is_beyond = each.sha1 != target or (were_more and remark is Remark.VANDALISM)
            return _Revert(each.user or None, remark, is_whole=True, is_beyond=is_beyond)
    reverts = [each for each in others if each.tags & _REVERTS]
    is_whole = _REVERTED in signs.tags and bool(reverts)
    likely = reverts or others
    if len({each.user for each in likely}) != 1:
        return _Revert(None, Remark.NOTHING, is_whole, is_beyond=False)
    remarks = [remark for each in likely if (remark := remark_in(each.comment)) is not Remark.NOTHING]
    return _Revert(likely[0].user or None, (*remarks, Remark.NOTHING)[0], is_whole, is_beyond=False)


def _finding(repair: EditedLink, counts: _Counts, revert: _Revert) -> RevertFinding:
    before, after, now = counts
    made, new = after - before, now - after
    if not after and not now:
        return RevertFinding(RevertVerdict.KEPT)  # what we wrote belongs to another link now, and so it still does
    if not now or (not new and made and not made & now):
        return RevertFinding(RevertVerdict.GONE, RevertReason.LINK_REMOVED, revert.user)
    is_back = bool((before - after) & new)
    if not new or (not made and not is_back) or (made and all(now[view] >= after[view] for view in made)):
        return RevertFinding(RevertVerdict.KEPT)
    if is_back:
        why = _why_reverted(repair, before, revert)
        return RevertFinding(RevertVerdict.REVERTED, why, revert.user, why is not RevertReason.VANDALISM_REVERT)
    why, is_false_positive = _why_changed(made - now, new)
    return RevertFinding(RevertVerdict.CHANGED, why, revert.user, is_false_positive)


def _why_reverted(repair: EditedLink, before: Counter[_LinkView], revert: _Revert) -> RevertReason:
    if revert.is_beyond:
        return RevertReason.VANDALISM_REVERT
    if revert.remark is Remark.LINK_WORKS:
        return RevertReason.LINK_WORKS
    if revert.remark is Remark.WRONG_COPY or repair.action == RepairAction.REPLACE_COPY.value:
        return RevertReason.WRONG_COPY
    if revert.is_whole:
        return RevertReason.WHOLE_PAGE
    if all(view.copy is None and not view.is_dead for view in before):
        return RevertReason.LINK_WORKS  # this repair was chosen, and nothing but the living link put back
    if repair.action == RepairAction.ADD_COPY.value:
        return RevertReason.WRONG_COPY
    return RevertReason.UNKNOWN


def _why_changed(missing: Counter[_LinkView], new: Counter[_LinkView]) -> tuple[RevertReason, bool]:
    """The reason why a link is neither as before nor as repaired, and if the repair may have been wrong."""
    if {(view.copy, view.is_dead) for view in new} >= {(view.copy, view.is_dead) for view in missing}:
        return RevertReason.STYLE, False
    copies, given = {view.copy for view in missing} - {None}, {view.copy for view in new} - {None}
    if not any(view.is_dead for view in new):
        # The copy is gone, or kept for a link that lives.
        return RevertReason.LINK_WORKS, True
    if copies and not copies <= given:
        return RevertReason.WRONG_COPY, not given
    return RevertReason.UNKNOWN, not given
