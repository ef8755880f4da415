"""What ``weboid_weblinks`` is made of."""
