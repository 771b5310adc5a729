"""The lines of a file of any size, as far as it was written when it was opened, and a count of the damaged ones."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

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


@dataclass
class DamagedLines:
    """The number of a log's damaged lines, and the place of the first."""

    count: int = 0
    first_byte: int | None = None

    def add(self, place: int) -> None:
        """Counts a line whose first byte is at `place`."""
        self.count += 1
        self.first_byte = place if self.first_byte is None else self.first_byte

    def losses(self, one: str, many: str) -> list[str]:
        """A sentence on the damaged lines, which are `one` or `many`; none without any."""
        what = one if self.count == 1 else many
        return [f"has {self.count:,} {what}, left out; the first is at byte {self.first_byte:,}."] if self.count else []
