"""Keeping the store in order: expiry, rekeying, alarms."""
