"""Weboid's use of the PostgreSQL in a folder (``pgfolder``): its name, its words, and its errors as Weboid's."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Final

from weboid.errors import StoreAway, StoreError
from weboid.pgfolder.application import Application
from weboid.pgfolder.errors import FolderError, FolderUnavailable
from weboid.pgfolder.folder import Folder
from weboid.pgfolder.server import Server
from weboid.pgfolder.server import open_server as open_folder

WEBOID: Final = Application(
    "weboid",
    other_server="set WEBOID_DATABASE to a PostgreSQL server of your own",
    other_folder="choose another folder (--data or WEBOID_DATA)",
    upgrade=(
        "go back to the version of Weboid or PostgreSQL of before and run `weboid backup FILE`; "
        "then install the new one again and run `weboid upgrade --from FILE`"
    ),
)


@contextmanager
def store_errors() -> Iterator[None]:
    """Turns errors of the embedded server into StoreError, or StoreAway where waiting helps; also a decorator."""
    try:
        yield
    except FolderUnavailable as error:
        raise StoreAway(str(error)) from error
    except FolderError as error:
        raise StoreError(str(error)) from error


@store_errors()
def embedded_folder(data: Path, wal: Path | None = None) -> Folder:
    """A data folder, whose server archives its log of writes into `wal` if that is given; raises StoreError."""
    return Folder.of(data, wal, app=WEBOID)


@store_errors()
def open_server(data: Path, given_up: Event | None = None, *, wal: Path | None = None) -> Server:
    """Opens the embedded server of a data folder (``pgfolder/server``); raises StoreError, StoreAway."""
    return open_folder(embedded_folder(data, wal), given_up)
