"""Checks a site, page by page, along its links: what it finds at each place, and what it remembers between runs."""
