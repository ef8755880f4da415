# mypy: ignore-errors
"""The spider that Scrapy runs, in Scrapy's own environment: HEAD for each URL on stdin."""

import sys

import scrapy


class Heads(scrapy.Spider):
    """Asks and forgets."""

    name = "heads"
    custom_settings = {  # noqa: RUF012
        "CONCURRENT_REQUESTS": 128,
        "REACTOR_THREADPOOL_MAXSIZE": 30,
        "ROBOTSTXT_OBEY": False,
        "REDIRECT_ENABLED": False,
        "RETRY_ENABLED": False,
        "COOKIES_ENABLED": False,
        "TELNETCONSOLE_ENABLED": False,
        "DNSCACHE_ENABLED": False,
        "DOWNLOAD_DELAY": 0,
        "LOG_ENABLED": False,
    }

    async def start(self):
        """One request a line."""
        for line in sys.stdin:
            yield scrapy.Request(line.strip(), method="HEAD", dont_filter=True)

    def parse(self, response):
        """Nothing is kept."""
