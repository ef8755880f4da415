"""How a command runs as a process: its database, signals and sign of life, and the processes that it starts."""
