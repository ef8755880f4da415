"""Detects from an answer's content that it is a soft 404, a parked domain, a bot wall or a login wall. Pure."""
