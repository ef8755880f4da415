"""The embedded PostgreSQL: one server per data folder, started and stopped by the programs that share it."""
