"""Outgoing connections: all requests to other people's servers are sent from here (C-1, C-2, C-8, C-13).

``core/observe`` interprets the answers; ``checking`` and ``crawl`` decide what is requested and when.
No socket is opened that ``net/guard`` has not allowed, and all received data is bounded.
"""
