"""The way to archive services, for all rooms above: requests within limits, and the replay of a copy."""
