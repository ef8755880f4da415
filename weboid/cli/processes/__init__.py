"""A command as a process: its database, sources, signals and sign of life, and the processes that it starts."""
