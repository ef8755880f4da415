"""Simulated worlds: their file format, and what a person would see of them."""
