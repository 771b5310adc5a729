"""The savings of each method as a table: how much less processor time per bit it needs than RFC 392's own methods."""

from __future__ import annotations

from collections.abc import Sequence

from loadgo.documents.table import Column, Table
from loadgo.notation.figures import seconds
from loadgo.transfers.chart_data import DIRECTION_VERBS
from loadgo.transfers.remedies import BASE_METHODS, Saving
from loadgo.transfers.words import between, how_many

_TITLE = "What each remedy saves: how many times its processor time per bit `bytes` and `records` take"
_REMEDIES = (
    ("messages, blocks", "more bytes a call: the memo's longer bytes, and its block transfers"),
    ("mmap, sendfile, splice, zerocopy", "pages handed over instead of copied: its mapping onto the network"),
    ("unix, shm", "interprocess communication on one host: its first remedy"),
)


def remedies_tables(savings: Sequence[Saving]) -> list[Table]:
    """The table of savings; no table where no method can be compared."""
    if not savings:
        return []
    names = [
        f"{saving.method} {DIRECTION_VERBS[saving.direction]}{'' if saving.side == 'here' else ' there'}"
        for saving in savings
    ]
    columns = [
        Column("", tuple(names)),
        Column("CPU per bit", tuple(seconds(saving.cpu_s_per_bit) for saving in savings)),
    ]
    for index, base in enumerate(BASE_METHODS):
        ratios = [saving.over.get(base) for saving in savings]
        if any(ratios):
            columns.append(Column(base, tuple(how_many(ratio) for ratio in ratios)))
            interval_cells = tuple(between(ratio.interval if ratio else None) for ratio in ratios)
            if any(ratio and ratio.interval for ratio in ratios):
                columns.append(Column("95 %", interval_cells, spare=2 - index))
    return [Table(_TITLE, tuple(columns))]


def remedies_notes(savings: Sequence[Saving]) -> list[tuple[str, str]]:
    """Notes that explain the remedies, and whether the figures have intervals."""
    if not savings:
        return []
    methods = {saving.method for saving in savings}
    notes = [("Remedies", f"{names}: {what}") for names, what in _REMEDIES if methods & set(names.split(", "))]
    if max(saving.rounds for saving in savings) < 3:
        notes.append(("Remedies", "one round gives no interval: --times 5 does"))
    return notes
