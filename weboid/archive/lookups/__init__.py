"""Look-ups of copies: what waits for one, what one service after another says, what is kept of that."""
