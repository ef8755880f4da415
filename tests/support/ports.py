"""Ports for servers of other programs, which must be told one before they listen."""

import socket


def free_port() -> int:
    """A port of 127.0.0.1 that is free at the moment."""
    with socket.socket() as trial:
        trial.bind(("127.0.0.1", 0))
        port: int = trial.getsockname()[1]
        return port
