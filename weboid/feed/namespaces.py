"""Reads how a wiki names its namespaces and keeps it, for titles with their prefix while the wiki does not answer."""

import logging

from weboid.errors import NotContacted, SourceError
from weboid.remote.feed.core import FeedCore
from weboid.store.pages.wiki import StoredWiki
from weboid.wiki.source import WikiSource

log = logging.getLogger(__name__)


async def refresh_namespaces(core: FeedCore, source: WikiSource, wiki: StoredWiki) -> None:
    """Records the names as they are now; if the wiki does not tell them, those that are known stay. Raises StoreError,
    and NotContacted, as no page can be read then.

    Pages can be read without: a wiki that keeps its names to itself is no reason not to.
    """
    try:
        names = await source.find_namespaces()
    except NotContacted:
        raise
    except SourceError as error:
        log.warning("how %s names its namespaces could not be read: %s", wiki.dbname, error)
        return
    if names:
        await core.wikis.record_namespaces(wiki.wiki, names)
