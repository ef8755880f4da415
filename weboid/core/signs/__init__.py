"""Detects from an answer's content that it is a soft 404, a parked domain, a bot wall or a login wall. Pure.

By tables and no trained classifier: a logistic regression that was tried learned the words of its collection of pages,
and of those from other collections it recognised 13 of 44 walls (the tables 41) and 37 of 332 soft 404s (327).
"""
