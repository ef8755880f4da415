"""The schedule of checks: leases of buckets, turns at hosts, pace, and the processes that run."""
