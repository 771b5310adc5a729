"""The run folder of a run on several hosts: the rows of all agents, on the run's clock, each with its host."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo.errors import BadRun, LoadgoError
from loadgo.hosts.address import Address
from loadgo.hosts.clock import FarClock
from loadgo.hosts.fleet import UserRange
from loadgo.notation.figures import duration
from loadgo.records.fleets import (
    DRIVER_HOST,
    FLEET_FOLDER,
    HOST_COLUMN,
    METER_TABLES,
    hosts_of_run,
    with_host_of_user,
)
from loadgo.records.run_file import read_run_file
from loadgo.running.elsewhere.live_places import HostLoss
from loadgo.running.elsewhere.metering import FarMeteringEnd
from loadgo.running.elsewhere.run_folder import (
    FOLLOWED_NONE,
    RunClock,
    charged_interactions,
    clock_doubt,
    clock_section,
    driver_words,
    dropped_log_ins,
    far_run_toml,
    meters_loss,
    placed_tables,
    rows_of_sure_commands,
    run_length_ns,
    usage_section,
    write_run_toml,
    write_table,
)

if TYPE_CHECKING:
    import polars as pl

    from loadgo.records.far_usage import UsageCounts

_ABOUT = "users logged in to {count} hosts by ssh, and {driver}: response times include the network"

_ORDER = "order of all interactions"
"""The column with the place of an interaction in its table, while its host's usage is charged."""


@dataclass(frozen=True)
class EndedHost:
    """A host after the run."""

    name: str
    address: Address
    users: UserRange
    ended: FarMeteringEnd
    clock: FarClock | None
    loss: HostLoss | None


@dataclass(frozen=True)
class PlacedHost:
    """The rows that a host adds to the run, and its sections of `run.toml`."""

    rows: Mapping[str, pl.DataFrame]
    """By table. Without meter tables if they have no place on the run's clock."""
    interactions: pl.DataFrame
    sections: Mapping[str, Any]
    notes: tuple[str, ...]
    is_placed: bool


def complete_fleet_run(folder: Path, hosts: Sequence[EndedHost], run_result: dict[str, Any]) -> dict[str, Any]:
    """Places the agents' records in the run that has ended. Returns its result, with what the agents have said."""
    import polars as pl

    try:
        placed = _place(folder, hosts, run_result)
    except (OSError, pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as refusal:
        raise BadRun(
            f"{folder} has no meters of its hosts: {refusal}; they are in {folder / FLEET_FOLDER}"
        ) from refusal
    remove_placed(folder, [host.name for host, rows in zip(hosts, placed, strict=True) if rows.is_placed])
    notes = [note for host_placed in placed for note in host_placed.notes]
    left_behind = [text for host in hosts for text in host.ended.left_behind]
    return {
        **run_result,
        "notes": [*run_result["notes"], *notes],
        "left_behind": [*run_result["left_behind"], *left_behind],
    }


def remove_placed(folder: Path, names: Sequence[str]) -> None:
    """Removes the folders of these hosts, whose rows are in the tables; those of others stay."""
    place = folder / FLEET_FOLDER
    for name in names:
        shutil.rmtree(place / name, ignore_errors=True)
    with suppress(OSError):
        if not any(path.is_dir() for path in place.iterdir()):
            shutil.rmtree(place)


def tell_unplaced_hosts(folder: Path, addresses: Mapping[str, Address]) -> None:
    """Says in the folder of a run that broke off where the hosts' meters are. Does nothing if none have begun."""
    import polars as pl

    begun = [name for name in addresses if (folder / FLEET_FOLDER / name / "run.toml").exists()]
    if not begun:
        return
    reason = f"the run broke off: the meters of {', '.join(begun)} are in {FLEET_FOLDER}, by their own clocks"
    with suppress(OSError, ValueError, LoadgoError, pl.exceptions.PolarsError):
        run_toml = read_run_file(folder)
        run_toml["notes"] = [*run_toml.get("notes", []), reason]
        lost = with_host_of_user(_read(folder, "lost"), hosts_of_run(run_toml))
        write_table(folder, "lost", pl.concat([lost, _loss(reason, DRIVER_HOST)], how="diagonal"))
        write_run_toml(folder, run_toml)


def _place(folder: Path, hosts: Sequence[EndedHost], run_result: dict[str, Any]) -> list[PlacedHost]:
    """Writes all rows into the run's tables, and the hosts' sections into `run.toml`."""
    import polars as pl

    run_toml = read_run_file(folder)
    known, entries = hosts_of_run(run_toml), run_toml["system"]["hosts"]
    of_users = {name: with_host_of_user(_read(folder, name), known) for name in ("sessions", "screens", "lost")}
    interactions = with_host_of_user(_read(folder, "interactions"), known).with_row_index(_ORDER)
    placed = []
    for host, entry in zip(hosts, entries, strict=True):
        own = interactions.filter(pl.col(HOST_COLUMN).cast(pl.String) == host.name)
        placed.append(placed_host(folder, host, own, of_users["sessions"], int(run_result["origin_ns"]), run_toml))
        entry.update(placed[-1].sections)
    for name in METER_TABLES:
        write_table(folder, name, pl.concat([host.rows[name] for host in placed]))
    losses = [of_users["lost"], *(host.rows["lost"] for host in placed)]
    write_table(folder, "lost", pl.concat(losses, how="diagonal"))
    write_table(folder, "sessions", of_users["sessions"])
    write_table(folder, "screens", of_users["screens"])
    whose = [
        interactions.filter(pl.col(HOST_COLUMN).cast(pl.String) == DRIVER_HOST),
        *(host.interactions for host in placed),
    ]
    write_table(folder, "interactions", pl.concat(whose).sort(_ORDER).drop(_ORDER))
    _complete_run_toml(folder, run_toml, [note for host in placed for note in host.notes] + dropped_log_ins(folder))
    return placed


def placed_host(
    folder: Path,
    host: EndedHost,
    interactions: pl.DataFrame,
    sessions: pl.DataFrame,
    origin_ns: int,
    run_toml: Mapping[str, Any],
) -> PlacedHost:
    """The rows of a host, and its sections of `run.toml`."""
    import polars as pl

    from loadgo.records.far_usage import bounds_of_users

    far_folder = folder / FLEET_FOLDER / host.name
    far, ended, clock = far_run_toml(far_folder), host.ended, host.clock
    doubt = clock_doubt(ended, clock, f"{FLEET_FOLDER}/{host.name}")
    reason = "; ".join(filter(None, (ended.failure, doubt)))
    missing = [f"the meters of {host.name} are incomplete: {reason}"] if reason else []
    rows = {name: _read(far_folder, name).clear() for name in (*METER_TABLES, "lost")}
    counts: UsageCounts | str = doubt or FOLLOWED_NONE
    doubts: list[str] = []
    if clock is not None and ended.origin_ns is not None and not doubt:
        rows = placed_tables(far_folder, RunClock(clock, ended.origin_ns, origin_ns), run_length_ns(folder))
        bounds = bounds_of_users(run_toml, clock.bound_ns)
        charged = charged_interactions(interactions, sessions, rows["session_usage"], bounds, far)
        interactions, counts = charged or (interactions, FOLLOWED_NONE)
        rows, doubts = rows_of_sure_commands(rows, interactions, bounds, host.name)
    rows = {name: _with_host(frame, host.name) for name, frame in rows.items()}
    # Rows of the host's users tell its loss already; lost meters of a host that was not lost are told here.
    if missing and host.loss is None:
        rows["lost"] = pl.concat([rows["lost"], _loss(missing[0], host.name)])
    sections: dict[str, Any] = {name: far[name] for name in ("conditions", "meters") if name in far}
    sections["usage"] = usage_section(dict(run_toml.get("usage", {})), far, host.address, counts)
    if clock is not None:
        sections["clock"] = clock_section(clock, origin_ns)
    if host.loss is not None:
        sections |= {"lost": host.loss.reason, "lost_at_s": round((host.loss.monotonic_ns - origin_ns) / 1e9, 3)}
    told = (*ended.notes, *ended.left_behind, *missing, *doubts)
    notes = tuple(note if host.name in note else f"{host.name}: {note}" for note in told)
    return PlacedHost(rows, interactions, sections, notes, is_placed=not doubt)


def _complete_run_toml(folder: Path, run_toml: dict[str, Any], notes: Sequence[str]) -> None:
    """Adds notes to `run.toml`, and says where each interaction's usage comes from."""
    entries = run_toml["system"]["hosts"]
    about = _ABOUT.format(count=len(entries), driver=driver_words(run_toml))
    bounds = [entry["clock"]["bound_ns"] for entry in entries if "clock" in entry]
    clocks = f", and the hosts' clocks are known within {duration(max(bounds))}" if bounds else ""
    run_toml["notes"] = [*run_toml.get("notes", []), f"{about}{clocks}", *notes]
    run_toml["usage"] = _common_usage([entry["usage"] for entry in entries])
    write_run_toml(folder, run_toml)


def _common_usage(usages: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The sources of usage on all hosts: a source in which they differ has all values."""
    common = dict(usages[0])
    for key in ("cpu", "faults", "waits", "split"):
        values = list(dict.fromkeys(str(usage[key]) for usage in usages if usage.get(key)))
        if values:
            common[key] = ", or ".join(values)
    common["cpu_resolution_ns"] = max(int(usage.get("cpu_resolution_ns", 1)) for usage in usages)
    common["notes"] = list(dict.fromkeys(note for usage in usages for note in usage.get("notes", [])))
    return common


def _read(folder: Path, name: str) -> pl.DataFrame:
    from loadgo.records.tables import read_table

    return read_table(folder, name)


def _with_host(frame: pl.DataFrame, name: str) -> pl.DataFrame:
    import polars as pl

    return frame.with_columns(pl.lit(name).cast(pl.Categorical).alias(HOST_COLUMN))


def _loss(reason: str, host: str) -> pl.DataFrame:
    """A row of `lost` for a host's missing meters."""
    return _with_host(meters_loss(reason), host)
