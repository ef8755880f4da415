from support.mariadb import mariadb_server

__all__ = ["mariadb_server"]
