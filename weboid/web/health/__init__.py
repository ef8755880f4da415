"""The state of the system: status page, JSON, metrics."""
