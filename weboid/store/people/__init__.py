"""What people did: reports, replacements, the audit log, and how much they may do."""
