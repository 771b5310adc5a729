"""The discipline `linux` held against this host's kernel: the same drawn bursts, and what each waited for a processor.

    python bench/bench_scheduler.py [ROUNDS] [SECONDS] [SETTINGS] [LAWS]     (4 6)

Tasks sleep and compute in turn. A simulated machine draws the times, and its records say what each burst waited. Then
threads of one process (`bare/bursts.c`) sleep and compute for the same times, on as many of this host's processors. The
kernel says what each burst waited. Rounds alternate the settings: each law at three utilisations, on one and two
processors. A round of a setting is left out if others took more than 5 % of the processors meanwhile.

Two settings more have weights and quotas. With `nice`, the bursts of each task are in turn of nice 0 and 5. With
`quota`, each task has a fifth of a processor, on the host by a control group of its own. Then the waits are all of a
response that is no computing, throttled time too.

SETTINGS are those to measure, such as `0.6x1,0.85x2,quota`, and LAWS such as `short`; by default all.
"""

from __future__ import annotations

import json
import math
import os
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal

import loadgo
import numpy as np
import polars as pl
from burst_tasks import MOST_BY_OTHERS, Floats, compile_bursts, has_groups, run_bursts
from figures import Figure, figure, finish
from loadgo.theory.queueing import repairman
from machine import machine

LAWS = {"short": "exponential(4ms)", "mixed": "hyperexponential(8ms, 8)"}
"""Laws of a burst's processor time. Most short ones fit into a tick; of the mixed ones a few take many."""
MEANS_S = {"short": 0.004, "mixed": 0.008}
UTILISATIONS = (0.3, 0.6, 0.85)
PROCESSORS = (1, 2)
NICE_VALUES = (0, 5)
QUOTA_SHARE = 0.2
"""The quota of a task, as a share of a processor."""
GOVERNED_LAW, GOVERNED_UTILISATION = "mixed", 0.6
"""The bursts of the settings with weights and quotas: a few are longer than a period's quota."""
TASKS_PER_PROCESSOR = 8
ROUNDS, SECONDS = 4, 6.0
WARM_UP_SHARE = 0.1
"""Share of a round at its beginning whose bursts do not count."""
DRAWN_SHARE = 1.4
"""Length of the simulation over that of the round, so that no task of the host comes to the end of its list."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
LEAST_WAIT_S = 0.0001
"""A mean or quantile that is smaller, on both sides, is not compared: switches and interrupts make such waits."""
NEAR = "<= 0.1"
SWITCH = "2us"
CLOCK_MONOTONIC_COARSE = 6
"""Number of the clock (time.h), which Python does not name."""
PACKING = "sched_vcpu_pack="
_BASE_SLICE_MS, _MOST_SLICE_PROCESSORS = 0.7, 8
"""kernel/sched/fair.c of 6.12 and later: 0.7 ms × (1 + log2 of the processors, at most 8)."""

SCRIPT = """\
name  = "bursts"
think = "exponential({think_us:.0f}us)"
lines = {lines}
"""
MACHINE = """\
title  = "processors of this host"
source = "its kernel's settings"
[processors]
count      = {processors}
discipline = "linux"
slice      = "{slice_ms:g}ms"
tick       = "{tick_ms:g}ms"
switch     = "{switch}"
packs      = {packs}
[commands.burst]
cpu = "{law}"
[commands.low]
cpu  = "{law}"
nice = {low_nice}
"""


@dataclass(frozen=True)
class Setting:
    """The tasks of a round."""

    law: str
    utilisation: float
    processors: int
    governed: Literal["", "nice", "quota"] = ""
    """Whether the bursts have weights, or the tasks quotas."""
    nice: int | None = None
    """The nice value of the bursts that count; None for all."""

    @property
    def name(self) -> str:
        """The setting in words."""
        nice = f", bursts of nice {self.nice}" if self.nice is not None else ""
        quota = ", quotas" if self.governed == "quota" else ""
        processors = f"{self.processors} processor{'s'[: self.processors - 1]}"
        return f"{self.law}, {self.utilisation:g} busy, {processors}{nice}{quota}"

    @property
    def lines(self) -> list[str]:
        """The lines that each task types in turn."""
        return ["burst", "low"] if self.governed == "nice" else ["burst"]

    @property
    def tasks(self) -> int:
        """Number of tasks."""
        return TASKS_PER_PROCESSOR * self.processors

    @property
    def think_s(self) -> float:
        """Mean sleep that gives this utilisation where bursts are exponential and served in order of coming."""
        low, high = 0.0, 1000 * MEANS_S[self.law]
        for _ in range(60):
            middle = (low + high) / 2
            station = repairman(self.tasks, middle, MEANS_S[self.law], self.processors)
            low, high = (middle, high) if station.utilisation > self.utilisation else (low, middle)
        return middle


@dataclass(frozen=True)
class Round:
    """The waits of the bursts of one setting in one round, in seconds, on both sides."""

    setting: Setting
    simulated: Floats
    measured: Floats
    others: float
    """Share of the processors that others took."""
    busy: float
    """Share of the processors that the tasks took."""

    @property
    def counts(self) -> bool:
        """Whether the host was quiet enough."""
        return self.others <= MOST_BY_OTHERS


def main() -> None:
    """Measures and records the ratios of every setting."""
    words = dict(enumerate(sys.argv[1:]))
    rounds, seconds = int(words.get(0, ROUNDS)), float(words.get(1, SECONDS))
    settings = list(_settings(words.get(2, ""), words.get(3, "")))
    here = machine()
    compile_bursts()
    measured = list[Round]()
    for number in range(1, rounds + 1):
        for setting in settings:
            for part in _round(setting, number, seconds):
                measured.append(part)
                _tell(number, part)
    notes = [
        f"slice {_slice_ms():g} ms, tick {1000 / _ticks_per_second():g} ms, packs: {_packs()}; "
        f"{TASKS_PER_PROCESSOR} tasks a processor; "
        f"short {LAWS['short']}, mixed {LAWS['mixed']}",
        "apart: of the waits of all rounds together; ratios: simulated : measured, of each round",
    ]
    if not has_groups():
        notes.append("quotas were not measured: no control groups of version 1 that this account may make")
    figures = list[Figure]()
    for setting in dict.fromkeys(each.setting for each in measured):
        figures += _figures([each for each in measured if each.setting == setting], notes)
    raw = [
        {**asdict(each.setting), "others": each.others, "busy": each.busy, **_of_both_sides(each)} for each in measured
    ]
    finish("scheduler", here, figures, notes, {"rounds": raw})


def _settings(chosen: str, laws: str) -> Iterator[Setting]:
    available = len(os.sched_getaffinity(0))
    for law in laws.split(",") if laws else LAWS:
        for utilisation in UTILISATIONS:
            for processors in PROCESSORS:
                wanted = not chosen or f"{utilisation:g}x{processors}" in chosen.split(",")
                if wanted and processors <= available:
                    yield Setting(law, utilisation, processors)
    for governed in ("nice", "quota"):
        for processors in PROCESSORS:
            wanted = not (chosen or laws) or governed in chosen.split(",")
            if wanted and processors <= available and (governed == "nice" or has_groups()):
                yield Setting(GOVERNED_LAW, GOVERNED_UTILISATION, processors, governed)


def _round(setting: Setting, number: int, seconds: float) -> list[Round]:
    """Simulates and then measures the same bursts: one round, or one of each nice value."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        rows = _simulated(setting, number, seconds, Path(place))
        begin = rows["sent_ns"].min()
        assert isinstance(begin, int)
        from_ns, to_ns = (int(seconds * 1e9 * share) for share in (WARM_UP_SHARE, 1))
        window = rows.filter((pl.col("sent_ns") - begin).is_between(from_ns, to_ns))
        bursts = Path(place) / "bursts.txt"
        drawn = rows.select(pl.col("user") - 1, "think_ns", "cpu_ns", "nice")
        bursts.write_text("".join(f"{user} {think} {cpu} {nice}\n" for user, think, cpu, nice in drawn.iter_rows()))
        quotas = [QUOTA_SHARE] * setting.tasks if setting.governed == "quota" else []
        host = run_bursts(bursts, seconds, setting.processors, quotas)
    waits_s = host.delays_s if quotas else host.waits_s
    counts = host.due_s >= from_ns / 1e9
    if setting.governed != "nice":
        return [Round(setting, _waits_s(window, setting), waits_s[counts], host.others, host.busy)]
    return [
        Round(
            replace(setting, nice=value),
            _waits_s(window.filter(pl.col("nice") == value), setting),
            waits_s[counts & (host.nice == value)],
            host.others,
            host.busy,
        )
        for value in NICE_VALUES
    ]


def _waits_s(rows: pl.DataFrame, setting: Setting) -> Floats:
    """The waits of simulated bursts; with quotas all of a response that is no computing."""
    response = (pl.col("ready_ns").cast(pl.Int64) - pl.col("sent_ns").cast(pl.Int64) - pl.col("cpu_ns")).alias("wait")
    waits = rows.select(response if setting.governed == "quota" else pl.col("ready_wait_ns").alias("wait"))["wait"]
    return waits.cast(pl.Float64).to_numpy() / 1e9


def _simulated(setting: Setting, seed: int, seconds: float, place: Path) -> pl.DataFrame:
    """The interactions of the simulated machine, by user and in order."""
    script, system = place / "script.toml", place / "machine.toml"
    script.write_text(SCRIPT.format(think_us=setting.think_s * 1e6, lines=json.dumps(setting.lines)))
    system.write_text(
        MACHINE.format(
            processors=setting.processors,
            slice_ms=_slice_ms(),
            tick_ms=1000 / _ticks_per_second(),
            switch=SWITCH,
            packs=str(_packs()).lower(),
            law=LAWS[setting.law],
            low_nice=NICE_VALUES[-1],
        )
    )
    limits = loadgo.Limits(each=loadgo.EachLimits(cpus=QUOTA_SHARE)) if setting.governed == "quota" else None
    run = loadgo.run(
        script,
        on=str(system),
        users=setting.tasks,
        duration=f"{seconds * DRAWN_SHARE:g}s",
        seed=seed,
        limits=limits,
        out=place / "run",
    )
    rows = loadgo.tables(run.folder).interactions
    cpu = (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).alias("cpu_ns")
    is_low = pl.col("command").cast(pl.String) == "low"
    nice = pl.when(is_low).then(NICE_VALUES[-1]).otherwise(NICE_VALUES[0]).alias("nice")
    return rows.filter(pl.col("outcome") == "ok").with_columns(cpu, nice).sort("user", "sent_ns")


def _slice_ms() -> float:
    """The kernel's base slice on this host."""
    count = min(os.cpu_count() or 1, _MOST_SLICE_PROCESSORS)
    return _BASE_SLICE_MS * (1 + math.floor(math.log2(count)))


def _packs() -> bool:
    """Whether the kernel was started to pack work on virtual processors, which no kernel of kernel.org can."""
    return PACKING in Path("/proc/cmdline").read_text()


def _ticks_per_second() -> int:
    """The kernel's CONFIG_HZ: a tick is the resolution of its coarse clocks."""
    return round(1 / time.clock_getres(CLOCK_MONOTONIC_COARSE))


def _tell(number: int, measured: Round) -> None:
    """Prints one line about a round of a setting."""
    sides = " ".join(
        f"{name} {1000 * ours:.2f}/{1000 * theirs:.2f}" for name, (ours, theirs) in _of_both_sides(measured).items()
    )
    verdict = "" if measured.counts else ", left out"
    print(
        f"round {number}: {measured.setting.name}: {len(measured.measured)} bursts, ms {sides}, tasks "
        f"{measured.busy:.0%}, others {measured.others:.1%}{verdict}",
        file=sys.stderr,
    )


def _of_both_sides(measured: Round) -> dict[str, tuple[float, float]]:
    """The mean and the quantiles of the waits, simulated and measured."""
    ours, theirs = measured.simulated, measured.measured
    pairs = {"mean": (float(ours.mean()), float(theirs.mean()))}
    for name, share in QUANTILES.items():
        pairs[name] = (float(np.quantile(ours, share)), float(np.quantile(theirs, share)))
    return pairs


def _figures(rounds: Sequence[Round], notes: list[str]) -> Iterator[Figure]:
    """The ratios of a setting, round by round and of all rounds together."""
    name, quiet = rounds[0].setting.name, [each for each in rounds if each.counts]
    if len(quiet) < len(rounds):
        notes.append(f"{name}: {len(rounds) - len(quiet)} of {len(rounds)} rounds left out, others took over 5 %")
    if not quiet:
        return
    yield figure(f"{name}: others took", "", [each.others for each in quiet])
    yield figure(f"{name}: tasks took", "", [each.busy for each in quiet])
    together = replace(
        quiet[0],
        simulated=np.concatenate([each.simulated for each in quiet]),
        measured=np.concatenate([each.measured for each in quiet]),
    )
    by_round = [_of_both_sides(each) for each in quiet]
    for key, (ours, theirs) in _of_both_sides(together).items():
        if max(ours, theirs) < LEAST_WAIT_S:
            notes.append(f"{name}: {key} of the waits is {1e6 * ours:.0f} us simulated, {1e6 * theirs:.0f} us measured")
            continue
        ratios = [pair[key][0] / max(pair[key][1], 1e-9) for pair in by_round]
        notes.append(f"{name}: {key} {1000 * ours:.2f} ms simulated, {1000 * theirs:.2f} ms measured")
        yield figure(f"{name}: {key}", "", ratios)
        yield figure(f"{name}: {key}, apart", "", [abs(ours / max(theirs, 1e-9) - 1)], NEAR)


if __name__ == "__main__":
    main()
