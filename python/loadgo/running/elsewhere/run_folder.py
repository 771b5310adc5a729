"""The run folder of a run on another host: the agent's records are placed on the run's clock, and become its tables."""

from __future__ import annotations

import shutil
import tomllib
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadgo.errors import BadRun, LoadgoError
from loadgo.hosts.address import Address
from loadgo.hosts.clock import FarClock
from loadgo.notation.figures import counted, duration, in_words, number, share
from loadgo.records.drivers import drivers_of_run
from loadgo.records.fleets import METER_TABLES
from loadgo.records.host_places import WIDEST_BOUND_NS
from loadgo.records.run_file import LAST_INSTANT_NS, read_run_file
from loadgo.records.runs import FAR_FOLDER
from loadgo.running.elsewhere.metering import FarMeteringEnd

if TYPE_CHECKING:
    import polars as pl

    from loadgo.records.far_usage import BoundOfUser, UsageCounts

_DRIVER = "driver"
"""The driver's row of `processes`: an agent has no driver."""
FOLLOWED_NONE = "loadgo's agent there has followed no session"
_DROPPED = "kex_exchange_identification"
"""In what ssh prints if sshd closes the connection before its first word."""
_ABOUT = (
    "users logged in to {host} by ssh, and {driver}: response times include the network, and the meters are those of "
    "{host}{clock}"
)


def complete_run(
    folder: Path, host: Address, run_result: dict[str, Any], ended: FarMeteringEnd, clock: FarClock | None
) -> dict[str, Any]:
    """Places the agent's records in the run that has ended. Returns its result, with what the agent has said."""
    import polars as pl

    doubt = clock_doubt(ended, clock, FAR_FOLDER)
    reason = "; ".join(filter(None, (ended.failure, doubt)))
    missing = [f"the meters of {host} are incomplete: {reason}"] if reason else []
    notes = [*ended.notes, *ended.left_behind, *missing]
    try:
        usage: UsageCounts | str = doubt or FOLLOWED_NONE
        if clock is not None and ended.origin_ns is not None and not doubt:
            _place_tables(folder, RunClock(clock, ended.origin_ns, int(run_result["origin_ns"])))
            usage = _charge_interactions(folder, clock.bound_ns) or FOLLOWED_NONE
            notes += _check_commands(folder, host, clock.bound_ns)
        for loss in missing:
            _add_loss(folder, loss)
        notes += dropped_log_ins(folder)
        _complete_run_toml(folder, host, clock, int(run_result["origin_ns"]), notes, usage)
    except (OSError, pl.exceptions.PolarsError, ValueError, TypeError, OverflowError) as refusal:
        raise BadRun(f"{folder} has no meters of {host}: {refusal}; they are in {folder / FAR_FOLDER}") from refusal
    if not doubt:
        shutil.rmtree(folder / FAR_FOLDER, ignore_errors=True)
    return {
        **run_result,
        "notes": [*run_result["notes"], *notes],
        "left_behind": [*run_result["left_behind"], *ended.left_behind],
    }


def tell_unplaced(folder: Path, host: Address) -> None:
    """Says in the folder of a run that broke off where its meters are. Does nothing if they have not begun."""
    import polars as pl

    if not (folder / FAR_FOLDER / "run.toml").exists():
        return
    reason = f"the run broke off: the meters of {host} are in {FAR_FOLDER}, by its own clock"
    with suppress(OSError, ValueError, LoadgoError, pl.exceptions.PolarsError):
        run_toml = read_run_file(folder)
        run_toml["notes"] = [*run_toml.get("notes", []), reason]
        _add_loss(folder, reason)
        write_run_toml(folder, run_toml)


@dataclass(frozen=True)
class RunClock:
    """The clock of the run, for instants of a metering on another host."""

    far_clock: FarClock
    far_origin_ns: int
    """The beginning of the metering on the monotonic clock there."""
    origin_ns: int
    """The beginning of the run on the monotonic clock here."""

    def instants(self, metered_ns: Sequence[int]) -> list[int]:
        """The instants of the run; before its beginning they are negative."""
        here_ns = self.far_clock.here_ns([self.far_origin_ns + instant for instant in metered_ns])
        return [instant - self.origin_ns for instant in here_ns]


def clock_doubt(ended: FarMeteringEnd, clock: FarClock | None, place: str) -> str:
    """The reason why the agent's records have no place on the run's clock; empty if they have one.

    `place` is their folder in the run's folder.
    """
    if clock is None:
        return "the clock there was not compared"
    if ended.origin_ns is None:
        return "it has not said when its records begin"
    if clock.bound_ns > WIDEST_BOUND_NS:
        return (
            f"its clock is known to {clock.bound_ns / 1e6:.0f} ms only, over a slow network; its records are in "
            f"{place}, by its own clock"
        )
    return ""


def _place_tables(folder: Path, run_clock: RunClock) -> None:
    """Writes the agent's rows into the run's tables."""
    import polars as pl

    from loadgo.records.tables import read_table

    placed = placed_tables(folder / FAR_FOLDER, run_clock, run_length_ns(folder))
    for name in METER_TABLES:
        write_table(folder, name, placed[name])
    write_table(folder, "lost", pl.concat([read_table(folder, "lost"), placed["lost"]], how="diagonal"))


def run_length_ns(folder: Path) -> int:
    """The length of the run in `folder`, which has ended."""
    return int(float(tomllib.loads((folder / "run.toml").read_text(encoding="utf-8")).get("wall_s") or 0) * 1e9)


def placed_tables(far_folder: Path, run_clock: RunClock, end_ns: int) -> dict[str, pl.DataFrame]:
    """The agent's rows in `far_folder` that belong to a run of this length, on its clock: `METER_TABLES` and `lost`.

    A span that had begun before the run is left out, since its sums have more than the run in them. Users log in after
    the beginning, so the rows of a user are kept, and their span is cut at the beginning.
    """
    import polars as pl

    from loadgo.records.tables import losses_from_conditions, read_table

    placed: dict[str, pl.DataFrame] = {}
    for name in METER_TABLES:
        rows = read_table(far_folder, name).filter(pl.col("span_ns") <= LAST_INSTANT_NS)
        rows = _placed(rows, run_clock)
        if "user" in rows.columns:
            in_run = pl.when(pl.col("user").is_not_null() & (pl.col("at_ns") > 0)).then(pl.col("at_ns"))
            rows = rows.with_columns(span_ns=pl.min_horizontal("span_ns", in_run))
        rows = rows.filter(
            pl.col("at_ns").cast(pl.Int64) >= pl.col("span_ns").cast(pl.Int64),
            pl.col("at_ns").cast(pl.Int64) - pl.col("span_ns").cast(pl.Int64) < end_ns,
        )
        if name == "processes":
            rows = rows.filter(pl.col("who").cast(pl.String) != _DRIVER)
        placed[name] = rows
    lost = [read_table(far_folder, "lost"), losses_from_conditions(far_run_toml(far_folder))]
    return {**placed, "lost": _placed(pl.concat(lost), run_clock)}


def _charge_interactions(folder: Path, bound_ns: int) -> UsageCounts | None:
    """Gives each interaction what it used there. None if the agent has followed no session."""
    from loadgo.records.far_usage import bounds_of_users
    from loadgo.records.tables import read_table

    interactions, sessions = read_table(folder, "interactions"), read_table(folder, "sessions")
    readings, far = read_table(folder, "session_usage"), far_run_toml(folder / FAR_FOLDER)
    bounds = bounds_of_users(far_run_toml(folder), bound_ns)
    charged = charged_interactions(interactions, sessions, readings, bounds, far)
    if charged is None:
        return None
    write_table(folder, "interactions", charged[0])
    return charged[1]


def _check_commands(folder: Path, host: Address, bound_ns: int) -> list[str]:
    """Takes the command off rows that may belong to another one. Returns a note if there are such rows."""
    from loadgo.records.far_usage import bounds_of_users
    from loadgo.records.tables import read_table
    from loadgo.running.elsewhere.typed_commands import COMMAND_TABLES

    interactions = read_table(folder, "interactions")
    rows = {name: read_table(folder, name) for name in METER_TABLES}
    bounds = bounds_of_users(far_run_toml(folder), bound_ns)
    rows, notes = rows_of_sure_commands(rows, interactions, bounds, host)
    for name in COMMAND_TABLES if notes else ():
        write_table(folder, name, rows[name])
    return notes


def rows_of_sure_commands(
    rows: dict[str, pl.DataFrame], interactions: pl.DataFrame, bound_of: BoundOfUser, host: object
) -> tuple[dict[str, pl.DataFrame], list[str]]:
    """The rows of the meters of `host`, by table, without commands that are doubtful; and a note if there are such."""
    from loadgo.running.elsewhere.typed_commands import commands_note, has_commands, with_sure_commands

    if not has_commands(rows):
        return rows, []
    sure, told = with_sure_commands(rows, interactions, bound_of)
    note = commands_note(host, told)
    return (sure, [note]) if note else (rows, [])


def charged_interactions(
    interactions: pl.DataFrame,
    sessions: pl.DataFrame,
    readings: pl.DataFrame,
    bound_of: BoundOfUser,
    far: dict[str, Any],
) -> tuple[pl.DataFrame, UsageCounts] | None:
    """The interactions with what they used on the host of the `run.toml` `far`. None if it has followed no session."""
    import polars as pl

    from loadgo.records.far_usage import charge, processors_of

    if readings.filter(pl.col("user").is_not_null()).is_empty():
        return None
    return charge(interactions, sessions, readings, bound_of, processors_of(far))


def dropped_log_ins(folder: Path) -> list[str]:
    """A note with the remedy if sshd has dropped log-ins of the run in `folder`."""
    import polars as pl

    from loadgo.records.tables import read_table

    lost = read_table(folder, "lost").filter(pl.col("what").cast(pl.String) == "log-in")
    dropped = int(lost.filter(pl.col("reason").str.contains(_DROPPED, literal=True))["count"].sum())
    if not dropped:
        return []
    return [
        f"sshd dropped {counted(dropped, 'log-in')} without a word, as it does when many log in at once: raise "
        "`MaxStartups` in its sshd_config"
    ]


def driver_words(run_toml: Mapping[str, Any]) -> str:
    """Where the driver of a run was, or its drivers."""
    drivers = drivers_of_run(run_toml)
    if drivers:
        return f"the drivers ran on {in_words([driver.name for driver in drivers])}"
    return f"the driver ran on {run_toml.get('driver', {}).get('hostname', 'this host')}"


def _placed(rows: pl.DataFrame, run_clock: RunClock) -> pl.DataFrame:
    """The rows with `at_ns` on the run's clock; an instant before the run's beginning becomes 0.

    A row with an instant that no clock reaches is left out.
    """
    import polars as pl

    rows = rows.filter(pl.col("at_ns") <= LAST_INSTANT_NS)
    there = rows["at_ns"].unique().sort()
    here = pl.Series([max(0, instant) for instant in run_clock.instants(there.to_list())], dtype=pl.Int64)
    return rows.with_columns(pl.col("at_ns").replace_strict(there, here.cast(pl.UInt64), return_dtype=pl.UInt64))


def _add_loss(folder: Path, reason: str) -> None:
    """Adds the missing meters to the table of losses."""
    import polars as pl

    from loadgo.records.tables import read_table

    write_table(folder, "lost", pl.concat([read_table(folder, "lost"), meters_loss(reason)], how="diagonal"))


def meters_loss(reason: str) -> pl.DataFrame:
    """A row of `lost` for missing meters."""
    from loadgo.records.tables import loss_rows

    return loss_rows([{"at_ns": 0, "what": "meters", "count": 1, "reason": reason}])


def write_table(folder: Path, name: str, rows: pl.DataFrame) -> None:
    """Replaces a table of the run in one step, after its entry in the manifest. `write_run_toml` writes a new entry."""
    import polars as pl

    _forget_in_manifest(folder, name)
    part = folder / f"{name}.parquet.part"
    rows.cast({pl.Categorical: pl.String}).write_parquet(part, compression="snappy")
    part.replace(folder / f"{name}.parquet")


def _forget_in_manifest(folder: Path, name: str) -> None:

    from loadgo.records.manifest import MANIFEST_KEY

    run_toml = read_run_file(folder)
    if name in run_toml.get(MANIFEST_KEY, {}):
        del run_toml[MANIFEST_KEY][name]
        _replace_run_toml(folder, run_toml)


def far_run_toml(far_folder: Path) -> dict[str, Any]:
    """The agent's last description; empty without one."""
    file = far_folder / "run.toml"
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}


def _complete_run_toml(
    folder: Path, host: Address, clock: FarClock | None, origin_ns: int, notes: list[str], usage: UsageCounts | str
) -> None:
    """Adds the agent's last description, the clocks and `notes` to `run.toml`."""
    run_toml = read_run_file(folder)
    far = far_run_toml(folder / FAR_FOLDER)
    for section in ("conditions", "meters"):
        if section in far:
            run_toml[section] = far[section]
    run_toml["usage"] = usage_section(run_toml.get("usage", {}), far, host, usage)
    known = "" if clock is None else f", whose clock is known within {duration(clock.bound_ns)}"
    about = _ABOUT.format(host=host, driver=driver_words(run_toml), clock=known)
    run_toml["notes"] = [*run_toml.get("notes", []), about, *notes]
    if clock is not None:
        run_toml["clock"] = clock_section(clock, origin_ns)
    write_run_toml(folder, run_toml)


def usage_section(
    local_usage: dict[str, Any], far: dict[str, Any], host: Address, counts: UsageCounts | str
) -> dict[str, Any]:
    """Says where usage comes from: from the agent, from this host if ssh led to it (`local_usage`), or from nowhere.

    `counts` tells how many interactions have a usage from the agent, or why none has.
    """
    of_agent = far.get("usage", {})
    if not isinstance(counts, str) and counts.all > counts.elsewhere:
        return {**of_agent, "notes": [*of_agent.get("notes", []), *_usage_words(host, counts)]}
    if local_usage.get("cpu"):
        return local_usage
    reason = counts if isinstance(counts, str) else FOLLOWED_NONE
    unknown = f"what each interaction used on {host} is not known: {reason}"
    return {**local_usage, "notes": [unknown, *of_agent.get("notes", [])]}


def _usage_words(host: Address, counts: UsageCounts) -> list[str]:
    """The share of the interactions whose usage is known, and why that of the others is not."""
    reasons = (
        (counts.between, "no reading came between two lines of a user: they were too fast, or the agent stood still"),
        (counts.not_followed, "loadgo's agent did not follow the session"),
        (counts.cut_off, "loadgo's agent was lost before the next reading"),
    )
    known = counts.known + counts.elsewhere
    about = (
        f"usage was read on {host} every 50 ms: CPU is known for {share(known / counts.all)} of the interactions "
        f"({counted(known, 'interaction')} of {number(counts.all)})"
    )
    why_not = [f"{number(count)}: {reason}" for count, reason in reasons if count]
    return ["; ".join((about, *why_not))]


def write_run_toml(folder: Path, run_toml: dict[str, Any]) -> None:
    """Replaces `run.toml` in one step, with the manifest of the tables as they are now."""
    from loadgo.records.manifest import MANIFEST_KEY, manifest_of

    _replace_run_toml(folder, run_toml | {MANIFEST_KEY: manifest_of(folder)})


def _replace_run_toml(folder: Path, run_toml: dict[str, Any]) -> None:
    import tomlkit

    from loadgo.records.manifest import with_checksum_line

    part = folder / "run.toml.part"
    part.write_bytes(with_checksum_line(tomlkit.dumps(run_toml).encode()))
    part.replace(folder / "run.toml")


def clock_section(clock: FarClock, origin_ns: int) -> dict[str, Any]:
    """`[clock]` of `run.toml`: the clock there minus the clock here, as it was compared."""
    drift = {} if clock.drift_ppm is None else {"drift_ppm": round(clock.drift_ppm, 3)}
    exchanges = [
        {
            "stage": exchange.stage,
            "at_s": round((exchange.here_ns - origin_ns) / 1e9, 3),
            "offset_ns": exchange.offset_ns,
            "bound_ns": exchange.bound_ns,
        }
        for exchange in clock.exchanges
    ]
    return {"bound_ns": clock.bound_ns, **drift, "exchanges": exchanges}
