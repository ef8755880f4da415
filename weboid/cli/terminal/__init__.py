"""What a command takes from a terminal and shows on it: arguments, lines, tables, progress, the log."""
