"""Carries out checks by the common rules: turns at hosts, the stop list, second opinion, our own connectivity.

``crawl`` leases work and records results; ``archive`` and a robot check by the same rules.
"""
