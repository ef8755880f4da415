"""The receiving end of sd_notify(3), for tests of what systemd hears."""

import asyncio
import socket


class Systemd:
    """A datagram socket at an address of NOTIFY_SOCKET; one that begins with ``@`` is abstract."""

    def __init__(self, address: str) -> None:
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind("\0" + address[1:] if address.startswith("@") else address)
        self._socket.setblocking(False)

    async def until(self, words: str, limit_s: float = 30) -> list[str]:
        """The datagrams up to the one with these words."""
        said: list[str] = []
        async with asyncio.timeout(limit_s):
            while not said or words not in said[-1]:
                said.append((await asyncio.get_running_loop().sock_recv(self._socket, 4096)).decode())
        return said

    def __enter__(self) -> "Systemd":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()
