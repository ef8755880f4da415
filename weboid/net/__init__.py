"""The way out: everything that Weboid asks of other people's servers passes through here (C-1, C-2, C-8, C-13).

What answers mean stands in `weboid.core`; when to ask whom is the crawler's business.
One law: no socket is opened that `guard` has not allowed, and nothing that comes in is unbounded.
"""
