"""Backup and restore of the whole store (O-9): one file, made while everything runs, by PostgreSQL's own programs."""
