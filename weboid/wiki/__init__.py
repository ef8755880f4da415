"""The sources: a wiki's pages and links as MediaWiki stores them, from its Action API, its replica or dumps (L-2)."""
