"""Requests as values: what was asked, in which format, and what was wrong with it."""
