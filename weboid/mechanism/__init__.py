"""General mechanisms that the program needs in several places. They know nothing of links or wikis."""
