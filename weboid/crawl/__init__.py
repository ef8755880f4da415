"""The link checker: lease -> check -> judge -> record."""
