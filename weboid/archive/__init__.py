"""Web archives: copies of what is dead looked up, kept copies visited, living links saved; and what people suggest."""
