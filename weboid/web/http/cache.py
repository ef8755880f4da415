"""Answers that are kept for ten minutes at most, until something in them changes (W-10).

``web/answer/change_watch`` reports changes. The key of an answer holds all that it depends on but the store's data on
its URLs; an answer about a URL that changed after the store was read is not kept; number and size are bounded.
"""

import asyncio
from array import array
from collections.abc import Hashable, Iterable, Set
from itertools import chain
from typing import Final, NamedTuple

from weboid.core.url.keys import UrlKey
from weboid.mechanism.bounded import BoundedMap
from weboid.web.http.respond import SharedBody

KEPT_S: Final = 600
UNCHECKED_S: Final = 120
"""The same of an answer with links that were not checked yet: the log of verdicts does not tell when they are."""
CACHE_CONTROL: Final = f"public, max-age={KEPT_S}"
_MOST_BYTES: Final = 32 << 20
_OVERHEAD: Final = 1_000
"""Bytes that an entry takes in addition to its body and URLs, roughly."""
_URL_BYTES: Final = 64
"""The weight of a URL: more than the eight bytes that it takes, so that looking through all of them is bounded too."""
_MOST_CHANGED: Final = 20_000
"""URLs of which it is remembered that they changed, for answers that are being made meanwhile."""
_SLICE: Final = 20_000
"""URLs that are looked through before others get their turn, which takes a millisecond or two."""


class Kept(NamedTuple):
    """An answer that was made at `made_s` by the loop's clock; `urls` and `buckets` are of the links that it is about.

    `revision` is that of its only page, None if there are others; `state` the answer of its wiki on all, in short.
    """

    made_s: float
    body: SharedBody
    urls: "array[int]"
    buckets: "array[int]"
    revision: int | None
    state: Hashable
    lasts_s: int | None

    @property
    def age_s(self) -> int:
        """Seconds since it was made."""
        return int(asyncio.get_running_loop().time() - self.made_s)

    @property
    def is_old(self) -> bool:
        """True if it is kept no longer."""
        return self.age_s >= (KEPT_S if self.lasts_s is None else self.lasts_s)


class AnswerCache:
    """Bodies of answers by key; the least recently used ones are dropped first."""

    def __init__(self, *, most_bytes: int = _MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._entries: BoundedMap[Hashable, Kept] = BoundedMap(most_bytes, weigh=_weight_of)
        self._position = 0
        self._changed: BoundedMap[int, int] = BoundedMap(_MOST_CHANGED, dropped=self._forget)
        """By the key of a URL, or by a bucket, whose number no such hash has: the position at which it changed last."""
        self._all_changed = 0
        """The position up to which anything may have changed."""

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def position(self) -> int:
        """The number of changes so far; to be noted before the store is read for an answer."""
        return self._position

    def find(self, key: Hashable) -> Kept | None:
        """The answer with this key; None if there is none that is young enough."""
        if (entry := self._entries.use(key)) is None:
            return None
        if entry.is_old:
            self._entries.take(key)
            return None
        return entry

    def keep(
        self,
        key: Hashable,
        body: bytes,
        etag: str,
        urls: Iterable[UrlKey],
        position: int,
        revision: int | None = None,
        state: Hashable = None,
        lasts_s: int | None = None,
    ) -> None:
        """Keeps an answer about these URLs (all watched ones of its pages), unless one has changed since `position`.

        Neither is one kept that is too large among others. `revision` and `state` are for its later readers to compare;
        it ends after `lasts_s` seconds, None = ten minutes.
        """
        links = list(urls)
        keys, buckets = array("q", [url.url_key for url in links]), array("H", [url.bucket for url in links])
        now_s = asyncio.get_running_loop().time()
        entry = Kept(now_s, SharedBody(body, etag, {}), keys, buckets, revision, state, lasts_s)
        if _weight_of(entry) > self._most_bytes // 8 or self._has_changed(entry, position):
            self._entries.take(key)
        else:
            self._entries[key] = entry

    async def drop(self, urls: Iterable[UrlKey] = (), buckets: Set[int] = frozenset()) -> None:
        """Drops the answers about URLs that have changed, and about any URL in these buckets."""
        changed = {url.url_key for url in urls}
        if not changed and not buckets:
            return
        self._position += 1
        for number in changed | buckets:
            # One that is replaced would count as forgotten.
            self._changed.take(number)
            self._changed[number] = self._position
        looked = 0
        for key, entry in self._entries.items():
            if not (changed.isdisjoint(entry.urls) and buckets.isdisjoint(entry.buckets)):
                self._entries.take(key)
            looked += len(entry.urls)
            if looked > _SLICE:
                looked = 0
                await asyncio.sleep(0)

    def drop_all(self) -> None:
        """Drops all answers, and those that are being made."""
        self._position += 1
        self._all_changed = self._position
        for key in list(self._entries):
            self._entries.take(key)

    def tidy(self) -> None:
        """Drops what is too old."""
        for key, entry in self._entries.items():
            if entry.is_old:
                self._entries.take(key)

    def _has_changed(self, entry: Kept, position: int) -> bool:
        if position == self._position:
            return False
        if position < self._all_changed:
            return True
        numbers = chain(entry.urls, set(entry.buckets))
        return any((self._changed.get(number) or 0) > position for number in numbers)

    def _forget(self, position: int) -> None:
        """Forgets the changes at that position: anything may have changed there."""
        self._all_changed = max(self._all_changed, position)


def _weight_of(entry: Kept) -> int:
    # Compressed it takes less than half of that, in either coding.
    return 2 * len(entry.body.data) + _URL_BYTES * len(entry.urls) + _OVERHEAD
