"""Living links of which no archive has a copy, saved at the Wayback Machine."""
