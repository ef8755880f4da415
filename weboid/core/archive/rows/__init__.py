"""The rows of a listing by themselves: which may be the cited page, and if it always changes."""
