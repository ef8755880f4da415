"""The pure core: Weboid's data types and decisions. No I/O, no clock, no asyncio, no logging."""
