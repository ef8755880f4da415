"""What the crawler makes of real pages: laid-out captures, played under their own names. See ``docs/worlds.md``."""
