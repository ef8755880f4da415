"""The embedded PostgreSQL: one server a data folder, started and stopped by the programs that share it."""
