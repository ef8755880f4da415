"""Wikis and their pages: records, links, passes, streams, spam lists."""
