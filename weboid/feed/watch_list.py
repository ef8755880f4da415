"""Reading the page that says which wikis are watched, and deciding whether it takes force.

In doubt the page before stays in force. One that cannot be read or used, or that drops more than half of the wikis,
changes nothing until it is right, or until somebody confirms it; the log and an alarm say so.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import Final

from weboid.core.url.farms import Farm
from weboid.errors import ConfigError, SourceError, StoreRefuses
from weboid.remote.feed.calls import FeedStore
from weboid.store.pages.wiki import StoredWatchList
from weboid.wiki.watch_list import names, read_watch_list

log = logging.getLogger(__name__)

READ_S: Final = 300.0
"""The page is read at most once in so many seconds, by whichever process needs it first."""
_DETAIL: Final = 500
"""Characters of a fault that are kept."""


async def current_watch_list(
    core: FeedStore,
    source: str,
    fetch: Callable[[], Awaitable[str]],
    farms: tuple[Farm, ...],
    day: int,
    *,
    is_confirmed: bool = False,
) -> StoredWatchList:
    """The page called `source` as it is in force, after reading it unless that was done just before.

    `is_confirmed`: it is read now, and may drop any number of wikis. Raises StoreError.
    """
    before = await core.watched.find(source)
    if before is not None and before.age_s < READ_S and not is_confirmed:
        return before
    in_force = before.text if before else None
    text, fault = None, ""
    try:
        text = await fetch()
        read_watch_list(text, farms)
        fault = "" if is_confirmed else _fault_of_drop(in_force, text)
    except (ConfigError, SourceError) as error:
        fault = str(error)
    fault = "".join(letter if letter.isprintable() else "\ufffd" for letter in fault[:_DETAIL])
    try:
        await core.watched.record(source, None if fault else text, fault, day)
    except StoreRefuses as error:
        log.debug("the page of what is watched is not ours to store: %s", error)
        if before is None or before.text is None:
            raise
        return before
    if fault and (before is None or fault != before.fault):
        kept = "the one before stays in force" if in_force else "no wiki of it is watched yet"
        log.warning("the page of what is watched, %s: %s; %s", source, fault, kept)
    elif before is not None and not fault and (before.fault or text != in_force):
        log.info("the page of what is watched, %s, is in force as it is now", source)
    return StoredWatchList(source, in_force if fault else text, fault)


def _fault_of_drop(in_force: str | None, text: str) -> str:
    """Returns the reason for which a page waits for somebody to confirm it, or ""."""
    had = names(in_force)
    gone = sorted(had - names(text))
    if 2 * len(gone) <= len(had):
        return ""
    named = ", ".join(gone[:5]) + (" …" if len(gone) > 5 else "")
    return f"it drops {len(gone)} of {len(had)} wikis ({named}); confirm it: weboid feed watched --confirm"
