"""The program to which a folder's database belongs."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Application:
    """The name of a program, and what its operator can do instead, which ends the texts of errors.

    The name, a word of small letters, is that of the role, of the database, of the map in ``pg_ident.conf``, and of the
    system account that is taken where root starts the server and that account exists.
    """

    name: str = "pgfolder"
    other_server: str = "use a PostgreSQL server of your own"
    other_folder: str = "choose another folder"
    upgrade: str = "dump it with the programs of that version, and fill a new cluster from the dump"
    """The way to bring a cluster of an older major version to a newer one."""

    @property
    def title(self) -> str:
        return self.name.capitalize()


DEFAULT = Application()
