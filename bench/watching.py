"""Viewers of a watch page that read its rows and draw nothing: `watching.py ADDRESS COUNT` prints what each had got.

ADDRESS is host, port and token with a slash at the end. What is printed, as JSON, when the run is over: the number of
interactions of each viewer.
"""

from __future__ import annotations

import asyncio
import json
import os
import struct
import sys

MEEK = 15


async def viewer(address: str) -> int:
    """Reads one feed to its end; how many interactions were in it."""
    host, port = address.split("/")[0].split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    path = address.split("/", 1)[1]
    writer.write(f"GET /{path}feed HTTP/1.1\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
    await reader.readuntil(b"\r\n\r\n")
    known, rows = bytearray(), 0
    try:
        while size := int(await reader.readline() or b"0", 16):
            known += await reader.readexactly(size)
            await reader.readexactly(2)
            rows += _taken(known)
    finally:
        writer.close()
    return rows


def _taken(known: bytearray) -> int:
    """Takes the whole messages out of what is known; how many interactions they told."""
    rows = place = 0
    while len(known) - place >= 8:
        head, columns = struct.unpack_from("<II", known, place)
        if len(known) - place < 8 + head + columns:
            break
        told = json.loads(known[place + 8 : place + 8 + head])
        rows += told["rows"] if told.get("table") == "interactions" else 0
        place += 8 + head + columns
    del known[:place]
    return rows


async def main() -> None:
    """All viewers at once, in one process of low priority, so that they take nothing from the driver."""
    os.nice(MEEK)
    found = await asyncio.gather(*(viewer(sys.argv[1]) for _ in range(int(sys.argv[2]))))
    print(json.dumps(found))


if __name__ == "__main__":
    asyncio.run(main())
