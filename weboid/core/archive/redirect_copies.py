"""Follows copies that only redirect, if they lead within the archive to the page that was cited (A-1)."""

import re
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from urllib.parse import urljoin

from weboid.core.archive.captures import in_utc
from weboid.core.archive.rows.fitness import Wish
from weboid.core.signs.login_walls import is_consent_url, is_login_url
from weboid.core.signs.soft404 import redirect_suspicion
from weboid.core.url.hosts import InvalidUrl, registrable_domain
from weboid.core.url.spellings import is_front
from weboid.core.url.urls import MAX_URL, Url, parse

MOST_HOPS: Final = 3
_WINDOW: Final = timedelta(hours=24)
"""The most time from the capture of a redirect to that of its target."""

# The address of a copy, under whatever base an archive is asked: /web/20100101000000id_/http://example.org/
_IN_ARCHIVE: Final = re.compile(r"/[0-9]{4,14}(?:[a-z]{2}_)?/(https?:)/{1,2}(.+)", re.IGNORECASE | re.DOTALL)


class StoredHop(NamedTuple):
    """One redirect of a copy: the archived URL, the moment of its copy, and the location in the reply, which may be an
    address in the archive or the archived one, absolute or not."""

    url: Url
    taken: datetime
    location: str


class NextStep(NamedTuple):
    """The step after a redirect: the URL whose copy is to be replayed next, or the stable word why it ends here."""

    url: Url | None
    why: str = ""


def follow(hops: tuple[StoredHop, ...], wish: Wish) -> NextStep:
    """Follows the last of the redirects; the first is that of the cited URL. Never raises.

    The end must be within three redirects, a day and one registrable domain, at a page that is neither the site's front
    page nor a login.
    """
    if not hops:
        return NextStep(wish.url)
    last = hops[-1]
    target = _target(last)
    if target is None:
        return NextStep(None, "redirect-broken")
    if abs(in_utc(last.taken) - in_utc(hops[0].taken)) > _WINDOW:
        return NextStep(None, "redirect-far")
    if target in {hop.url for hop in hops}:
        return NextStep(None, "redirect-loop")
    if why := _wrong_place(target, wish.url):
        return NextStep(None, why)
    return NextStep(None, "too-many-redirects") if len(hops) > MOST_HOPS else NextStep(target)


def lands(hops: tuple[StoredHop, ...], wish: Wish, *, url: Url, taken: datetime | None) -> str | None:
    """The reason if the copy of `url` from `taken` at which the redirects end is not the cited page; None if it may be.

    Its content is to be judged by ``verified``, too.
    """
    if taken is None:
        return "no-moment"
    if hops and abs(in_utc(taken) - in_utc(hops[0].taken)) > _WINDOW:
        return "redirect-far"
    if wish.last_alive is not None and (in_utc(taken).date() - wish.last_alive).days > 1:
        return "after-death"
    return _wrong_place(url, wish.url) or None


def _wrong_place(target: Url, cited: Url) -> str:
    """The reason if a redirect's target is not the cited page."""
    if registrable_domain(target.host) != registrable_domain(cited.host):
        return "other-domain"
    if is_front(target) and not is_front(cited):
        return "redirect-to-root"
    if is_login_url(str(target)) and not is_login_url(str(cited)):
        return "redirect-to-login"
    if is_consent_url(str(target)) and not is_consent_url(str(cited)):
        return "consent"
    suspicion = redirect_suspicion(str(cited), str(target))
    return suspicion.reason.word if suspicion else ""


def _target(hop: StoredHop) -> Url | None:
    """The archived URL to which a redirect leads; None if it leads nowhere."""
    location = hop.location.strip()
    if not location or len(location) > 2 * MAX_URL:
        return None
    if found := _IN_ARCHIVE.search(location):
        location = f"{found[1]}//{found[2]}"
    try:
        target = parse(urljoin(str(hop.url), location))
    except (InvalidUrl, ValueError):
        return None
    return target if target.scheme in ("http", "https") else None
