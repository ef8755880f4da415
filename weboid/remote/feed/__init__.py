"""The interface of feeders to the store: on the store itself, and over HTTP (O-1)."""
