"""Turns a server's answer into an observation: status byte, reason, target, type. ``core/verdict`` judges it. Pure."""
