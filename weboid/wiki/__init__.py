"""The sources: reading a wiki's pages and their links from its Action API, its replica or its SQL dumps (L-2).

One law: URLs leave this floor as MediaWiki stores them; what they mean is decided in ``core``.
"""
