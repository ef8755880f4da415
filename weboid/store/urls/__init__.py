"""URLs and hosts: their records, what hosts need, what people claim, the log of verdicts."""
