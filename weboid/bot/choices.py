"""Choices of a person for single links of a page: leave it, only mark it as dead, or one of the offered copies."""

from collections.abc import Mapping
from dataclasses import replace

from weboid.bot.answers import KnownLinks, LinkAnswer, key_of
from weboid.bot.archived import for_readers
from weboid.bot.decisions import CHOSEN, NOT_CHOSEN
from weboid.core.archive.copies import CopyState
from weboid.core.verdict.verdict import Verdict
from weboid.errors import WeboidError


class ChoiceRefused(WeboidError):
    """An address that is none of the copies which are offered for the link; the text is the link as it was given."""


def with_choices(known: KnownLinks, choices: Mapping[str, str], *, only_chosen: bool = False) -> KnownLinks:
    """The answers as the choices want them; `choices` are by URL, `only_chosen`: links without one are left alone.

    A choice for a link of which nothing is known has no effect. Raises ChoiceRefused.
    """
    by_key = {key: (url, choice) for url, choice in choices.items() if (key := key_of(url)) is not None}
    answers = dict(known.by_url)
    for key, answer in known.by_url.items():
        if key in by_key:
            answers[key] = _chosen(answer, *by_key[key])
        elif only_chosen:
            answers[key] = replace(answer, flags=answer.flags | {NOT_CHOSEN})
    return KnownLinks(answers)


def _chosen(answer: LinkAnswer, url: str, choice: str) -> LinkAnswer:
    if choice == "leave":
        return replace(answer, flags=answer.flags | {CHOSEN})
    if choice == "tag":
        return replace(answer, copies=CopyState.NONE, snapshots=()) if answer.verdict is Verdict.DEAD else answer
    for copy in answer.snapshots:
        if choice in (copy.address, for_readers(copy.address)):
            return replace(answer, snapshots=(replace(copy, is_suggested=True),))
    raise ChoiceRefused(url)
