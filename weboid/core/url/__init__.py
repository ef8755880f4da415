"""URLs by themselves: hosts, normal forms, keys, patterns, whose farm, archive or spam list they are on. Pure."""
