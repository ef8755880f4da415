"""Texts that somebody may give as the address of a link, to get something else into a page."""

from weboid.assets import toml_next_to

_CASES = toml_next_to(__file__)
HOSTILE: list[str] = _CASES["hostile"]
