"""What an upgrade or a restore that was killed has left in a data folder, and putting it right.

Both make a cluster in ``making/``, where its servers run, too. One law: a cluster in its place is the one that counts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weboid.errors import StoreError
from weboid.store.embedded.folder import Folder, locked, remove_tree, sync_folder
from weboid.store.embedded.postmaster import stop


@contextmanager
def alone(folder: Folder) -> Iterator[None]:
    """Keeps every other program out of a data folder, in which nothing is half done then.

    Raises StoreError while one uses it, or if what was left cannot be ended.
    """
    with locked(folder.start_lock):
        try:
            with locked(folder.users_lock, wait=False):
                settle(folder)
                yield
        except BlockingIOError as error:
            raise StoreError(f"programs use the database in {folder.data}: stop them first") from error


def settle(folder: Folder) -> None:
    """Ends what was left; call it under the folder's lock, so that nothing is under way. Raises OSError, StoreError.

    Servers are stopped, and what is not finished is removed. A finished cluster takes its place if that is empty: the
    old one was put aside already.
    """
    if not folder.making.data.exists():
        return
    drop_making(folder, folder.finished if not folder.cluster.exists() and folder.finished.exists() else None)


def drop_making(folder: Folder, finished: Path | None = None) -> None:
    """Stops the servers of ``making/`` and removes it; a finished cluster takes its place before."""
    for left in (folder.making, folder.aside):
        stop(left)
    if finished is not None:
        finished.rename(folder.cluster)
        sync_folder(folder.data)
    remove_tree(folder.making.data)
