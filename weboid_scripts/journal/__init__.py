"""The record on disk of all that the scripts did."""
