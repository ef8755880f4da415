"""The gadget on a wiki: its pages, built of the files in ``gadget/`` as they are, and saving them (G-1)."""
