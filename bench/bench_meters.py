"""The cost and the accuracy of the meters: loads with and without them, in shuffled pairs, and under other tools.

    python bench/bench_meters.py [REPETITIONS] [SHARE OF EACH LOAD]

The figures are the loads' own processor time. The loads:

- a null system call
- the first touch of a page
- two processes that exchange a byte
- a shell script that forks and executes
- the typical user, whose price includes all of loadgo
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import loadgo
from figures import Figure, figure, finish
from loadgo.measures.summary import summarize
from machine import machine
from metering import HERE, LOADS, TIERS, Measure, build, each_ns, measured_sums, missing, peers, shuffled, tier, used_s

PIPE = ["taskset", "-c", "0", "perf", "bench", "sched", "pipe", "-l"]
NOTES = (
    "processor time of the load alone, without the reader's; ratios within a repetition, in shuffled order",
    "programs that do nothing: one program at each hook of the exact tier, in the same repetitions",
    "the typical user: 4 without think time; all of loadgo is in the price, loading and reading the meters too",
    "strace and perf trace wake for each call: their own processor time is in their price",
)

BARE = "bare"
"""The tier of `metered` that has programs which do nothing at the hooks of the exact tier."""
Values = dict[str, list[float]]


@dataclass(frozen=True)
class Compared:
    """A load under each tier and none, with the largest allowed cost ratios."""

    name: str
    measures: dict[str, Measure]
    most: dict[str, float]


def main() -> None:
    """Measures and records all figures."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    share = float(sys.argv[2]) if len(sys.argv) > 2 else 1.0
    here = machine()
    build()
    figures, raw = list[Figure](), dict[str, Values]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        for compared in _loads(share, Path(place)):
            raw[compared.name] = shuffled(compared.measures, repetitions)
            figures += _ratios(compared, raw[compared.name])
    beside = shuffled({peer.name: partial(peer.call_ns, int(1e6 * share)) for peer in peers()}, min(repetitions, 3))
    figures += _added(raw["null call"], beside)
    figures += _truths(int(500_000 * share), repetitions)
    finish("meters", here, figures, [*NOTES, *missing()], {**raw, "beside": beside})


def _loads(share: float, place: Path) -> list[Compared]:
    """The loads, with `share` of their usual amounts."""
    calls, touches, bytes_handed = int(1e6 * share), int(500_000 * share), str(int(100_000 * share))
    script = [str(HERE / "eighteen.sh"), str(max(1, int(20 * share)))]
    return [
        Compared("null call", _clocked("calls", calls), {"cheap": 1.02, "exact": 2.65}),
        Compared("first touch", _clocked("touches", touches), {"cheap": 1.10, "exact": 1.30}),
        Compared("sched pipe", _used([*PIPE, bytes_handed]), {"cheap": 1.17, "exact": 1.36}),
        Compared("shell script", _used(script), {"cheap": 1.05, "exact": 1.10}),
        Compared("typical user", _typical(max(1, int(20 * share)), place), {"cheap": 1.02, "exact": 1.03}),
    ]


def _clocked(load: str, amount: int) -> dict[str, Measure]:
    """A load that clocks itself."""
    return {name: partial(each_ns, load, amount, tier(name)) for name in ("none", BARE, *TIERS)}


def _used(command: list[str]) -> dict[str, Measure]:
    """A load whose processor time the kernel measures."""
    return {name: partial(used_s, command, tier(name)) for name in ("none", BARE, *TIERS)}


def _typical(passes: int, place: Path) -> dict[str, Measure]:
    """loadgo itself, with the same work in each run."""
    loadgo = [str(Path(sys.executable).parent / "loadgo"), "run", "typical-user", "--quiet"]
    load = ["--users", "4", "--think", "none", "--typing", "none", "--passes", str(passes)]

    def run(name: str) -> float:
        with tempfile.TemporaryDirectory(dir=place) as folder:
            return used_s([*loadgo, *load, "--meters", name, "--out", f"{folder}/run"])

    return {name: partial(run, name) for name in ("none", *TIERS)}


def _ratios(compared: Compared, values: Values) -> list[Figure]:
    """The cost of the load under each tier, over that without meters and over that with programs that do nothing."""
    floors = []
    if BARE in values:
        bare = [empty / unmetered for empty, unmetered in zip(values[BARE], values["none"], strict=True)]
        exact = [metered / empty for metered, empty in zip(values["exact"], values[BARE], strict=True)]
        floors = [
            figure(f"{compared.name}, programs that do nothing / none", "", bare),
            figure(f"{compared.name}, exact / programs that do nothing", "", exact, "<= 1.15"),
        ]
    return floors + [
        figure(
            f"{compared.name}, {name} / none",
            "",
            [metered / unmetered for metered, unmetered in zip(values[name], values["none"], strict=True)],
            f"<= {compared.most[name]}",
        )
        for name in TIERS
    ]


def _added(calls: Values, beside: Values) -> list[Figure]:
    """The cost of a null call, and the cost that loadgo and other tools add to it, in ns."""
    unmetered_ns = median(calls["none"])
    added = [metered - unmetered for metered, unmetered in zip(calls["exact"], calls["none"], strict=True)]
    ours = [figure("null call, none", "ns", calls["none"]), figure("null call, exact - none", "ns", added, "<= 210")]
    others = {
        f"null call, {name} - none": [value - unmetered_ns for value in values] for name, values in beside.items()
    }
    return ours + [figure(name, "ns", values) for name, values in others.items()]


def _truths(touches: int, repetitions: int) -> list[Figure]:
    """The errors of the meters' figures: a page fault's mean, and the sum of all processors' time."""
    raw, corrected, times = list[float](), list[float](), list[float]()
    for _ in range(repetitions):
        before_ns = each_ns("touches", touches, tier("none"))
        mean_ns, correction_ns = _mean_fault_ns(touches)
        truth_ns = (before_ns + each_ns("touches", touches, tier("none"))) / 2
        raw.append(mean_ns / truth_ns)
        corrected.append((mean_ns + correction_ns) / truth_ns)
        _, sums = measured_sums(tier("exact"), "touches", touches)
        times.append(abs(sums["time of all"] / sums["span of all"] - 1) * 100)
    error = [abs(median(corrected) - 1)]
    return [
        figure("mean of a first touch, clocked / untraced", "", raw),
        figure("mean of a first touch, corrected / untraced", "", corrected),
        figure("the same, off the truth by", "", error, "<= 0.03"),
        figure("time of all processors, off 100 % by", "%", times, "<= 0.01"),
    ]


def _mean_fault_ns(touches: int) -> tuple[float, float]:
    """The mean of a first touch's fault as `loadgo meter` clocks it, and its correction, in ns."""
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        run = Path(place) / "run"
        meter = [str(Path(sys.executable).parent / "loadgo"), "meter", "--meters", "exact", "--out", str(run), "--"]
        subprocess.run([*meter, LOADS, "touches", str(touches)], check=True, capture_output=True)
        meters = summarize(loadgo.tables(run), phases="all").meters
        assert meters.command is not None
        assert meters.fault_correction_ns is not None
        faults = [row for row in meters.command.faults if row.name in ("minor", "segment")]
        time_ns = sum(row.time_ns or 0 for row in faults)
        return time_ns / sum(row.count for row in faults), meters.fault_correction_ns


if __name__ == "__main__":
    main()
