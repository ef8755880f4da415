"""Copies visited now and then: kept snapshots, cited copies, and what people suggested."""
