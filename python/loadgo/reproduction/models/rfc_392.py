"""Our figures for "RFC 392" (`rfc-392`), from runs of the bundled machines."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from statistics import fmean, stdev

import polars as pl

from loadgo.records.interactions import RESPONSE_NS
from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import processor_price
from loadgo.reproduction.models.scripts import script_from_lines
from loadgo.reproduction.models.totals import InteractionUse, RunTotals
from loadgo.reproduction.models.values import Mark, Plot, PlottedCurve, ReproducedValue, ReproducedValues
from loadgo.stats.student import student_reach

MACHINE_NAME = "tenex"
FEWEST_PASSES, FEWEST_SAMPLES = 2, 16
"""The fewest passes of a script, and the fewest times that each transfer is made: they show how single ones scatter."""
COMPETING_COMMAND, COMPETING_LINES = "compile", 12
"""Assumed: the command of the other processes, and how often it runs between two transfers."""
NETWORK_PRICE = 0.30
"""Planned price in dollars of a million bits on the network: Roberts and Wessler, 1970."""
TRANSFER_BYTES = (250, 500, 1000, 2000, 5000, 20000, 100000)
REMEDY_SETTINGS = {
    "as it was: bytes of 8 bits, BIN and BOUT": (),
    "bytes of 32 bits": ("supervisor.network_byte=0.03ms", "supervisor.network_message=0.5ms"),
    "bytes of 36 bits": ("supervisor.network_byte=0.02667ms", "supervisor.network_message=0.5ms"),
    "pages mapped onto the network": ("supervisor.network_byte=0s", "supervisor.network_message=0.5ms"),
    "bytes of 32 bits, records and blocks in them too": (
        "supervisor.network_byte=0.03ms",
        "supervisor.network_message=0.5ms",
        "commands.send.network_byte_cpu=0.125ms",
    ),
}
"""The document's remedies as machine settings: longer bytes, messages without unpacking, no bytes at all."""


@dataclass(frozen=True)
class PrintedTransfer:
    """A row of the document's tables: the cells that are fed into the model."""

    table: str
    row: int
    bytes: int
    command: str
    load: float

    @property
    def users(self) -> int:
        """The number of processes that always want the processor and so give this load average."""
        return max(1, round(self.load))

    @property
    def is_fitted(self) -> bool:
        """Whether the other host's wait was fitted to the clock of this transfer."""
        return self.table == "table-1" and self.command == "receive"


@dataclass(frozen=True)
class TransferUse:
    """The mean use of one transfer over all times that it was made, in seconds."""

    cpu_s: float
    response_s: float
    one_run: tuple[float, float]
    """The range in which 95 of 100 single clock times lie, from the logarithms of those of the run."""


def reproduced_values(lab: Lab) -> ReproducedValues:
    """Our figures by the ids of the printed figures, without those that follow by arithmetic."""
    uses = _uses(lab, printed_transfers())
    values: dict[str, ReproducedValue] = {}
    for transfer, use in uses.items():
        values |= _row(transfer, use)
    values |= _totals(uses)
    return {f"rfc-392/{name}": value for name, value in values.items()}


def reproduced_plots(lab: Lab) -> tuple[Plot, ...]:
    """A chart of the processor time that the document's remedies would save."""
    script = script_from_lines(f"send {size}" for size in TRANSFER_BYTES)
    runs = lab.runs([Experiment(script, MACHINE_NAME, set=changes) for changes in REMEDY_SETTINGS.values()])
    curves = [
        PlottedCurve(
            name, tuple((size, _us_per_bit(run.lines[1, index + 1], size)) for index, size in enumerate(TRANSFER_BYTES))
        )
        for name, run in zip(REMEDY_SETTINGS, runs, strict=True)
    ]
    return (
        Plot(
            name="remedies",
            document="rfc-392",
            title="What remedies would save",
            x="bytes sent",
            y="µs of processor time per bit",
            curves=tuple(curves),
            how=f"sends by one user on `{MACHINE_NAME}`; there are a quarter as many bytes of 32 bits, and none in a "
            "page",
        ),
    )


def _uses(lab: Lab, transfers: Sequence[PrintedTransfer]) -> Mapping[PrintedTransfer, TransferUse]:
    """The use of each transfer. Several processes, as many as its load average, compute and transfer in turn."""
    loads = sorted({transfer.users for transfer in transfers})
    groups = {load: [transfer for transfer in transfers if transfer.users == load] for load in loads}
    runs = lab.runs([Experiment(_script(groups[load], load), MACHINE_NAME, load) for load in loads])
    return {
        transfer: _use_of_line(run, (COMPETING_LINES + 1) * (index + 1))
        for load, run in zip(loads, runs, strict=True)
        for index, transfer in enumerate(groups[load])
    }


def _script(transfers: Sequence[PrintedTransfer], users: int) -> str:
    competing = [COMPETING_COMMAND] * COMPETING_LINES
    work = [line for transfer in transfers for line in (*competing, f"{transfer.command} {transfer.bytes}")]
    return script_from_lines(work, passes=max(FEWEST_PASSES, math.ceil(FEWEST_SAMPLES / users)))


def _use_of_line(run: RunTotals, line: int) -> TransferUse:
    """The use of a script's line, by all users in all passes."""
    passes = [use for (_, number), use in run.lines.items() if number == line]
    rows = run.tables.interactions.filter((pl.col("line") == line) & pl.col("ready_ns").is_not_null())
    clocks_s = [ns / 1e9 for ns in rows.select(RESPONSE_NS)["response_ns"].to_list()]
    return TransferUse(fmean(use.cpu_s for use in passes), fmean(clocks_s), _range_of_one(clocks_s))


def _range_of_one(values: Sequence[float]) -> tuple[float, float]:
    """The range in which 95 of 100 further values lie, if logarithms are normal."""
    logs = [math.log(value) for value in values]
    reach = student_reach(len(logs) - 1) * stdev(logs) * math.sqrt(1 + 1 / len(logs))
    return math.exp(fmean(logs) - reach), math.exp(fmean(logs) + reach)


def _row(transfer: PrintedTransfer, use: TransferUse) -> dict[str, ReproducedValue]:
    row_id = f"{transfer.table}/{transfer.row:02}"
    mark: Mark = "fitted" if transfer.table == "table-1" else "predicted"
    how = (
        f"`{transfer.command} {transfer.bytes}` on `{MACHINE_NAME}` among {transfer.users} processes "
        "that always want to run"
    )
    cpu_how = f"{how}; the times for a byte and for a transfer were set by table 1" if mark == "fitted" else how
    bits = 8 * transfer.bytes
    clock_mark: Mark = "fitted" if transfer.is_fitted else "predicted"
    clock_how = f"{how}; the wait for the other host was set by table 1's receives" if transfer.is_fitted else how
    shortest_s, longest_s = use.one_run
    rate_of_one = (bits / longest_s, bits / shortest_s)
    return {
        f"{row_id}/cpu": ReproducedValue(use.cpu_s, mark, cpu_how),
        f"{row_id}/us-per-bit": ReproducedValue(1e6 * use.cpu_s / bits, mark, cpu_how),
        f"{row_id}/clock": ReproducedValue(use.response_s, clock_mark, clock_how, one_run=use.one_run),
        f"{row_id}/bits-per-s": ReproducedValue(bits / use.response_s, clock_mark, clock_how, one_run=rate_of_one),
    }


def _totals(uses: Mapping[PrintedTransfer, TransferUse]) -> dict[str, ReproducedValue]:
    cpu_s = {
        command: sum(use.cpu_s for transfer, use in uses.items() if transfer.command == command)
        for command in ("send", "receive")
    }
    moved = {command: sum(transfer.bytes for transfer in uses if transfer.command == command) for command in cpu_s}
    us_per_byte = [1e6 * cpu_s[command] / moved[command] for command in cpu_s]
    low, high = min(us_per_byte), max(us_per_byte)
    real_s, all_cpu_s = sum(use.response_s for use in uses.values()), sum(cpu_s.values())
    how = "all transfers: sends are the lower end, receives the upper; table 1 set the time a byte, table 2 did not"
    cost = [processor_price(MACHINE_NAME, us / 8) for us in (low, high)]

    def ranged(factor: float) -> ReproducedValue:
        return ReproducedValue(factor * low, "predicted", how, high=factor * high)

    return {
        "text/per-byte": ranged(1.0),
        "text/per-bit": ranged(1 / 8),
        "text/seconds": ranged(1 / 8),
        "text/cost": ReproducedValue(cost[0], "predicted", how, high=cost[1]),
        "text/times": ReproducedValue(
            cost[0] / NETWORK_PRICE,
            "predicted",
            f"{how}; at $.30 a million bits on the network",
            high=cost[1] / NETWORK_PRICE,
        ),
        "totals/sends-cpu": ReproducedValue(cpu_s["send"], "predicted", how),
        "totals/sends-us-per-bit": ReproducedValue(1e6 * cpu_s["send"] / moved["send"] / 8, "predicted", how),
        "totals/receives-cpu": ReproducedValue(cpu_s["receive"], "predicted", how),
        "totals/receives-us-per-bit": ReproducedValue(1e6 * cpu_s["receive"] / moved["receive"] / 8, "predicted", how),
        "totals/stretch": ReproducedValue(
            real_s / all_cpu_s, "predicted", "real over processor time of all transfers, at their loads"
        ),
    }


def _us_per_bit(use: InteractionUse, size: int) -> float:
    return 1e6 * use.cpu_s / size / 8


def printed_transfers() -> list[PrintedTransfer]:
    """The rows of the document's two tables, in their order."""
    path = resources.files("loadgo") / "data" / "published" / "rfc392_tables.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    transfers = []
    for table in ("1", "2"):
        for row, line in enumerate((line for line in rows if line["table"] == table), start=1):
            command = {"s": "send", "r": "receive"}[line["dir"]]
            transfers.append(PrintedTransfer(f"table-{table}", row, int(line["bytes"]), command, float(line["load5"])))
    return transfers
