"""A PostgreSQL server in a folder: one per data folder, started and stopped by the programs that share it.

It imports nothing of Weboid; see README.md.
"""
