"""Calls over HTTP between a part elsewhere and its core: the machinery, whatever the calls are (O-1)."""
