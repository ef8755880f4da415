"""Page information beside the bare query for the same links: see ``__main__``."""
