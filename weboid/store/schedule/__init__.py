"""Who may check what and when: leases of buckets, and turns at hosts."""
