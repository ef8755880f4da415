"""Decides what is done with a link: the table of docs/bots.md, and nothing else (B-3 … B-5).

Nothing is done in doubt: only *dead* is dead, only *none* is none. ``edits`` carries out the decision.
"""

from dataclasses import dataclass
from enum import Enum

from weboid.bot.answers import FROZEN, PERMADEAD, PERMALIVE, SUBSCRIPTION, LinkAnswer
from weboid.bot.archived import CopyStanding
from weboid.core.archive.copies import CopyState
from weboid.core.verdict.verdict import Verdict
from weboid.core.wikitext.settings import Options

CHOSEN, NOT_CHOSEN = "chosen", "not-chosen"
"""Flags of links that a person wants to be left alone, by name or because others were named."""


class Tagged(Enum):
    """The author of a dead tag next to a link; a person counts more than a bot."""

    NOBODY = "nobody"
    BOT = "bot"
    PERSON = "person"


class Stated(Enum):
    """The statement of a citation about its link by its parameter."""

    NOTHING = "nothing"
    DEAD = "dead"
    DEAD_BY_BOT = "dead by bot"
    LIVE = "live"
    KEPT = "kept"
    """Something that bots leave alone, such as *usurped*."""


class RepairAction(Enum):
    """The action on a link; the value is the stable word of journals and summaries."""

    NOTHING = "nothing"
    ADD_COPY = "archive-added"
    REPLACE_COPY = "archive-replaced"
    ADD_LIVING_COPY = "living-archive-added"
    STATE_DEAD = "stated-dead"
    TAG = "tagged"
    UNTAG = "untagged"
    REVIVE = "revived"
    CONVERT = "converted"
    TIDY = "tidied"


@dataclass(frozen=True, slots=True)
class LinkState:
    """The state of a link in the page, as far as it matters.

    `copy` is the standing of the link's copy. `is_movable`: it stands next to a citation, or in the place of its URL,
    and belongs into its parameters; `is_obsolete`: it stands in a template that is to be replaced. `flaw`: the stable
    word for what is wrong with how it is written, `is_untidy`: that could be better. `can_state`: it is for a parameter
    to say if the link is dead; `implies_dead`: with a copy it does so without that parameter; `tags_by_stating`:
    without a copy that is all the tag there is.
    """

    copy: CopyStanding = CopyStanding.ABSENT
    tagged: Tagged = Tagged.NOBODY
    stated: Stated = Stated.NOTHING
    is_paid: bool = False
    is_movable: bool = False
    is_obsolete: bool = False
    flaw: str = ""
    is_untidy: bool = False
    is_citation: bool = False
    can_state: bool = False
    implies_dead: bool = False
    tags_by_stating: bool = False


@dataclass(frozen=True, slots=True)
class Decision:
    """An action, and the stable word why."""

    action: RepairAction
    why: str


COPIES_NOT_KNOWN = frozenset(f"archive-{state}" for state in (CopyState.UNKNOWN, CopyState.ERROR, CopyState.PENDING))
"""Reasons to leave a dead link alone until more is known of its copies (D13)."""

_SAYS_DEAD = frozenset({Stated.DEAD, Stated.DEAD_BY_BOT})
_BAD = frozenset({CopyStanding.DEPRECATED, CopyStanding.INVALID, CopyStanding.FOREIGN})


def decide(state: LinkState, answer: LinkAnswer, options: Options) -> Decision:
    """The decision on a link with this answer."""
    for flag in (FROZEN, CHOSEN, NOT_CHOSEN):
        if flag in answer.flags:
            return _nothing(flag)
    if answer.verdict in (Verdict.SPAM, Verdict.INVALID):
        return _nothing(answer.verdict.word)
    verdict, why = _verdict(state, answer, options)
    if verdict is Verdict.DEAD:
        return _of_bad_copy(state, answer, options) if state.copy in _BAD else _of_dead(state, answer, options, why)
    has_copy = answer.copies is CopyState.FOUND
    return _of_living(state, options, has_copy, why) if verdict is Verdict.WORKING else _nothing(why)


def _verdict(state: LinkState, answer: LinkAnswer, options: Options) -> tuple[Verdict, str]:
    """The verdict to act on, with lists and tags of the wiki considered, and the stable word why."""
    is_tagged = state.tagged is Tagged.PERSON or state.stated is Stated.DEAD
    is_dead_by_hand = options.trust_tags and is_tagged
    if PERMADEAD in answer.flags:
        return Verdict.DEAD, PERMADEAD
    if PERMALIVE in answer.flags:
        return (Verdict.DEAD, "tagged-by-hand") if is_dead_by_hand else (Verdict.WORKING, PERMALIVE)
    if SUBSCRIPTION in answer.flags or state.is_paid:
        return (Verdict.DEAD, "tagged-by-hand") if is_dead_by_hand else (Verdict.UNKNOWN, SUBSCRIPTION)
    return answer.verdict, answer.verdict.word


def _of_bad_copy(state: LinkState, answer: LinkAnswer, options: Options) -> Decision:
    why = f"archive-{state.copy.value}"
    may_replace = options.replace_deprecated_archives or state.copy is not CopyStanding.DEPRECATED
    may_convert = options.convert_obsolete_archive_templates or not state.is_obsolete
    if answer.copies is CopyState.FOUND and may_replace and may_convert:
        return Decision(RepairAction.REPLACE_COPY, why)
    return _nothing(why)


def _of_dead(state: LinkState, answer: LinkAnswer, options: Options, why: str) -> Decision:
    # A better one does not take its place (D-246).
    if state.copy is CopyStanding.GOOD:
        if state.is_movable:
            return Decision(RepairAction.ADD_COPY, "archive-alongside")
        if state.is_obsolete:
            is_wanted = options.convert_obsolete_archive_templates
            return Decision(RepairAction.CONVERT, "obsolete-template") if is_wanted else _nothing("obsolete-template")
        silent = state.stated is Stated.NOTHING and not state.implies_dead
        if state.can_state and (silent or state.stated is Stated.LIVE):
            return Decision(RepairAction.STATE_DEAD, why)
        if state.tagged is Tagged.BOT or (state.tagged is Tagged.PERSON and not options.trust_tags):
            return Decision(RepairAction.UNTAG, "archived")
        if state.flaw:
            return Decision(RepairAction.TIDY, state.flaw)
        if state.is_untidy and options.cosmetic_only_edits:
            return Decision(RepairAction.TIDY, "cosmetic")
        return _nothing("archived")
    if answer.copies is CopyState.FOUND:
        return Decision(RepairAction.ADD_COPY, why)
    # Unsuitable and withheld copies are no proof that there is none (D-244).
    if answer.copies is not CopyState.NONE:
        return _nothing(f"archive-{answer.copies.value}")
    is_stated = state.can_state and state.stated in _SAYS_DEAD
    if state.tagged is not Tagged.NOBODY or state.stated is Stated.KEPT or (is_stated and state.tags_by_stating):
        return _nothing("tagged")
    return _nothing("no-archive") if options.only_with_archive else Decision(RepairAction.TAG, "no-archive")


def _of_living(state: LinkState, options: Options, has_copy: bool, why: str) -> Decision:
    if options.revive:
        is_by_bot = state.tagged is Tagged.BOT or state.stated is Stated.DEAD_BY_BOT
        is_by_hand = state.tagged is Tagged.PERSON or state.stated is Stated.DEAD
        if is_by_bot or (is_by_hand and not options.trust_tags):
            return Decision(RepairAction.REVIVE, why)
    is_free = state.tagged is Tagged.NOBODY and state.stated in (Stated.NOTHING, Stated.LIVE)
    if options.living_archives and state.is_citation and state.copy is CopyStanding.ABSENT and has_copy and is_free:
        return Decision(RepairAction.ADD_LIVING_COPY, why)
    return _nothing(why)


def _nothing(why: str) -> Decision:
    return Decision(RepairAction.NOTHING, why)
