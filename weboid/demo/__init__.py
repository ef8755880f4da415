"""A made-up little web and wiki on loopback, for ``weboid demo`` and for tests; no real server is ever asked.

One law: nothing below knows of it; what runs through it is the real program.
"""
