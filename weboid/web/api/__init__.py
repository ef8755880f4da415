"""Addresses for programs."""
