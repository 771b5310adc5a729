"""Viewers of a watch page that read its rows without drawing: `watching.py ADDRESS COUNT` prints their rows.

ADDRESS is host, port and token with a slash at the end. After the run, the number of interactions that each viewer
received is printed as JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys

VIEWER_NICENESS = 15


async def viewer(address: str) -> int:
    """Reads one feed to its end, and returns its number of interactions."""
    host, port = address.split("/")[0].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    path = address.split("/", 1)[1]
    writer.write(f"GET /{path}feed HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    received, rows = bytearray(), 0
    try:
        while size := int(await reader.readline() or b"0", 16):
            received += await reader.readexactly(size)
            await reader.readexactly(2)
            rows += _take_messages(received)
    finally:
        writer.close()
    return rows


def _take_messages(received: bytearray) -> int:
    """Removes the complete messages, and returns their number of interactions."""
    rows = offset = 0
    while len(received) - offset >= 8:
        head, columns = struct.unpack_from("<II", received, offset)
        if len(received) - offset < 8 + head + columns:
            break
        message = json.loads(received[offset + 8 : offset + 8 + head])
        rows += message["rows"] if message.get("table") == "interactions" else 0
        offset += 8 + head + columns
    del received[:offset]
    return rows


async def main() -> None:
    """Runs all viewers in one process of low priority, so that they take no time from the driver."""
    os.nice(VIEWER_NICENESS)
    counts = await asyncio.gather(*(viewer(sys.argv[1]) for _ in range(int(sys.argv[2]))))
    print(json.dumps(counts))


if __name__ == "__main__":
    asyncio.run(main())
