"""The handlers of pages for people; some of the addresses serve programs, too."""
