"""The echo time of a key in vim, by loadgo and by a plain loop on a terminal, in the same minutes.

    python bench/bench_keystrokes.py [ROUNDS] [KEYS]

Each round is a run of loadgo between two halves of the loop's keys, so what the machine does meanwhile reaches both.
Both start the same vim on the same file, and type the same letters 120 ms apart. An echo time ends with the last
output before 50 ms of silence. The loop knows no screen and no processes. Beside the quiet host, the same beside a
busy loop on every processor.
"""

from __future__ import annotations

import os
import pty
import select
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import loadgo
import polars as pl
from figures import Figure, figure, finish
from machine import machine

ROUNDS, KEYS = 5, 60
GAP_S, SETTLE_S = 0.12, 0.05
VIM = ["vim", "-u", "DEFAULTS", "-i", "NONE", "notes.txt"]
SIZE = (24, 80)


def main() -> None:
    """Compares the medians round by round, on the quiet host and on a busy one."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    keys = int(sys.argv[2]) if len(sys.argv) > 2 else KEYS
    here = machine()
    quiet = [_round(keys) for _ in range(rounds)]
    with _busy():
        busy = [_round(keys) for _ in range(rounds)]
    figures = [*_figures("quiet host", quiet, None), *_figures("busy host", busy, "<= 1.05")]
    kept = {"quiet_ms": quiet, "busy_ms": busy}
    finish("keystrokes", here, figures, [f"{keys} keys a round, {1 / GAP_S:.1f} keys a second"], kept)


def _figures(host: str, rounds: list[tuple[float, float]], target: str | None) -> list[Figure]:
    """The medians of both, and their ratio in each round."""
    ratios = [ours / theirs for ours, theirs in rounds]
    return [
        figure(f"{host}: echo of a key, loadgo", "ms", [ours for ours, _ in rounds]),
        figure(f"{host}: echo of a key, plain loop", "ms", [theirs for _, theirs in rounds]),
        figure(f"{host}: loadgo : plain loop", "", ratios, *([target] if target else [])),
    ]


def _round(keys: int) -> tuple[float, float]:
    """The median echo time by loadgo and by the loop, in milliseconds."""
    before = _looped(keys // 2)
    ours = _by_loadgo(keys)
    after = _looped(keys - keys // 2)
    return statistics.median(ours), statistics.median(before + after)


def _text(keys: int) -> str:
    return "".join("abcdefgh "[number % 9] for number in range(keys))


def _by_loadgo(keys: int) -> list[float]:
    script = f"""
        typing = "{1 / GAP_S} chars/s"
        settle = "{SETTLE_S}s"
        lines = [
            {{ type = "{" ".join(VIM)}", until = "screen" }},
            {{ keys = "i", as = "begin" }},
            {{ keys = "{_text(keys)}", as = "echo" }},
            {{ keys = "<Esc>:q!<Enter>", as = "end" }},
        ]"""
    with tempfile.TemporaryDirectory(prefix="loadgo-keystrokes-") as folder:
        path = Path(folder) / "keys.toml"
        path.write_text(script)
        rows = loadgo.tables(loadgo.run(path, users=1, meters="none", out=Path(folder) / "run")).interactions
    mine = rows.filter(pl.col("command").cast(pl.String) == "echo").drop_nulls("ready_ns")
    return (((mine["ready_ns"] - mine["sent_ns"]).cast(pl.Float64)) / 1e6).to_list()


def _looped(keys: int) -> list[float]:
    """The echo times of keys that a loop types, in milliseconds."""
    with tempfile.TemporaryDirectory(prefix="loadgo-keystrokes-") as folder:
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(folder)
            os.execvpe(VIM[0], VIM, {**os.environ, "TERM": "xterm", "LANG": "C.UTF-8"})
        subprocess.run(["stty", "rows", str(SIZE[0]), "cols", str(SIZE[1])], stdin=terminal, check=True)
        _echo(terminal, b"i", 1.0)
        times = []
        for key in _text(keys).encode():
            began = time.monotonic()
            times.append(1000 * _echo(terminal, bytes([key]), SETTLE_S))
            time.sleep(max(0.0, began + GAP_S - time.monotonic()))
        _echo(terminal, b"\x1b:q!\r", 1.0)
        os.close(terminal)
        os.waitpid(pid, 0)
        return times


def _echo(terminal: int, keys: bytes, silence_s: float) -> float:
    """Time from the sending of the keys to the last output before the silence, in seconds."""
    sent = last = time.monotonic()
    os.write(terminal, keys)
    patience_s = 1.0
    while select.select([terminal], [], [], patience_s)[0]:
        try:
            os.read(terminal, 65536)
        except OSError:  # the program has ended
            break
        last, patience_s = time.monotonic(), silence_s
    return last - sent


@contextmanager
def _busy() -> Iterator[None]:
    """A busy loop for each processor."""
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in os.sched_getaffinity(0)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


if __name__ == "__main__":
    main()
