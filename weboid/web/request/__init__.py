"""Requests as values: routes, parameters, forms, formats, cursors, and what is wrong with a request."""
