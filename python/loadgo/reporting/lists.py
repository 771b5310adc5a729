"""The lists of machines, tariffs and queried rows in every format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgo.documents.as_json import members_of
from loadgo.documents.listing import Listing, listing_presentation
from loadgo.documents.presentation import Presentation

if TYPE_CHECKING:
    import polars as pl

    from loadgo.running.machines import Machine

MACHINE_KEYS = "name title processors commands source"
"""The keys of a `Machine` in JSON and the columns of its frame, in order."""


def machine_presentation(machines: Sequence[Machine]) -> Presentation:
    """The parts of a list of machines."""
    return listing_presentation(machine_list(machines))


def query_presentation(frame: pl.DataFrame, warnings: Sequence[str] = ()) -> Presentation:
    """The parts of the answer to a query of a run that has these warnings."""
    from loadgo.records.query import csv_of, json_of

    numbers = frozenset(i for i, kind in enumerate(frame.dtypes) if kind.is_numeric())
    rows = tuple(tuple("" if value is None else str(value) for value in row) for row in frame.iter_rows())
    headings = tuple(frame.columns)
    listed = Listing("rows", headings, rows, headings, (), figures=numbers, warnings=tuple(warnings))
    return replace(
        listing_presentation(listed),
        json=lambda: json_of(frame),
        csv=lambda: csv_of(frame),
        frames={"rows": lambda: frame},
    )


def machine_list(machines: Sequence[Machine]) -> Listing:
    """The machines, in their order."""
    keys = tuple(MACHINE_KEYS.split())
    return Listing(
        "machines",
        ("machine", "title", "processors", "source"),
        tuple((machine.name, machine.title, str(machine.processors), machine.source) for machine in machines),
        keys,
        tuple({key: getattr(machine, key) for key in keys} for machine in machines),
        figures=frozenset({2}),
        answer=(
            f"{len(machines)} machines that loadgo simulates in virtual time, each modelled on one that was "
            "measured in its day. `--on NAME` lets the users of a run log in to one."
        ),
    )


def tariff_list() -> Listing:
    """The tariffs that come with loadgo. The records have one entry for each shift of a tariff."""
    from loadgo.measures.json_keys import JSON_KEYS
    from loadgo.measures.tariff import bundled_tariffs, load_shifts, tariff_list_rows

    records = tuple(members_of(shift, JSON_KEYS) for name in bundled_tariffs() for shift in load_shifts(name))
    return Listing(
        "tariffs",
        ("tariff", "title", "prices", "source"),
        tuple(map(tuple, tariff_list_rows())),
        tuple(records[0]),
        records,
    )
