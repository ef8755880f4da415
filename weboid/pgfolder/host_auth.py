"""Host-based authentication: the users who may connect, by their names: the server's account, root, the program's own.

PostgreSQL asks the kernel for the user at the other end of the socket (``peer``) and finds the name in a map. The
operator's own lines stay as they are, in their places (D-192).
"""

import logging
import os
import re
import stat
from collections.abc import Callable, Collection
from typing import Final

from weboid.pgfolder.accounts import name_of
from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder, replace_file

log = logging.getLogger(__name__)

_NAME: Final = re.compile(r"[\w.@\\$-]+")
_MOST_BYTES: Final = 4 << 20


def restrict_users(folder: Folder) -> bool:
    """Lets these users connect and no others; returns True if that has changed the files of the cluster.

    Where the program's own user has no name that PostgreSQL could find, everybody is let in who can reach the socket:
    its folder keeps others out. Raises OSError, FolderError.
    """
    names = {uid: name_of(uid) for uid in (0, os.geteuid(), folder.account.uid)}
    valid = {name for name in names.values() if name is not None and _NAME.fullmatch(name)}
    own = names[os.geteuid()]
    if own not in valid:
        log.warning(
            "user %s has no name that PostgreSQL can find, so every user who can enter %s may use the database",
            os.geteuid(),
            folder.sockets,
        )
        return trust_all(folder)
    # The map first: without it the other file would let nobody in.
    changed = _rewrite(folder, "pg_ident.conf", lambda ident: with_map(ident, valid, folder.app))
    return _rewrite(folder, "pg_hba.conf", lambda hba: by_peer(hba, folder.app)) or changed


def trust_all(folder: Folder) -> bool:
    """Lets everybody connect who can reach the socket; returns True if that has changed the files of the cluster."""
    return _rewrite(folder, "pg_hba.conf", lambda hba: by_trust(hba, folder.app))


def by_peer(hba: bytes, app: Application) -> bytes:
    """The text of pg_hba.conf with initdb's lines for the socket by the map; those of the operator as they are."""
    return _socket_lines(app).sub(rb"\g<1>peer map=" + app.name.encode(), hba)


def by_trust(hba: bytes, app: Application) -> bytes:
    """The text of pg_hba.conf with our lines as initdb wrote them."""
    return _socket_lines(app).sub(rb"\g<1>trust", hba)


def _socket_lines(app: Application) -> re.Pattern[bytes]:
    """The lines that initdb writes for the socket, or ours in their places; with a comment at the end it is the
    operator's."""
    ours = rb"peer map=" + re.escape(app.name.encode())
    return re.compile(rb"^(local[ \t]+(?:all|replication)[ \t]+all[ \t]+)(trust|" + ours + rb")(?=[ \t]*\r?$)", re.M)


def with_map(ident: bytes, names: Collection[str], app: Application) -> bytes:
    """The text of pg_ident.conf with a map of these names of system users to our roles."""
    begin = f"# {app.title}'s map: written at each start, so your own lines belong above or below.".encode()
    end = f"# End of {app.title}'s map.".encode()
    lines = [f'{app.name} "{name}" {role}'.encode() for name in sorted(names) for role in ("postgres", app.name)]
    block = b"\n".join([begin, *lines, end])
    text, count = re.subn(re.escape(begin) + rb".*?" + re.escape(end), lambda _: block, ident, count=1, flags=re.S)
    if count:
        return text
    return ident + (b"" if not ident or ident.endswith(b"\n") else b"\n") + block + b"\n"


def read_file(folder: Folder, name: str) -> bytes:
    """The text of a file of the cluster; no link is followed, as its account may have written it.

    Raises OSError, FolderError.
    """
    path = folder.cluster / name
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or len(text := file.read(_MOST_BYTES)) == _MOST_BYTES:
            raise FolderError(f"{path} is not a file as PostgreSQL has it: correct it, or {folder.app.other_server}")
    return text


def _rewrite(folder: Folder, name: str, change: Callable[[bytes], bytes]) -> bool:
    """Replaces a file of the cluster by a changed one, whole or not at all; returns True if it has changed.

    A missing file stays so: an operator may have set another place for it.
    """
    try:
        before = read_file(folder, name)
    except FileNotFoundError:
        return False
    if (text := change(before)) == before:
        return False
    replace_file(folder.cluster / name, text, folder.account)
    return True
