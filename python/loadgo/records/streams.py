"""The stream of a table, as a kill or damage left it: how much of it is whole, and what stands behind that."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from loadgo import _loadgo


class WholePart(NamedTuple):
    """The whole messages at the beginning of a stream."""

    bytes: int
    rows: int
    rest: str | None
    """A description of the bytes behind them, which are no whole message; None if there are none."""

    def lost_reason(self, table: str) -> str:
        """The reason of the loss of the rows behind the whole part, as the table `lost` has it."""
        return f"{table} ends in a batch that is not whole: {self.rest}"


def whole_part(path: Path) -> WholePart:
    """The whole part of the stream at `path`, which a kill may have cut within a message.

    Raises `BadRun` if the description of its columns is damaged and not only cut: nothing of such a stream can be read.
    """
    whole = WholePart(*_loadgo.whole(path))
    if whole.rest is not None and not whole.bytes:
        _loadgo.Growing(path.parent, path.stem).news()  # says what is wrong; of a cut stream it only waits for more
    return whole
