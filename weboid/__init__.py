"""Weboid watches the external links of wikis and tells which are really dead."""

__version__ = "0.2.0"
