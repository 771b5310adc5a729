"""Page faults foretold from the working sets of one run, held to runs in other sizes of memory.

    python bench/bench_working_sets.py [USERS] [MB] [SECONDS]

Each user has a program of its own that holds MB megabytes. A line lets it touch 960 of its pages, in runs of 8 that are
skewed: low pages often, high ones seldom. Users think 3 s on average. They run with ample memory, and in 3/4, a half
and 3/8 of what they held then, with zram to page to. The ample run foretells the others, and the smallest one that of
twice its memory. A limit also holds what the users' group has besides the memory of its processes, so that is added.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import loadgo
import polars as pl
from figures import Figure, figure, finish
from loadgo.measures.summary import summarize
from loadgo.measures.working_sets import FaultsAtMemory, WorkingSets
from loadgo.records.tables import Tables
from machine import machine

PROGRAM = """
import mmap, random, sys
pages = int(sys.argv[1]) << 8
memory = mmap.mmap(-1, pages * mmap.PAGESIZE, flags=mmap.MAP_PRIVATE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for page in range(pages):
    memory[page * mmap.PAGESIZE] = 1
while True:
    print("? ", end="", flush=True)
    if sys.stdin.readline().strip() == "quit":
        break
    for _ in range(120):
        first = int(pages * random.random() ** 3)
        for page in range(first, min(first + 8, pages)):
            memory[page * mmap.PAGESIZE] = 2
"""
SHARES = (0.75, 0.5, 0.375)
"""Parts of the memory that the processes held with ample memory. The largest is twice the smallest."""
AMPLE_MB = 8192
NOTES = (
    "faults / foretold: major faults a second of the run in so much memory, over those foretold from the ample run",
    "the ample run has a limit too, which nobody reaches: a limit's group tells what it holds",
)


def main() -> None:
    """Measures and records all figures."""
    given = [int(word) for word in sys.argv[1:4]]
    users, megabytes, seconds = [*given, *(24, 20, 300)[len(given) :]]
    here = machine()
    figures, raw = list[Figure](), dict[str, object]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        folder = Path(place)
        (folder / "script.toml").write_text(_script(megabytes))
        ample, from_ample = _run(folder, users, seconds, AMPLE_MB)
        group_bytes = _group_bytes(ample)
        windows = [row.bytes for row in from_ample.windows]
        raw["ample"] = {"held": from_ample.resident_bytes, "group": group_bytes, "windows": windows}
        faults, rungs = dict[float, float](), dict[float, WorkingSets]()
        for share in SHARES:
            limit_bytes = group_bytes - (1 - share) * from_ample.resident_bytes
            limited, rungs[share] = _run(folder, users, seconds, int(limit_bytes / 2**20))
            faults[share] = _major_faults_per_s(limited)
            figures += _judged(f"{share:.1%} of ample memory", _foretold(from_ample, share), faults[share], raw)
        figures += _judged("twice the smallest memory", _foretold(rungs[SHARES[-1]], 2.0), faults[2 * SHARES[-1]], raw)
        figures += _judged(
            "half of 3/4, where the kernel clears marks too",
            _foretold(rungs[SHARES[0]], 0.5),
            faults[SHARES[-1]],
            raw,
            target="",
        )
    finish("working_sets", here, figures, NOTES, raw)


def _foretold(sets: WorkingSets, share: float) -> FaultsAtMemory:
    return next(row for row in sets.faults if row.share == share)


def _judged(
    name: str, foretold: FaultsAtMemory, faults: float, raw: dict[str, object], target: str = "<= 0.15"
) -> list[Figure]:
    """The figures of a forecast: the quotient, how far it is from 1, and whether its interval holds the faults."""
    interval = foretold.interval
    if foretold.faults_per_s is None:
        return []
    ratio = faults / foretold.faults_per_s
    raw[name] = {
        "foretold": foretold.faults_per_s,
        "interval": None if interval is None else [interval.low, interval.high],
        "bound": foretold.bound,
        "faults": faults,
    }
    return [
        figure(f"{name}: faults / foretold", "", [ratio]),
        figure("  off by", "", [abs(ratio - 1)], target),
        figure("  in the interval", "", [float(interval is not None and interval.holds(faults))]),
    ]


def _script(megabytes: int) -> str:
    burst = '    { type = "touch", as = "touch" },\n' * 100
    return (
        f'name = "touch"\nlogin = "sh"\npasses = 1000\nthink = "exponential(3s, max 30s)"\nneeds = ["python3"]\n'
        f'[files]\n"touch.py" = """{PROGRAM}"""\n'
        f'[[lines]]\nas = "begin"\ntype = "python3 -IS touch.py {megabytes}"\nuntil = \'\\? $\'\n'
        f"[[lines]]\nuntil = '\\? $'\nlines = [\n{burst}]\n"
        f'[[lines]]\nas = "end"\ntype = "quit"\n'
    )


def _run(folder: Path, users: int, seconds: int, limit_mb: int) -> tuple[Tables, WorkingSets]:
    """A run with so much memory, and zram to page to."""
    out = folder / f"{limit_mb}M"
    loadgo.run(
        folder / "script.toml",
        users=users,
        duration=seconds,
        warm_up=20,
        limit=f"memory={limit_mb}M,swap=zram:2G",
        working_sets=True,
        meters="none",
        out=out,
    )
    measured = loadgo.tables(out)
    print(loadgo.report(out, width=120), flush=True)
    sets = summarize(measured).working_sets
    assert sets is not None, "the run was long enough for windows"
    return measured, sets


def _group_bytes(tables: Tables) -> float:
    """The mean memory of the users' group."""
    steady = tables.processes.filter((pl.col("who") == "users") & pl.col("user").is_null())
    later = steady.tail(len(steady) // 2)
    return float(later["memory_bytes"].drop_nulls().to_numpy().mean())


def _major_faults_per_s(tables: Tables) -> float:
    rows = tables.interactions.filter(pl.col("phase") == "steady")
    span_ns = int(rows["ready_ns"].max()) - int(rows["sent_ns"].min())
    return float(rows["faults_major"].sum()) / (span_ns / 1e9)


if __name__ == "__main__":
    main()
