"""From observations to records, and from records to verdicts and the values of an answer. Pure."""
