"""The lists of the library in every format: runs, machines, tariffs, and what this host can measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from loadgo.documents.as_json import members_of
from loadgo.documents.listing import Listing, listing_presentation
from loadgo.documents.presentation import Presentation
from loadgo.records.query import csv_of, json_of

if TYPE_CHECKING:
    import polars as pl

    from loadgo.records.runs import RecordedRun
    from loadgo.running.doctor import Ability
    from loadgo.running.machines import Machine

_RUN_KEYS = ("id", "folder", "name", "system", "users", "started", "finished", "outcome", "interactions")
_MACHINE_KEYS = ("name", "title", "processors", "commands", "source")
_ABILITY_KEYS = ("name", "state", "how", "why_not", "remedy")
_LACKING_WORDS = (("estimated", "in part"), ("absent", "not"))
_STATE_WORDS = {"exact": "yes", "estimated": "in part", "absent": "no"}


def run_presentation(runs: Sequence[RecordedRun]) -> Presentation:
    """The parts of a list of runs."""
    return listing_presentation(run_list(runs))


def machine_presentation(machines: Sequence[Machine]) -> Presentation:
    """The parts of a list of machines."""
    return listing_presentation(machine_list(machines))


def ability_presentation(abilities: Sequence[Ability]) -> Presentation:
    """The parts of a list of abilities."""
    return listing_presentation(ability_list(abilities))


def query_presentation(frame: pl.DataFrame) -> Presentation:
    """The parts of the answer to a query."""
    numbers = frozenset(i for i, kind in enumerate(frame.dtypes) if kind.is_numeric())
    rows = tuple(tuple("" if value is None else str(value) for value in row) for row in frame.iter_rows())
    listed = Listing("rows", tuple(frame.columns), rows, tuple(frame.columns), (), figures=numbers)
    return replace(
        listing_presentation(listed),
        json=lambda: json_of(frame),
        csv=lambda: csv_of(frame),
        frames={"rows": lambda: frame},
    )


def run_list(runs: Sequence[RecordedRun]) -> Listing:
    """The runs, in their order."""
    return Listing(
        "runs",
        ("run", "script", "system", "users", "interactions", "outcome"),
        tuple((run.id, run.name, run.system, _count(run.users), _count(run.interactions), run.outcome) for run in runs),
        _RUN_KEYS,
        tuple(_record(run, _RUN_KEYS) for run in runs),
        figures=frozenset({3, 4}),
    )


def machine_list(machines: Sequence[Machine]) -> Listing:
    """The machines, in their order."""
    return Listing(
        "machines",
        ("machine", "title", "processors", "source"),
        tuple((machine.name, machine.title, str(machine.processors), machine.source) for machine in machines),
        _MACHINE_KEYS,
        tuple(_record(machine, _MACHINE_KEYS) for machine in machines),
        figures=frozenset({2}),
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


def ability_list(abilities: Sequence[Ability]) -> Listing:
    """The abilities of a host: what can be measured and controlled on it."""
    return Listing(
        "abilities",
        ("ability", "to be had", "how, why not, and the remedy"),
        tuple((ability.name, _STATE_WORDS[ability.state], _reasons(ability)) for ability in abilities),
        _ABILITY_KEYS,
        tuple(_record(ability, _ABILITY_KEYS) for ability in abilities),
        answer=ability_answer(abilities),
    )


def ability_answer(abilities: Sequence[Ability]) -> str:
    """The answer in a sentence: how much of what loadgo can do it can do here, and the names of the rest."""
    names = {state: [one.name for one in abilities if one.state == state] for state in ("exact", "estimated", "absent")}
    if not names["estimated"] and not names["absent"]:
        return f"loadgo can measure here: all of the {len(abilities)} abilities below."
    parts = [f"{len(names['exact'])} of the {len(abilities)} abilities below in full"]
    parts += [f"{what}: {', '.join(names[state])}" for state, what in _LACKING_WORDS if names[state]]
    return f"loadgo can measure here: {'; '.join(parts)}."


def _reasons(ability: Ability) -> str:
    remedy = f"remedy: {ability.remedy}" if ability.remedy else ""
    return "; ".join(filter(None, (ability.how, ability.why_not, remedy)))


def _count(value: int | None) -> str:
    return "" if value is None else f"{value:,}"


def _record(value: object, keys: Sequence[str]) -> dict[str, object]:
    return {key: getattr(value, key) for key in keys}
