"""Our figures for "Multics Performance, 3/3/69" (`multics-1969`), from runs of the bundled machines."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import number
from loadgo.reproduction.models.scripts import of_command, patient
from loadgo.reproduction.models.totals import Totals
from loadgo.reproduction.models.values import Curve, Plot, Value, Values
from loadgo.theory.queueing import repairman

MACHINE = "multics-1.8"
LARGE = "memory.frames=384"
TODAY = (
    'commands."*".line_cpu=0s',
    'commands."*".line_faults=0',
    'commands."*".line_walls=0',
    "supervisor.table.entries=100000",
)
"""The system of March 1969: lines through the new typewriter module, and no user loses table entries."""
SCHERR = "exponential(35s)"
"""The think time that Scherr measured on CTSS (1965): 35.2 s on the average."""
MEASURED = 3
"""Users while the running time between page faults was measured: the document has no number (assumed)."""
SEEDS = (1, 2, 3)
LIGHT, TYPING = "exponential(10s, min 1s, max 60s)", "8 chars/s"
"""Those of the bundled script `light`."""
FULL = 40
"""So many users keep the processor busy in every class."""
CLASSES = {
    "heavy": "the typical user's commands at Scherr's think time",
    "ctss": "Scherr's requests of CTSS at his think time",
    "light": "the calculator at the think time and typing of the script `light`",
}
FAULT_INSTRUCTIONS, NEW_INSTRUCTIONS, CHECK = 7000, 2000, 400
"""The page-fault path of old and of the new file system, and one of its five checks."""
TABLE_USERS = (2, 4, 8, 12, 16, 20, 24, 32)


def provide(lab: Lab) -> Values:
    """Our figures by the ids of the printed ones; those that need no run are in `arithmetic`."""
    values = {
        **_headway(lab),
        **_path(),
        **_processors(),
        **_classes(lab),
        **_new_path(lab),
        **_print(lab),
        **_script(lab),
    }
    return {f"multics-1969/{name}": value for name, value in values.items()}


def plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts that the document has only as axes."""
    systems = {
        "256K": (),
        "384K, the table as it was": (LARGE,),
        "384K, the table twice as large": (LARGE, "supervisor.table.entries=640"),
    }
    experiments = [
        Experiment(of_command("request", think=SCHERR), MACHINE, users, set=changes, duration="30min")
        for changes in systems.values()
        for users in TABLE_USERS
    ]
    runs = lab.runs(experiments)
    width = len(TABLE_USERS)
    curves = [
        Curve(name, tuple((n, run.every.response_s) for n, run in zip(TABLE_USERS, runs[at * width :], strict=False)))
        for at, name in enumerate(systems)
    ]
    return (
        Plot(
            name="table-size",
            document="multics-1969",
            title="Effect of a performance improvement if the system table's size is not changed",
            x="Users",
            y="Response time, s",
            curves=tuple(curves),
            how=f"users as Scherr measured them on CTSS, on `{MACHINE}`: beyond 16 the table's entries are taken from "
            "those who think, and each entry taken is a segment fault later",
        ),
    )


def _headway(lab: Lab) -> dict[str, Value]:
    times, more = between_faults_ms(lab), between_faults_ms(lab, (LARGE,))
    how = f"work over page faults, {MEASURED} typical users on `{MACHINE}`"
    return {
        "text/headway": Value(min(times), "fitted", f"{how}; headway_per_page was set by 25 ms", high=max(times)),
        "text/headway-more": Value(sum(more) / len(more), "predicted", f"{how}, with 384 frames"),
    }


def between_faults_ms(lab: Lab, changes: tuple[str, ...] = ()) -> list[float]:
    """The mean running time between page faults in several sessions, on the machine with these changes."""
    script, changed = patient("typical-user"), (*TODAY, *changes)
    runs = lab.runs([Experiment(script, MACHINE, MEASURED, seed, changed) for seed in SEEDS])
    return [1000 * run.every.cpu_user_s / run.every.faults for run in runs]


def _path() -> dict[str, Value]:
    """The page-fault path in time, from its instructions."""
    rate = number(MACHINE, "processors.instructions_per_second")
    old, new = (1000 * instructions / rate for instructions in (FAULT_INSTRUCTIONS, NEW_INSTRUCTIONS))
    how = "instructions at 435,000 a second"
    return {
        "text/fault": Value(old, "predicted", f"{FAULT_INSTRUCTIONS} {how}"),
        "text/fault-before": Value(old, "predicted", f"{FAULT_INSTRUCTIONS} {how}"),
        "text/fault-after": Value(new, "predicted", f"{NEW_INSTRUCTIONS} {how}"),
        "text/instructions-after": Value(5 * CHECK, "predicted", "five checks of 400 instructions"),
    }


def _processors() -> dict[str, Value]:
    """Processors that work for 25 ms and then need the page-fault path for 15 ms, one of them at a time."""
    work_s, path_s = 0.025, number(MACHINE, "supervisor.page_fault")
    one = repairman(1, work_s, path_s).throughput
    gains = [repairman(count, work_s, path_s).throughput / one for count in (4, 5)]
    how = "processors that work 25 ms, then go through the page-fault path's 15 ms one at a time: the machine repairman"
    return {"text/more-processors-gain": Value(gains[0], "predicted", f"4 and 5 {how}", high=gains[1])}


def _classes(lab: Lab) -> dict[str, Value]:
    """How many users of each class the machine holds today."""
    how = f"the saturation point on `{MACHINE}`: throughput of {FULL} users, times think time and response of one"
    today = _users_by_class(lab, ())
    return {
        f"classes/{name}/today": Value(users, "predicted", f"{how}; {CLASSES[name]}") for name, users in today.items()
    }


def _new_path(lab: Lab) -> dict[str, Value]:
    """What a page-fault path of 5 ms would buy; the document expects 15, 30 and 40 users, of more than that."""
    found = _users_by_class(lab, ("supervisor.page_fault=5ms",))
    how = "the saturation point with a page-fault path of 5 ms and nothing else changed"
    return {
        f"further/{name} users, page faults of 5 ms": Value(users, "predicted", f"users of the {name} class: {how}")
        for name, users in found.items()
    }


def _users_by_class(lab: Lab, changes: tuple[str, ...]) -> dict[str, float]:
    scripts = {
        "heavy": (patient("typical-user"), SCHERR),
        "ctss": (of_command("request"), SCHERR),
        "light": (of_command("compute", think=LIGHT, typing=TYPING), None),
    }
    return {name: _saturation(lab, script, think, changes) for name, (script, think) in scripts.items()}


def _saturation(lab: Lab, script: str, think: str | None, changes: tuple[str, ...]) -> float:
    """N* = X_max (Z + R_1)."""
    alone, full = lab.runs(
        [Experiment(script, MACHINE, n, set=(*TODAY, *changes), think=think, duration="2h") for n in (1, FULL)]
    )
    busiest = full.every.count / full.elapsed_s
    cycle_s = alone.elapsed_s / alone.every.count
    return busiest * cycle_s


def _print(lab: Lab) -> dict[str, Value]:
    before, after = (_mean_print(lab, changes) for changes in ((), TODAY))
    how = (
        f"print in sessions of {MEASURED} typical users on `{MACHINE}`, as of MPL-16, with eleven lines at their price"
    )
    return {
        "text/print-before": Value(before[0], "predicted", how),
        "text/print-after": Value(after[0], "predicted", f"{how} through the new typewriter module"),
        "text/print-saved": Value(before[0] - after[0], "predicted", f"{how}, old less new"),
        "text/print-faults": Value(before[1] - after[1], "predicted", f"{how}, old less new"),
    }


def _mean_print(lab: Lab, changes: tuple[str, ...]) -> tuple[float, float]:
    """The print command's processor time and page faults, the mean of several sessions."""
    runs = lab.runs([Experiment(patient("typical-user"), MACHINE, MEASURED, seed, changes) for seed in SEEDS])
    uses = [run.commands["print"] for run in runs]
    return fmean(use.cpu_s for use in uses), fmean(use.faults for use in uses)


def _script(lab: Lab) -> dict[str, Value]:
    """The typical user's time through the old typewriter module with longer page faults, and through the new one."""
    old, new = lab.runs(
        [
            Experiment(patient("typical-user"), MACHINE, 1, set=("supervisor.page_fault=15.3ms",), think="none"),
            Experiment(patient("typical-user"), MACHINE, 1, set=(*TODAY, "supervisor.page_fault=14.1ms"), think="none"),
        ]
    )
    gain = 100 * (1 - _time_s([new]) / _time_s([old]))
    how = f"the typical user alone on `{MACHINE}`: lines at the old and new price, page faults of 15.3 and 14.1 ms"
    return {"text/script-gain": Value(gain, "predicted", how)}


def _time_s(runs: Sequence[Totals]) -> float:
    return sum(run.every.cpu_s * run.every.count for run in runs)
