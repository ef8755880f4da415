"""Turns links into places once it is known what became of their targets; those that wait are not kept in memory."""

from array import array
from bisect import bisect_left
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple
from urllib.parse import unquote

from weboid.core.record.reasons import Reason
from weboid.site.place import Place, State
from weboid.site.reading import number_of
from weboid.site.spill import Spill

_NONE: Final = -1


class LinkOutcome(NamedTuple):
    """The fate of a URL; `final` is where its redirects end, if there are any."""

    state: State
    status: int | None = None
    reason: str = ""
    final: str = ""
    copy: str = ""


class Ledger:
    """The outcomes of all URLs by their normal form, and the links that wait for them.

    Each place is given to `emit` once, with the normal form of its URL.
    """

    def __init__(self, emit: Callable[[str, Place], None]) -> None:
        self._emit = emit
        self._outcomes: dict[str, LinkOutcome] = {}
        self._anchors: dict[str, array[int]] = {}
        self._spill = Spill()
        self._waiting: dict[str, int] = {}
        """Of each URL without an outcome the last link that waits; each knows the one before it."""
        self._redirects: dict[str, tuple[str, int]] = {}
        """Redirects whose end is not known yet, by URL: the next one, and the status."""
        self._sources: dict[str, list[str]] = {}

    def note_anchors(self, url: str, anchors: "array[int]") -> None:
        """Keeps what fragments may name in a document, by sorted numbers."""
        self._anchors[url] = anchors

    def mention(self, url: str, place: Place) -> None:
        """Takes a link to a URL; `place` says what becomes of it if the target gets no outcome before the end."""
        if outcome := self._outcomes.get(url):
            self._give(url, place, outcome)
            return
        self._waiting[url] = self._spill.put((self._waiting.get(url, _NONE), *place))

    def settle(self, url: str, outcome: LinkOutcome) -> None:
        """Takes what became of a URL, and with it of the redirects that lead there."""
        todo = [(url, outcome)]
        while todo:
            url, outcome = todo.pop()
            if url in self._outcomes:
                continue
            self._outcomes[url] = outcome
            self._redirects.pop(url, None)
            for place in self._taken(url):
                self._give(url, place, outcome)
            sources = [source for source in self._sources.pop(url, ()) if source in self._redirects]
            todo += [(source, _through(url, self._redirects[source][1], outcome)) for source in sources]

    def redirect(self, url: str, status: int, target: str) -> None:
        """Takes that a URL leads to another, whose outcome may still come."""
        if outcome := self._outcomes.get(target):
            self.settle(url, _through(target, status, outcome))
            return
        self._redirects[url] = (target, status)
        while target in self._redirects and target != url:
            target = self._redirects[target][0]
        if target == url:
            self.settle(url, LinkOutcome("broken", status, Reason.REDIRECT_LOOP.word))
            return
        self._sources.setdefault(self._redirects[url][0], []).append(url)

    def end(self) -> None:
        """Gives the places of all links that still wait, and the room for them back."""
        for url in list(self._redirects):
            if url in self._redirects:
                target, status = self._redirects[url]
                if target not in self._redirects:
                    self.settle(url, LinkOutcome("redirect", status, final=target))
        for url in list(self._waiting):
            for place in self._taken(url):
                self._emit(url, place)
        self._spill.close()

    def _taken(self, url: str) -> Iterator[Place]:
        number = self._waiting.pop(url, _NONE)
        numbers = []
        while number != _NONE:
            numbers.append(number)
            number = self._spill.get(number)[0]
        for each in reversed(numbers):
            yield Place(*self._spill.get(each)[1:])

    def _give(self, url: str, place: Place, outcome: LinkOutcome) -> None:
        if place.fragment and outcome.state in ("ok", "redirect") and not self._has(outcome.final or url, place):
            outcome = outcome._replace(state="fragment", reason="fragment")
        self._emit(url, Place(*place[:4], *outcome[:4], *place[8:12], outcome.copy))

    def _has(self, url: str, place: Place) -> bool:
        anchors = self._anchors.get(url)
        name = place.fragment.partition(":~:")[0]
        # The state of an application in a fragment is none of its elements.
        if anchors is None or not name or name[0] in "!/" or "=" in name or "&" in name or name.lower() == "top":
            return True
        return any(_holds(anchors, number_of(each)) for each in {name, unquote(name)})


def _holds(anchors: "array[int]", number: int) -> bool:
    at = bisect_left(anchors, number)
    return at < len(anchors) and anchors[at] == number


def _through(target: str, status: int, outcome: LinkOutcome) -> LinkOutcome:
    """The outcome of a redirect by that of its target."""
    if outcome.state in ("broken", "doubtful"):
        return outcome._replace(final=outcome.final or target)
    return LinkOutcome("redirect", status, final=outcome.final or target)
