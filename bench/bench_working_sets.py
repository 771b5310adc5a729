"""Page faults foretold from the working sets of a run with ample memory, held to runs in a half and 3/4 of it.

    python bench/bench_working_sets.py [USERS] [MB] [SECONDS]

Each user has a program of its own that holds MB megabytes. A line lets it touch 960 of its pages, in runs of 8 that are
skewed: low pages often, high ones seldom. Users think 3 s on average. First they run with ample memory and
`--working-sets`, then with limits of memory and zram to page to. A limit also holds what the users' group has besides
the memory of its processes, so that is added to the memory for which faults are foretold.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import loadgo
import polars as pl
from figures import figure, finish
from loadgo.measures.summary import Summary, summarize
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
SHARES = (0.75, 0.5)
"""Parts of the memory that the processes held with ample memory."""
AMPLE_MB = 8192
NOTES = (
    "faults / foretold: major faults a second of the run in so much memory, over those foretold from the ample run",
    "the ample run has a limit too, which nobody reaches: a limit's group tells what it holds",
)


def main() -> None:
    """Measures and records all figures."""
    given = [int(word) for word in sys.argv[1:4]]
    users, megabytes, seconds = [*given, *(12, 20, 300)[len(given) :]]
    here = machine()
    figures, raw = [], dict[str, object]()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as place:
        folder = Path(place)
        (folder / "script.toml").write_text(_script(megabytes))
        ample, summary = _run(folder, users, seconds, AMPLE_MB)
        sets = summary.working_sets
        assert sets is not None, "the ample run has working sets"
        group_bytes = _group_bytes(ample)
        raw["ample"] = {
            "held": sets.resident_bytes,
            "group": group_bytes,
            "windows": [row.bytes for row in sets.windows],
        }
        for share in SHARES:
            (foretold,) = (row for row in sets.faults if row.share == share)
            limit_bytes = group_bytes - sets.resident_bytes + foretold.bytes
            limited, _ = _run(folder, users, seconds, int(limit_bytes / 2**20))
            faults = _major_faults_per_s(limited)
            held = foretold.interval is not None and foretold.interval.holds(faults)
            raw[f"{share:.0%}"] = {
                "foretold": foretold.faults_per_s,
                "interval": str(foretold.interval),
                "faults": faults,
            }
            figures.append(
                figure(f"faults / foretold in {share:.0%} of the memory", "", [faults / foretold.faults_per_s])
            )
            figures.append(figure("  in the interval", "", [float(held)]))
    finish("working_sets", here, figures, NOTES, raw)


def _script(megabytes: int) -> str:
    burst = '    { type = "touch", as = "touch" },\n' * 100
    return (
        f'name = "touch"\nlogin = "sh"\npasses = 1000\nthink = "exponential(3s, max 30s)"\nneeds = ["python3"]\n'
        f'[files]\n"touch.py" = """{PROGRAM}"""\n'
        f'[[lines]]\nas = "begin"\ntype = "python3 -IS touch.py {megabytes}"\nuntil = \'\\? $\'\n'
        f"[[lines]]\nuntil = '\\? $'\nlines = [\n{burst}]\n"
        f'[[lines]]\nas = "end"\ntype = "quit"\n'
    )


def _run(folder: Path, users: int, seconds: int, limit_mb: int) -> tuple[Tables, Summary]:
    """A run with so much memory, and zram to page to. The ample one has working sets."""
    out, is_ample = folder / f"{limit_mb}M", limit_mb == AMPLE_MB
    loadgo.run(
        folder / "script.toml",
        users=users,
        duration=seconds,
        warm_up=20,
        limit=f"memory={limit_mb}M,swap=zram:2G",
        working_sets=is_ample,
        meters="none",
        out=out,
    )
    measured = loadgo.tables(out)
    print(loadgo.report(out, full=is_ample, width=120), flush=True)
    return measured, summarize(measured)


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
