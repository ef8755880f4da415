"""The store: the only floor that speaks to PostgreSQL.

``db`` has the machinery (pool, statements, migrations) and ``embedded`` the embedded server; each other folder holds
one module per noun.
"""
