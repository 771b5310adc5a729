"""`loadgo ab` of two commands against hyperfine's means of the same two, in the same minutes.

    python bench/bench_hyperfine.py [ROUNDS] [SECONDS]

The commands are `git status` in a repository of 2,000 files, and the compilation of a C file. Each round is one
experiment of `loadgo ab` with one user, whose shell is `sh`. It lies between two halves of hyperfine's runs, which have
no shell of their own, so what the machine does meanwhile reaches both. A response of loadgo's includes the shell's work
and the terminal's. Beside each command, a line that runs no program tells how long these take. With a shell, hyperfine
itself subtracts the time of an empty command. Hyperfine has no meters, so each round has one experiment with the
kernel's meters and one without: the difference is what the meters cost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

import loadgo
from figures import Figure, figure, finish
from loadgo.pairing.run_figures import RunFigures
from machine import machine

ROUNDS, SECONDS, PAIRS = 5, 5.0, 4
FILES = 2000
TIERS = ("cheap", "none")
"""The kernel's meters during loadgo's runs; `cheap` is the default of an administrator's run."""
STATUS, COMPILE = "git status", "cc -O2 -c parse.c -o parse.o"
PROGRAM = "".join(
    f"int step_{k}(int n) {{ int s = {k}; for (int i = 0; i < n; i++) s = s * 31 + (i ^ {k}); return s; }}\n"
    for k in range(40)
)


@dataclass(frozen=True)
class Round:
    """Mean times of one round, in seconds."""

    loadgo: dict[str, float]
    empty: dict[str, float]
    """The line without a program, in the runs of each command."""
    hyperfine: dict[str, float]


def main() -> None:
    """Compares the means round by round."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else SECONDS
    here = machine()
    with tempfile.TemporaryDirectory(prefix="loadgo-hyperfine-") as temporary:
        folder = Path(temporary)
        _lay(folder)
        measured = [{tier: _round(folder, number, seconds, tier) for tier in TIERS} for number in range(rounds)]
    figures = [each for tier in TIERS for each in _figures(tier, [each[tier] for each in measured])]
    kept = {"rounds": [{tier: vars(each[tier]) for tier in TIERS} for each in measured]}
    finish("hyperfine", here, figures, [_version()], kept)


def _figures(tier: str, measured: Sequence[Round]) -> list[Figure]:
    """The figures of the rounds whose runs had these meters."""
    figures = []
    for command_name, command in (("git status", STATUS), ("compile", COMPILE)):
        name = f"meters {tier}: {command_name}"
        ratios = [each.loadgo[command] / each.hyperfine[command] for each in measured]
        alone = [(each.loadgo[command] - each.empty[command]) / each.hyperfine[command] for each in measured]
        figures += [
            figure(f"{name}, loadgo ab", "ms", [1e3 * each.loadgo[command] for each in measured]),
            figure(f"{name}, hyperfine", "ms", [1e3 * each.hyperfine[command] for each in measured]),
            figure(f"{name}, loadgo : hyperfine", "", ratios),
            figure(f"{name}, a line without a program", "ms", [1e3 * each.empty[command] for each in measured]),
            figure(f"{name} without that line, loadgo : hyperfine", "", alone),
            figure(f"{name} without that line, apart", "", [abs(ratio - 1) for ratio in alone], "<= 0.05"),
        ]
    changes = [_quotient(each.loadgo) / _quotient(each.hyperfine) for each in measured]
    figures.append(figure(f"meters {tier}: compile : git status, loadgo's over hyperfine's", "", changes))
    return figures


def _quotient(means: dict[str, float]) -> float:
    return means[COMPILE] / means[STATUS]


def _lay(folder: Path) -> None:
    """A repository with many files, a C file, and the two scripts."""
    repository = folder / "repository"
    repository.mkdir()
    for place in range(FILES):
        part = repository / f"part-{place % 40}"
        part.mkdir(exist_ok=True)
        (part / f"file-{place}.txt").write_text(f"{place}\n" * 20)
    (repository / "parse.c").write_text(PROGRAM)
    (repository / ".gitignore").write_text("*.o\n")
    for command in ("init -q", "add .", "-c user.name=a -c user.email=a@b commit -qm files"):
        subprocess.run(["git", "-C", str(repository), *command.split()], check=True)
    for name, command in (("status", STATUS), ("compile", COMPILE)):
        (folder / f"{name}.toml").write_text(
            f'name = "{name}"\nlogin = "sh"\nthink = "none"\n'
            f'lines = [{{ type = "cd {repository} && {command}", as = "{name}" }}, '
            f'{{ type = "cd {repository} && :", as = "empty" }}]\n'
        )


def _round(folder: Path, number: int, seconds: float, tier: str) -> Round:
    repository = folder / "repository"
    halves = [_hyperfine(repository, seconds * PAIRS / 2)]
    experiment = loadgo.ab(
        folder / "status.toml", folder / "compile.toml", users=1, duration=seconds, most_pairs=PAIRS,
        margin="0.1%", out=folder / f"ab-{number}-{tier}", seed=number + 1, meters=tier,
    )  # fmt: skip
    halves.append(_hyperfine(repository, seconds * PAIRS / 2))
    sides = {STATUS: [pair.a for pair in experiment.pairs], COMPILE: [pair.b for pair in experiment.pairs]}
    responses = {command: _mean_s(sides[command], name) for command, name in ((STATUS, "status"), (COMPILE, "compile"))}
    empty = {command: _mean_s(runs, "empty") for command, runs in sides.items()}
    return Round(responses, empty, {command: mean(half[command] for half in halves) for command in sides})


def _mean_s(runs: Sequence[RunFigures], command: str) -> float:
    return mean((run.commands[command].response or 0.0) / 1e9 for run in runs)


def _hyperfine(repository: Path, seconds: float) -> dict[str, float]:
    """The mean time of each command, from as many runs as take about `seconds`."""
    means: dict[str, float] = {}
    for command, usual_s in ((STATUS, 0.01), (COMPILE, 0.2)):
        runs = str(max(10, round(seconds / usual_s)))
        with tempfile.NamedTemporaryFile(suffix=".json") as result:
            options = ["-N", "--style", "none", "--warmup", "3", "--runs", runs, "--export-json", result.name]
            subprocess.run(["hyperfine", *options, command], cwd=repository, check=True, stdout=subprocess.DEVNULL)
            means[command] = json.loads(Path(result.name).read_text())["results"][0]["mean"]
    return means


def _version() -> str:
    return subprocess.run(["hyperfine", "--version"], check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    main()
