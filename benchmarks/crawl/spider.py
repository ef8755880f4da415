# mypy: ignore-errors
"""The spider that Scrapy runs, in Scrapy's own environment: HEAD for each URL on stdin, and nothing is kept."""

import sys

import scrapy


class Heads(scrapy.Spider):
    """128 at a time instead of Scrapy's 16, and nothing switched on that a check does not need."""

    name = "heads"
    custom_settings = {"CONCURRENT_REQUESTS": 128, "REACTOR_THREADPOOL_MAXSIZE": 30, "DOWNLOAD_DELAY": 0} | dict.fromkeys(  # noqa: E501
        ("ROBOTSTXT_OBEY", "REDIRECT_ENABLED", "RETRY_ENABLED", "COOKIES_ENABLED", "TELNETCONSOLE_ENABLED",
         "DNSCACHE_ENABLED", "LOG_ENABLED"), False
    )  # fmt: skip

    async def start(self):
        """One request a line."""
        for line in sys.stdin:
            yield scrapy.Request(line.strip(), method="HEAD", dont_filter=True)

    def parse(self, response):
        """Forgets it."""
