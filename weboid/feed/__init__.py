"""The feeder: bringing pages and their links into the store, by passes, event streams, re-reads and dumps."""
