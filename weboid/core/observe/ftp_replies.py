"""Interprets FTP's replies and paths (C-10; RFC 959, 2428, 3659): from reply codes to statuses and reasons.

``net/ftp`` sends the commands; ``net/sftp`` uses the paths, the faults and the file types, too. A reply is translated
to the HTTP code with the same meaning, so that all protocols are judged by one table.
"""

import re
from enum import IntEnum
from functools import cache
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

from weboid.assets import toml_next_to
from weboid.core.observe.observation import Observation
from weboid.core.record.reasons import Reason, code_reason, network_status
from weboid.core.record.status import NO_CODE, Status, status_of
from weboid.core.url.hosts import is_ip

TEXT_CHARS: Final = 8192
"""Characters of a reply's text that are read."""


class FtpReply(NamedTuple):
    """One complete reply: its code, and the text of all its lines without the code."""

    code: int
    text: str = ""


class Found(NamedTuple):
    """A file or directory that exists. `size_bytes` None = not reported, or a directory."""

    size_bytes: int | None = None
    is_folder: bool = False


class Hint(IntEnum):
    """The statement of a reply about a path that was not found. Of several replies the greatest hint counts."""

    UNKNOWN_COMMAND = 0
    MISSING = 1
    TROUBLE = 2
    DENIED = 3


_TYPE_CODE: Final = re.compile(r";type=[a-z]\Z", re.IGNORECASE)
_BREAKING: Final = re.compile(rb"[\r\n\0]")

UNSAFE: Final = Observation(Status.SYNTAX_OR_SERVER_ERROR, Reason.UNSAFE, http=NO_CODE)
"""The observation of a URL that is never requested, because its path breaks the line of a protocol."""


def remote_path(path: str) -> bytes | None:
    """The path of an ftp or sftp URL as sent to its server: decoded, relative to the login folder (RFC 1738, 3.2).

    A ``?`` is a part of the name there. None if it contains CR, LF or NUL, which would break the protocol's line.
    """
    name = unquote_to_bytes(_TYPE_CODE.sub("", path).removeprefix("/"))
    return None if _BREAKING.search(name) else name


def fault_observation(fault: Reason, host: str) -> Observation:
    """The observation of a contact without an answer.

    A closed port is a failure of one service, while the same host may answer over HTTP: only a name that does not
    resolve counts against the host as a whole, other faults count neither for nor against it (C-5).
    """
    of_host = fault in (Reason.DNS_GONE, Reason.DNS_ERROR)
    return Observation(network_status(fault, host_is_ip=is_ip(host)), fault, http=NO_CODE, not_http=not of_host)


def code_observation(code: int) -> Observation:
    """The observation that an HTTP code stands for."""
    return Observation(status_of(code), code_reason(code), http=NO_CODE)


def found_observation(found: Found, path: bytes) -> Observation:
    """The observation of a file or directory that exists; FTP reports no type, so the file extension counts (U-6)."""
    keyword = None if found.is_folder else _keyword(path)
    size_kib = -(-found.size_bytes // 1024) if keyword and found.size_bytes is not None else None
    return Observation(Status.FINE, Reason.OK, mime=keyword, size_kib=size_kib, http=NO_CODE)


# No locale is known for a reply; these are the words of the usual servers, which mostly speak English.
_CROWDED: Final = re.compile(
    r"too many|maxim|\bmax\b|limit|exceed|\bfull\b|busy|try (?:it )?(?:again )?(?:later|in )|already connected"
    r"|not allowed at this time|zu viele|trop de|demasiad|troppi|muit[oa]s|liczba",
    re.IGNORECASE,
)
_DENIED: Final = re.compile(
    r"denied|permission|not permitted|not allowed|forbid|prohibit|privilege|unauthori[sz]ed|not authori[sz]ed"
    r"|no access|restricted|verweigert|refus|denegado|negato",
    re.IGNORECASE,
)
_MISSING: Final = re.compile(
    r"no such|not found|not exist|n't exist|non-?existent|cannot find|can't find|could not find|not there",
    re.IGNORECASE,
)


def is_crowded(text: str) -> bool:
    """True if a server says that it has too many users, or that we connect too often."""
    return bool(_CROWDED.search(text[:TEXT_CHARS]))


def http_code_of(reply: FtpReply) -> int:
    """The HTTP code for a negative reply; the second digit is the reply's subject (RFC 959, 4.2.1)."""
    code, text = reply.code, reply.text
    temporary, about = code < 500, code // 10 % 10
    if (temporary or code == 530) and is_crowded(text):
        return 429
    if code in (452, 552):
        return 507
    if code == 451:
        return 500
    if about == 3 or code == 332:
        return 401
    if _MISSING.search(text[:TEXT_CHARS]) and about == 5:
        return 404
    if temporary:
        return 503
    if about == 5:
        return 403 if code == 553 or _DENIED.search(text[:TEXT_CHARS]) else 404
    return 503 if about == 2 else 500


_UNKNOWN_COMMANDS: Final = frozenset({500, 501, 502, 503, 504})
_FACTS: Final = re.compile(r"^ ?((?:[^;= ]{1,40}=[^;]{0,200};)+)", re.MULTILINE)


def hint_of(reply: FtpReply) -> Hint:
    """The hint of a reply that does not say that the path exists."""
    if reply.code < 400 or reply.code in _UNKNOWN_COMMANDS:
        return Hint.UNKNOWN_COMMAND
    match http_code_of(reply):
        case 404:
            return Hint.MISSING
        case 401 | 403:
            return Hint.DENIED
        case _:
            return Hint.TROUBLE


def found_by(command: bytes, reply: FtpReply) -> Found | None:
    """The file or directory found by CWD, or by MLST, SIZE or MDTM (RFC 3659); None for a negative reply."""
    match command, reply.code:
        case b"CWD", code if 200 <= code <= 299 and code != 202:
            return Found(is_folder=True)
        case b"MLST", 250:
            line = _FACTS.search(reply.text[:TEXT_CHARS])
            pairs = (fact.partition("=") for fact in (line[1].lower().split(";") if line else ()))
            facts = {name: value for name, _, value in pairs}
            is_folder = facts.get("type") in ("dir", "cdir", "pdir")
            return Found(is_folder=True) if is_folder else Found(_size_bytes(facts.get("size", "")))
        case b"SIZE", 213:
            return Found(_size_bytes(reply.text.strip()))
        case b"MDTM", 213:
            return Found()
        case _:
            return None


_QUOTED: Final = re.compile(r'"((?:[^"]|"")*)"')
_EXTENDED: Final = re.compile(r"\(([!-~])\1\1(\d{1,5})\1\)")
_SIX: Final = re.compile(r"\d{1,3},\d{1,3},\d{1,3},\d{1,3},(\d{1,3}),(\d{1,3})")


def login_folder(reply: FtpReply) -> str:
    """The login folder as reported by PWD; ``/`` if the reply cannot be read."""
    quoted = _QUOTED.search(reply.text[:TEXT_CHARS])
    return quoted[1].replace('""', '"') if reply.code == 257 and quoted else "/"


def data_port(reply: FtpReply) -> int | None:
    """The port in a reply to EPSV (RFC 2428) or PASV. The IP address in a PASV reply is not trusted and not read."""
    if reply.code == 229 and (extended := _EXTENDED.search(reply.text[:TEXT_CHARS])):
        return int(extended[2])
    if reply.code == 227 and (six := _SIX.search(reply.text[:TEXT_CHARS])):
        return int(six[1]) * 256 + int(six[2])
    return None


@cache
def _keywords() -> dict[str, str]:
    return {ending: keyword for keyword, endings in toml_next_to(__file__).items() for ending in endings}


def _keyword(path: bytes) -> str | None:
    """The keyword for a file name's extension; None for types that browsers display, and for unknown ones."""
    _, dot, ending = path.rpartition(b"/")[2].rpartition(b".")
    return _keywords().get(ending.decode("ascii", "replace").lower()) if dot else None


def _size_bytes(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 15 else None
