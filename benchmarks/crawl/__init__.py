"""The crawler next to its peers, in one run on one machine: see `__main__`."""
