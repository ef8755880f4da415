"""The interface of crawlers to the store: on the store itself, and over HTTP (O-1)."""
