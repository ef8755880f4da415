"""The edits that carry out a decision (B-5): ``rewriting`` writes citations and marks, ``plain_links`` other links."""

from typing import Final

from weboid.bot.answers import KnownCopy, LinkAnswer
from weboid.bot.archived import copy_at
from weboid.bot.decisions import Decision, LinkState, RepairAction, Stated
from weboid.bot.links import LinkForm, RepairableLink
from weboid.bot.page_links import EDITABLE
from weboid.bot.parameters import TemplateEditor, TextEdit
from weboid.bot.plain_links import filled, link_in_tag, rewritten, untagged_copy, with_copy
from weboid.bot.rewriting import Writing, cited, put_state, removed, stated, tidied

_KEEPS_COPY: Final = frozenset({RepairAction.ADD_COPY, RepairAction.CONVERT, RepairAction.TIDY})
_WRITES_COPY: Final = frozenset(
    {RepairAction.ADD_COPY, RepairAction.REPLACE_COPY, RepairAction.ADD_LIVING_COPY, RepairAction.CONVERT}
)


def edits_for(
    writing: Writing, link: RepairableLink, state: LinkState, answer: LinkAnswer, decision: Decision
) -> list[TextEdit]:
    """The edits that carry out an action; none if it cannot be written."""
    action, copy = decision.action, _copy_for(link, state, answer, decision)
    match action:
        case RepairAction.UNTAG:
            return removed(writing, link, bots_only=False)
        case RepairAction.REVIVE:
            return _revived(writing, link, state)
        case RepairAction.TAG:
            return _tagged(writing, link)
        case RepairAction.STATE_DEAD | RepairAction.TIDY if link.citation is not None:
            edits = stated(writing, link.citation, is_dead=action is RepairAction.STATE_DEAD)
            return [*edits, *removed(writing, link, bots_only=action is RepairAction.TIDY)] if edits else []
    if copy is None:
        return []
    match link.kind:
        case LinkForm.CITATION:
            return cited(writing, link, copy, is_dead=action is not RepairAction.ADD_LIVING_COPY)
        case LinkForm.BRACKETED | LinkForm.BARE:
            return with_copy(writing, link, copy)
        case LinkForm.DEAD_TAG:
            return untagged_copy(writing, link, copy)
        case LinkForm.COPY:
            return rewritten(writing, link.archives[0], link.url, copy)


def copy_written(link: RepairableLink, state: LinkState, answer: LinkAnswer, decision: Decision) -> KnownCopy | None:
    """The copy to which an action gives its place in the page; None for actions that write none."""
    return _copy_for(link, state, answer, decision) if decision.action in _WRITES_COPY else None


def _copy_for(link: RepairableLink, state: LinkState, answer: LinkAnswer, decision: Decision) -> KnownCopy | None:
    own = _copy_in_page(link, state) if decision.action in _KEEPS_COPY else None
    return next(iter(answer.snapshots), None) if own is None else own


def _copy_in_page(link: RepairableLink, state: LinkState) -> KnownCopy | None:
    """The good copy that stands next to the link, or in the place of its URL."""
    if not (state.is_movable or state.is_obsolete or state.flaw):
        return None
    address = link.wrapped or (link.archives[0].address if link.archives else None)
    return None if address is None else copy_at(address)


def _tagged(writing: Writing, link: RepairableLink) -> list[TextEdit]:
    """The link marked as dead: by the citation's parameter where tags take the place of links, else by the tag."""
    tag, cite = writing.settings.dead_tag, writing.settings.cite
    label = None if link.node is None else link.node.label
    if link.citation is not None and tag.place == "swallow":
        if cite.status is not None:
            return stated(writing, link.citation, is_dead=True)
        if link.spot.enclosure not in EDITABLE:
            return []  # the tag could not be taken off again
        label = writing.text_of(link.start, link.end)
    template = filled(writing, tag.write, link.url, label or "", {})
    if template is None or (label and tag.place == "swallow" and "{text}" not in tag.write):
        return []
    if tag.place == "swallow":
        return [TextEdit(link.start, link.end, template)]
    return [TextEdit(link.end, link.end, template if link.kind is LinkForm.CITATION else f" {template}")]


def _revived(writing: Writing, link: RepairableLink, state: LinkState) -> list[TextEdit]:
    trusts = writing.settings.options.trust_tags
    if link.kind is LinkForm.DEAD_TAG:
        plain = link_in_tag(writing, link)
        return [] if plain is None else [TextEdit(link.start, link.end, plain)]
    edits = removed(writing, link, bots_only=trusts)
    is_by_hand = state.stated is Stated.DEAD and not trusts
    if link.citation is not None and (is_by_hand or state.stated is Stated.DEAD_BY_BOT):
        editor = TemplateEditor(writing.wikitext.text, link.citation.template)
        if tidied(writing, link.citation, editor) and put_state(writing, link.citation, editor, is_dead=False):
            edits += editor.edits()
    return edits
