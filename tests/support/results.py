"""A result of each kind that the library has: from simulated machines, published tables, recorded runs, or made up."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import loadgo
from loadgo.documents.result import Result
from loadgo.laboratory.history import history_in, parsed_figure
from loadgo.laboratory.run_index import RunIndex
from loadgo.measures.tariff import load_tariff
from loadgo.profiling.profile import Frame, Profile, Segment, Stack
from loadgo.ready_message.ready import Ready
from loadgo.records.runs import read_run
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.command import CommandTransfer, Moved
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.prices import prices
from loadgo.transfers.transfer import Transferred

from support.accounting_records import made_day, written_accounting, written_history
from support.command_runs import command_run
from support.made_knobs import made_knob_capacity
from support.made_laboratory import made_runs, scattered
from support.places import TESTS
from support.small_machine import MACHINE, laid
from support.transfer_rows import rounds
from support.transfer_tables import COLUMNS, SEED

METERED = TESTS / "runs" / "reported" / "metered"
LISTED_RUNS = TESTS / "runs" / "format-1"


def laid_results(folder: Path) -> Path:
    """The folder with a script, a machine, and three runs: `a`; `b` on twice the speed; `c` with half the users.

    Below `observed` it has an observed script, with a run of it.
    """
    script, machine = laid(folder)
    written_accounting(folder / "pacct", made_day())
    (folder / "own-load.toml").write_text(f'{MACHINE}\n[[load]]\nusers = 4\nthink = "5s"\ncommands = ["compile"]\n')
    for name, speed, users in (("a", "1", 4), ("b", "2", 4), ("c", "1", 2)):
        loadgo.run(script, on=str(machine), users=users, passes=2, set=[f"processors.speed={speed}"], out=folder / name)
    _laid_observation(folder)
    return folder


def _laid_observation(folder: Path) -> None:
    """A script of process accounting with its figures, and a run of it on a simulated machine, below `observed`."""
    place = folder / "observed"
    place.mkdir()
    loadgo.observe(folder / "pacct", output=place / "monday.toml")
    loadgo.run(place / "monday.toml", on=str(laid(place)[1]), users=3, duration="1h", out=place / "run")


def _history(folder: Path) -> loadgo.History:
    """A history with a change. Its runs are made once, and its index is not kept."""
    if not (folder / "history").exists():
        made_runs(folder / "history", scattered([(14, 1.0), (10, 1.5)]))
    index = RunIndex(folder / "history", None)
    index.look()
    index.read_all()
    return history_in(index, parsed_figure("p90(compile)"))


def _run(folder: Path) -> loadgo.Run:
    script, machine = laid(folder)
    return loadgo.run(script, on=str(machine), users=3, passes=2, out=folder / f"run-{len(list(folder.iterdir()))}")


def _metered(_folder: Path) -> loadgo.Metered:
    return loadgo.Metered(METERED, "done", None, None)


def _experiment(folder: Path) -> loadgo.Experiment:
    script, machine = laid(folder)
    slow = loadgo.Variant(script, on=str(machine))
    fast = loadgo.Variant(script, on=str(machine), set=("processors.speed=2",))
    return loadgo.ab(slow, fast, users=3, duration="1min", most_pairs=3, out=folder / "experiment")


def _capacity(folder: Path) -> loadgo.Capacity:
    script, machine = laid(folder)
    return loadgo.capacity(script, target="p90 < 30s", on=str(machine), max_users=6, trials=4, longest="2min")


def _speedup(folder: Path) -> loadgo.Speedup:
    script, machine = laid(folder)
    changes = ("processors.speed=2", "memory.frames=96")
    return loadgo.speedup(script, on=str(machine), changes=changes, users=2, passes=1, runs=2)


def _sweep(folder: Path) -> loadgo.Sweep:
    grid = {"machine": str(folder / "own-load.toml"), "users": [2, 4], "seeds": 2, "until": "interactions=3000"}
    with ThreadPoolExecutor(1) as executor:
        return loadgo.sweep(grid, executor=executor, out=folder / "swept")


def _fit(folder: Path) -> loadgo.Fit:
    return loadgo.fit(folder / "a")


def _profile(_folder: Path) -> Profile:
    work, copy = Frame("/usr/bin/prime", "divide<int>(long)"), Frame("[kernel]", "copy_page")
    stacks = (Stack(None, None, "prime", (work,), 600), Stack(3, "compile", "cc1", (work, copy), 300))
    segments = (Segment("/usr/bin/prime", 600, 40, 2), Segment("[kernel]", 300, 0, 0))
    return Profile("prime 1000", 2.0, 1000, stacks, segments)


def _ready(_folder: Path) -> Ready:
    runs = tuple(command_run(real_ns=1_000_000 * k) for k in range(1, 8))
    return Ready(("ls", "<b>/</b>"), runs, len(runs), {}, (), 50_000_000, load_tariff(), None)


def _command_transfer(_folder: Path) -> CommandTransfer:
    moved = Moved("TCP, network", 1, 1_000_000, 2_000, 0, 20, 3, 700, 350)
    return CommandTransfer(
        command=("curl", "-T", "x"),
        run=command_run(cpu_user_ns=10**6, cpu_system_ns=10**7),
        kinds=(moved,),
        interrupts=None,
        held=0,
        unsent=0,
        lost=0,
        load_5min=0.5,
        sources={"cpu": "delay accounting", "bytes": "the kernel"},
        notes=(),
    )


MAKERS: dict[str, Callable[[Path], Result]] = {
    "Run": _run,
    "RecordedRun": lambda folder: read_run(folder / "a"),
    "Metered": _metered,
    "Comparison": lambda folder: loadgo.compare(folder / "a", folder / "b"),
    "Comparison of printed tables": lambda _folder: loadgo.compare("mpl-16:ctss", "mpl-16:multics"),
    "Experiment": _experiment,
    "Capacity": _capacity,
    "KnobCapacity": lambda _folder: made_knob_capacity(),
    "Costs": lambda folder: loadgo.cost(folder / "a", tariff=["cloud", "default"]),
    "Costs of two loads": lambda folder: loadgo.cost([folder / "a", folder / "c"]),
    "Fairness": lambda _folder: loadgo.cost_against("csr-rfc-20:645", "csr-rfc-20:6180"),
    "Fit": _fit,
    "Observation": lambda folder: loadgo.observe(folder / "pacct", think_from=written_history(folder / "history.txt")),
    "Likeness": lambda folder: loadgo.likeness(folder / "observed" / "monday.toml", folder / "observed" / "run"),
    "History": _history,
    "Verification": lambda _folder: loadgo.verify(TESTS / "runs" / "reported" / "live-exact"),
    "Simulation": lambda folder: loadgo.simulate(folder / "own-load.toml", until="interactions=3000"),
    "Speedup": _speedup,
    "Sweep": _sweep,
    "Transferred": lambda _folder: Transferred(tuple(rounds(4)), (), False),
    "Apart": lambda _folder: taken_apart(read_table(SEED, COLUMNS), prices("cloud")),
    "CommandTransfer": _command_transfer,
    "Profile": _profile,
    "Ready": _ready,
    "Reproduction": lambda _folder: loadgo.reproduce("ctss-trivial"),
    "RunList": lambda _folder: loadgo.runs(LISTED_RUNS),
    "MachineList": lambda _folder: loadgo.machines(),
    "ScriptList": lambda _folder: loadgo.scripts(),
    "AbilityList": lambda _folder: loadgo.doctor(),
}
"""Makes a result, given a folder of `laid_results`. The first word of a name is the result's type."""

WITH_CHARTS = (
    "Run", "RecordedRun", "Metered", "Comparison", "Comparison of printed tables", "Capacity", "Fairness",
    "Costs of two loads", "Speedup", "Transferred", "Apart", "Reproduction", "History",
    "Sweep", "Experiment", "KnobCapacity", "Likeness",
)  # fmt: skip
"""The results that have a main chart."""
