"""What crawlers need of the store: the interface, on the store itself, and over HTTP (O-1)."""
