"""Which spellings of an archived URL are the page that is wanted, and what a URL's path says of its document (A-1).

Archives merge spellings that are different pages: letter case, order of query, userinfo, ports.
"""

import re
from typing import Final
from urllib.parse import unquote

from weboid.core.url.archives import is_same_page
from weboid.core.url.hosts import InvalidUrl, is_ip
from weboid.core.url.urls import Url, parse

_USERINFO: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@")
_WWW: Final = re.compile(r"^www[0-9]*\.")
_SLASHES: Final = re.compile("/+$")
_FRONT: Final = re.compile(
    r"/?(?:[a-z]{2}(?:[-_][a-z]{2})?/)?(?:(?:index|default|home|main|start|startseite|welcome)(?:\.[a-z]{2,5})?/?)?",
    re.IGNORECASE,
)
"""A site's front page, or that of one of its languages."""
_LANGUAGE_FRONT: Final = re.compile(r"/[a-z]{2}(?:[-_][a-z]{2})?", re.IGNORECASE)
_EXTENSION: Final = re.compile(r"\.([A-Za-z0-9]{1,5})$")
_FILES: Final = re.compile(
    r"pdf|ps|eps|djvu|djv|doc|docx|odt|rtf|xls|xlsx|ods|csv|ppt|pptx|odp|epub|mobi|zip|gz|tgz|bz2|xz|7z|rar|"
    r"tar|exe|jpg|jpeg|png|gif|tif|tiff|svg|webp|bmp|mp3|ogg|oga|ogv|wav|flac|mp4|avi|mov|mpg|mpeg|wmv|webm|"
    r"mkv|kml|kmz"
)
"""Extensions of what is not HTML."""

_SESSION_FIELDS: Final = re.compile(
    r"phpsessid|jsessionid|sessionid|session_id|sessid|session-id|cfid|cftoken|oscsid|zenid|xtcsid|fesessid|"
    r"utm_source|utm_medium|utm_campaign|utm_term|utm_content|utm_id|utm_name|fbclid|gclid|dclid|msclkid|yclid|"
    r"twclid|igshid|mc_cid|mc_eid|wt_mc|wt\.mc_id|_ga|_gl|ref_src|gclsrc|zanpid|ocid|cmpid"
)
_SHORT_SESSION: Final = re.compile(r"(?:s|sid|psid)=[0-9a-f]{16,}", re.IGNORECASE)
"""Short names of sessions are those of stories, too: they count with an identifier only."""
_PATH_SESSION: Final = re.compile(r";(?:jsessionid|phpsessid|sessionid)=[^/?;]*", re.IGNORECASE)
_FOLDER_SESSION: Final = re.compile(r"/\(S\([0-9a-z]{20,30}\)\)(?=/)", re.IGNORECASE)
"""Of ASP.NET without cookies."""


def archived(original: str) -> Url | None:
    """The URL of a row in normal form; None for what is no URL of ours, and for one with a user in it."""
    if _USERINFO.match(original):
        return None
    try:
        return parse(original)
    except (InvalidUrl, ValueError):  # ValueError: a text that is no text, such as half of a pair
        return None


def is_wanted(form: Url | None, url: Url) -> bool:
    """Whether an archived URL is that of the wanted page. At an IP address, a port or by FTP only the same URL is.
    Archives take several final slashes for one."""
    if form is None:
        return False
    if url.port or form.port or is_ip(url.host) or "ftp" in (url.scheme, form.scheme):
        return form == url
    return is_same_page(*(one._replace(path=_SLASHES.sub("/", one.path)) for one in (form, url)))


def is_front(url: Url) -> bool:
    """Whether a URL is that of a site's front page, or of that in one of its languages."""
    return _FRONT.fullmatch(url.path) is not None or _LANGUAGE_FRONT.fullmatch(url.path) is not None


def file_extension(url: Url) -> str | None:
    """The extension of a path that names a file other than HTML; None for all others.

    Wikis have pages about files, under the names of these: ``/wiki/File:Map.png``.
    """
    name = url.path.partition("?")[0].rpartition("/")[2]
    found = _EXTENSION.search(name)
    if found is None or ":" in name or "%3a" in name.lower():
        return None
    extension = found[1].lower()
    return extension if _FILES.fullmatch(extension) else None


def similar_url(url: Url) -> Url | None:
    """The URL without what only identifies a session or a reader, to be asked for if nothing is known of `url`.

    None if it has nothing of the kind.
    """
    path, mark, query = url.path.partition("?")
    path = _FOLDER_SESSION.sub("", _PATH_SESSION.sub("", path))
    fields = [field for field in query.split("&") if not _is_session(field)] if mark else []
    rest = "&".join(fields)
    similar = url._replace(path=f"{path}?{rest}" if rest else path or "/")
    return None if similar == url else similar


def merged(url: Url) -> str:
    """What all spellings have in common that an archive may take for one, generously: letter case, order of query,
    ``www2.``, port, sessions and escapes do not count. Different texts are certainly different pages."""
    url = similar_url(url) or url
    path, _, query = unquote(url.path).partition("?")
    fields = "&".join(sorted(query.split("&")))
    return f"{_WWW.sub('', url.host, count=1)}{path.rstrip('/')}?{fields}".lower()


def _is_session(field: str) -> bool:
    name = field.partition("=")[0].lower()
    if name.startswith("aspsessionid") or _SESSION_FIELDS.fullmatch(name):
        return True
    return _SHORT_SESSION.fullmatch(field) is not None
