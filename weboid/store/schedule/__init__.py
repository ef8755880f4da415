"""Whose turn it is: leases of buckets, and turns at hosts."""
