"""Mechanisms that the program needs more than once, each written once. They know nothing of links or wikis."""
