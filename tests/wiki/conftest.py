"""What the tests of all sources share: the private MariaDB of this run."""

from support.mariadb import mariadb_server

__all__ = ["mariadb_server"]
