"""Archived copies and replacements of dead links."""
