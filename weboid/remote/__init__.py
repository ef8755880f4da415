"""What parts need of the store, as an interface; on the store itself, and over HTTP for parts that have none (O-1)."""
