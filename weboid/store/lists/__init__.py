"""Lists for readers: links, changes, search, health, the data set. Nothing here writes but the data set's parts."""
