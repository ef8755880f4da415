"""Results of checks written as a whole: records, changes, dead links, and what follows from them."""
