"""Links that their page has repaired: it offers an archived copy of them itself (L-10).

The copy may be anywhere on the page: in a parameter or a template of the same citation, or next to the link.
"""

import re
from functools import lru_cache
from typing import Final

from weboid.core.url.archives import ARCHIVES, is_archive_host, is_calendar, snapshot_of
from weboid.core.url.spellings import plainest
from weboid.core.url.urls import Url

_ORIGINAL: Final = re.compile(r"(?:url|escaped)\}")
REPAIRING: Final = frozenset(each for each in ARCHIVES if each.is_offered and all(map(_ORIGINAL.search, each.grammars)))
"""The archives whose copies repair links: people may be sent to them, and each address says of what it is a copy."""
_KEPT: Final = 16_384


@lru_cache(_KEPT)
def shown_by(copy: Url) -> Url | None:
    """The plainest spelling of the page that a URL shows as a copy, in one of `REPAIRING`; None for all other URLs,
    such as calendars of copies."""
    found = snapshot_of(copy) if is_archive_host(copy.host) and not is_calendar(copy) else None
    return plainest(found.original) if found and found.archive in REPAIRING and found.original else None
