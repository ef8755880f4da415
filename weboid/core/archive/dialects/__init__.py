"""How services write what they have: one reader for each dialect. ``core/archive/listings`` is the entrance."""
