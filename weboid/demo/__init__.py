"""The demo: a made-up web and wiki on loopback, for ``weboid demo`` and for tests; no real server is ever contacted."""
