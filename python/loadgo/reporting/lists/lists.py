"""The lists of machines, scripts, tariffs and queried rows in every format."""

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
    from loadgo.running.scripts import Script

MACHINE_KEYS = "name title processors commands source"
"""The keys of a `Machine` in JSON and the columns of its frame, in order."""


SCRIPT_KEYS = "name about lines commands think needs"
"""The keys of a `Script` in JSON and the columns of its frame, in order."""


def machine_presentation(machines: Sequence[Machine]) -> Presentation:
    """The parts of a list of machines."""
    return listing_presentation(machine_list(machines))


def script_presentation(scripts: Sequence[Script]) -> Presentation:
    """The parts of a list of scripts."""
    return listing_presentation(script_list(scripts))


def query_presentation(frame: pl.DataFrame, warnings: Sequence[str] = ()) -> Presentation:
    """The parts of the answer to a query of a run that has these warnings."""
    from loadgo.records.query import csv_of, json_of

    numbers = frozenset(i for i, kind in enumerate(frame.dtypes) if kind.is_numeric())
    rows = tuple(tuple("" if value is None else str(value) for value in row) for row in frame.iter_rows())
    headings = tuple(frame.columns)
    listed = Listing("rows", headings, rows, headings, (), figures=numbers, warnings=tuple(warnings))
    return replace(
        listing_presentation(listed),
        json=lambda: json_of(frame, warnings),
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


def script_list(scripts: Sequence[Script]) -> Listing:
    """The scripts, in their order."""
    keys = tuple(SCRIPT_KEYS.split())
    return Listing(
        "scripts",
        ("script", "what its user does", "lines", "think time"),
        tuple((script.name, script.about, str(script.lines), script.think) for script in scripts),
        keys,
        tuple({key: getattr(script, key) for key in keys} for script in scripts),
        figures=frozenset({2}),
        answer=(
            f"{len(scripts)} scripts that come with loadgo: `loadgo run NAME` lets users type one. "
            "`loadgo scripts NAME` prints it, as a start for your own."
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
