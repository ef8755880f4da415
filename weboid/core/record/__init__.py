"""Records of URLs and hosts as values, and the numbers under which they are stored, which SQL shares. Pure."""
