"""Interfaces to the store for crawlers and feeders: on the store itself, and over HTTP for remote ones (O-1)."""
