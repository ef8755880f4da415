"""For crawlers elsewhere, which have no database (O-1)."""
