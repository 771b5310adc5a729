"""Rows of transfers that are made up, for tests of what is computed from them."""

from __future__ import annotations

import dataclasses
import math

from loadgo.transfers.row import Row


def row_of(**other: object) -> Row:
    """A row of 1 s of processor time for 1,000,000 bits."""
    plain: dict[str, object] = dict.fromkeys((field.name for field in dataclasses.fields(Row)), 0)
    plain |= {"side": "here", "direction": "s", "method": "blocks", "bytes": 125_000, "real_s": 2.0}
    plain |= {"thread_s": 1.0, "interrupts_by": "ticks", "interrupts_why": "none here"}
    plain |= {"interrupts_clocked": None, "interrupts_error_s": None}
    plain |= {"counted_bytes": None, "broke_off": None}
    return Row(**{**plain, **other})  # type: ignore[arg-type]


def rounds(count: int, spread: float = 0.1) -> list[Row]:
    """Rounds of three methods of 400, 20 and 1 times the cost, which drift together from round to round."""
    drift = [math.exp(spread * (at - (count - 1) / 2)) for at in range(count)]
    return [
        row_of(method=method, thread_s=cost * times * (1 + 0.01 * (at % 2)))
        for at, times in enumerate(drift)
        for method, cost in (("bytes", 4.0), ("records", 0.2), ("blocks", 0.01))
    ]
