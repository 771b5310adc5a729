"""What each of several changes did, of runs that are there already: for a host, which no option changes.

Each choice of the changes has runs of its own, as many as the others have, measured in turns: the first of each choice,
the second of each, and so on, so that what else the host did then is drawn again with them. What a change was is read
off the conditions of the runs: what differs wherever it is made and nowhere else. Whatever differs otherwise is told
before any figure, since nothing can say what came of it.
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
from loadgo.measures.record_checks import checks_of
from loadgo.measures.total_time import TotalTime, total_time_of
from loadgo.notation.figures import number, share
from loadgo.records.conditions import SCRIPT_TEXT, conditions_of, words_of
from loadgo.records.runs import find_run
from loadgo.records.tables import Tables, read_conditions, tables
from loadgo.stats.shapley import MOST_CHANGES

Run = str | os.PathLike[str]

OTHERS_AT_MOST = 0.1
"""More of the processors' time for others than this, in one of the runs, is a warning."""
_OF_THE_MOMENT = ("seed", "load_average", "memory_available_bytes", "users_logged_in")
"""Conditions that no change is told by: they are another time by time."""
_THE_KERNELS = ("kernel thread", "interrupt", "soft interrupt", "getwork", "irq", "softirq", "meters", "uncharged")
"""Busy time that may be nobody's without there being other programs: it writes the users' pages, too."""
_LONGEST = 40
"""How much of a condition's value is shown."""


@dataclass(frozen=True)
class Choice:
    """The runs with some of the changes made."""

    made: int
    """Bit i: change i is made."""
    name: str
    side: Side
    conditions: Mapping[str, str]
    """Those in which its runs are alike, and the script's lines."""
    warnings: tuple[str, ...]


def speedup_of(measured: Mapping[str, Sequence[Run]], *, tariff: str = "default") -> Speedup:
    """Takes apart what changes did in runs that are there: by the changes that were made, such as `""`, `"disk"`,
    `"cpu"` and `"cpu+disk"`, each choice with as many runs as the others, in the order in which they were measured.

    Raises `ValueError` where a choice is lacking or a run is named twice, `errors.BadRun` for one that cannot be read.
    """
    names = _names(measured)
    folders = _folders(measured, names)
    phases = _phases(folders)
    choices = [_choice(made, names, folders[made], phases, tariff) for made in range(1 << len(names))]
    known, told = _changes(names, choices)
    whole = taken_apart(_title(choices), known, [choice.side.accounts for choice in choices], choices[0].side.seeds, ())
    seeds = {choice.side.seeds for choice in choices}
    unpaired = () if len(seeds) == 1 else ("The seeds of the runs are not the same with every choice of the changes.",)
    return replace(
        whole,
        warnings=(*told, *unpaired, *(line for choice in choices for line in choice.warnings)),
        measured=True,
    )


def _names(measured: Mapping[str, Sequence[Run]]) -> list[str]:
    """The changes, in the order in which they are first named."""
    for key in measured:
        own = _split(key)
        if len(set(own)) < len(own):
            raise BadArgument(f"{key!r} names a change twice")
    names = list(dict.fromkeys(name for key in measured for name in _split(key)))
    if not 1 <= len(names) <= MOST_CHANGES:
        raise BadArgument(f"{len(names)} changes: there must be 1 to {MOST_CHANGES}, each with a name: =A,B disk=C,D")
    return names


def _split(key: str) -> list[str]:
    return [name.strip() for name in key.split("+") if name.strip()]


def _folders(measured: Mapping[str, Sequence[Run]], names: Sequence[str]) -> dict[int, list[Path]]:
    """The runs' folders by choice, in their order."""
    asked: dict[int, list[Run]] = {}
    for key, runs in measured.items():
        made = sum(1 << names.index(name) for name in _split(key))
        asked.setdefault(made, []).extend(runs)
    lacking = [_called(made, names) for made in range(1 << len(names)) if not asked.get(made)]
    if lacking:
        raise BadArgument(f"there are no runs with {'; '.join(lacking)}: every choice of the changes must be measured")
    found = {made: [find_run(run) for run in runs] for made, runs in asked.items()}
    every = [folder.resolve() for folders in found.values() for folder in folders]
    for folder in every:
        if every.count(folder) > 1:
            raise BadArgument(f"the run {folder.name} is named twice: each choice of the changes has runs of its own")
    counts = {_called(made, names): len(folders) for made, folders in sorted(found.items())}
    if len(set(counts.values())) > 1:
        said = "; ".join(f"{count} with {name}" for name, count in counts.items())
        raise BadArgument(f"every choice of the changes needs as many runs as the others; there are {said}")
    return found


def _called(made: int, names: Sequence[str]) -> str:
    return "+".join(name for bit, name in enumerate(names) if made >> bit & 1) or "none of the changes"


def _phases(folders: Mapping[int, Sequence[Path]]) -> str:
    """The steady part of runs that end at a time; all of runs in which users did a number of passes."""
    loads = [read_conditions(folder).get("load", {}) for each in folders.values() for folder in each]
    ended = [any(key in load for key in ("duration_s", "until")) for load in loads]
    if any(ended) and not all(ended):
        raise BadArgument("some of the runs end at a time and others after a number of passes: measure them alike")
    return "steady" if all(ended) else "all"


def _choice(made: int, names: Sequence[str], folders: Sequence[Path], phases: str, tariff: str) -> Choice:
    runs = tuple(tables(folder) for folder in folders)
    side = side_of_runs(folders[0].name, runs, phases, tariff, {})
    name = _called(made, names)
    every = [_conditions(folder, run) for folder, run in zip(folders, runs, strict=True)]
    apart = [key for key in every[0] if any(one.get(key) != every[0][key] for one in every)]
    warnings = [f"The runs with {name} differ among themselves in {key}." for key in apart]
    alike = {key: value for key, value in every[0].items() if key not in apart}
    if len(side.accounts) < len(runs):
        raise BadArgument(f"with {name} the processors' time, or any interaction, is lacking in one of the runs")
    ends = [(folder.name, run.conditions.get("outcome", "")) for folder, run in zip(folders, runs, strict=True)]
    warnings += [
        f"The run {run} with {name} is not whole: it was {outcome}." for run, outcome in ends if outcome != "done"
    ]
    return Choice(made, name, side, alike, (*warnings, *_broken(name, side), *_unanswered(name, side)))


def _conditions(folder: Path, run: Tables) -> dict[str, str]:
    """The conditions that a change may be told by, with all that the script says."""
    told = {
        key: value
        for key, value in conditions_of(folder, run.conditions).items()
        if not key.startswith(_OF_THE_MOMENT) and not key.endswith("used_bytes") and key != SCRIPT_TEXT
    }
    return {**told, **words_of(folder), "meters": str(run.conditions.get("meters", {}).get("tier", ""))}


def _broken(name: str, side: Side) -> list[str]:
    """What does not hold in one of the runs, and others at work on the host."""
    found: dict[str, list[str]] = {}
    most = 0.0
    for run, stretch in zip(side.tables, side.stretches, strict=True):
        for check in checks_of(run, stretch):
            if check.verdict == "broken":
                found.setdefault(check.name, []).append(check.text)
        most = max(most, _others(total_time_of(run, stretch)))
    told = [
        f"With {name}, in {len(texts)} of {len(side.tables)} runs it does not hold that {check}: {texts[0]}."
        for check, texts in found.items()
    ]
    if side.kind == "host" and most > OTHERS_AT_MOST:
        told.append(
            f"With {name} other programs had up to {share(most)} of the processors' time of a run: measure again when "
            "the host is quiet."
        )
    return told


def _others(total: TotalTime | None) -> float:
    """The share of all time that is neither the users', nor loadgo's, nor the kernel's own, 0 to 1."""
    if total is None:
        return 0.0
    own = sum(category.time_ns for category in total.categories if category.name in _THE_KERNELS)
    return total.share_of(max((total.account.unattributed_ns or 0) - own, 0)) or 0.0


def _unanswered(name: str, side: Side) -> list[str]:
    """Interactions that did not do what the script expects: killed for want of memory, say."""
    failed = sum(
        run.interactions.select((pl.col("outcome").cast(pl.String) != "ok").sum()).item() for run in side.tables
    )
    if not failed:
        return []
    return [
        f"With {name} {number(failed)} of {number(len(side.rows))} interactions failed or were not answered: what they "
        "took is not what the work takes."
    ]


def _changes(names: Sequence[str], choices: Sequence[Choice]) -> tuple[tuple[Change, ...], list[str]]:
    """What each change was, by the conditions; and the conditions that differ otherwise than by the changes."""
    own: list[list[str]] = [[] for _ in names]
    strange = []
    for key in dict.fromkeys(key for choice in choices for key in choice.conditions):
        values = [choice.conditions.get(key, "") for choice in choices]
        if len(set(values)) == 1:
            continue
        by = [bit for bit in range(len(names)) if _depends_on(values, bit)]
        if len(by) == 1:
            before, after = _shown([values[0], values[1 << by[0]]])
            own[by[0]].append(f"{key}: {before} to {after}")
        else:
            said = "; ".join(f"{value} with {one.name}" for value, one in zip(_shown(values), choices, strict=True))
            strange.append(f"{key} is not as the changes are: {said}.")
    return tuple(Change(name, tuple(told)) for name, told in zip(names, own, strict=True)), strange


def _depends_on(values: Sequence[str], bit: int) -> bool:
    return any(values[made] != values[made | 1 << bit] for made in range(len(values)) if not made >> bit & 1)


def _shown(values: Sequence[str]) -> list[str]:
    """The values in one line each; of long ones the part in which they differ."""
    flat = [" ".join(value.split()) or "not told" for value in values]
    if max(map(len, flat)) <= _LONGEST:
        return flat
    alike = next(
        (at for at, letters in enumerate(zip(*flat, strict=False)) if len(set(letters)) > 1), min(map(len, flat))
    )
    begin = max(0, alike - _LONGEST // 4)
    return [
        f"{'…' if begin else ''}{text[begin : begin + _LONGEST]}{'…' if begin + _LONGEST < len(text) else ''}"
        for text in flat
    ]


def _title(choices: Sequence[Choice]) -> str:
    side = choices[0].side
    runs = len(side.tables)
    return f"{side.title}, measured with each choice of the changes in {number(runs)} run{'s' if runs > 1 else ''}"
