"""Transfers, their analysis, and commands' transfers in every format: documents with JSON and charts, and frames."""

from __future__ import annotations

import os

from loadgo.documents.frames import frame_of
from loadgo.documents.presentation import Presentation
from loadgo.transfers.analysis import Apart
from loadgo.transfers.analysis_document import apart_document, apart_json
from loadgo.transfers.command import CommandTransfer
from loadgo.transfers.command_csv import COMMAND_CSV_COLUMNS, command_row
from loadgo.transfers.command_document import command_document, command_json
from loadgo.transfers.document import transfer_document, transfer_json
from loadgo.transfers.grid import GRID_COLUMNS, grid_rows
from loadgo.transfers.json_keys import JSON_KEYS
from loadgo.transfers.prices import Prices
from loadgo.transfers.prices import prices as prices_of
from loadgo.transfers.remedies import savings
from loadgo.transfers.row import Row
from loadgo.transfers.transfer import Transferred

_PART_COLUMNS = (
    "kind=kind.kind transfers=kind.transfers of=part.of each_s=part.each_s low_s=part.interval.low "
    "high_s=part.interval.high share=part.share"
)
_TIMES = "{0}=level.{0}.times {0}_low=level.{0}.interval.low {0}_high=level.{0}.interval.high"


def presentation(transferred: Transferred, *, prices: Prices | None = None) -> Presentation:
    """The parts of transfers at `prices`, by default those of the default tariff.

    The main table has the columns that `loadgo transfer --read` reads.
    """
    unit_prices = prices or _default_prices()
    return Presentation(
        lambda: transfer_document(transferred, unit_prices),
        lambda: transfer_json(transferred, unit_prices),
        {
            "transfers": lambda: frame_of(grid_rows(transferred.rows), " ".join(GRID_COLUMNS)),
            "ends": lambda: frame_of(transferred.rows, JSON_KEYS[Row]),
            "savings": lambda: frame_of(
                (
                    {"saving": saving, "base": base, "over": over}
                    for saving in savings(transferred.rows)
                    for base, over in saving.over.items()
                ),
                "method=saving.method side=saving.side direction=saving.direction rounds=saving.rounds "
                "cpu_s_per_bit=saving.cpu_s_per_bit base over=over.times over_low=over.interval.low "
                "over_high=over.interval.high",
            ),
        },
        main_tables=("Time and bytes, in the columns of RFC 392",),
    )


def apart_presentation(breakdown: Apart) -> Presentation:
    """The parts of the analysis of a table of transfers."""
    parts = [{"kind": kind, "part": part} for kind in (*breakdown.kinds, *breakdown.pooled) for part in kind.parts]
    return Presentation(
        lambda: apart_document(breakdown),
        lambda: apart_json(breakdown),
        {
            "parts": lambda: frame_of(parts, _PART_COLUMNS),
            "transfers": lambda: frame_of(
                breakdown.table.transfers, "place direction method bytes cpu_s real_s messages faults load message"
            ),
            "ends": lambda: frame_of(
                breakdown.ends,
                "method compared receives=receives.times low=receives.interval.low high=receives.interval.high alike",
            ),
            "levels": lambda: frame_of(
                ({"level": level} for level in breakdown.levels),
                " ".join(
                    ("load=level.load transfers=level.transfers", *map(_TIMES.format, ("cpu", "real", "stretch")))
                ),
            ),
            "stretches": lambda: frame_of(
                breakdown.stretches,
                "method lowest_load highest_load transfers median median_low=interval.low median_high=interval.high "
                "lower_quartile=middle_half.low upper_quartile=middle_half.high",
            ),
            "lines": lambda: frame_of(
                breakdown.lines,
                "what transfers at_none at_none_low=at_none_interval.low at_none_high=at_none_interval.high slope "
                "slope_low=slope_interval.low slope_high=slope_interval.high",
            ),
        },
    )


def command_presentation(transfer: CommandTransfer, *, prices: Prices | None = None) -> Presentation:
    """The parts of a command's transfer at `prices`, by default those of the default tariff."""
    unit_prices = prices or _default_prices()
    return Presentation(
        lambda: command_document(transfer, unit_prices),
        lambda: command_json(transfer, unit_prices),
        {
            "transfer": lambda: frame_of([command_row(transfer)], " ".join(COMMAND_CSV_COLUMNS)),
            "sockets": lambda: frame_of(
                transfer.kinds or (),
                "kind sockets sent received sent_again sends receives segments_sent segments_received",
            ),
        },
    )


def _default_prices() -> Prices:
    return prices_of(processors=os.cpu_count() or 1)
