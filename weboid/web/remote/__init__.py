"""The addresses of remote crawlers and feeders, which have no database (O-1)."""
