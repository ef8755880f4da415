"""A command as a process: its database, signals and sign of life, and the processes that it starts."""
