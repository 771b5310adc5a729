"""The same transfers in several rounds, and the median row of each end."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.errors import BadArgument
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred

MethodEnd = tuple[str, str, str]
"""Method, side and direction."""


def in_rounds(times: int, make: Callable[[], Transferred]) -> Transferred:
    """Calls `make` a number of times, or until an interrupt, and joins the transfers.

    All methods are in each round, so that drift of the host does not affect one method more than others.
    """
    if times < 1:
        raise BadArgument(f"{times} rounds are too few: give 1 or more")
    rounds: list[Transferred] = []
    for _ in range(times):
        rounds.append(make())
        if rounds[-1].stopped:
            break
    return together(rounds)


def together(rounds: Sequence[Transferred]) -> Transferred:
    """Joins the transfers of several rounds. Equal notes are kept once."""
    return Transferred(
        tuple(row for each_round in rounds for row in each_round.rows),
        tuple(dict.fromkeys(note for each_round in rounds for note in each_round.notes)),
        any(each_round.stopped for each_round in rounds),
        tuple(dict.fromkeys(reason for each_round in rounds for reason in each_round.left_out)),
    )


def by_method_and_end(rows: Sequence[Row]) -> dict[MethodEnd, list[Row]]:
    """The rows of each method and end, round by round."""
    groups: dict[MethodEnd, list[Row]] = {}
    for row in rows:
        groups.setdefault((row.method, row.side, row.direction), []).append(row)
    return groups


def median_rows(rows: Sequence[Row]) -> list[Row]:
    """The row with the median processor time per bit of each method and end, and every row that broke off."""
    shown = []
    for end_rows in by_method_and_end(rows).values():
        complete = sorted((row for row in end_rows if not row.broke_off), key=lambda row: row.cpu_s_per_bit or 0.0)
        shown += [complete[(len(complete) - 1) // 2]] if complete else []
        shown += [row for row in end_rows if row.broke_off]
    return shown
