"""The same transfers in several rounds, and of each end the row that lies in the middle."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from loadgo.errors import BadArgument
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred

Kind = tuple[str, str, str]
"""Method, side and direction."""


def in_rounds(times: int, make: Callable[[], Transferred]) -> Transferred:
    """What `make` makes, so many times one after the other, or until it is stopped.

    Rounds, and not each method so many times at once: what drifts on the host meanwhile does not fall on one method.
    """
    if times < 1:
        raise BadArgument(f"{times} rounds are none: give 1 or more")
    made: list[Transferred] = []
    for _ in range(times):
        made.append(make())
        if made[-1].stopped:
            break
    return together(made)


def together(made: Sequence[Transferred]) -> Transferred:
    """All of them as one; a note that several have is told once."""
    return Transferred(
        tuple(row for one in made for row in one.rows),
        tuple(dict.fromkeys(note for one in made for note in one.notes)),
        any(one.stopped for one in made),
        tuple(dict.fromkeys(why for one in made for why in one.left_out)),
    )


def by_kind(rows: Sequence[Row]) -> dict[Kind, list[Row]]:
    """The rows of each method and end, round by round."""
    found: dict[Kind, list[Row]] = {}
    for row in rows:
        found.setdefault((row.method, row.side, row.direction), []).append(row)
    return found


def in_the_middle(rows: Sequence[Row]) -> list[Row]:
    """Of each method and end the row with the median processor time a bit, and every row that broke off."""
    found = []
    for of_kind in by_kind(rows).values():
        whole = sorted((row for row in of_kind if not row.broke_off), key=lambda row: row.cpu_s_per_bit or 0.0)
        found += [whole[(len(whole) - 1) // 2]] if whole else []
        found += [row for row in of_kind if row.broke_off]
    return found
