"""Repairs dead links in wikitext, pure: (text, the wiki's settings, answers) → (text, changes).

The network and the clock belong to those who call it.
"""
