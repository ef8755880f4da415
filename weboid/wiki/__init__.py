"""What a wiki says about its pages and their links, read from its Action API or from its SQL dumps (L-2).

One law: URLs leave this floor as MediaWiki stores them; what they mean is decided in ``core``.
"""
