"""Compares a run of an observed script with what was observed: by command, by class of users, and as a load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

import polars as pl

from loadgo.errors import BadRun
from loadgo.measures.run_evidence import evidence_of_runs
from loadgo.measures.run_warnings import warnings_of_runs
from loadgo.notation.margin import margin_share
from loadgo.observation.figures_file import FIGURES_ENDING, KeptFigures, figures_path, read_figures
from loadgo.observation.likeness.figures import (
    Sides,
    compared_correlations,
    compared_distributions,
    compared_figures,
    compared_mixes,
    quantile_curves,
)
from loadgo.observation.likeness.gaps import not_compared, not_modelled, run_shell
from loadgo.observation.likeness.results import (
    DEFAULT_LIKENESS_MARGIN,
    Likeness,
)
from loadgo.observation.likeness.rows import SideRows, observed_rows, run_rows
from loadgo.observation.likeness.script_match import check_script, class_of_lines, class_warnings, script_warnings
from loadgo.observation.likeness.stand_in_bytes import compared_bytes, jobs_of_script
from loadgo.observation.likeness.user_rates import load_of
from loadgo.records.conditions import has_open_load, script_lines, system_title
from loadgo.records.fleet_tables import tables_of_load
from loadgo.records.phases import Stretch, classified_in, stretch_of
from loadgo.records.runs import LAST_RUN_NAME, find_run
from loadgo.records.tables import Tables, tables


def likeness(
    script: str | PathLike[str],
    run: str | PathLike[str] = LAST_RUN_NAME,
    *,
    margin: str | float = DEFAULT_LIKENESS_MARGIN,
) -> Likeness:
    """Compares a run of a script that `observe` made with what was observed.

        print(loadgo.likeness("monday.toml", "last").report("text"))

    Args:
        script: The script, beside which `observe` has kept the figures of the observation; or the file of these.
        run: A run of the script: its folder or id, `last`, or the result of `loadgo.run`. On this host, another, or a
            simulated machine.
        margin: The relative difference that counts as like, such as `10%`.

    Returns:
        `Likeness` with figures of commands, users and the load, each with its interval; distances of distributions,
        correlations, and what cannot be compared or is not modelled.

    Raises:
        loadgo.errors.Refused: The figures are missing or damaged, or the run is one of another script.
        loadgo.errors.BadRun: The run is missing, cannot be read, or nobody has typed a line in it.

    See docs/observe.md for the rules.
    """
    path, like_share = Path(script), margin_share(margin)
    figures = read_figures(path if path.name.endswith(FIGURES_ENDING) else figures_path(path))
    folder = find_run(run)
    recorded = tables_of_load(tables(folder))
    stretch = stretch_of(recorded)
    lines = script_lines(folder)
    check_script(path, folder, lines, figures.description)
    sides = Sides(
        observed_rows(figures), _rows_of_run(recorded, stretch, lines, figures), figures.description, like_share
    )
    if sides.run.rows.is_empty():
        raise BadRun(f"{folder} has no command of the script that was answered: there is nothing to compare")
    is_simulated = _is_simulated(recorded)
    moved = () if is_simulated else tuple(compared_bytes(figures, jobs_of_script(folder, lines, figures)))
    return Likeness(
        script=path,
        run=folder.name,
        system=system_title(recorded.conditions),
        source=figures.description.kind,
        margin=like_share,
        sessions=(sides.observed.rows["session"].n_unique(), sides.run.rows["session"].n_unique()),
        figures=tuple(compared_figures(sides)),
        mixes=tuple(compared_mixes(sides)),
        distributions=tuple(compared_distributions(sides)),
        correlations=tuple(compared_correlations(sides)),
        bytes=moved,
        observed_load=load_of(sides.observed, figures.description.equivalent_users, _observed_rate(sides)),
        run_load=load_of(sides.run, _mean_users(recorded, stretch), _rate_of_run(recorded, stretch)),
        not_compared=not_compared(
            sides.observed,
            sides.run,
            figures.description,
            moved,
            is_simulated=is_simulated,
            shell="" if is_simulated else run_shell(str(recorded.conditions.get("system", {}).get("login", ""))),
        ),
        not_modelled=not_modelled(figures.description),
        curves=tuple(quantile_curves(sides)),
        warnings=tuple(_warnings(sides, folder, recorded, stretch, lines)),
        evidence=evidence_of_runs([recorded], [stretch]),
    )


def _rows_of_run(
    recorded: Tables, stretch: Stretch, lines: Sequence[tuple[str, str]], figures: KeptFigures
) -> SideRows:
    classes = class_of_lines(lines, figures.description)
    numbers = pl.col("line").cast(pl.Int64)
    class_of = numbers.replace_strict(classes or {0: ""}, default=None, return_dtype=pl.String)
    interactions = classified_in(recorded, stretch)
    if _is_simulated(recorded) and not interactions["faults_minor"].sum():
        # A simulated machine has no faults but those that wait for a page.
        interactions = interactions.with_columns(faults_minor=pl.lit(None, pl.UInt64))
    return run_rows(interactions, class_of, figures.description, stretch.span_ns / 1e9)


def _is_simulated(recorded: Tables) -> bool:
    return bool(recorded.conditions.get("system", {}).get("kind") == "machine")


def _observed_rate(sides: Sides) -> float | None:
    """The sessions that began in an hour."""
    span_s = sides.observed.span_s
    return sides.observed.rows["session"].n_unique() * 3600 / span_s if span_s > 0 else None


def _rate_of_run(recorded: Tables, stretch: Stretch) -> float | None:
    """The sessions that began in an hour, where they arrive at a rate."""
    if not has_open_load(recorded.conditions) or stretch.span_ns <= 0:
        return None
    started = recorded.sessions["started_ns"].cast(pl.Int64)
    return int(started.is_between(stretch.start_ns, stretch.end_ns).sum()) * 3600e9 / stretch.span_ns


def _mean_users(recorded: Tables, stretch: Stretch) -> float | None:
    """The mean number of users who were logged in; None while that is not known."""
    if stretch.span_ns <= 0 or recorded.sessions.is_empty():
        return None
    begun = pl.max_horizontal(pl.col("started_ns").cast(pl.Int64), stretch.start_ns)
    ended = pl.min_horizontal(pl.col("ended_ns").cast(pl.Int64), stretch.end_ns)
    return float(recorded.sessions.select((ended - begun).clip(0).sum()).item() or 0) / stretch.span_ns


def _warnings(
    sides: Sides, folder: Path, recorded: Tables, stretch: Stretch, lines: Sequence[tuple[str, str]]
) -> Iterator[str]:
    description = sides.description
    yield from warnings_of_runs([folder.name], [recorded], [stretch])
    for loss in description.losses:
        yield f"In the observation: {loss}"
    yield from script_warnings(folder, recorded.conditions, lines, description)
    yield from class_warnings(sides)
