"""Actions of people: reports, replacements, reverts, the audit log, and limits."""
