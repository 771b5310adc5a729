"""What each way to move bytes saves, as a table: times less processor time a bit than the seed's own ways."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import seconds
from loadgo.transfers.chart_data import SENDS
from loadgo.transfers.remedies import BASE_METHODS, Saving
from loadgo.transfers.words import between, how_many

_TITLE = "What each remedy saves: times less processor time a bit than a byte a call, than records"
_REMEDIES = (
    ("messages, blocks", "more bytes a call: the memo's longer bytes, and its block transfers"),
    ("mmap, sendfile, splice, zerocopy", "pages handed over instead of copied: its mapping onto the network"),
    ("unix, shm", "interprocess communication on one host: its first remedy"),
)


def remedies_tables(saved: Sequence[Saving]) -> list[Table]:
    """The table; none where there is nothing to compare."""
    if not saved:
        return []
    names = [f"{one.method} {SENDS[one.direction]}{'' if one.side == 'here' else ' there'}" for one in saved]
    columns = [
        Column("", tuple(names)),
        Column("CPU a bit", tuple(seconds(one.cpu_s_per_bit) for one in saved)),
    ]
    for place, base in enumerate(BASE_METHODS):
        over = [one.over.get(base) for one in saved]
        if any(over):
            columns.append(Column(base, tuple(how_many(times) for times in over)))
            between_cells = tuple(between(times.interval if times else None) for times in over)
            if any(times and times.interval for times in over):
                columns.append(Column("95 %", between_cells, spare=2 - place))
    return [Table(_TITLE, tuple(columns))]


def remedies_notes(saved: Sequence[Saving]) -> list[tuple[str, str]]:
    """What the remedies are, and how sure the figures."""
    if not saved:
        return []
    there = {one.method for one in saved}
    notes = [("remedies", f"{names}: {what}") for names, what in _REMEDIES if there & set(names.split(", "))]
    if max(one.rounds for one in saved) < 3:
        notes.append(("remedies", "one round tells no interval: --times 5 does"))
    return notes
