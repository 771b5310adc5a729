"""A load of known scripts is observed while it runs, and the script that comes out is run: how like are the two?

    python bench/bench_observe.py [LIGHT] [HEAVY] [SECONDS] [BUSY …]

Users of two classes log in through `sh` and type programs whose processor time and page faults are known. Each class
has think times and an order of its own. `loadgo observe` watches all the while, in a process of its own. Its script
is run by half of the users, while the other half go on with the known scripts: so both meet the same host. Compared
are means and p90 by command, pairs of commands, think times and throughput by class. Responses are compared between
the two halves. Then BUSY users type: what does the observation cost? Its programs in the kernel are clocked by the
kernel itself (`kernel.bpf_stats_enabled`), which makes them dearer, and its process by its own processor time.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
from figures import Figure, figure, finish
from machine import machine

LIGHT, HEAVY, SECONDS = 20, 8, 240
BUSY = (20, 200)
BUSY_S = 60
PROGRAM = """#!/usr/bin/python3 -IS
import mmap, random, time
cpu_s, pages, wait_s = random.uniform({cpu_low}, {cpu_high}), random.randrange({pages_low}, {pages_high}), {wait}
memory = mmap.mmap(-1, pages * 4096)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, len(memory), 4096):
    memory[place] = 1
while time.process_time() < cpu_s:
    for _ in range(500):
        pass
time.sleep(wait_s)
"""
PROGRAMS = {
    "quick": {"cpu_low": 0.03, "cpu_high": 0.07, "pages_low": 100, "pages_high": 1500, "wait": 0.0},
    "look": {"cpu_low": 0.02, "cpu_high": 0.04, "pages_low": 10, "pages_high": 200, "wait": 0.1},
    "build": {"cpu_low": 0.15, "cpu_high": 0.45, "pages_low": 4000, "pages_high": 16000, "wait": 0.05},
    "test": {"cpu_low": 0.1, "cpu_high": 0.2, "pages_low": 2000, "pages_high": 4000, "wait": 0.2},
}
CLASSES = {
    "light": ("lognormal(3s, 2s)", {"quick": 4, "look": 3}),
    "heavy": ("exponential(6s)", {"build": 1, "test": 1}),
}
FOLLOWING = {
    "quick": {"quick": 3, "look": 7},
    "look": {"quick": 9, "look": 1},
    "build": {"test": 8, "build": 2},
    "test": {"build": 8, "test": 2},
}
"""The weights of the program that follows each; in the long run they give the weights of the classes."""
CLASS_OF = {name: each for each, (_, weights) in CLASSES.items() for name in weights}


def main() -> None:
    """Observes a known load, runs the script of it, and compares; then clocks the observation beside busy users."""
    arguments = [int(word) for word in sys.argv[1:]]
    light, heavy, length_s = (*arguments, *(LIGHT, HEAVY, SECONDS)[len(arguments) :])[:3]
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-observe-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # its programs are run by somebody else
        write_programs(folder)
        script = folder / "observed.toml"
        with observing(length_s, script):
            known_run = run_known(folder, light, heavy, length_s - 12, "known")
        with ThreadPoolExecutor() as pool:
            halves = (light // 2, heavy // 2)
            beside = pool.submit(run_known, folder, *halves, length_s, "beside")
            run = loadgo.run(script, users=sum(halves), duration=length_s, meters="none", out=folder / "again")
            known_beside = seen(beside.result())
        known, again = seen(known_run), seen(run)
        pairs, driven_pairs = pair_shares(known_run), pair_shares(run)
        observed = json.loads((folder / "observed.json").read_text())
    figures = [*agreement(known, watched(observed), "observed"), *agreement(known, again, "of the script")]
    figures += responses(known_beside, again)
    figures += [
        figure("pairs of commands that the script has elsewhere", "%", [pair_distance(pairs, driven_pairs)], "<= 10"),
        figure("the same without an order", "%", [pair_distance(pairs, without_order(pairs))]),
    ]
    for users in arguments[3:] or BUSY:
        figures += overhead(users)
    finish(
        "observe", here, figures, [f"{light} light and {heavy} heavy users, {length_s} s"], {"observation": observed}
    )


@contextmanager
def observing(length_s: float, script: Path) -> Iterator[None]:
    """Runs `loadgo observe` beside what the context does, and waits for its script."""
    words = [sys.executable, "-m", "loadgo", "observe", "--for", f"{length_s}s", "-o", str(script), "--users", "nobody"]
    words += ["--format", "json", "--report", str(script.with_suffix(".json"))]
    observer = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(3)  # it loads the kernel's programs
        yield
        _, said = observer.communicate(timeout=length_s + 60)
        if observer.returncode not in (0, 1):
            raise SystemExit(f"loadgo observe: {said}")
    finally:
        if observer.poll() is None:
            observer.kill()
            observer.wait()


def write_programs(folder: Path) -> None:
    """Writes the programs that users of the known load type."""
    for name, values in PROGRAMS.items():
        path = folder / name
        path.write_text(PROGRAM.format(**values))
        path.chmod(0o755)


def run_known(folder: Path, light: int, heavy: int, length_s: float, name: str) -> loadgo.Run:
    """The load whose truth is known, in the run folder `name`. Each user is of one class all the time."""
    kinds = []
    for (think, weights), users in zip(CLASSES.values(), (light, heavy), strict=True):
        choices = [
            f'{{ weight = {weight}, type = "{folder / program}", as = "{program}", then = {{ {row_of(program)} }} }}'
            for program, weight in weights.items()
        ]
        kinds.append(f'{{ weight = {users}, repeat = 100000, think = "{think}", choose = [{", ".join(choices)}] }}')
    (folder / f"{name}.toml").write_text(f'login = "su -s /bin/sh nobody"\n[[lines]]\nchoose = [{", ".join(kinds)}]\n')
    return loadgo.run(folder / f"{name}.toml", users=light + heavy, duration=length_s, meters="none", out=folder / name)


def row_of(program: str) -> str:
    """The weights of what follows a program, as in a script."""
    return ", ".join(f"{name} = {weight}" for name, weight in FOLLOWING[program].items())


def pair_shares(run: loadgo.Run) -> dict[tuple[str, str], float]:
    """The shares of the pairs of commands that a user typed one after the other."""
    rows = loadgo.tables(run).interactions.sort("user", "sent_ns").with_columns(pl.col("command").cast(pl.String))
    pairs: Counter[tuple[str, str]] = Counter()
    for _, part in rows.group_by("user"):
        pairs.update(pairwise(part["command"]))
    return {pair: count / pairs.total() for pair, count in pairs.items()}


def pair_distance(known: dict[tuple[str, str], float], other: dict[tuple[str, str], float]) -> float:
    """The percentage of pairs that are others."""
    return 50 * sum(abs(known.get(pair, 0.0) - other.get(pair, 0.0)) for pair in {*known, *other})


def without_order(pairs: dict[tuple[str, str], float]) -> dict[tuple[str, str], float]:
    """The shares of the pairs of each class if what comes next did not depend on what came before."""
    shares: dict[tuple[str, str], float] = {}
    for names in ([name for name in CLASS_OF if CLASS_OF[name] == kind] for kind in CLASSES):
        befores = {name: sum(pairs.get((name, after), 0.0) for after in names) for name in names}
        afters = {name: sum(pairs.get((before, name), 0.0) for before in names) for name in names}
        total = sum(befores.values()) or 1.0
        shares |= {(before, after): befores[before] * afters[after] / total for before in names for after in names}
    return shares


def seen(run: loadgo.Run) -> dict[str, float]:
    """The figures of a run: of each command, and of each class."""
    rows = loadgo.tables(run).interactions.with_columns(pl.col("command").cast(pl.String)).drop_nulls("ready_ns")
    rows = rows.with_columns(
        cpu=(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).cast(pl.Float64) / 1e6,
        faults=pl.col("faults_minor").cast(pl.Float64),
        response=(pl.col("ready_ns") - pl.col("sent_ns")).cast(pl.Float64) / 1e6,
        think=pl.col("think_ns").cast(pl.Float64) / 1e9,
        kind=pl.col("command").replace_strict(CLASS_OF, default="other"),
    )
    figures_by_name = {}
    for (command,), part in rows.group_by("command"):
        for column in ("cpu", "faults", "response"):
            figures_by_name[f"{command}: {column}, mean"] = float(part[column].mean())
            figures_by_name[f"{command}: {column}, p90"] = float(part[column].quantile(0.9))
        figures_by_name[f"{command}: share of its class"] = len(part) / len(
            rows.filter(pl.col("kind") == CLASS_OF.get(command, "other"))
        )
    for (kind,), part in rows.group_by("kind"):
        figures_by_name[f"{kind}: think, mean"] = float(part["think"].mean())
        figures_by_name[f"{kind}: think, p90"] = float(part["think"].quantile(0.9))
        figures_by_name[f"{kind}: lines a minute of a user"] = 60 / float(
            (part["think"] + part["response"] / 1e3).mean()
        )
    return figures_by_name


def watched(observation: dict[str, Any]) -> dict[str, float]:
    """The figures that the observation reports."""
    figures_by_name = {}
    for row in observation["commands"]:
        figures_by_name[f"{row['command']}: cpu, mean"] = row["cpu_ns"] / 1e6
        figures_by_name[f"{row['command']}: cpu, p90"] = row["cpu_p90_ns"] / 1e6
        figures_by_name[f"{row['command']}: faults, mean"] = row["faults_minor"]
        figures_by_name[f"{row['command']}: response, mean"] = row["elapsed_ns"] / 1e6
        figures_by_name[f"{row['command']}: share of its class"] = row["share"]
    for group in observation["groups"]:
        figures_by_name[f"{group['name']}: think, mean"] = group["think_mean_ns"] / 1e9
    return figures_by_name


def agreement(known: dict[str, float], others: dict[str, float], which: str) -> list[Figure]:
    """The distance of each figure from that of the known load, in percent."""
    rows = []
    for name, value in sorted(known.items()):
        if value and name in others and "response" not in name:
            deviation = 100 * abs(others[name] / value - 1)
            rows.append(figure(f"{name}: {value:.4g}, {which} {others[name]:.4g}", "%", [deviation], "<= 10"))
    return rows


def responses(known: dict[str, float], script: dict[str, float]) -> list[Figure]:
    """The distance of the script's responses from those of the known load at the same time, in percent."""
    names = [name for name in sorted(known) if "response" in name and name in script]
    return [
        figure(
            f"{name}: {known[name]:.4g}, of the script {script[name]:.4g}",
            "%",
            [100 * abs(script[name] / known[name] - 1)],
            "<= 10",
        )
        for name in names
    ]


def overhead(users: int) -> list[Figure]:
    """The cost of observing so many busy users, in percent of one processor, and their own rates."""
    with tempfile.TemporaryDirectory(prefix="loadgo-observe-") as name, clocked_programs():
        folder = Path(name)
        script = folder / "busy.toml"
        script.write_text(
            'login = "sh"\nthink = "uniform(1s, 3s)"\nlines = ["ls -l /usr/bin | wc", "date", "uname -a"]\n'
        )
        words = [sys.executable, "-m", "loadgo", "observe", "--for", "1h", "-o", str(folder / "observed.toml")]
        observer = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        typing = ["run", str(script), "--users", str(users), "--for", f"{BUSY_S}s", "--meters", "none", "--quiet"]
        load = subprocess.Popen(
            [sys.executable, "-m", "loadgo", *typing, "--out", str(folder / "run")], stdout=subprocess.DEVNULL
        )
        time.sleep(BUSY_S / 3)
        before = used_by(observer.pid)
        time.sleep(BUSY_S / 2)
        after = used_by(observer.pid)
        load.wait()
        observer.send_signal(signal.SIGINT)
        observer.wait()
        lines = len(loadgo.tables(str(folder / "run")).interactions)
    seconds = after["at"] - before["at"]
    share = {key: 100 * (after[key] - before[key]) / seconds for key in ("programs", "process")}
    return [
        figure(f"{users} users: kernel programs", "% of a core", [share["programs"]]),
        figure(f"{users} users: the process", "% of a core", [share["process"]]),
        figure(f"{users} users: both", "% of a core", [sum(share.values())], "<= 1"),
        figure(f"{users} users: events of the programs", "1/s", [(after["events"] - before["events"]) / seconds]),
        figure(f"{users} users: lines typed", "1/s", [lines / BUSY_S]),
        figure(f"{users} users: memory of the process", "MB", [after["memory"]]),
    ]


@contextmanager
def clocked_programs() -> Iterator[None]:
    """The kernel clocks all its programs within the context."""
    setting = Path("/proc/sys/kernel/bpf_stats_enabled")
    before = setting.read_text()
    setting.write_text("1")
    try:
        yield
    finally:
        setting.write_text(before)


def used_by(pid: int) -> dict[str, float]:
    """Seconds of processor time of a process and of its kernel programs so far, their runs, and its memory."""
    programs_ns = events = 0
    for info in Path(f"/proc/{pid}/fdinfo").iterdir():
        fields = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        programs_ns += int(fields.get("run_time_ns", "0"))
        events += int(fields.get("run_cnt", "0"))
    threads_ns = sum(int((task / "schedstat").read_text().split()[0]) for task in Path(f"/proc/{pid}/task").iterdir())
    memory = next(
        int(line.split()[1]) / 1024
        for line in Path(f"/proc/{pid}/status").read_text().splitlines()
        if line.startswith("VmRSS")
    )
    return {
        "at": time.monotonic(),
        "programs": programs_ns / 1e9,
        "process": threads_ns / 1e9,
        "events": events,
        "memory": memory,
    }


if __name__ == "__main__":
    main()
