"""Input and output of commands: arguments, lines, tables, progress, the log."""
