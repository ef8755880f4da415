"""Calls over HTTP between a remote process and its server, whatever the calls are (O-1)."""
