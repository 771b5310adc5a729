"""The exact memory of this process. The sums in /proc/self/status may be some hundred kilobytes behind."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple


class Memory(NamedTuple):
    """Sizes of memory in bytes."""

    allocated: int
    """Anonymous pages, such as heaps and stacks. Users do not add to the pages of the program's own file."""
    resident: int
    """All pages."""

    def since(self, before: Memory) -> Memory:
        """The growth since `before`."""
        return Memory(self.allocated - before.allocated, self.resident - before.resident)


def memory() -> Memory:
    """The memory of this process, by the kernel's page counts."""
    text = Path("/proc/self/smaps_rollup").read_text()
    kilobytes = dict(re.findall(r"^(Anonymous|Rss):\s+(\d+) kB", text, re.MULTILINE))
    return Memory(int(kilobytes["Anonymous"]) * 1024, int(kilobytes["Rss"]) * 1024)
