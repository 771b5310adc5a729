"""Attribution of a measured speed-up to two changes, compared with the direct measurement of each change.

    python bench/bench_paging.py [ROUNDS [PASSES]]

Two users of the script `paging` have half the memory that they need. There are two changes: half of the work, and
paging to compressed memory instead of to a file. Each round runs all four combinations once, in random order.
`loadgo speedup --measured` gets the odd rounds. From the even rounds, each change's factor is computed directly, from
the response times and processor times in the tables. So the two results share no run and no code of the analysis. The
work itself is also timed outside of loadgo, without a limit. An interrupted benchmark goes on from its finished runs.
The benchmark needs root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import loadgo
import polars as pl
from figures import Figure, figure, finish
from loadgo.attribution.results import Cause, Speedup
from loadgo.running import bundled
from machine import Machine, machine

ROUNDS, PASSES = 12, 12
PROGRAM_RUNS = 5
"""Number of programs whose times are added up, since the kernel splits one program's time by its ticks."""
USERS = 2
MEMORY, SWAP = "64M", "1G"
FULL_SCRIPT = bundled.find_script("paging").text
STEPS = tomllib.loads(FULL_SCRIPT)["lines"][0]["type"].split()[-1]
CHOICES = {"": ("whole", "file"), "half": ("half", "file"), "zram": ("whole", "zram"), "half+zram": ("half", "zram")}
"""The script and the device of each combination, as `loadgo speedup --measured` names it."""
NEAR = "<= 0.05"

Runs = Mapping[str, Sequence[Path]]


def main() -> None:
    """Makes the missing runs, analyses them, and compares."""
    if os.geteuid() != 0:
        raise SystemExit("limits of memory and paging devices need root")
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    if rounds < 2:
        raise SystemExit("at least 2 rounds: one is taken apart, the other measured directly")
    passes = int(sys.argv[2]) if len(sys.argv) > 2 else PASSES
    here = machine()
    folder = Path("runs") / f"bench-paging-{rounds}-{passes}-{here.loadgo.split()[-1]}"
    for number in range(1, rounds + 1):
        measure(folder, number, passes)
    analysed = chosen(folder, range(1, rounds + 1, 2))
    direct = chosen(folder, range(2, rounds + 1, 2))
    report(here, analysed, direct, alone(rounds))
    shutil.rmtree(folder)


def measure(folder: Path, number: int, passes: int) -> None:
    """Runs one round: every combination without a run, in random order."""
    for choice in Random(number).sample(list(CHOICES), len(CHOICES)):
        script, device = CHOICES[choice]
        out = place(folder, choice, number)
        if (out / "run.toml").exists() and tomllib.loads((out / "run.toml").read_text()).get("outcome") == "done":
            continue
        shutil.rmtree(out, ignore_errors=True)
        path = folder / f"{script}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(FULL_SCRIPT if script == "whole" else FULL_SCRIPT.replace(f' {STEPS}"', f' {int(STEPS) // 2}"'))
        limit = f"memory={MEMORY},swap={device}:{SWAP}"
        loadgo.run(path, users=USERS, passes=passes, seed=number, limit=limit, out=out)
        print(f"round {number}: {choice or 'neither'}", file=sys.stderr)


def place(folder: Path, choice: str, number: int) -> Path:
    """The folder of a run."""
    return folder / f"{choice or 'neither'}-{number}"


def chosen(folder: Path, rounds: Sequence[int]) -> Runs:
    """The runs of some rounds, by combination."""
    return {choice: [place(folder, choice, number) for number in rounds] for choice in CHOICES}


def alone(times: int) -> list[float]:
    """The program's processor time with all work over that with half, without loadgo and limits, in pairs."""
    script = tomllib.loads(FULL_SCRIPT)
    words = script["lines"][0]["type"].split()
    ratios = []
    with TemporaryDirectory() as folder:
        (Path(folder) / "touch.py").write_text(script["files"]["touch.py"])
        for _ in range(times):
            used = []
            for steps in (int(STEPS), int(STEPS) // 2):
                cpu_s = 0.0
                for _ in range(PROGRAM_RUNS):
                    child = subprocess.Popen([*words[:-1], str(steps)], cwd=folder, stdout=subprocess.DEVNULL)
                    cpu_s += os.wait4(child.pid, 0)[2].ru_utime
                used.append(cpu_s)
            ratios.append(used[0] / used[1])
    return ratios


def report(here: Machine, analysed: Runs, direct: Runs, work: Sequence[float]) -> None:
    """Prints the figures, each with its spread: its values with each round left out in turn."""
    rounds = len(analysed[""])
    folds = [(less(analysed, index), less(direct, index)) for index in range(rounds)] if rounds > 1 else []
    results = [(loadgo.speedup_of(a), means(b)) for a, b in ((analysed, direct), *folds)]
    figures = [row for measure in ("response", "CPU") for row in of_measure(measure, results)]
    figures.append(figure("work: whole over half, alone, timed from outside", "x", work))
    link = [link_of(speedup, "elapsed", "work") for speedup, _ in results]
    figures.append(figure("work: link of the chain of elapsed", "x", link))
    middle = sorted(work)[len(work) // 2]
    figures.append(figure("work: link from alone, apart", "", [abs(factor / middle - 1) for factor in link], NEAR))
    all_rounds = results[0][0]
    notes = [
        f"{caused.measure}: {caused.before / 1e6:.0f} ms to {caused.after / 1e6:.0f} ms; "
        + "; ".join(
            f"{cause.name} x{cause.factor:.3f}"
            + (f" ({cause.interval.low:.3f} to {cause.interval.high:.3f})" if cause.interval else "")
            + f", first x{cause.first:.3f}, last x{cause.last:.3f}"
            for cause in caused.causes
        )
        for caused in all_rounds.causes
        if caused.measure in ("response", "CPU", "elapsed")
    ]
    finish("paging", here, figures, [*notes, *all_rounds.warnings], {"rounds": rounds * 2})


def of_measure(
    measure: str, speedups_and_means: Sequence[tuple[Speedup, Mapping[str, Mapping[str, float]]]]
) -> list[Figure]:
    """A measure's factors by attribution and by direct measurement, and their differences.

    For the response, factors by the decomposition by meters are added.
    """
    figures = []
    causes = [{cause.name: cause.factor for cause in causes_of(speedup, measure)} for speedup, _ in speedups_and_means]
    directly = [factors(mean[measure]) for _, mean in speedups_and_means]
    for name in ("half", "zram"):
        figures.append(figure(f"{measure}: {name}, by its cause", "x", [factor[name] for factor in causes]))
        figures.append(figure(f"{measure}: {name}, directly", "x", [factor[name] for factor in directly]))
        apart = [abs(a[name] / b[name] - 1) for a, b in zip(causes, directly, strict=True)]
        figures.append(figure(f"{measure}: {name}, apart", "", apart, NEAR))
    if measure == "response":
        figures += by_the_bookkeeping([speedup for speedup, _ in speedups_and_means], causes, directly)
    return figures


def by_the_bookkeeping(
    speedups: Sequence[Speedup], causes: Sequence[Mapping[str, float]], directly: Sequence[Mapping[str, float]]
) -> list[Figure]:
    """The response factors by the meters of two of the four combinations: the programs' part, and all other parts.

    Each is compared with the factor of the change that should explain it.
    """
    half = [link_of(speedup, "response", "programs") for speedup in speedups]
    ratios = [next(chain.ratio for chain in speedup.bookkeeping if chain.measure == "response") for speedup in speedups]
    figures = []
    parts = (
        ("half", "programs", half),
        ("zram", "all but programs", [r / a for r, a in zip(ratios, half, strict=True)]),
    )
    for name, part, factor in parts:
        figures.append(figure(f"response: {part}, by the bookkeeping", "x", factor))
        for source, other in (("by its cause", causes), ("directly", directly)):
            apart = [abs(a / b[name] - 1) for a, b in zip(factor, other, strict=True)]
            figures.append(figure(f"response: {part} from {name}, {source}, apart", "", apart, NEAR))
    return figures


def causes_of(speedup: Speedup, measure: str) -> Sequence[Cause]:
    """The causes of a measure."""
    return next(caused for caused in speedup.causes if caused.measure == measure).causes


def link_of(speedup: Speedup, measure: str, name: str) -> float:
    """A link of a chain of the bookkeeping."""
    chain = next(chain for chain in speedup.bookkeeping if chain.measure == measure)
    return next(link for link in chain.links if link.name == name).factor


def less(runs: Runs, left_out: int) -> Runs:
    """The runs without one round."""
    return {choice: [run for index, run in enumerate(folders) if index != left_out] for choice, folders in runs.items()}


def means(runs: Runs) -> Mapping[str, Mapping[str, float]]:
    """The mean over all interactions by measure and combination, from the tables alone."""
    mean: dict[str, dict[str, float]] = {"response": {}, "CPU": {}}
    for choice, folders in runs.items():
        rows = pl.concat([loadgo.tables(run).interactions for run in folders])
        mean["response"][choice] = float(rows.select((pl.col("ready_ns") - pl.col("sent_ns")).mean()).item())
        mean["CPU"][choice] = float(rows.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).mean()).item())
    return mean


def factors(mean: Mapping[str, float]) -> dict[str, float]:
    """Each change's factor: the geometric mean of its factors as first and as last change."""
    return {
        "half": (mean[""] / mean["half"] * mean["zram"] / mean["half+zram"]) ** 0.5,
        "zram": (mean[""] / mean["zram"] * mean["half"] / mean["half+zram"]) ** 0.5,
    }


if __name__ == "__main__":
    main()
