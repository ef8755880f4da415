"""Asks the second vantage point from Toolforge: ``python toolforge/vantage.py user@host``, as WEBOID_CRAWL_VANTAGE.

There is no disk for keys, and ssh refuses to work for a user id without a name, as pods have it: so not ssh, but
asyncssh asks, and both keys come from variables. VANTAGE_KEY is the private one in base64, VANTAGE_HOST_KEY the public
one of the host ("ssh-ed25519 AAAA…").
One law: nothing is asked of a host with another key.
"""

import asyncio
import base64
import os
import sys

import asyncssh


async def main(place: str) -> int:
    """Hands standard input to the other place, and its answer on; returns the status there, 1 if it ended otherwise."""
    user, _, host = place.rpartition("@")
    os.environ.setdefault("LOGNAME", user)  # asyncssh, too, wants a name for anyone who runs it
    host, _, port = host.partition(":")
    key = asyncssh.import_private_key(base64.b64decode(os.environ["VANTAGE_KEY"]))
    host_key = asyncssh.import_public_key(os.environ["VANTAGE_HOST_KEY"])
    async with asyncssh.connect(
        host,
        int(port or 22),
        username=user,
        client_keys=[key],
        known_hosts=([host_key], [], []),
        agent_path=None,
        config=None,
    ) as connection:
        asked = sys.stdin.buffer.read()
        done = await connection.run("weboid check --json -", input=asked, encoding=None)
    sys.stdout.buffer.write(done.stdout if isinstance(done.stdout, bytes) else b"")
    return 1 if done.exit_status is None else done.exit_status


if __name__ == "__main__":
    try:
        sys.exit(asyncio.run(main(sys.argv[1])))
    except (OSError, asyncssh.Error, KeyError, ValueError) as error:
        sys.exit(f"the second vantage point cannot be asked: {error!r}")
