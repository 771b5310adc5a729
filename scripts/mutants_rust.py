"""Mutation testing of Rust: changes in the code of files, one at a time, and the tests that must see each.

`python scripts/mutants_rust.py crates/agent/src/frame.rs --command 'cargo test -p loadgo-agent'` tries all changes.
It copies the project to target/mutants, runs the command there with each, and prints the changes that
no test saw. A change that does not compile is not counted. No file of the project is changed.
"""

from __future__ import annotations

import argparse
import random
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parent.parent
CHANGES = [
    (re.compile(rf"(?<= ){re.escape(before)}(?= )"), after)
    for before, after in [
        ("<", "<="),
        ("<=", "<"),
        (">", ">="),
        (">=", ">"),
        ("==", "!="),
        ("!=", "=="),
        ("&&", "||"),
        ("||", "&&"),
        ("+", "-"),
        ("-", "+"),
        ("*", "/"),
        ("/", "*"),
        ("%", "*"),
        ("+=", "-="),
        ("-=", "+="),
        ("true", "false"),
        ("false", "true"),
    ]
] + [
    (re.compile(r"(?<=\.)min(?=\()"), "max"),
    (re.compile(r"(?<=\.)max(?=\()"), "min"),
    (re.compile(r"(?<![\w.])0(?![\w.])"), "1"),
    (re.compile(r"(?<![\w.])1(?![\w.])"), "2"),
    (re.compile(r"(?<![\w.])2(?![\w.])"), "3"),
    (re.compile(r"(?<![\w.])1\.0(?!\w)"), "2.0"),
    (re.compile(r"(?<![\w.])0\.5(?!\w)"), "1.5"),
    (re.compile(r"(?<=if )(?!let)([^{]+)(?= \{)"), r"!(\1)"),
]
NO_CODE = re.compile(r'^\s*(//|#|use |pub use |assert|debug_assert)|"|->|^impl|^\s*fn |^\s*pub fn |const .*: &')
"""Lines in which a change would mean nothing, or would be one of a text or a type."""
NOT_COMPILED = re.compile(r"^error(\[E\d+\])?:.*(?:could not compile|aborting due)|^error\[E\d+\]", re.MULTILINE)


@dataclass(frozen=True)
class Mutant:
    """One change in one line."""

    path: str
    line: int
    text: str
    changed: str


def mutants_of(path: str) -> Iterator[Mutant]:
    """All changes in the file at `path`, up to its tests."""
    for number, text in enumerate((PROJECT / path).read_text(encoding="utf-8").splitlines(), 1):
        if "#[cfg(test)]" in text:
            return
        code = text.split(" //", 1)[0]
        if NO_CODE.search(code):
            continue
        for pattern, after in CHANGES:
            for found in pattern.finditer(code):
                yield Mutant(path, number, text, code[: found.start()] + found.expand(after) + code[found.end() :])


def copied(folder: Path) -> None:
    """Copies all tracked files of the project to `folder`, which keeps what it built before."""
    names = subprocess.run(["git", "ls-files"], cwd=PROJECT, check=True, capture_output=True, text=True).stdout
    for name in names.splitlines():
        place = folder / name
        if not (PROJECT / name).exists():
            continue
        if not place.exists() or place.read_bytes() != (PROJECT / name).read_bytes():
            place.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(PROJECT / name, place)


def ended(command: str, folder: Path, limit_s: float) -> str:
    """How the command ends: `survived`, `killed`, `late`, or `not compiled`."""
    with subprocess.Popen(
        command,
        cwd=folder,
        shell=True,
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            subprocess.run(["kill", f"-{signal.SIGKILL}", "--", f"-{process.pid}"], check=False)
            return "late"
    if process.returncode == 0:
        return "survived"
    return "not compiled" if NOT_COMPILED.search(output) else "killed"


def main() -> int:
    """Draws changes and prints those that no test saw; status 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("paths", nargs="+")
    parser.add_argument("--command", required=True, help="builds and tests, in the copy of the project")
    parser.add_argument("--sample", type=int, default=0, help="number of changes that are mutants; 0: all")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=120, help="seconds that the command may take")
    arguments = parser.parse_args()
    folder = PROJECT / "target/mutants"
    copied(folder)
    mutants = [mutant for path in arguments.paths for mutant in mutants_of(path)]
    number = len(mutants)
    if arguments.sample and arguments.sample < number:
        mutants = random.Random(arguments.seed).sample(mutants, arguments.sample)
    if ended(arguments.command, folder, 3600) != "survived":
        print("the command fails without a change")
        return 2
    print(f"{len(mutants)} of {number} changes", flush=True)
    counts = {"killed": 0, "survived": 0, "late": 0, "not compiled": 0}
    for mutant in mutants:
        place = folder / mutant.path
        original = place.read_text(encoding="utf-8")
        lines = original.splitlines()
        lines[mutant.line - 1] = mutant.changed
        place.write_text("\n".join(lines) + "\n", encoding="utf-8")
        verdict = ended(arguments.command, folder, arguments.limit)
        place.write_text(original, encoding="utf-8")
        counts[verdict] += 1
        if verdict in {"survived", "late"}:
            print(
                f"{verdict}  {mutant.path}:{mutant.line}  {mutant.text.strip()}  ->  {mutant.changed.strip()}",
                flush=True,
            )
    print(", ".join(f"{count} {verdict}" for verdict, count in counts.items()))
    return 1 if counts["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
