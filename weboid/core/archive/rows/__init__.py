"""What the rows of a listing tell by themselves: which may be the page that is wanted, and whether it always changes."""
