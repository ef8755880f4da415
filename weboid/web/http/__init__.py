"""What all answers share: the server, headers, limits, tokens, the cache; and the published source."""
