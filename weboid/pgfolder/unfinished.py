"""The rest of an upgrade or a restore that was killed: it is finished or removed when the folder is opened next.

Both make a cluster in ``making/``, where its server runs, too. A cluster in its place is the one that counts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weboid.pgfolder.errors import FolderError
from weboid.pgfolder.folder import Folder, locked, remove_tree, sync_folder
from weboid.pgfolder.postmaster import stop


@contextmanager
def exclusive(folder: Folder) -> Iterator[None]:
    """Keeps every other program out of a data folder until the block ends, with nothing unfinished in it.

    Raises FolderError while one uses it, or if a server that was left cannot be stopped.
    """
    with locked(folder.start_lock):
        try:
            with locked(folder.users_lock, wait=False):
                settle(folder)
                yield
        except BlockingIOError as error:
            raise FolderError(f"programs use the database in {folder.data}: stop them first") from error


def settle(folder: Folder) -> None:
    """Finishes or removes the rest; the caller holds the folder's lock. Raises OSError, FolderError.

    A finished cluster takes its place if that is empty: the old one was moved away already.
    """
    if not folder.making.data.exists():
        return
    drop_making(folder, folder.finished if not folder.cluster.exists() and folder.finished.exists() else None)


def take_place(folder: Folder, kept: Path | None = None) -> None:
    """Puts the complete cluster of ``making/`` into its place; an old one goes to `kept` before."""
    folder.making.cluster.rename(folder.finished)
    sync_folder(folder.making.data)
    if kept is not None:
        folder.cluster.rename(kept)
        sync_folder(folder.data)
    drop_making(folder, folder.finished)


def drop_making(folder: Folder, finished: Path | None = None) -> None:
    """Stops the servers of ``making/`` and of the cluster, and removes ``making/``.

    A finished cluster takes its place before.
    """
    stop(folder.making, at_once=finished is None)
    stop(folder)
    if finished is not None:
        finished.rename(folder.cluster)
        sync_folder(folder.data)
    remove_tree(folder.making.data)
