"""The lines of a file of any size, as far as it was written when it was opened."""

from __future__ import annotations

from collections.abc import Iterator

from loadgo.observation.source_files import SourceFile


def byte_lines(source: SourceFile, most_bytes: int) -> Iterator[tuple[int, bytes]]:
    """Each line with the place of its first byte. A longer line than `most_bytes` is cut there."""
    place, begins_line = 0, True
    while place < source.bytes:
        part = source.file.readline(min(most_bytes, source.bytes - place))
        if not part:
            return
        if begins_line:
            yield place, part
        place += len(part)
        begins_line = part.endswith(b"\n")
