"""The modules of ``weboid_repair``."""
