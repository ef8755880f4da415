"""Who may come into the embedded database: the server's account, root, and the program's own user; by their names.

PostgreSQL asks the kernel who is at the other end of the socket (``peer``) and finds the name in a map. One law: lines
of the operator's own stay as they are, in their places (D-192).
"""

import logging
import os
import re
import stat
from collections.abc import Callable, Collection
from typing import Final

from weboid.errors import StoreError
from weboid.store.embedded.accounts import name_of
from weboid.store.embedded.folder import Folder, replace_file

log = logging.getLogger(__name__)

_ROLES: Final = ("postgres", "weboid")
_PEER: Final = b"peer map=weboid"
_OURS: Final = re.compile(
    rb"^(local[ \t]+(?:all|replication)[ \t]+all[ \t]+)(trust|peer map=weboid)(?=[ \t]*\r?$)", re.M
)
"""The lines that initdb writes for the socket, and what we make of them; with a comment behind it is the operator's."""
_BEGIN: Final = b"# Weboid's map: written at each start, so your own lines belong above or below."
_END: Final = b"# End of Weboid's map."
_MAP: Final = re.compile(re.escape(_BEGIN) + rb".*?" + re.escape(_END), re.S)
_NAME: Final = re.compile(r"[\w.@\\$-]+")
_MOST_BYTES: Final = 4 << 20


def admit(folder: Folder) -> bool:
    """Lets in who may come in, and nobody else; returns whether that has changed the files of the cluster.

    Where the program's own user has no name that PostgreSQL could find, everybody is let in who can reach the socket,
    as before: its folder keeps others out. Raises OSError, StoreError.
    """
    names = {uid: name_of(uid) for uid in (0, os.geteuid(), folder.account.uid)}
    fit = {name for name in names.values() if name is not None and _NAME.fullmatch(name)}
    own = names[os.geteuid()]
    if own not in fit:
        log.warning(
            "user %s has no name that PostgreSQL can find, so every user who can enter %s may use the database",
            os.geteuid(),
            folder.sockets,
        )
        return open_to_all(folder)
    # The map first: without it the other file would let nobody in.
    changed = _rewrite(folder, "pg_ident.conf", lambda ident: mapped(ident, fit))
    return _rewrite(folder, "pg_hba.conf", by_peer) or changed


def open_to_all(folder: Folder) -> bool:
    """Lets in everybody who can reach the socket; returns whether that has changed the files of the cluster."""
    return _rewrite(folder, "pg_hba.conf", by_trust)


def by_peer(hba: bytes) -> bytes:
    """The text of pg_hba.conf with the lines of initdb by the map; those of the operator as they are."""
    return _OURS.sub(rb"\g<1>" + _PEER, hba)


def by_trust(hba: bytes) -> bytes:
    """The text of pg_hba.conf with our lines as initdb wrote them."""
    return _OURS.sub(rb"\g<1>trust", hba)


def mapped(ident: bytes, names: Collection[str]) -> bytes:
    """The text of pg_ident.conf with a map of these names of system users to our roles."""
    lines = [f'weboid "{name}" {role}'.encode() for name in sorted(names) for role in _ROLES]
    block = b"\n".join([_BEGIN, *lines, _END])
    if _MAP.search(ident):
        return _MAP.sub(lambda _: block, ident, count=1)
    return ident + (b"" if not ident or ident.endswith(b"\n") else b"\n") + block + b"\n"


def read(folder: Folder, name: str) -> bytes:
    """A file of the cluster. Its account may have written it: no link is followed, and nothing but a file is read.

    Raises OSError, StoreError.
    """
    path = folder.cluster / name
    with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode) or len(text := file.read(_MOST_BYTES)) == _MOST_BYTES:
            raise StoreError(f"{path} is not a file as PostgreSQL has it: put it right, or set WEBOID_DATABASE")
    return text


def _rewrite(folder: Folder, name: str, change: Callable[[bytes], bytes]) -> bool:
    """Replaces a file of the cluster by a changed one, whole or not at all; returns whether it has changed.

    A file that is not there stays so: an operator may have told PostgreSQL to look for it elsewhere.
    """
    try:
        before = read(folder, name)
    except FileNotFoundError:
        return False
    if (text := change(before)) == before:
        return False
    replace_file(folder.cluster / name, text, folder.account)
    return True
