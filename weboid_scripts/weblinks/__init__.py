"""The modules of ``weboid_weblinks``."""
