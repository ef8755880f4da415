"""The link checker: rounds that lease buckets, check due URLs, judge and record the results."""
