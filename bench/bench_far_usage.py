"""Usage of the lines of a run on another host, beside that of the same run made on that host itself.

python bench/bench_far_usage.py [PAIRS]

The other host is an sshd on loopback with an account and a boot id of its own. It has this machine's kernel, so both
runs of a pair do the same work on the same processors. Runs alternate, and each pair has its own order. Needs root.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import loadgo
from figures import Figure, figure, finish
from loadgo.measures.summary import summarize
from machine import machine

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.ssh_host import ssh_host

PAIRS = 10
USERS, PASSES = 2, 12
MOST_DIFFERENCE_PERCENT = 1.0
_PAGES = 20_000
_COUNT = "n=0; while [ $n -lt 150000 ]; do n=$((n+1)); done"
_TOUCH = f"m = mmap.mmap(-1, {_PAGES} << 12); [m.__setitem__(n << 12, 1) for n in range({_PAGES})]"
LINES = {
    "count": f"sh -c '{_COUNT}'",
    "touch": f"python3 -I -c 'import mmap; {_TOUCH}'",
    "list": "ls -l /usr/bin /usr/lib > /dev/null",
}
Means = dict[str, float]
"""The mean of each figure of a run, by `COMMAND, FIGURE`."""


def main() -> None:
    """Runs all pairs, and compares within each."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as name:
        folder = Path(name)
        (folder / "work.toml").write_text(_script())
        with ssh_host(folder / "far", other_boot=True) as host:
            path = _path_with_ssh(folder, host.config)
            measured = [_pair(folder, path, number) for number in range(pairs)]
    figures = _figures(measured)
    notes = [f"{USERS} users of bash, {PASSES} passes a run, think fixed(0.4s); a ratio is made within a pair"]
    finish("far_usage", here, figures, notes, {"pairs": measured})


def _script() -> str:
    lines = "\n".join(f"  {{ type = {line!r}, as = {name!r} }}," for name, line in LINES.items())
    lines = lines.replace(repr(LINES["count"]), f'"{LINES["count"]}"').replace(
        repr(LINES["touch"]), f'"{LINES["touch"]}"'
    )
    return f'name = "far usage"\nlogin = "bash"\nthink = "fixed(0.4s)"\npasses = {PASSES}\nlines = [\n{lines}\n]\n'


def _path_with_ssh(folder: Path, config: Path) -> str:
    """A PATH on which an `ssh` comes first that finds the host as `far`."""
    script = folder / "bin" / "ssh"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    script.chmod(0o755)
    return f"{script.parent}:{os.environ['PATH']}"


def _pair(folder: Path, path: str, number: int) -> list[Means]:
    """The means of a run here and of one there."""
    sides = {"here": (), "there": ("--on", "ssh://far")}
    means = {}
    for side in sorted(sides, reverse=bool(number % 2)):
        out = folder / f"{side}-{number}"
        words = ["loadgo", "run", "work.toml", "--users", f"{USERS}", *sides[side], "--out", str(out), "--quiet"]
        run = subprocess.run(words, cwd=folder, env={**os.environ, "PATH": path}, capture_output=True, text=True)
        if run.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(words)}: {run.stderr}")
        means[side] = _means(out)
    return [means["here"], means["there"]]


def _means(out: Path) -> Means:
    """The mean usage of an interaction of each command, of all that are known."""
    found = {}
    for row in summarize(loadgo.tables(out), phases="all").commands:
        if row.name in LINES:
            known = row.usage.measured
            found[f"{row.name}, known"] = known / row.response.count
            found[f"{row.name}, CPU"] = float(row.usage.cpu_ns or 0)
            found[f"{row.name}, minor faults"] = float(row.usage.faults_minor or 0)
    return found


def _figures(pairs: list[list[Means]]) -> list[Figure]:
    """The ratios of each figure, there over here, and by how much a median is off at most."""
    figures, off = list[Figure](), list[float]()
    for name in (name for name in pairs[0][0] if not name.endswith("known")):
        ratios = [there[name] / here[name] for here, there in pairs]
        figures.append(figure(f"{name}: there over here", "", ratios))
        off.append(100 * abs(sorted(ratios)[len(ratios) // 2] - 1))
    known = [there[name] for _, there in pairs for name in there if name.endswith("known")]
    figures.append(figure("largest difference of a median", "%", [max(off)], f"<= {MOST_DIFFERENCE_PERCENT}"))
    figures.append(figure("share of the lines there whose usage is known", "", known))
    return figures


if __name__ == "__main__":
    main()
