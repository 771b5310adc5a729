"""A speed-up on this host taken apart: work halved and the paging device changed, against each measured directly.

    python bench/bench_paging.py [ROUNDS [PASSES]]

Two users of the script `paging` have half the memory that they hold. In each round each of the four choices of the two
changes (half of the work; paging to compressed memory instead of to a file) is run once, in an order drawn anew. The
first, third, … rounds are what `loadgo speedup --measured` gets; of the others each change's factor is taken directly
from the response times and processor times in the tables, so that neither a run nor a line of the analysis is shared.
The work itself is also timed outside of loadgo, without a limit. Runs that are there already, of a benchmark that was
interrupted, are not made again. Needs root.
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
ALONE = 5
"""Programs whose times are added up: the kernel divides the time of one by its ticks."""
USERS = 2
MEMORY, SWAP = "64M", "1G"
WHOLE = bundled.find_script("paging").text
STEPS = tomllib.loads(WHOLE)["lines"][0]["type"].split()[-1]
CHOICES = {"": ("whole", "file"), "half": ("half", "file"), "zram": ("whole", "zram"), "half+zram": ("half", "zram")}
"""The script and the device of each choice, as `loadgo speedup --measured` names it."""
NEAR = "<= 0.05"

Runs = Mapping[str, Sequence[Path]]


def main() -> None:
    """Runs what is not there yet, takes it apart, and compares."""
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
    taken = chosen(folder, range(1, rounds + 1, 2))
    direct = chosen(folder, range(2, rounds + 1, 2))
    report(here, taken, direct, alone(rounds))
    shutil.rmtree(folder)


def measure(folder: Path, number: int, passes: int) -> None:
    """One round: every choice that has no run yet, in an order of its own."""
    for choice in Random(number).sample(list(CHOICES), len(CHOICES)):
        script, device = CHOICES[choice]
        out = place(folder, choice, number)
        if (out / "run.toml").exists() and tomllib.loads((out / "run.toml").read_text()).get("outcome") == "done":
            continue
        shutil.rmtree(out, ignore_errors=True)
        path = folder / f"{script}.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(WHOLE if script == "whole" else WHOLE.replace(f' {STEPS}"', f' {int(STEPS) // 2}"'))
        limit = f"memory={MEMORY},swap={device}:{SWAP}"
        loadgo.run(path, users=USERS, passes=passes, seed=number, limit=limit, out=out)
        print(f"round {number}: {choice or 'neither'}", file=sys.stderr)


def place(folder: Path, choice: str, number: int) -> Path:
    """Where a run is kept."""
    return folder / f"{choice or 'neither'}-{number}"


def chosen(folder: Path, rounds: Sequence[int]) -> Runs:
    """The runs of some rounds, by choice."""
    return {choice: [place(folder, choice, number) for number in rounds] for choice in CHOICES}


def alone(times: int) -> list[float]:
    """Whole over half of the program's processor time, timed from outside, without a limit, in pairs of several."""
    script = tomllib.loads(WHOLE)
    words = script["lines"][0]["type"].split()
    found = []
    with TemporaryDirectory() as folder:
        (Path(folder) / "touch.py").write_text(script["files"]["touch.py"])
        for _ in range(times):
            used = []
            for steps in (int(STEPS), int(STEPS) // 2):
                told = 0.0
                for _ in range(ALONE):
                    child = subprocess.Popen([*words[:-1], str(steps)], cwd=folder, stdout=subprocess.DEVNULL)
                    told += os.wait4(child.pid, 0)[2].ru_utime
                used.append(told)
            found.append(used[0] / used[1])
    return found


def report(here: Machine, taken: Runs, direct: Runs, work: Sequence[float]) -> None:
    """Prints the figures, each with its spread: what it is with each round left out in turn."""
    folds = [(less(taken, at), less(direct, at)) for at in range(len(taken[""]))] if len(taken[""]) > 1 else []
    every = [(loadgo.speedup_of(a), means(b)) for a, b in ((taken, direct), *folds)]
    figures = [one for measure in ("response", "CPU") for one in of_measure(measure, every)]
    figures.append(figure("work: whole over half, alone, timed from outside", "x", work))
    link = [link_of(made, "elapsed", "work") for made, _ in every]
    figures.append(figure("work: link of the chain of elapsed", "x", link))
    middle = sorted(work)[len(work) // 2]
    figures.append(figure("work: link from alone, apart", "", [abs(one / middle - 1) for one in link], NEAR))
    whole = every[0][0]
    told = [
        f"{caused.measure}: {caused.before / 1e6:.0f} ms to {caused.after / 1e6:.0f} ms; "
        + "; ".join(
            f"{one.name} x{one.factor:.3f}"
            + (f" ({one.interval.low:.3f} to {one.interval.high:.3f})" if one.interval else "")
            + f", first x{one.first:.3f}, last x{one.last:.3f}"
            for one in caused.causes
        )
        for caused in whole.causes
        if caused.measure in ("response", "CPU", "elapsed")
    ]
    finish("paging", here, figures, [*told, *whole.warnings], {"rounds": len(taken[""]) * 2})


def of_measure(measure: str, every: Sequence[tuple[Speedup, Mapping[str, Mapping[str, float]]]]) -> list[Figure]:
    """A measure's factors by the causes, directly, and how far these are apart; and by the bookkeeping of two of the
    four machines only.
    """
    found = []
    causes = [{one.name: one.factor for one in cause_of(made, measure)} for made, _ in every]
    directly = [factors(mean[measure]) for _, mean in every]
    for name in ("half", "zram"):
        found.append(figure(f"{measure}: {name}, by its cause", "x", [one[name] for one in causes]))
        found.append(figure(f"{measure}: {name}, directly", "x", [one[name] for one in directly]))
        apart = [abs(a[name] / b[name] - 1) for a, b in zip(causes, directly, strict=True)]
        found.append(figure(f"{measure}: {name}, apart", "", apart, NEAR))
    return found + (by_the_bookkeeping([made for made, _ in every], causes, directly) if measure == "response" else [])


def by_the_bookkeeping(
    every: Sequence[Speedup], causes: Sequence[Mapping[str, float]], directly: Sequence[Mapping[str, float]]
) -> list[Figure]:
    """Response as the meters of two of the four machines divide it, the programs' part and all others; beside what half
    of the work and the other device did.
    """
    half = [link_of(made, "response", "programs") for made in every]
    ratios = [next(one.ratio for one in made.bookkeeping if one.measure == "response") for made in every]
    found = []
    parts = (
        ("half", "programs", half),
        ("zram", "all but programs", [r / a for r, a in zip(ratios, half, strict=True)]),
    )
    for name, part, factor in parts:
        found.append(figure(f"response: {part}, by the bookkeeping", "x", factor))
        for said, other in (("by its cause", causes), ("directly", directly)):
            apart = [abs(a / b[name] - 1) for a, b in zip(factor, other, strict=True)]
            found.append(figure(f"response: {part} from {name}, {said}, apart", "", apart, NEAR))
    return found


def cause_of(made: Speedup, measure: str) -> Sequence[Cause]:
    """The causes of a measure."""
    return next(one for one in made.causes if one.measure == measure).causes


def link_of(made: Speedup, measure: str, name: str) -> float:
    """A link of a chain of the bookkeeping."""
    chain = next(one for one in made.bookkeeping if one.measure == measure)
    return next(link for link in chain.links if link.name == name).factor


def less(runs: Runs, at: int) -> Runs:
    """The runs without one round."""
    return {choice: [run for place, run in enumerate(each) if place != at] for choice, each in runs.items()}


def means(runs: Runs) -> Mapping[str, Mapping[str, float]]:
    """By measure and choice, the mean over all interactions, from the tables alone."""
    found: dict[str, dict[str, float]] = {"response": {}, "CPU": {}}
    for choice, each in runs.items():
        rows = pl.concat([loadgo.tables(run).interactions for run in each])
        found["response"][choice] = float(rows.select((pl.col("ready_ns") - pl.col("sent_ns")).mean()).item())
        found["CPU"][choice] = float(rows.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).mean()).item())
    return found


def factors(mean: Mapping[str, float]) -> dict[str, float]:
    """Each change's factor: made first and made last, their geometric mean."""
    return {
        "half": (mean[""] / mean["half"] * mean["zram"] / mean["half+zram"]) ** 0.5,
        "zram": (mean[""] / mean["zram"] * mean["half"] / mean["half+zram"]) ** 0.5,
    }


if __name__ == "__main__":
    main()
