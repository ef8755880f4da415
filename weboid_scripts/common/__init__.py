"""Shared by all scripts: their options, beginning and end, their queries to a wiki, and the saving of pages."""
