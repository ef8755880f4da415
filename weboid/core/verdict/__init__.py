"""Derives records from observations, and verdicts and the values of an answer from records. Pure."""
