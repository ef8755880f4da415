"""The tables of the journal, as they are made in a new file; what is in them is read and written by ``journal``."""

from typing import Final

TABLES: Final = (
    """CREATE TABLE IF NOT EXISTS edits (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        wiki TEXT NOT NULL,
        page INTEGER NOT NULL,
        title TEXT NOT NULL,
        parent INTEGER NOT NULL,
        revision INTEGER,
        moment INTEGER NOT NULL,
        sha1 TEXT NOT NULL
    )""",
    "CREATE UNIQUE INDEX IF NOT EXISTS edits_by_revision ON edits (wiki, revision)",
    "CREATE INDEX IF NOT EXISTS edits_by_page ON edits (wiki, page)",
    """CREATE TABLE IF NOT EXISTS edited_links (
        edit INTEGER NOT NULL REFERENCES edits (number) ON DELETE CASCADE,
        place INTEGER NOT NULL,
        url TEXT NOT NULL,
        normal TEXT NOT NULL,
        action TEXT NOT NULL,
        why TEXT NOT NULL,
        PRIMARY KEY (edit, place)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS reverts (
        edit INTEGER NOT NULL REFERENCES edits (number) ON DELETE CASCADE,
        normal TEXT NOT NULL,
        url TEXT NOT NULL,
        verdict TEXT NOT NULL,
        why TEXT NOT NULL,
        revision INTEGER NOT NULL,
        reverter TEXT NOT NULL,
        moment INTEGER NOT NULL,
        is_false_positive INTEGER NOT NULL,
        sent INTEGER,
        state TEXT,
        released INTEGER,
        PRIMARY KEY (edit, normal)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS skips (
        wiki TEXT NOT NULL,
        page INTEGER NOT NULL,
        normal TEXT NOT NULL,
        why TEXT NOT NULL,
        moment INTEGER NOT NULL,
        PRIMARY KEY (wiki, page, normal)
    ) WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS wikis (
        wiki TEXT PRIMARY KEY,
        cursor TEXT,
        counted_after INTEGER NOT NULL DEFAULT 0
    ) WITHOUT ROWID""",
)
