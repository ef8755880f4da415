"""One check and what it may do: turns at hosts, the stop list, a second opinion, and whether it is we who are offline.

Who leases work and records results is `crawl`'s business; archives and a robot check by the same rules.
"""
