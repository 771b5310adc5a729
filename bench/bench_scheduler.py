"""The discipline `linux` held against this host's kernel: the same drawn bursts, and what each waited for a processor.

    python bench/bench_scheduler.py [ROUNDS] [SECONDS] [SETTINGS] [LAWS]     (4 6)

Tasks sleep and compute in turn. A simulated machine draws the times, and its records say what each burst waited. Then
threads of one process (`bare/bursts.c`) sleep and compute for the same times, on as many of this host's processors. The
kernel says what each burst waited. Rounds alternate the settings: each law at three utilisations, on one and two
processors. A round of a setting is left out if others took more than 5 % of the processors meanwhile.

SETTINGS are those to measure, such as `0.6x1,0.85x2`, and LAWS such as `short`; by default all.
"""

from __future__ import annotations

import gzip
import math
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
from figures import Figure, figure, finish
from loadgo.theory.queueing import repairman
from machine import machine
from numpy.typing import NDArray

BURSTS = Path(__file__).parent / "bare" / "bursts"
LAWS = {"short": "exponential(4ms)", "mixed": "hyperexponential(8ms, 8)"}
"""Laws of a burst's processor time. Most short ones fit into a tick; of the mixed ones a few take many."""
MEANS_S = {"short": 0.004, "mixed": 0.008}
UTILISATIONS = (0.3, 0.6, 0.85)
PROCESSORS = (1, 2)
TASKS_PER_PROCESSOR = 8
ROUNDS, SECONDS = 4, 6.0
WARM_UP_SHARE = 0.1
"""Share of a round at its beginning whose bursts do not count."""
DRAWN_SHARE = 1.4
"""Length of the simulation over that of the round, so that no task of the host comes to the end of its list."""
MOST_BY_OTHERS = 0.05
QUIET_S, MOST_PATIENCE_S = 0.25, 5.0
"""Length of the quiet moment before a round, and how long a round waits for it."""
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99}
LEAST_WAIT_S = 0.0001
"""A mean or quantile that is smaller, on both sides, is not compared: switches and interrupts make such waits."""
NEAR = "<= 0.1"
SWITCH = "2us"
USAGE_BY_PROCESSOR = Path("/sys/fs/cgroup/cpuacct/cpuacct.usage_percpu")
DEFAULT_TICKS_PER_SECOND = 250
PACKING = "sched_vcpu_pack="
_BASE_SLICE_MS, _MOST_SLICE_PROCESSORS = 0.7, 8
"""kernel/sched/fair.c of 6.12 and later: 0.7 ms × (1 + log2 of the processors, at most 8)."""

SCRIPT = """\
name  = "bursts"
think = "exponential({think_us:.0f}us)"
lines = ["burst"]
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
"""

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Setting:
    """The tasks of a round."""

    law: str
    utilisation: float
    processors: int

    @property
    def name(self) -> str:
        """The setting in words."""
        return f"{self.law}, {self.utilisation:g} busy, {self.processors} processor{'s'[: self.processors - 1]}"

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
    _compile()
    measured = list[Round]()
    for number in range(1, rounds + 1):
        for setting in settings:
            measured.append(_round(setting, number, seconds))
            _tell(number, measured[-1])
    notes = [
        f"slice {_slice_ms():g} ms, tick {1000 / _ticks_per_second():g} ms, packs: {_packs()}; "
        f"{TASKS_PER_PROCESSOR} tasks a processor; "
        f"short {LAWS['short']}, mixed {LAWS['mixed']}",
        "apart: of the waits of all rounds together; ratios: simulated : measured, of each round",
    ]
    figures = list[Figure]()
    for setting in settings:
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


def _round(setting: Setting, number: int, seconds: float) -> Round:
    """Simulates and then measures the same bursts."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        rows = _simulated(setting, number, seconds, Path(place))
        begin = rows["sent_ns"].min()
        assert isinstance(begin, int)
        from_ns, to_ns = (int(seconds * 1e9 * share) for share in (WARM_UP_SHARE, 1))
        window = rows.filter((pl.col("sent_ns") - begin).is_between(from_ns, to_ns))
        bursts = Path(place) / "bursts.txt"
        drawn = rows.select(pl.col("user") - 1, "think_ns", "cpu_ns")
        bursts.write_text("".join(f"{user} {think} {cpu}\n" for user, think, cpu in drawn.iter_rows()))
        host = _on_host(setting, bursts, seconds)
    simulated = window["ready_wait_ns"].cast(pl.Float64).to_numpy() / 1e9
    waits = host.measured[(host.simulated >= from_ns / 1e9)]
    return replace(host, simulated=simulated, measured=waits)


def _simulated(setting: Setting, seed: int, seconds: float, place: Path) -> pl.DataFrame:
    """The interactions of the simulated machine, by user and in order."""
    script, system = place / "script.toml", place / "machine.toml"
    script.write_text(SCRIPT.format(think_us=setting.think_s * 1e6))
    system.write_text(
        MACHINE.format(
            processors=setting.processors,
            slice_ms=_slice_ms(),
            tick_ms=1000 / _ticks_per_second(),
            switch=SWITCH,
            packs=str(_packs()).lower(),
            law=LAWS[setting.law],
        )
    )
    run = loadgo.run(
        script,
        on=str(system),
        users=setting.tasks,
        duration=f"{seconds * DRAWN_SHARE:g}s",
        seed=seed,
        out=place / "run",
    )
    rows = loadgo.tables(run.folder).interactions
    cpu = (pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).alias("cpu_ns")
    return rows.filter(pl.col("outcome") == "ok").with_columns(cpu).sort("user", "sent_ns")


def _on_host(setting: Setting, bursts: Path, seconds: float) -> Round:
    """Runs the tasks here. `simulated` has the instants of the bursts, until the caller knows the simulated waits."""
    pinned = sorted(os.sched_getaffinity(0))[-setting.processors :]
    out = bursts.with_suffix(".out")
    _await_quiet(pinned)
    began, busy_before, own_before = time.monotonic(), _busy_s(pinned), _own_s()
    with out.open("w") as file:
        subprocess.run([str(BURSTS), str(bursts), str(seconds), *map(str, pinned)], check=True, stdout=file)
    room = (time.monotonic() - began) * setting.processors
    own, busy = _own_s() - own_before, _busy_s(pinned) - busy_before
    rows = np.loadtxt(out, ndmin=2) / 1e9
    return Round(setting, rows[:, 1], rows[:, 2], max(busy - own, 0) / room, own / room)


def _busy_s(processors: Sequence[int]) -> float:
    """Processor time that all tasks took of these processors so far, with what the hypervisor took."""
    lines = re.findall(r"^cpu(\d+) (.+)$", Path("/proc/stat").read_text(), re.MULTILINE)
    ticks = {int(number): [int(word) for word in words.split()] for number, words in lines}
    tick_s = 1 / os.sysconf("SC_CLK_TCK")
    if USAGE_BY_PROCESSOR.exists():
        used = [int(word) / 1e9 for word in USAGE_BY_PROCESSOR.read_text().split()]
        return sum(used[number] + ticks[number][7] * tick_s for number in processors)
    return sum(tick_s * (sum(ticks[number][:3]) + sum(ticks[number][5:8])) for number in processors)


def _await_quiet(processors: Sequence[int]) -> None:
    """Waits until others leave these processors alone for a moment, but not for long."""
    for _ in range(round(MOST_PATIENCE_S / QUIET_S)):
        before = _busy_s(processors)
        time.sleep(QUIET_S)
        if (_busy_s(processors) - before) / QUIET_S <= MOST_BY_OTHERS * len(processors):
            return


def _own_s() -> float:
    """Processor time of the programs that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _slice_ms() -> float:
    """The kernel's base slice on this host."""
    count = min(os.cpu_count() or 1, _MOST_SLICE_PROCESSORS)
    return _BASE_SLICE_MS * (1 + math.floor(math.log2(count)))


def _packs() -> bool:
    """Whether the kernel was started to pack work on virtual processors, which no kernel of kernel.org can."""
    return PACKING in Path("/proc/cmdline").read_text()


def _ticks_per_second() -> int:
    """The kernel's CONFIG_HZ."""
    built, other = Path("/proc/config.gz"), Path(f"/boot/config-{os.uname().release}")
    text = gzip.decompress(built.read_bytes()).decode() if built.exists() else ""
    if not text and other.exists():
        text = other.read_text()
    match = re.search(r"^CONFIG_HZ=(\d+)$", text, re.MULTILINE)
    return int(match[1]) if match else DEFAULT_TICKS_PER_SECOND


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


def _compile() -> None:
    source = BURSTS.with_suffix(".c")
    if not BURSTS.exists() or BURSTS.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-pthread", "-o", str(BURSTS), str(source)], check=True)


if __name__ == "__main__":
    main()
