"""The linked document as such: markup, text, charset and fingerprint. What it gives away is `signs`' business. Pure."""
