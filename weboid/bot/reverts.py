"""What became of repairs that were made before, and, of those that were taken back, probably why (B-6).

Pure: texts of three revisions, and what the wiki says of those between. Link by link the state is compared, as
``page_links`` sees it; that other things on the page were changed, or how the page's text was restored, does not matter.
One law: in doubt a repair that was taken back is not repeated.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from weboid.core.wikitext.settings import WikiSettings


@dataclass(frozen=True, slots=True)
class EditedLink:
    """One repair of an edit of ours: the link as written then, its normal form, the words of `RepairAction` and why."""

    url: str
    normal: str
    action: str
    why: str


@dataclass(frozen=True, slots=True)
class LaterRevision:
    """A revision that came after our edit: its user, comment and tags, and its SHA-1 as the API gives it (40 hex
    digits; empty where it is hidden)."""

    user: str
    comment: str = ""
    tags: frozenset[str] = frozenset()
    sha1: str = ""


@dataclass(frozen=True, slots=True)
class RevisionSigns:
    """What the wiki says around our edit: the tags of our revision, the revisions after it up to the later text, the
    oldest first, and the SHA-1 of some before our parent's."""

    tags: frozenset[str] = frozenset()
    later: tuple[LaterRevision, ...] = ()
    earlier: frozenset[str] = frozenset()


class RevertVerdict(StrEnum):
    """What became of the repair of one link."""

    KEPT = "kept"
    REVERTED = "reverted"
    """The link is as it was before the repair."""
    CHANGED = "changed"
    """The link is neither as before nor as repaired."""
    GONE = "gone"
    """The page has no such link any more, or none that a bot may repair."""


class RevertReason(StrEnum):
    """Probably why; the value is the stable word of ``POST /api/reverts``."""

    VANDALISM_REVERT = "vandalism-revert"
    """Others were meant: the page was restored to a state from before the one that we had edited."""
    WHOLE_PAGE = "whole-page"
    """The page was restored to the very text that we had edited."""
    LINK_WORKS = "link-works"
    WRONG_COPY = "wrong-copy"
    STYLE = "style"
    """What we wrote stands there in another form."""
    LINK_REMOVED = "link-removed"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class RevertFinding:
    """What became of one repair; `why` is None exactly if it was kept.

    `reverter` is the user who did it, None where several could have. `is_false_positive` = the repair was probably
    wrong, which is to be reported; `may_repeat` = the link may be repaired again without a review.
    """

    verdict: RevertVerdict
    why: RevertReason | None = None
    reverter: str | None = None
    is_false_positive: bool = False
    may_repeat: bool = True


def analyse(
    entry: EditedLink,
    before: str,
    after: str,
    later: str,
    settings: WikiSettings,
    bot: str,
    signs: RevisionSigns | None = None,
) -> RevertFinding:
    """What became of one repair: `before` is the text that was edited, `after` that which we saved, `later` a newer one."""
    return analyse_links([entry], before, after, later, settings, bot, signs)[0]


def analyse_links(
    entries: Iterable[EditedLink],
    before: str,
    after: str,
    later: str,
    settings: WikiSettings,
    bot: str,
    signs: RevisionSigns | None = None,
) -> list[RevertFinding]:
    """The same for several links of one edit, in their order."""
    raise NotImplementedError
