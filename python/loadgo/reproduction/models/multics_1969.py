"""Our figures for "Multics Performance, 3/3/69" (`multics-1969`), from runs of the bundled machines."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean

from loadgo.reproduction.models.laboratory import Experiment, Lab
from loadgo.reproduction.models.machine_figures import machine_number
from loadgo.reproduction.models.scripts import script_from_command, script_without_timeouts
from loadgo.reproduction.models.totals import RunTotals
from loadgo.reproduction.models.values import Plot, PlottedCurve, ReproducedValue, ReproducedValues

MACHINE_NAME = "multics-1.8"
LARGE_MEMORY_SETTING = "memory.frames=384"
MARCH_1969_SETTINGS = (
    'commands."*".line_cpu=0s',
    'commands."*".line_faults=0',
    'commands."*".line_walls=0',
    "supervisor.table.entries=100000",
)
"""The system of March 1969: lines go through the new typewriter module, and no user loses table entries."""
SCHERR_THINK_LAW = "exponential(35s)"
"""The think time that Scherr measured on CTSS (1965): 35.2 s on average."""
HEADWAY_USERS = 3
"""Assumed number of users in the measurement of the running time between page faults. The document gives none."""
RUN_SEEDS = (1, 2, 3)
LIGHT_THINK_LAW, LIGHT_TYPING_RATE = "exponential(10s, min 1s, max 60s)", "8 chars/s"
"""Think time and typing rate of the bundled script `light`."""
SATURATING_USERS = 40
"""A number of users that keeps a processor busy in every class."""
MORE_PROCESSORS = (4, 5)
"""The processors of the system with three or four more."""
CLASS_DESCRIPTIONS = {
    "heavy": "the typical user's commands at Scherr's think time",
    "ctss": "Scherr's requests of CTSS at his think time",
    "light": "the calculator at the think time and typing of the script `light`",
}
FAULT_INSTRUCTIONS, NEW_INSTRUCTIONS, CHECK_INSTRUCTIONS = 7000, 2000, 400
"""Instructions of the page-fault path in the old and the new file system, and of one of its five checks."""
TABLE_USERS = (2, 4, 8, 12, 16, 20, 24, 32)
"""Numbers of users in the chart of the system table's size."""


def reproduced_values(lab: Lab) -> ReproducedValues:
    """Our figures by the ids of the printed figures, without those that follow by arithmetic."""
    values = {
        **_headway(lab),
        **_fault_path(),
        **_processors(lab),
        **_classes(lab),
        **_short_fault_path(lab),
        **_print_command(lab),
        **_script_gain(lab),
    }
    return {f"multics-1969/{name}": value for name, value in values.items()}


def reproduced_plots(lab: Lab) -> tuple[Plot, ...]:
    """The charts of which the document prints only the axes."""
    systems = {
        "256K": (),
        "384K, the table as it was": (LARGE_MEMORY_SETTING,),
        "384K, the table twice as large": (LARGE_MEMORY_SETTING, "supervisor.table.entries=640"),
    }
    experiments = [
        Experiment(
            script_from_command("request", think=SCHERR_THINK_LAW), MACHINE_NAME, users, set=changes, duration="30min"
        )
        for changes in systems.values()
        for users in TABLE_USERS
    ]
    runs = lab.runs(experiments)
    width = len(TABLE_USERS)
    curves = [
        PlottedCurve(
            name, tuple((n, run.overall.response_s) for n, run in zip(TABLE_USERS, runs[index * width :], strict=False))
        )
        for index, name in enumerate(systems)
    ]
    return (
        Plot(
            name="table-size",
            document="multics-1969",
            title="Effect of a performance improvement if the system table's size is not changed",
            x="Users",
            y="Response time, s",
            curves=tuple(curves),
            how=f"users as Scherr measured them on CTSS, on `{MACHINE_NAME}`: beyond 16 the table's entries "
            "are taken from those who think, and each entry taken is a segment fault later",
        ),
    )


def _headway(lab: Lab) -> dict[str, ReproducedValue]:
    times_ms, large_memory_ms = between_faults_ms(lab), between_faults_ms(lab, (LARGE_MEMORY_SETTING,))
    how = f"work over page faults, {HEADWAY_USERS} typical users on `{MACHINE_NAME}`"
    return {
        "text/headway": ReproducedValue(
            min(times_ms), "fitted", f"{how}; headway_per_page was set by 25 ms", high=max(times_ms)
        ),
        "text/headway-more": ReproducedValue(
            sum(large_memory_ms) / len(large_memory_ms), "predicted", f"{how}, with 384 frames"
        ),
    }


def between_faults_ms(lab: Lab, changes: tuple[str, ...] = ()) -> list[float]:
    """The mean running time between page faults in several sessions, on the machine with these changes."""
    script, settings = script_without_timeouts("typical-user"), (*MARCH_1969_SETTINGS, *changes)
    runs = lab.runs([Experiment(script, MACHINE_NAME, HEADWAY_USERS, seed, settings) for seed in RUN_SEEDS])
    return [1000 * run.overall.cpu_user_s / run.overall.faults for run in runs]


def _fault_path() -> dict[str, ReproducedValue]:
    """The time of the page-fault path, from its instructions."""
    rate = machine_number(MACHINE_NAME, "processors.instructions_per_second")
    old, new = (1000 * instructions / rate for instructions in (FAULT_INSTRUCTIONS, NEW_INSTRUCTIONS))
    how = "instructions at 435,000 a second"
    return {
        "text/fault": ReproducedValue(old, "predicted", f"{FAULT_INSTRUCTIONS} {how}"),
        "text/fault-before": ReproducedValue(old, "predicted", f"{FAULT_INSTRUCTIONS} {how}"),
        "text/fault-after": ReproducedValue(new, "predicted", f"{NEW_INSTRUCTIONS} {how}"),
        "text/instructions-after": ReproducedValue(
            5 * CHECK_INSTRUCTIONS, "predicted", "five checks of 400 instructions"
        ),
    }


def _processors(lab: Lab) -> dict[str, ReproducedValue]:
    """The gain in users of each class from three or four more processors, each with memory for as many processes."""
    classes = _class_scripts().values()
    experiments = [
        Experiment(
            script,
            MACHINE_NAME,
            count * SATURATING_USERS,
            set=(*MARCH_1969_SETTINGS, *_settings_of_processors(count)),
            think=think,
            duration="2h",
        )
        for count in (1, *MORE_PROCESSORS)
        for script, think in classes
    ]
    throughputs = [run.overall.count / run.elapsed_s for run in lab.runs(experiments)]
    single, more = throughputs[: len(classes)], throughputs[len(classes) :]
    gains = [throughput / alone for throughput, alone in zip(more, single * len(MORE_PROCESSORS), strict=True)]
    how = (
        f"the throughput of {MORE_PROCESSORS[0]} and {MORE_PROCESSORS[1]} processors over that of one, each class "
        f"saturated on `{MACHINE_NAME}`: one processor at a time is in the page-fault path, which is a lock"
    )
    return {"text/more-processors-gain": ReproducedValue(min(gains), "predicted", how, high=max(gains))}


def _settings_of_processors(count: int) -> tuple[str, ...]:
    """The settings for this number of processors, with frames and a multiprogramming limit for as many processes."""
    wired, frames = (machine_number(MACHINE_NAME, f"memory.{key}") for key in ("wired", "frames"))
    limit = machine_number(MACHINE_NAME, "multiprogramming.limit")
    return (
        f"processors.count={count}",
        f"memory.frames={wired + count * (frames - wired):.0f}",
        f"multiprogramming.limit={count * limit:.0f}",
    )


def _classes(lab: Lab) -> dict[str, ReproducedValue]:
    """The number of users of each class that saturates the machine of March 1969."""
    how = (
        f"the saturation point on `{MACHINE_NAME}`: throughput of {SATURATING_USERS} users, "
        "times think time and response of one"
    )
    today = _users_by_class(lab, ())
    return {
        f"classes/{name}/today": ReproducedValue(users, "predicted", f"{how}; {CLASS_DESCRIPTIONS[name]}")
        for name, users in today.items()
    }


def _short_fault_path(lab: Lab) -> dict[str, ReproducedValue]:
    """The saturation point of each class with a page-fault path of 5 ms, one of the document's changes.

    With all its changes, the document expects 15, 30 and 40 users.
    """
    users_by_class = _users_by_class(lab, ("supervisor.page_fault=5ms",))
    how = "the saturation point with a page-fault path of 5 ms and nothing else changed"
    return {
        f"further/{name} users, page faults of 5 ms": ReproducedValue(
            users, "predicted", f"users of the {name} class: {how}"
        )
        for name, users in users_by_class.items()
    }


def _users_by_class(lab: Lab, changes: tuple[str, ...]) -> dict[str, float]:
    return {name: _saturation(lab, script, think, changes) for name, (script, think) in _class_scripts().items()}


def _class_scripts() -> dict[str, tuple[str, str | None]]:
    """The script of each class, and its think time if the script has none."""
    return {
        "heavy": (script_without_timeouts("typical-user"), SCHERR_THINK_LAW),
        "ctss": (script_from_command("request"), SCHERR_THINK_LAW),
        "light": (script_from_command("compute", think=LIGHT_THINK_LAW, typing=LIGHT_TYPING_RATE), None),
    }


def _saturation(lab: Lab, script: str, think: str | None, changes: tuple[str, ...]) -> float:
    """The saturation point N* = X_max (Z + R_1)."""
    alone, full = lab.runs(
        [
            Experiment(script, MACHINE_NAME, n, set=(*MARCH_1969_SETTINGS, *changes), think=think, duration="2h")
            for n in (1, SATURATING_USERS)
        ]
    )
    throughput = full.overall.count / full.elapsed_s
    cycle_s = alone.elapsed_s / alone.overall.count
    return throughput * cycle_s


def _print_command(lab: Lab) -> dict[str, ReproducedValue]:
    before, after = (_mean_print_use(lab, changes) for changes in ((), MARCH_1969_SETTINGS))
    how = (
        f"print in sessions of {HEADWAY_USERS} typical users on `{MACHINE_NAME}`, as of MPL-16, "
        "with eleven lines at their price"
    )
    return {
        "text/print-before": ReproducedValue(before[0], "predicted", how),
        "text/print-after": ReproducedValue(after[0], "predicted", f"{how} through the new typewriter module"),
        "text/print-saved": ReproducedValue(before[0] - after[0], "predicted", f"{how}, old less new"),
        "text/print-faults": ReproducedValue(before[1] - after[1], "predicted", f"{how}, old less new"),
    }


def _mean_print_use(lab: Lab, changes: tuple[str, ...]) -> tuple[float, float]:
    """The print command's processor time in seconds and its page faults, the mean of several sessions."""
    runs = lab.runs(
        [
            Experiment(script_without_timeouts("typical-user"), MACHINE_NAME, HEADWAY_USERS, seed, changes)
            for seed in RUN_SEEDS
        ]
    )
    uses = [run.commands["print"] for run in runs]
    return fmean(use.cpu_s for use in uses), fmean(use.faults for use in uses)


def _script_gain(lab: Lab) -> dict[str, ReproducedValue]:
    """The gain of the new typewriter module and shorter page faults, for the typical user."""
    old, new = lab.runs(
        [
            Experiment(
                script_without_timeouts("typical-user"),
                MACHINE_NAME,
                1,
                set=("supervisor.page_fault=15.3ms",),
                think="none",
            ),
            Experiment(
                script_without_timeouts("typical-user"),
                MACHINE_NAME,
                1,
                set=(*MARCH_1969_SETTINGS, "supervisor.page_fault=14.1ms"),
                think="none",
            ),
        ]
    )
    gain = 100 * (1 - _time_s([new]) / _time_s([old]))
    how = f"the typical user alone on `{MACHINE_NAME}`: lines at the old and new price, page faults of 15.3 and 14.1 ms"
    return {"text/script-gain": ReproducedValue(gain, "predicted", how)}


def _time_s(runs: Sequence[RunTotals]) -> float:
    return sum(run.overall.cpu_s * run.overall.count for run in runs)
