"""What the rows of a listing tell by themselves: which may be the wanted page, and whether it always changes."""
