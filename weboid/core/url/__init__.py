"""Everything that follows from a URL alone: host, normal form, key, class, farm, archive, spam-list match. Pure."""
