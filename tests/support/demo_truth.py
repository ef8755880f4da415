"""The truth at the end of the demo's story, as it is written by hand with each link."""

from collections.abc import Mapping
from dataclasses import dataclass

from weboid.core.record.reasons import Reason
from weboid.core.url.classify import UrlClass
from weboid.core.verdict.verdict import Verdict
from weboid.demo.articles import ARTICLES, INTERWIKI
from weboid.demo.links import Link
from weboid.demo.story import Located, located_link


@dataclass(frozen=True, slots=True)
class Truth:
    """The truth about a link at the end. `verdict` None = it is not checked, because of its class.

    `reasons` are the words of which Weboid must give one; `was_dead`: the verdict must have been dead before, rightly.
    `is_checked`: by the link checker, which leaves copies in web archives to those who visit these.
    """

    kind: UrlClass
    verdict: Verdict | None
    reasons: tuple[str, ...]
    was_dead: bool
    is_checked: bool = True


def ground_truth(located: Located) -> Mapping[str, Truth]:
    """The truth at the end of the story, by URL as the wiki has it: not yet in normal form."""
    links = {located_link(link, located): _truth(link) for article in ARTICLES for link in article.links}
    foreign = {each.prefix: each.url for each in INTERWIKI if not each.local}
    targets = [
        located(foreign[prefix].replace("$1", title))
        for article in ARTICLES
        for prefix, title in article.interwiki
        if prefix in foreign
    ]
    fine = Truth(UrlClass.WATCHED, Verdict.WORKING, (Reason.OK.word,), was_dead=False)
    return links | dict.fromkeys(targets, fine)


def _truth(link: Link) -> Truth:
    if link.kind is UrlClass.INVALID:
        return Truth(link.kind, Verdict.INVALID, (), was_dead=False, is_checked=False)
    words = tuple(reason.word for reason in link.reasons)
    verdict = link.verdict if link.kind is UrlClass.WATCHED else None
    return Truth(link.kind, verdict, words, was_dead=link.was_dead, is_checked=link.is_checked)
