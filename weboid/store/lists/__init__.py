"""Lists for readers: links, changes, search, health. Two write: `dataset` (its parts), `wiki_totals` (daily counts)."""
