"""What is remembered of a URL and of a host, and the numbers it is stored as, which SQL shares. Pure."""
