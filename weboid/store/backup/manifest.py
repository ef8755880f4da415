"""The manifest of a backup: the last line of its file, behind an archive in pg_dump's custom format.

pg_restore never reads that far, so PostgreSQL's own tools can read the file, too, and one that was cut off has lost the
line. A file without it, or whose archive is not as it says, is no backup.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Final, NamedTuple, Self

import msgspec

from weboid.core.record.days import LAST_DAY
from weboid.core.url.display import many
from weboid.errors import StoreError

FORMAT: Final = 1
LONGEST: Final = 65_536
"""Bytes of the line at most."""
_MAGIC: Final = b"PGDMP"
_PACKED: Final = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh")  # gzip, zstd, xz, bzip2
_MARK: Final = b"\nweboid-backup "
_CHECK: Final = "check"
_BLOCK: Final = 1 << 20


class Manifest(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A backup: the version of Weboid that made it, its moment (ISO 8601, UTC), its contents; `size` in bytes.

    `migration` is the number of the newest one, `server` and `tool` are PostgreSQL's versions, as 180004 and 18.
    `rows` has the number of rows by table; of a table that is divided, by partition.
    """

    weboid: str
    moment: str
    day: Annotated[int, msgspec.Meta(ge=0, le=LAST_DAY)]
    migration: int
    form_version: int
    suffix_version: str
    server: int
    tool: int
    schema: str
    size: int
    sha256: str
    rows: dict[str, int] = msgspec.field(default_factory=dict)
    format: int = FORMAT

    @property
    def made(self) -> datetime:
        """The moment of the snapshot."""
        return datetime.fromisoformat(self.moment)

    @property
    def summary(self) -> str:
        """Its contents in words."""
        named = {"page": "page", "link": "link", "url": "URL", "host": "host"}
        counts = ", ".join(many(self._count(table), name) for table, name in named.items())
        return f"{counts}, as of {self.made:%Y-%m-%d %H:%M} UTC"

    def _count(self, table: str) -> int:
        """The rows of a table, or of its partitions (weboid store partition)."""
        return sum(count for name, count in self.rows.items() if re.fullmatch(rf"{table}(_\d+)?", name))

    @property
    def file_size(self) -> int:
        """The bytes of the whole file."""
        return self.size + len(self.line())

    def line(self) -> bytes:
        """The end of the file."""
        return _MARK + _json({**msgspec.structs.asdict(self), _CHECK: self._check()}) + b"\n"

    def _check(self) -> str:
        """The checksum of the line itself."""
        return hashlib.sha256(_json(msgspec.structs.asdict(self))).hexdigest()[:16]

    @classmethod
    def parse(cls, text: bytes) -> Self:
        """The manifest of a line's JSON; raises ValueError."""
        try:
            given = json.loads(text)
        except RecursionError:
            raise ValueError("it is nested too deeply") from None
        if not isinstance(given, dict):
            raise ValueError("it is no object")
        if (number := given.get("format")) != FORMAT:
            raise StoreError(f"it is a backup of format {number}, by another weboid: use that version, or a newer one")
        check = given.pop(_CHECK, None)  # Lines of older versions have none.
        manifest = msgspec.convert(given, cls)
        if manifest.made.tzinfo is None:
            raise ValueError("its moment has no zone")
        if check is not None and check != manifest._check():
            raise ValueError("its last line has changed since it was made")
        return manifest


def _json(given: Mapping[str, object]) -> bytes:
    return json.dumps(given, separators=(",", ":")).encode()


class Tail(NamedTuple):
    """The last bytes of a file, taken apart: the rest of the archive, and the manifest."""

    archive: bytes
    manifest: Manifest


def tail_of(end: bytes, name: str) -> Tail:
    """Takes the last bytes of a backup (up to `LONGEST`, or all) apart; raises StoreError if it is none, or torn."""
    at = end.rfind(_MARK)
    if at < 0 or not end.endswith(b"}\n"):
        raise StoreError(f"{name} is not a whole backup of Weboid (its last line is missing): take another one")
    try:
        manifest = Manifest.parse(end[at + len(_MARK) :])
    except ValueError as error:
        raise StoreError(f"{name} is not a whole backup of Weboid ({error}): take another one") from None
    return Tail(end[:at], manifest)


def read_manifest(path: Path) -> Manifest:
    """The manifest of a file of that length; raises StoreError if it is no backup or torn, OSError."""
    size = path.stat().st_size
    if not path.is_file():  # To open a named pipe would wait for ever, deaf to signals.
        raise StoreError(f"{path} is no file: write what comes out of a pipe to one first")
    with path.open("rb") as file:
        if (begin := file.read(len(_MAGIC))) != _MAGIC:
            more = ", but a packed file: unpack it first" if begin.startswith(_PACKED) else ""
            raise StoreError(f"{path} is no backup of Weboid{more}")
        file.seek(max(0, size - LONGEST))
        end = file.read()
    archive, manifest = tail_of(end, str(path))
    if size - len(end) + len(archive) != manifest.size:
        raise StoreError(f"{path} is {size} bytes long, but its last line says otherwise: it is torn, take another one")
    return manifest


def is_backup(path: Path) -> bool:
    """True if a file is a backup by its beginning and its last line."""
    try:
        return path.is_file() and read_manifest(path) is not None
    except (StoreError, OSError):
        return False


def check_archive(path: Path, manifest: Manifest) -> None:
    """Reads the whole file; raises StoreError unless its archive is as the manifest says, OSError."""
    digest = hashlib.sha256()
    left = manifest.size
    with path.open("rb", buffering=0) as file:
        while left and (block := file.read(min(_BLOCK, left))):
            digest.update(block)
            left -= len(block)
    if left or digest.hexdigest() != manifest.sha256:
        raise StoreError(f"{path} has changed since it was made (its checksum is another one): take another one")
