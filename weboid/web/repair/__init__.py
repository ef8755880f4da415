"""Repairs of single pages for people who save them under their own names: nothing is saved here."""
