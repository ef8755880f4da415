"""Page information next to the bare query for the same links: see ``__main__``."""
