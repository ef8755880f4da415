"""Bringing pages and their links into the store: page passes and dump imports; later events."""
