"""The linked document itself: markup, text, charset, fingerprint. What it reveals is judged in ``core/signs``. Pure."""
