"""The pure core: what Weboid knows and how it decides. No I/O, no clock, no asyncio, no logging."""
