"""Languages, messages and phrases for people."""
