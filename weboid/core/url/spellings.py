"""Spellings of archived URLs: which are the page that is wanted, and which are certainly another one (A-1, A-3).

Archives merge spellings that may be different pages: letter case, order of query, userinfo, ports. So there are two
questions: what may be taken for a page (`is_same_page`), and what may be held against a copy (`is_other_page`).
"""

import re
from html import unescape
from typing import Final
from unicodedata import normalize
from urllib.parse import unquote, unquote_to_bytes

from weboid.core.url.hosts import InvalidUrl, is_ip
from weboid.core.url.urls import Url, parse

_ESCAPINGS: Final = 2
"""Times that a service may have escaped a URL for HTML."""
_REFERENCE: Final = re.compile("&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[a-zA-Z][a-zA-Z0-9]{1,31});")
_PLAIN: Final = re.compile("[^%+;]*")
_AMPERSAND: Final = re.compile("&(?:amp;)+")
_PERCENT: Final = re.compile("%(?:25)+(?=[0-9A-Fa-f]{2})")
_BYTE: Final = re.compile("[\udc80-\udcff]")
"""A byte of a header that is no UTF-8."""
_OTHER_SIGNS: Final = re.compile("(?:%[89A-F][0-9A-F])+")
"""Characters outside ASCII, in a URL in normal form."""
_USERINFO: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*@")
_WWW: Final = re.compile(r"^www[0-9]*\.")
_SLASHES: Final = re.compile("/+")
"""Servers take several for one."""
_SEPARATOR: Final = re.compile("[&;]")
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


def as_meant(written: str, asked: str) -> str:
    """A URL or an address in a service's reply as the service means it: without the escapes of HTML that it has and the
    URL that was asked for has not, and with those that an address needs, of blanks and of bytes of a header.

    The Wayback Machine has written ``&amp;`` in Link headers (recorded in 2020). Our own URL may contain that, too.
    """
    written = _BYTE.sub(lambda byte: f"%{ord(byte[0]) - 0xDC00:02X}", written.strip()).replace(" ", "%20")
    for _ in range(_ESCAPINGS):
        if written.count("amp;") <= asked.count("amp;") and "&#" not in written:
            break
        written = _without_references(written)
    return written


def is_same_page(one: Url, other: Url) -> bool:
    """True if the archived copy of the one may be taken for the other's.

    They differ at most in http or https, ``www.``, final slashes, escapes for HTML, composed or decomposed characters,
    ``+`` or a space in the query, and a bare ``?``. At an IP address, a port or by FTP only the same URL is the same.
    """
    if one == other:
        return True
    if one.port or other.port or is_ip(one.host) or not {one.scheme, other.scheme} <= {"http", "https"}:
        return False
    return _spelled(one) == _spelled(other)


def is_other_page(original: str, url: Url) -> bool:
    """True if the URL that a service states, as it writes it, is certainly that of another page than `url`; what cannot
    be read is not. Only this may be held against a copy that plays (D-465)."""
    form = archived(as_meant(original, str(url)))
    return form not in (None, url) and merged(form) != merged(url)


def merged(url: Url) -> str:
    """The common form of all spellings that an archive may take for one, generously: letter case, order of query,
    scheme, ``www2.``, port, sessions, repeated slashes and escapes of all kinds do not count. Different forms are
    certainly different pages."""
    plain = url._replace(path=_plain(url.path))
    path, _, query = (similar_url(plain) or plain).path.partition("?")
    path = _SLASHES.sub("/", path).strip("/")
    fields = "&".join(sorted(field.rstrip("/= ") for field in _SEPARATOR.split(query)))
    return f"{_WWW.sub('', url.host, count=1)}/{path}?{fields.lstrip('&')}"


def plainest(url: Url) -> Url:
    """The one of a page's URLs that differ at most in http or https, ``www.`` and a final slash that stands for all."""
    if url.scheme not in ("http", "https"):
        return url
    return Url("http", url.host.removeprefix("www."), url.port, url.path.removesuffix("/"))


def _spelled(url: Url) -> tuple[str, str]:
    """The common form of all spellings that are the same page for certain."""
    path, mark, query = url.path.partition("?")
    text = _AMPERSAND.sub("&", f"{path}{mark}{query.replace('+', '%20')}" if query else path).rstrip("/")
    # Bytes that are no UTF-8 stay what they are.
    text = _OTHER_SIGNS.sub(lambda signs: unquote(signs[0], errors="surrogateescape"), text)
    return url.host.removeprefix("www."), normalize("NFC", text)


def _plain(path: str) -> str:
    """A path with its query without any escape, in lower case."""
    if _PLAIN.fullmatch(path):
        return path.lower()
    path, mark, query = path.partition("?")
    escaped = _PERCENT.sub("%", path + mark + query.replace("+", "%20"))
    raw = unquote_to_bytes(escaped)
    try:
        text = raw.decode()
    except UnicodeDecodeError:  # an older encoding
        text = raw.decode("latin-1")
    text = _without_references(_AMPERSAND.sub("&", text))
    return normalize("NFC", normalize("NFC", text).casefold())


def _without_references(text: str) -> str:
    """The text without the references of HTML; `unescape` alone would take ``&copy=`` for one, too."""
    return _REFERENCE.sub(lambda reference: unescape(reference[0]), text)


def is_front(url: Url) -> bool:
    """True if a URL is that of a site's front page, or of that in one of its languages."""
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


def _is_session(field: str) -> bool:
    name = field.partition("=")[0].lower()
    is_name = name.startswith("aspsessionid") or _SESSION_FIELDS.fullmatch(name) is not None
    return is_name or _SHORT_SESSION.fullmatch(field) is not None
