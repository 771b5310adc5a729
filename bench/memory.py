"""How much memory this process holds, exactly; the sums in /proc/self/status may be some hundred kilobytes behind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Memory(NamedTuple):
    """Bytes in memory now."""

    allocated: int
    """Anonymous pages: heaps, stacks, tables. Not the pages of the program's own file, which no user adds to."""
    resident: int
    """All pages."""

    def since(self, before: Memory) -> Memory:
        """By how much it grew."""
        return Memory(self.allocated - before.allocated, self.resident - before.resident)


def memory() -> Memory:
    """What this process holds, as the kernel counts its pages."""
    text = Path("/proc/self/smaps_rollup").read_text()
    found = dict(re.findall(r"^(Anonymous|Rss):\s+(\d+) kB", text, re.MULTILINE))
    return Memory(int(found["Anonymous"]) * 1024, int(found["Rss"]) * 1024)
