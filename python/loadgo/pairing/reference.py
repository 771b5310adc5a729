"""The speed of this host's processors during each run, by a reference work that runs beside all of them.

A processor of a shared machine does the same work now in more time, now in less: other guests use the same cores and
caches. The reference work is always the same, so its processor time is a measure of that. It takes about two per cent
of each processor, beside A and B alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from types import TracebackType
from typing import IO

_WORK = Path(__file__).with_name("reference_work.py")
FEWEST_PIECES = 10
"""The fewest pieces of work that have a mean."""


class ReferenceWork:
    """The program of the reference work, from entering to leaving. `is_used=False` starts none."""

    def __init__(self, *, is_used: bool) -> None:
        self._is_used = is_used
        self._process: subprocess.Popen[bytes] | None = None
        self._lines: IO[bytes] | None = None
        self._read_bytes = 0

    def __enter__(self) -> ReferenceWork:
        if self._is_used:
            try:
                self._lines = tempfile.TemporaryFile()
                self._process = subprocess.Popen(
                    [sys.executable, "-I", "-S", str(_WORK)],
                    stdin=subprocess.DEVNULL,
                    stdout=self._lines,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C ends the experiment in order, and that ends the work.
                )
            except OSError:
                self._process = None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        if self._lines is not None:
            self._lines.close()

    def mean_ns(self, start_ns: int, end_ns: int) -> float | None:
        """The mean processor time of a piece between two times of day; None if too few pieces were done.

        Each processor counts alike. Pieces before `end_ns` are forgotten.
        """
        if self._process is None or self._lines is None:
            return None
        times_by_processor: dict[str, list[int]] = defaultdict(list)
        for line in self._new_lines(self._lines):
            at_ns, took_ns, processor = line.split()
            if start_ns <= int(at_ns) <= end_ns:
                times_by_processor[processor].append(int(took_ns))
        if sum(map(len, times_by_processor.values())) < FEWEST_PIECES:
            return None
        means = [sum(times) / len(times) for times in times_by_processor.values()]
        return sum(means) / len(means)

    def _new_lines(self, lines: IO[bytes]) -> list[str]:
        """The complete lines that were not read before."""
        size = os.fstat(lines.fileno()).st_size
        data = os.pread(lines.fileno(), size - self._read_bytes, self._read_bytes)
        complete = data[: data.rfind(b"\n") + 1]
        self._read_bytes += len(complete)
        return complete.decode().splitlines()
