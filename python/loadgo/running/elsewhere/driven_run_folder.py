"""The run folder of a run with several drivers: begun here, filled by their agents, completed with all their rows."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo import _loadgo
from loadgo.errors import BadRun
from loadgo.notation.figures import duration, in_words
from loadgo.records.drivers import DRIVEN_TABLES, DRIVERS_FOLDER, DRIVERS_KEY
from loadgo.running.elsewhere.driving import FarDriving, FarDrivingEnd
from loadgo.running.elsewhere.run_folder import clock_section, write_run_toml, write_table

if TYPE_CHECKING:
    import polars as pl

    from loadgo.records.driver_tables import ClockShift, DriverRows, MergedRows
    from loadgo.records.tables import Tables

MOST_UNNOTED_BOUND_NS = 1_000_000
"""A line may be so late at p99. What depends on a clock that is known to more than that is not known as well."""
_DRIVER_KEYS = ("hostname", "kernel", "distribution", "architecture", "processors", "processor", "memory_bytes")
"""Keys of a driver's `system` that its entry has, too."""


@dataclass
class DrivenRun:
    """A run under way whose drivers are elsewhere."""

    place: Path
    folder: _loadgo.RunFolder
    options: Mapping[str, Any]
    begins_ns: int | None = None
    """When the users begin, on the monotonic clock here; None before that is known."""
    begin_bounds_ns: dict[str, int] = field(default_factory=dict)
    """How well the clock of each driver was known when it was told the beginning."""

    @property
    def origin_ns(self) -> int:
        """The beginning of the run on the monotonic clock here."""
        return self.folder.origin_ns()

    @property
    def interactions_expected(self) -> int | None:
        """Number of interactions of the whole run, if it is known beforehand."""
        return self.folder.interactions_expected()


def begin_driven_run(
    script: str, options: dict[str, Any], place: Path, drivings: Sequence[FarDriving], without_lost: int
) -> DrivenRun:
    """Makes the run's folder, once all drivers are ready. Raises `BadRun`."""
    known = {name: value for name, value in options.items() if name != "given_up"}
    run = DrivenRun(place, _loadgo.RunFolder(script, known, str(place)), options)
    run_toml = read_run_toml(place)
    run_toml["without_lost"] = without_lost
    run_toml[DRIVERS_KEY] = [_entry(run, driving) for driving in drivings]
    write_run_toml(place, run_toml)
    return run


def _entry(run: DrivenRun, driving: FarDriving) -> dict[str, Any]:
    """A driver in `run.toml`, as it is known when it is ready.

    `shift_ns` places its records on the run's clock until the end, when the clocks are known better.
    """
    origin_ns = driving.origin_ns
    assert origin_ns is not None, "the origin comes before the first description"
    return {
        "shift_ns": origin_ns - driving.known_clock.best.offset_ns - run.origin_ns,
        "name": driving.host.name,
        "address": str(driving.host.address),
        "weight": driving.host.weight,
        "first_user": driving.users.first,
        "last_user": driving.users.last,
    }


def complete_driven_run(
    run: DrivenRun, ends: Sequence[FarDrivingEnd], *, was_stopped: bool, failure: str = ""
) -> dict[str, Any]:
    """Writes the rows of all drivers into the run's tables. Returns the run's result, as `_loadgo.run_host` does.

    Raises `BadRun` if they cannot be read or written.
    """
    import polars as pl

    try:
        merged, figures = _merge(run, ends)
        outcome = _outcome(ends, was_stopped=was_stopped, failure=failure)
        notes = _notes(ends, figures, merged, failure)
        _write(run, merged, ends, figures, outcome, notes)
    except (OSError, pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as refusal:
        kept = run.place / DRIVERS_FOLDER
        raise BadRun(f"{run.place} has no rows of its drivers: {refusal}; they are in {kept}") from refusal
    finally:
        run.folder.close()
    shutil.rmtree(run.place / DRIVERS_FOLDER, ignore_errors=True)
    counts = {name: sum(end.counts[name] for end in ends) for name in ends[0].counts}
    return {
        **counts,
        "outcome": outcome,
        "origin_ns": run.origin_ns,
        "interactions": len(merged.frames["interactions"]),
        "notes": [*notes, *(note for end in ends for note in _named(end, end.notes))],
        "left_behind": [text for end in ends for text in _named(end, end.left_behind)],
    }


def fail_driven_run(run: DrivenRun, ends: Sequence[FarDrivingEnd], error: BaseException) -> None:
    """Keeps what the drivers of a run have recorded which has broken off by `error`."""
    with suppress(BadRun, OSError):
        is_interrupt = isinstance(error, KeyboardInterrupt)
        failure = "" if is_interrupt else str(error) or type(error).__name__
        complete_driven_run(run, ends, was_stopped=is_interrupt, failure=failure)


def _outcome(ends: Sequence[FarDrivingEnd], *, was_stopped: bool, failure: str) -> str:
    if failure:
        return "failed"
    if was_stopped or any(end.outcome == "stopped" for end in ends):
        return "stopped"
    return "failed" if all(end.lost for end in ends) else "done"


def _named(end: FarDrivingEnd, texts: Sequence[str]) -> list[str]:
    """The texts of a driver, each with its name."""
    return [text if end.host.name in text else f"{end.host.name}: {text}" for text in texts]


def _merge(run: DrivenRun, ends: Sequence[FarDrivingEnd]) -> tuple[MergedRows, dict[str, dict[str, Any]]]:
    """The rows of all drivers, and what `run.toml` says about each."""
    from loadgo.records.driver_tables import merged_rows

    parts = [_rows_of(run, end) for end in ends]
    merged = merged_rows([rows for rows, _ in parts])
    for end in ends:
        if end.lost and run.begins_ns is not None:
            _add_lost_users(run, end, merged)
    figures = {
        end.host.name: _figures(run, end, merged, recorded) for end, (_, recorded) in zip(ends, parts, strict=True)
    }
    return merged, figures


def _rows_of(run: DrivenRun, end: FarDrivingEnd) -> tuple[DriverRows, Tables | None]:
    """The rows of a driver, and its tables; without rows if nothing came of it."""
    import polars as pl

    from loadgo.records.driver_tables import ClockShift, DriverRows
    from loadgo.records.tables import COLUMNS_BY_TABLE, tables

    place = run.place / DRIVERS_FOLDER / end.host.name
    recorded = tables(place) if (place / "run.toml").exists() else None
    frames = {} if recorded is None else recorded.frames()
    names = (*DRIVEN_TABLES, "phases")
    rows = {name: frames.get(name, pl.DataFrame(schema=COLUMNS_BY_TABLE[name])) for name in names}
    shift = ClockShift.constant(0)
    if end.clock is not None and end.origin_ns is not None:
        shift = _shift(run, end)
    bound_ns = 0 if end.clock is None else end.clock.bound_ns
    return DriverRows(
        end.host.name, end.users.first, end.users.last, bound_ns, shift, rows, is_lost=bool(end.lost)
    ), recorded


def _shift(run: DrivenRun, end: FarDrivingEnd) -> ClockShift:
    """The time to add to the instants of a driver, by the exchanges with its clock."""
    import numpy as np

    from loadgo.records.driver_tables import ClockShift

    assert end.clock is not None
    assert end.origin_ns is not None
    known = [(one.here_ns + one.offset_ns - end.origin_ns, one.offset_ns) for one in end.clock.exchanges]
    at_ns = np.array([there for there, _ in known], np.int64)
    shifts = np.array([end.origin_ns - offset - run.origin_ns for _, offset in known], np.int64)
    return ClockShift(at_ns, shifts)


def _add_lost_users(run: DrivenRun, end: FarDrivingEnd, merged: MergedRows) -> None:
    """Adds a loss for each user whose session had not ended when the driver was lost, and the sessions themselves.

    Of these nobody knows when the log-in was: all were logged in when the load began.
    """
    import polars as pl

    assert run.begins_ns is not None
    sessions, lost = merged.frames["sessions"], merged.frames["lost"]
    known = set(sessions["user"].to_list())
    users = [user for user in range(end.users.first, end.users.last + 1) if user not in known]
    began_ns, ended_ns = max(0, run.begins_ns - run.origin_ns), max(0, end.lost_ns - run.origin_ns)
    reason = f"{end.host.name}, which drove the user, is lost: {end.lost}"
    losses = pl.DataFrame(
        {"at_ns": ended_ns, "user": users, "what": "session", "count": 1, "reason": reason, "driver": end.host.name},
        schema_overrides={"user": pl.UInt32},
    )
    merged.frames["lost"] = pl.concat([lost, _like(losses, lost)])
    if run.options.get("arrivals_per_second") is None:
        began = dict.fromkeys(("planned_ns", "started_ns", "ready_ns"), began_ns)
        stays = pl.DataFrame(
            {"user": users, **began, "ended_ns": ended_ns, "outcome": "died", "driver": end.host.name},
            schema_overrides={"user": pl.UInt32},
        )
        merged.frames["sessions"] = pl.concat([sessions, _like(stays, sessions)])


def _like(rows: pl.DataFrame, frame: pl.DataFrame) -> pl.DataFrame:
    import polars as pl

    return rows.select(pl.col(name).cast(kind) for name, kind in frame.schema.items())


def _figures(run: DrivenRun, end: FarDrivingEnd, merged: MergedRows, recorded: Tables | None) -> dict[str, Any]:
    """The figures of a driver in `run.toml`: its host, its phases, its clock, its lateness, and its processors."""
    description = {} if recorded is None else recorded.conditions
    system, scheduling = description.get("system", {}), description.get("driver", {})
    figures: dict[str, Any] = {key: system[key] for key in _DRIVER_KEYS if key in system}
    figures |= {key: scheduling[key] for key in ("scheduling", "proof", "notes") if key in scheduling}
    if "processor" in scheduling:
        figures["bound_to_processor"] = scheduling["processor"]
    phases = merged.phases_by_driver[end.host.name]
    figures |= {f"{phase.replace('-', '_')}_s": round(at_ns / 1e9, 9) for phase, at_ns in phases.items()}
    if end.host.name in run.begin_bounds_ns:
        figures["begin_bound_ns"] = run.begin_bounds_ns[end.host.name]
    figures |= _lateness(merged.frames["interactions"], end.host.name)
    if recorded is not None:
        figures |= _processor_shares(recorded)
    if end.clock is not None:
        figures["clock"] = clock_section(end.clock, run.origin_ns)
    if end.lost:
        figures |= {"lost": end.lost, "lost_at_s": round((end.lost_ns - run.origin_ns) / 1e9, 3)}
    return figures


def _lateness(interactions: pl.DataFrame, name: str) -> dict[str, Any]:
    """The lateness of a driver's lines in the steady phase, or of all its lines if none was sent there."""
    import polars as pl

    from loadgo.records.drivers import DRIVER_COLUMN
    from loadgo.records.interactions import LATENESS_NS
    from loadgo.stats.quantiles import sorted_quantile

    own = interactions.filter(pl.col(DRIVER_COLUMN).cast(pl.String) == name)
    steady = own.filter(pl.col("phase").cast(pl.String) == "steady")
    late = (steady if len(steady) else own).select(LATENESS_NS.cast(pl.Float64)).to_series().sort().to_numpy()
    if not len(late):
        return {"lines": 0}
    quantiles = {f"lateness_{name}_ns": round(sorted_quantile(late, share)) for name, share in _QUANTILES}
    return {"lines": len(late), **quantiles}


_QUANTILES = (("p50", 0.5), ("p99", 0.99), ("max", 1.0))


def _processor_shares(recorded: Tables) -> dict[str, float]:
    """The shares of the processors of a driver's host that loadgo and everybody together took in its steady phase."""
    from loadgo.measures.total_time import total_time_of
    from loadgo.records.phases import stretch_of

    total = total_time_of(recorded, stretch_of(recorded))
    if total is None:
        return {}
    own = total.share_of(total.account.laboratory_ns)
    return {"busy_share": round(total.busy_share, 6)} | ({} if own is None else {"driver_share": round(own, 6)})


def _notes(
    ends: Sequence[FarDrivingEnd], figures: Mapping[str, Mapping[str, Any]], merged: MergedRows, failure: str
) -> list[str]:
    names = in_words([end.host.name for end in ends])
    bounds = {name: of["clock"]["bound_ns"] for name, of in figures.items() if "clock" in of}
    notes = [f"users were driven from {names}, by loadgo's agent on each"]
    wide = {name: bound for name, bound in bounds.items() if bound > MOST_UNNOTED_BOUND_NS}
    if wide:
        widest = max(wide, key=lambda name: wide[name])
        notes.append(
            f"the clock of {widest} is known within {duration(wide[widest])}: which of two lines from two drivers came "
            "first is not known if they are closer than that, and the steady phase is shorter by it; each response and "
            "think time is measured by one clock"
        )
    for name, count in merged.foreign_rows.items():
        notes.append(f"{count} rows of {name} are left out: they are of users whom it does not drive")
    return [*notes, *([f"the run failed: {failure}"] if failure else [])]


def _write(
    run: DrivenRun,
    merged: MergedRows,
    ends: Sequence[FarDrivingEnd],
    figures: Mapping[str, Mapping[str, Any]],
    outcome: str,
    notes: Sequence[str],
) -> None:
    """Writes the tables, and then `run.toml`, which says that the run has ended."""
    for table, frame in merged.frames.items():
        write_table(run.place, table, frame)
    run_toml = read_run_toml(run.place)
    ended = datetime.now(UTC)
    texts = [text for end in ends for text in _named(end, (*end.notes, *end.left_behind))]
    for entry in run_toml[DRIVERS_KEY]:
        entry.pop("shift_ns", None)
        entry.update(figures[entry["name"]])
    run_toml |= {
        "finished": True,
        "ended": ended,
        "wall_s": round((ended - run_toml["started"]).total_seconds(), 6),
        "outcome": outcome,
        "notes": [*run_toml.get("notes", []), *notes, *texts],
        "usage": _usage(run),
    }
    write_run_toml(run.place, run_toml)


def _usage(run: DrivenRun) -> dict[str, Any]:
    """The section `usage`: that of the first driver that has one."""
    for path in sorted((run.place / DRIVERS_FOLDER).glob("*/run.toml")):
        usage: dict[str, Any] = read_run_toml(path.parent).get("usage", {})
        if usage:
            return usage
    return {}


def read_run_toml(folder: Path) -> dict[str, Any]:
    """The content of `run.toml` in a folder, as plain values."""
    return tomllib.loads((folder / "run.toml").read_text(encoding="utf-8"))
