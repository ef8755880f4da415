"""What ``weboid_repair`` is made of."""
