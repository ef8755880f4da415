"""Finds repairs that were taken back, by whom and probably why (B-6): the modules of ``weboid_reverts``."""
