"""Attributes a speed-up to changes from existing runs, for a host, which loadgo cannot change by itself.

Each combination of the changes has the same number of runs, measured in turns: the first run of each combination, then
the second of each. So disturbances of the host at one time are resampled together. A change is recognised by the
conditions that differ in the runs with it and in no others. All other differences are reported before any figure,
because their effect is not known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import polars as pl

from loadgo.attribution.causes import taken_apart
from loadgo.attribution.results import Change, Speedup
from loadgo.comparison.side import Side, side_of_runs
from loadgo.errors import BadArgument
from loadgo.measures.other_work import busy_clause
from loadgo.measures.record_checks import CHECKS_WITH_WARNINGS, checks_of
from loadgo.measures.run_evidence import evidence_of_runs
from loadgo.measures.run_warnings import warnings_of_runs
from loadgo.notation.figures import number
from loadgo.records.conditions import SCRIPT_TEXT, conditions_of, has_passes, script_values
from loadgo.records.fleet_tables import tables_without_hosts
from loadgo.records.runs import find_run
from loadgo.records.tables import Tables, read_conditions
from loadgo.stats.shapley import MOST_CHANGES

RunPath = str | os.PathLike[str]

_VOLATILE_CONDITIONS = ("seed", "load_average", "memory_available_bytes", "users_logged_in")
"""Conditions that differ from run to run by themselves, and so reveal no change."""
_SHOWN_VALUE_CHARS = 40
"""Longest part of a condition's value that is shown."""


@dataclass(frozen=True)
class ChangeSet:
    """The runs with one combination of the changes."""

    made: int
    """Bit i says whether change i is made."""
    name: str
    side: Side
    conditions: Mapping[str, str]
    """The conditions that are the same in all these runs, and the script's lines."""
    warnings: tuple[str, ...]


def speedup_of(measured: Mapping[str, Sequence[RunPath]], *, tariff: str = "default") -> Speedup:
    """Attributes a speed-up to changes from runs that exist, of a host or of simulated machines.

        loadgo.speedup_of({"": ["r1", "r2"], "cpu": ["r3", "r4"], "disk": ["r5", "r6"], "cpu+disk": ["r7", "r8"]})

    Args:
        measured: The runs by combination of the changes. A key joins the names of the changes with `+`; the empty key
            has the runs without changes. All combinations have the same number of runs, in the order of measurement.
        tariff: Prices of the resources: a tariff's name, `NAME:SHIFT`, or the path of a TOML file.

    Returns:
        `Speedup`, as `loadgo.speedup` returns it.

    Raises:
        loadgo.errors.BadArgument: A combination is missing, or a run is named twice; it is a `ValueError`.
        loadgo.errors.BadRun: A run is missing or cannot be read.
    """
    names = _names(measured)
    folders = _folders(measured, names)
    phases = _phases(folders)
    choices = [_change_set(made, names, folders[made], phases, tariff) for made in range(1 << len(names))]
    changes, unexplained = _changes(names, choices)
    accounts = [choice.side.accounts for choice in choices]
    attributed = taken_apart(_title(choices), changes, accounts, choices[0].side.seeds, ())
    seeds = {choice.side.seeds for choice in choices}
    unpaired = () if len(seeds) == 1 else ("The combinations of the changes were not run with the same seeds.",)
    return replace(
        attributed,
        warnings=(*unexplained, *unpaired, *(line for choice in choices for line in choice.warnings)),
        measured=True,
        evidence=evidence_of_runs(
            [run for choice in choices for run in choice.side.tables],
            [stretch for choice in choices for stretch in choice.side.stretches],
        ),
    )


def _names(measured: Mapping[str, Sequence[RunPath]]) -> list[str]:
    """The names of the changes, in the order of their first use."""
    for key in measured:
        in_key = _split(key)
        if len(set(in_key)) < len(in_key):
            raise BadArgument(f"{key!r} names a change twice")
    names = list(dict.fromkeys(name for key in measured for name in _split(key)))
    if not 1 <= len(names) <= MOST_CHANGES:
        raise BadArgument(f"{len(names)} changes: there must be 1 to {MOST_CHANGES}, each with a name: =A,B disk=C,D")
    return names


def _split(key: str) -> list[str]:
    return [name.strip() for name in key.split("+") if name.strip()]


def _folders(measured: Mapping[str, Sequence[RunPath]], names: Sequence[str]) -> dict[int, list[Path]]:
    """The folders of the runs by combination of the changes."""
    runs_by_choice: dict[int, list[RunPath]] = {}
    for key, runs in measured.items():
        made = sum(1 << names.index(name) for name in _split(key))
        runs_by_choice.setdefault(made, []).extend(runs)
    missing = [_name(made, names) for made in range(1 << len(names)) if not runs_by_choice.get(made)]
    if missing:
        raise BadArgument(f"there are no runs with {'; '.join(missing)}: measure every combination of the changes")
    folders_by_choice = {made: [find_run(run) for run in runs] for made, runs in runs_by_choice.items()}
    all_folders = [folder.resolve() for folders in folders_by_choice.values() for folder in folders]
    for folder in all_folders:
        if all_folders.count(folder) > 1:
            raise BadArgument(
                f"the run {folder.name} is named twice: each combination of the changes needs its own runs"
            )
    counts = {_name(made, names): len(folders) for made, folders in sorted(folders_by_choice.items())}
    if len(set(counts.values())) > 1:
        listed = "; ".join(f"{count} with {name}" for name, count in counts.items())
        raise BadArgument(f"every combination of the changes needs the same number of runs; there are {listed}")
    return folders_by_choice


def _name(made: int, names: Sequence[str]) -> str:
    return "+".join(name for bit, name in enumerate(names) if made >> bit & 1) or "none of the changes"


def _phases(folders: Mapping[int, Sequence[Path]]) -> str:
    """The phases to use: `steady` for runs that end after a time, `all` for runs with a number of passes."""
    ended = [not has_passes(read_conditions(folder)) for of_choice in folders.values() for folder in of_choice]
    if any(ended) and not all(ended):
        raise BadArgument("some runs end after a time and others after a number of passes: measure all in one way")
    return "steady" if all(ended) else "all"


def _change_set(combination: int, names: Sequence[str], folders: Sequence[Path], phases: str, tariff: str) -> ChangeSet:
    runs = tuple(tables_without_hosts(folder, "an attribution") for folder in folders)
    side = side_of_runs(folders[0].name, runs, phases, tariff, {})
    name = _name(combination, names)
    first, *others = [_conditions(folder, run) for folder, run in zip(folders, runs, strict=True)]
    differing = [key for key in first if any(conditions.get(key) != first[key] for conditions in others)]
    warnings = [f"The runs with {name} differ among themselves in {key}." for key in differing]
    alike = {key: value for key, value in first.items() if key not in differing}
    if len(side.accounts) < len(runs):
        raise BadArgument(f"a run with {name} has no interaction, or no record of the processors' time")
    run_names = [f"{folder.name} with {name}" for folder in folders]
    warnings += warnings_of_runs(run_names, runs, side.stretches, without=("busy",), named=True)
    return ChangeSet(combination, name, side, alike, (*warnings, *_failed_checks(name, side), *_unanswered(name, side)))


def _conditions(folder: Path, run: Tables) -> dict[str, str]:
    """The conditions by which a change can be recognised, with the lines of the script."""
    conditions = {
        key: value
        for key, value in conditions_of(folder, run.conditions).items()
        if not key.startswith(_VOLATILE_CONDITIONS) and not key.endswith("used_bytes") and key != SCRIPT_TEXT
    }
    return {**conditions, **script_values(folder), "meters": str(run.conditions.get("meters", {}).get("tier", ""))}


def _failed_checks(name: str, side: Side) -> list[str]:
    """Warnings about checks of the records that fail, and about other programs on the host."""
    texts_by_check: dict[str, list[str]] = {}
    for run, stretch in zip(side.tables, side.stretches, strict=True):
        for check in checks_of(run, stretch):
            if check.verdict == "broken" and not check.name.startswith(CHECKS_WITH_WARNINGS):
                texts_by_check.setdefault(check.name, []).append(check.text)
    warnings = [
        f"With {name}, in {len(texts)} of {len(side.tables)} runs a check fails, {check}: {texts[0]}."
        for check, texts in texts_by_check.items()
    ]
    if clause := busy_clause(side.other_work, f"With {name} ", "up to "):
        warnings.append(f"{clause}. Measure again when the host is quiet.")
    return warnings


def _unanswered(name: str, side: Side) -> list[str]:
    """A warning about interactions that failed or had no answer, for example because memory ran out."""
    failed = sum(
        run.interactions.select((pl.col("outcome").cast(pl.String) != "ok").sum()).item() for run in side.tables
    )
    if not failed:
        return []
    return [
        f"With {name} {number(failed)} of {number(len(side.rows))} interactions failed or were not answered: their "
        "times are not those of the whole work."
    ]


def _changes(names: Sequence[str], choices: Sequence[ChangeSet]) -> tuple[tuple[Change, ...], list[str]]:
    """The changes with the conditions that reveal them, and sentences about conditions that differ otherwise."""
    conditions_by_change: list[list[str]] = [[] for _ in names]
    unexplained = []
    for key in dict.fromkeys(key for choice in choices for key in choice.conditions):
        values = [choice.conditions.get(key, "") for choice in choices]
        if len(set(values)) == 1:
            continue
        bits = [bit for bit in range(len(names)) if _depends_on(values, bit)]
        if len(bits) == 1:
            before, after = _shortened([values[0], values[1 << bits[0]]])
            conditions_by_change[bits[0]].append(f"{key}: {before} to {after}")
        else:
            pairs = zip(_shortened(values), choices, strict=True)
            listed = "; ".join(f"{value} with {choice.name}" for value, choice in pairs)
            unexplained.append(f"{key} differs, and not by one of the changes: {listed}.")
    changes = [Change(name, tuple(texts)) for name, texts in zip(names, conditions_by_change, strict=True)]
    return tuple(changes), unexplained


def _depends_on(values: Sequence[str], bit: int) -> bool:
    return any(values[made] != values[made | 1 << bit] for made in range(len(values)) if not made >> bit & 1)


def _shortened(values: Sequence[str]) -> list[str]:
    """Each value in one line. Long values are cut to the part in which they differ."""
    flat = [" ".join(value.split()) or "none" for value in values]
    if max(map(len, flat)) <= _SHOWN_VALUE_CHARS:
        return flat
    columns = enumerate(zip(*flat, strict=False))
    common_chars = next((index for index, letters in columns if len(set(letters)) > 1), min(map(len, flat)))
    begin = max(0, common_chars - _SHOWN_VALUE_CHARS // 4)
    end = begin + _SHOWN_VALUE_CHARS
    return [f"{'…' if begin else ''}{text[begin:end]}{'…' if end < len(text) else ''}" for text in flat]


def _title(choices: Sequence[ChangeSet]) -> str:
    side = choices[0].side
    runs = len(side.tables)
    return f"{side.title}, measured with each combination of the changes in {number(runs)} run{'s' if runs > 1 else ''}"
