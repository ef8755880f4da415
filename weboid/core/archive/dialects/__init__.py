"""The dialects of archive services: one reader for each. ``core/archive/listings`` is the entrance."""
