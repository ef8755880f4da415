"""Links that their page has repaired: it offers an archived copy of them itself (L-10).

The copy may be anywhere on the page: in a parameter or a template of the same citation, or next to the link.
"""

from functools import lru_cache
from typing import Final

from weboid.core.url.archives import is_archive_host, snapshot_of
from weboid.core.url.spellings import plainest
from weboid.core.url.urls import Url

_KEPT: Final = 16_384


@lru_cache(_KEPT)
def shown_by(copy: Url) -> Url | None:
    """The plainest spelling of the page that a URL shows as a copy, in an archive to which people may be sent; None for
    all other URLs, such as short forms that do not say whose copy they are."""
    found = snapshot_of(copy) if is_archive_host(copy.host) else None
    if found is None or not found.archive.is_offered or found.original is None:
        return None
    return plainest(found.original)
