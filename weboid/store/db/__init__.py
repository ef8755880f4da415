"""The database as such: connections, named statements, rows, migrations, and what its keys were computed with."""
