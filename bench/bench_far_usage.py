"""Usage of the lines of a run on another host, beside that of the same run made on that host itself.

python bench/bench_far_usage.py [PAIRS]

The other host is an sshd on loopback with an account and a boot id of its own. It has this machine's kernel, so both
runs of a pair do the same work on the same processors, and at the same time. A program that starts each command asks
the kernel for its own usage and its command's, and keeps it. Each of loadgo's figures is divided by the
program's. The processors' speed drifts, and a shell of sshd has more memory to copy. Needs root.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import statistics
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
COMMANDS = {
    "count": ["/bin/sh", "-c", _COUNT],
    "touch": ["/usr/bin/python3", "-I", "-c", f"import mmap; {_TOUCH}"],
    "list": ["/bin/ls", "-l", "/usr/bin", "/usr/lib"],
}
COUNTED = """
import resource, subprocess, sys, os
kept, name, *command = sys.argv[1:]
subprocess.run(command, stdout=subprocess.DEVNULL)
parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
cpu_s = sum(part.ru_utime + part.ru_stime for part in parts)
row = f"{name} {cpu_s * 1e9:.0f} {sum(part.ru_minflt for part in parts)}\\n"
file = os.open(kept, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
os.write(file, row.encode())
"""
"""The program that starts a command, and keeps the usage of both: `NAME CPU_NS MINOR_FAULTS`."""
SSHD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
Means = dict[str, float]
"""loadgo's figures, divided by what the kernel told the program itself: by `COMMAND, FIGURE`."""


def main() -> None:
    """Runs all pairs, and compares within each."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-") as name:
        folder = Path(name)
        (folder / "counted.py").write_text(COUNTED)
        with ssh_host(folder / "far", other_boot=True) as host:
            path = _path_with_ssh(folder, host.config)
            far = [_pair(folder, path, ("here", "there"), number) for number in range(pairs)]
            equal = [_pair(folder, path, ("here", "here"), number) for number in range(pairs)]
    figures = _figures(far, "there over here") + _figures(equal, "here over here")
    known = [there[name] for _, there in far for name in there if name.endswith("known")]
    figures.append(figure("share of the lines there whose usage is known", "", known))
    notes = [f"{USERS} users of bash, {PASSES} passes a run, think fixed(0.4s); a ratio is made within a pair"]
    finish("far_usage", here, figures, notes, {"pairs": far, "equal pairs": equal})


def _script(folder: Path, kept: Path) -> str:
    """The script whose commands keep their own usage in `kept`."""
    lines = []
    for name, command in COMMANDS.items():
        words = ["/usr/bin/python3", "-I", f"{folder}/counted.py", f"{kept}", name, *command]
        lines.append(f"  {{ type = {json.dumps(shlex.join(words))}, as = {name!r} }},")
    head = f'name = "far usage"\nlogin = "bash -l"\nthink = "fixed(0.4s)"\npasses = {PASSES}\n'
    return head + "lines = [\n" + "\n".join(lines) + "\n]\n"


def _path_with_ssh(folder: Path, config: Path) -> str:
    """A PATH on which an `ssh` comes first that finds the host as `far`. The rest is sshd's."""
    script = folder / "bin" / "ssh"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec /usr/bin/ssh -F {config} "$@"\n')
    script.chmod(0o755)
    return f"{script.parent}:{SSHD_PATH}"


def _pair(folder: Path, path: str, sides: tuple[str, str], number: int) -> list[Means]:
    """The means of two runs at the same time."""
    loadgo_program = shutil.which("loadgo") or "loadgo"
    outs, runs = [], []
    for place, side in enumerate(sides):
        out = folder / f"{number}-{place}-{'-'.join(sides)}"
        script = out.with_suffix(".toml")
        script.write_text(_script(folder, out.with_suffix(".kept")))
        on = ("--on", "ssh://far") if side == "there" else ()
        words = [loadgo_program, "run", str(script), "--users", f"{USERS}", *on, "--out", str(out), "--quiet"]
        environment = {"PATH": path, "HOME": os.environ["HOME"], "LANG": "C.UTF-8"}
        runs.append(
            subprocess.Popen(
                words, cwd=folder, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
            )
        )
        outs.append(out)
    for run in runs:
        _, said = run.communicate()
        if run.returncode not in (0, 1):
            raise SystemExit(f"{' '.join(map(str, run.args))}: {said}")
    return [_means(out) for out in outs]


def _means(out: Path) -> Means:
    """The mean usage of an interaction of each command over what the commands kept, and the share that is known."""
    kept = [line.split() for line in out.with_suffix(".kept").read_text().splitlines()]
    found = {}
    for row in summarize(loadgo.tables(out), phases="all").commands:
        own = [(int(cpu_ns), int(faults)) for name, cpu_ns, faults in kept if name == row.name]
        if own:
            found[f"{row.name}, known"] = row.usage.measured / row.response.count
            found[f"{row.name}, CPU"] = float(row.usage.cpu_ns or 0) / statistics.fmean(cpu for cpu, _ in own)
            faults = statistics.fmean(faults for _, faults in own)
            found[f"{row.name}, minor faults"] = float(row.usage.faults_minor or 0) / faults
    return found


def _figures(pairs: list[list[Means]], which: str) -> list[Figure]:
    """The ratios of each figure of the second run to the first, and by how much a median is off at most."""
    figures, off = list[Figure](), list[float]()
    for name in (name for name in pairs[0][0] if not name.endswith("known")):
        ratios = [second[name] / first[name] for first, second in pairs]
        if "there" in which:
            told = [second[name] for _, second in pairs]
            figures.append(figure(f"{name}: told over the program's own, there", "", told))
        figures.append(figure(f"{name}: {which}", "", ratios))
        off.append(100 * abs(statistics.median(ratios) - 1))
    target = f"<= {MOST_DIFFERENCE_PERCENT}" if "there" in which else ""
    return [*figures, figure(f"largest difference of a median, {which}", "%", [max(off)], target)]


if __name__ == "__main__":
    main()
