"""The crawler beside its peers, in one run on one machine: see `__main__`."""
