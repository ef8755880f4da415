"""What stands around every answer: the server, headers, limits, cache, the published source."""
