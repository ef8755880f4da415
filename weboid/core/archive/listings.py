"""What a service's reply to an index request says of the captures of a URL: the one entrance to all dialects (A-2).

One law: NONE comes only from a whole, well-formed reply that says so, and from one voice it is no more than that:
`combined` makes of two voices what is told and stored.
"""

from weboid.core.archive.captures import Listing, ServiceReply
from weboid.core.archive.services import ArchiveService
from weboid.core.url.urls import Url


def listing_of(service: ArchiveService, reply: ServiceReply, url: Url) -> Listing:
    """What the reply to ``addresses.index_request`` says. Never raises."""
    raise NotImplementedError


def second_listing_of(service: ArchiveService, reply: ServiceReply, url: Url) -> Listing:
    """What the reply to ``addresses.second_request`` says. Never raises."""
    raise NotImplementedError


def combined(first: Listing, second: Listing | None) -> Listing:
    """What two independent voices of a service say together; `second` None = not asked, or there is none.

    The second voice need only be asked if the first says NONE or UNKNOWN. NONE alone becomes UNKNOWN.
    """
    raise NotImplementedError
