"""The database as such: connections, named statements, rows, migrations, and the scheme its keys were computed with."""
