"""How the system is: status page, JSON, metrics."""
