"""Our figures for "RFC 392" (`rfc-392`), from runs of the bundled machines."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import priced
from loadgo.reproduction.models.scripts import of_lines
from loadgo.reproduction.models.totals import Use
from loadgo.reproduction.models.values import Curve, Mark, Plot, Value, Values

MACHINE = "tenex"
PASSES = 2
OTHERS, BETWEEN = "compile", 12
"""What the other processes do, and how often between two transfers (assumed): the batch work had gone elsewhere."""
NETWORK_PRICE = 0.30
"""What the network was to cost for a million bits: Roberts and Wessler, 1970."""
SIZES = (250, 500, 1000, 2000, 5000, 20000, 100000)
REMEDIES = {
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
"""What the document proposes, as changes of the machine: longer bytes, messages without unpacking, no bytes at all."""


@dataclass(frozen=True)
class Transfer:
    """A row of the document's tables, as far as it is fed in."""

    table: str
    row: int
    bytes: int
    command: str
    load: float

    @property
    def users(self) -> int:
        """So many processes that always want the processor make this load average."""
        return max(1, round(self.load))


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `arithmetic`."""
    every = transfers()
    used = _used(lab, every)
    values: dict[str, Value] = {}
    for transfer in every:
        values |= _row(transfer, used[transfer])
    values |= _totals(used)
    return {f"rfc-392/{name}": value for name, value in values.items()}


def plots(lab: Lab) -> tuple[Plot, ...]:
    """What the document's remedies would save."""
    script = of_lines(f"send {size}" for size in SIZES)
    runs = lab.runs([Experiment(script, MACHINE, set=changes) for changes in REMEDIES.values()])
    curves = [
        Curve(name, tuple((size, _us_per_bit(run.lines[1, at + 1], size)) for at, size in enumerate(SIZES)))
        for name, run in zip(REMEDIES, runs, strict=True)
    ]
    return (
        Plot(
            name="remedies",
            document="rfc-392",
            title="What remedies would save",
            x="bytes sent",
            y="us of processor time a bit",
            curves=tuple(curves),
            how=f"sends by one user on `{MACHINE}`; there are a quarter as many bytes of 32 bits, and none in a page",
        ),
    )


def _used(lab: Lab, transfers: Sequence[Transfer]) -> Mapping[Transfer, Use]:
    """Each transfer among as many processes as the load average was: who transfer and compute in turn."""
    loads = sorted({transfer.users for transfer in transfers})
    groups = {load: [transfer for transfer in transfers if transfer.users == load] for load in loads}
    runs = lab.runs([Experiment(_script(groups[load]), MACHINE, load) for load in loads])
    return {
        transfer: _mean([run.lines[again, (BETWEEN + 1) * (at + 1)] for again in range(1, PASSES + 1)])
        for load, run in zip(loads, runs, strict=True)
        for at, transfer in enumerate(groups[load])
    }


def _script(transfers: Sequence[Transfer]) -> str:
    others = [OTHERS] * BETWEEN
    work = [line for transfer in transfers for line in (*others, f"{transfer.command} {transfer.bytes}")]
    return of_lines(work, passes=PASSES)


def _mean(uses: Sequence[Use]) -> Use:
    """The mean of a line's uses in several passes, which all users made."""
    names = Use.__dataclass_fields__
    return Use(**{name: sum(getattr(use, name) for use in uses) / len(uses) for name in names})


def _row(transfer: Transfer, use: Use) -> dict[str, Value]:
    at = f"{transfer.table}/{transfer.row:02}"
    mark: Mark = "fitted" if transfer.table == "table-1" else "predicted"
    ran = (
        f"`{transfer.command} {transfer.bytes}` on `{MACHINE}` among {transfer.users} processes that always want to run"
    )
    told = f"{ran}; time a byte and at all set by table 1" if mark == "fitted" else ran
    bits = 8 * transfer.bytes
    return {
        f"{at}/cpu": Value(use.cpu_s, mark, told),
        f"{at}/us-per-bit": Value(1e6 * use.cpu_s / bits, mark, told),
        f"{at}/clock": Value(use.response_s, "predicted", ran),
        f"{at}/bits-per-s": Value(bits / use.response_s, "predicted", ran),
    }


def _totals(used: Mapping[Transfer, Use]) -> dict[str, Value]:
    cpu_s = {way: sum(use.cpu_s for to, use in used.items() if to.command == way) for way in ("send", "receive")}
    moved = {way: sum(to.bytes for to in used if to.command == way) for way in cpu_s}
    ends = [1e6 * cpu_s[way] / moved[way] for way in cpu_s]
    low, high = min(ends), max(ends)
    clock_s, all_s = sum(use.response_s for use in used.values()), sum(cpu_s.values())
    how = "all transfers: sends are the lower end, receives the upper; table 1 set the time a byte, table 2 did not"
    cost = [priced(MACHINE, end / 8) for end in (low, high)]

    def ranged(factor: float) -> Value:
        return Value(factor * low, "predicted", how, high=factor * high)

    return {
        "text/per-byte": ranged(1.0),
        "text/per-bit": ranged(1 / 8),
        "text/seconds": ranged(1 / 8),
        "text/cost": Value(cost[0], "predicted", how, high=cost[1]),
        "text/times": Value(
            cost[0] / NETWORK_PRICE,
            "predicted",
            f"{how}; at $.30 a million bits on the network",
            high=cost[1] / NETWORK_PRICE,
        ),
        "totals/sends-cpu": Value(cpu_s["send"], "predicted", how),
        "totals/sends-us-per-bit": Value(1e6 * cpu_s["send"] / moved["send"] / 8, "predicted", how),
        "totals/receives-cpu": Value(cpu_s["receive"], "predicted", how),
        "totals/receives-us-per-bit": Value(1e6 * cpu_s["receive"] / moved["receive"] / 8, "predicted", how),
        "totals/stretch": Value(
            clock_s / all_s, "predicted", "real over processor time of all transfers, at their loads"
        ),
    }


def _us_per_bit(use: Use, size: int) -> float:
    return 1e6 * use.cpu_s / size / 8


def transfers() -> list[Transfer]:
    """The rows of the document's two tables, in their order."""
    path = resources.files("loadgo") / "data" / "published" / "rfc392_tables.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    found = []
    for table in ("1", "2"):
        for row, line in enumerate((line for line in rows if line["table"] == table), start=1):
            command = {"s": "send", "r": "receive"}[line["dir"]]
            found.append(Transfer(f"table-{table}", row, int(line["bytes"]), command, float(line["load5"])))
    return found
