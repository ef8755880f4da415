"""Lists for readers: links, changes, search, health, the data set. Only `dataset` writes (the data set's parts)."""
