"""Repairs dead links in wikitext, without network and clock: (text, settings, answers) → (text, changes)."""
