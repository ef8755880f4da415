"""HTTP itself: the server, headers, limits, tokens, the cache; and the published source."""
