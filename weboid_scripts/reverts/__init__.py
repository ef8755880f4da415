"""Which repairs were taken back, by whom and probably why (B-6); what ``weboid_reverts`` is made of."""
