"""The store: the only floor that speaks to PostgreSQL.

Its machinery is embedded (with folder and programs), pool, statements and migrate; over it stands one module per noun.
"""
