"""The processor time that `loadgo transfer -- COMMAND` charges, against the busy time that the command adds.

    python bench/bench_transfer_command.py [PAIRS [MEBIBYTES]]

Each pair is the command alone and the command metered, in random order. Busy time is the time in which processors are
not idle, by /proc/stat. It is precise to the microsecond if the clock stops on idle processors. The background's
busy time, measured before each pair, is subtracted. A single pair has an error of a tenth or more, so the median of the
pairs counts. Both ends belong to the command, so that all added time is its own. In the last case each end is metered
by a loadgo of its own, and their sum counts. Needs root.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from statistics import median
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from figures import Figure, figure, finish
from loadgo.transfers.command import CommandTransfer, transfer_of
from machine import machine
from support.socket_programs import BOTH_ENDS

QUIET_S = 2.0
MOST_BUSY = 0.05
"""Largest busy share of the machine before the benchmark. On a busy machine a command adds less busy time."""
NEAR, FAR = f"loadgo-near-{os.getpid()}", f"loadgo-far-{os.getpid()}"
TICK_S = 1 / os.sysconf("SC_CLK_TCK")

SERVES = """
import socket, sys
with socket.create_server((sys.argv[1], 3921)) as listener:
    print("up", flush=True)
    far, _ = listener.accept()
    while far.recv(65536):
        pass
"""
SENDS = """
import socket, sys
with socket.create_connection((sys.argv[1], 3921)) as near:
    block = bytes(65536)
    for _ in range(int(sys.argv[2]) // 65536):
        near.sendall(block)
"""
PYTHON = (sys.executable, "-I", "-c")


@dataclass(frozen=True)
class Pair:
    """A command alone and metered. Times are in seconds."""

    busy_s: float
    """Busy time that the unmetered command added."""
    charged_s: float
    plain_s: float
    """Processor time of the unmetered command's processes by wait4."""
    metered_s: float
    """The same of the metered command. Both include interrupts during the processes' time."""

    @property
    def ratio(self) -> float:
        """Charged time over added busy time."""
        return self.charged_s / self.busy_s


def main() -> None:
    """Measures each case, and the meter's own cost."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    size = (int(sys.argv[2]) if len(sys.argv) > 2 else 3072) << 20
    here = machine()
    if here.busy_before > MOST_BUSY:
        raise SystemExit(f"{here.busy_before:.0%} of this machine is busy with other things: measure when it is quiet")
    with TemporaryDirectory() as folder, namespaces():
        cases = {
            "python, loopback": ("sh", "-c", 'exec "$@" >/dev/null', "sh", *PYTHON, BOTH_ENDS, str(size), "0"),
            "curl from a server, loopback": curl(Path(folder), size // 4),
            "two namespaces": in_namespaces(size),
        }
        pairs_by_case = {
            name: [pair(words, Random(number)) for number in range(pairs)] for name, words in cases.items()
        }
        pairs_by_case["two namespaces, each end apart"] = [
            separate_ends(size, Random(number)) for number in range(pairs)
        ]
    figures = [row for name, case in pairs_by_case.items() for row in case_figures(name, case)]
    raw = {name: list(map(vars, case)) for name, case in pairs_by_case.items()}
    finish("transfer_command", here, figures, [f"{size >> 20} MiB a transfer, curl a quarter of it"], raw)


def case_figures(name: str, pairs: list[Pair]) -> list[Figure]:
    """The figures of a case."""
    ratios = [pair.ratio for pair in pairs]
    added = [pair.metered_s / pair.plain_s - 1 for pair in pairs if pair.plain_s]
    return [
        figure(f"{name}: charged / added", "", ratios),
        figure(f"{name}: the median of that, off 1 by", "", [abs(median(ratios) - 1)], "<= 0.05"),
        figure(f"{name}: one pair off 1 by", "", [abs(ratio - 1) for ratio in ratios]),
        *([figure(f"{name}: the meter adds", "", added)] if added else []),
    ]


def pair(words: tuple[str, ...], random: Random) -> Pair:
    """Measures the command alone, and metered."""
    quiet = background()
    alone: tuple[float, float] = (0.0, 0.0)
    charged: CommandTransfer | None = None
    for metered in random.sample((True, False), 2):
        if metered:
            charged = transfer_of(words)
        else:
            alone = unmetered(words, quiet)
    assert charged is not None
    assert charged.cpu_s is not None
    assert charged.bytes
    run = charged.run
    return Pair(alone[0], charged.cpu_s, alone[1], (run.cpu_ns or 0) / 1e9)


def separate_ends(size: int, random: Random) -> Pair:
    """Measures both ends alone, and each under a loadgo of its own."""
    quiet = background()
    busy = charged = 0.0
    for metered in random.sample((True, False), 2):
        if metered:
            charged = each_end(size)
        else:
            busy, _ = unmetered(in_namespaces(size), quiet)
    return Pair(busy, charged, 0.0, 0.0)


def each_end(size: int) -> float:
    """The sum of the processor times that two loadgos charge, one for each end."""
    with TemporaryDirectory() as folder:
        outputs = [Path(folder) / name for name in ("far", "near")]
        loadgo = [
            [sys.executable, "-m", "loadgo", "transfer", "--format", "json", "-o", str(path), "--"] for path in outputs
        ]
        far = ["ip", "netns", "exec", FAR, *PYTHON, SERVES, "10.92.0.2"]
        near = ["ip", "netns", "exec", NEAR, *PYTHON, SENDS, "10.92.0.2", str(size)]
        with subprocess.Popen([*loadgo[0], *far], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"up\n"
            subprocess.run([*loadgo[1], *near], check=True, stderr=subprocess.DEVNULL)
        return sum(float(json.loads(path.read_text())["cpu_s"]) for path in outputs)


def unmetered(words: tuple[str, ...], quiet: float) -> tuple[float, float]:
    """The busy time that a command adds, and its own processor time. `quiet` is the background's busy share."""
    began, busy = time.monotonic(), busy_s()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert not status, words
    added = busy_s() - busy - quiet * (time.monotonic() - began)
    return added, used.ru_utime + used.ru_stime


def background() -> float:
    """Mean number of processors that are busy without the command."""
    began, busy = time.monotonic(), busy_s()
    time.sleep(QUIET_S)
    return (busy_s() - busy) / (time.monotonic() - began)


def busy_s() -> float:
    """Busy seconds of all processors, plus a constant."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle, waiting, stolen = ticks[3], ticks[4], ticks[7]
    return time.monotonic() * len(os.sched_getaffinity(0)) - (idle + waiting + stolen) * TICK_S


def curl(folder: Path, size: int) -> tuple[str, ...]:
    """A command that serves a file and fetches it by curl."""
    with (folder / "file").open("wb") as file:
        for _ in range(size >> 20):
            file.write(os.urandom(1 << 20))
    serve = (
        "import functools, http.server as h, socketserver as s\n"
        "with s.TCPServer(('127.0.0.1', 0), functools.partial(h.SimpleHTTPRequestHandler, directory='.')) as server:\n"
        " print(server.server_address[1], flush=True)\n"
        " server.handle_request()"
    )
    script = (
        'cd "$1" && "$2" -I -c "$3" 2>/dev/null | { read port; curl -sfo /dev/null http://127.0.0.1:$port/file; cat; }'
    )
    return ("sh", "-c", script, "sh", str(folder), sys.executable, serve)


def in_namespaces(size: int) -> tuple[str, ...]:
    """A command that receives in one namespace and sends in the other."""
    script = (
        'ip netns exec "$1" "$3" -I -c "$4" 10.92.0.2 | '
        '{ read up; ip netns exec "$2" "$3" -I -c "$5" 10.92.0.2 "$6"; cat; }'
    )
    return ("sh", "-c", script, "sh", FAR, NEAR, sys.executable, SERVES, SENDS, str(size))


@contextmanager
def namespaces() -> Iterator[None]:
    """Creates two network namespaces with a cable between them, and removes them afterwards."""
    try:
        for name in (NEAR, FAR):
            ip("netns", "add", name)
        ip("-n", NEAR, "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", FAR)
        for name, address in ((NEAR, "10.92.0.1/24"), (FAR, "10.92.0.2/24")):
            ip("-n", name, "address", "add", address, "dev", "cable")
            ip("-n", name, "link", "set", "cable", "up")
        yield
    finally:
        for name in (NEAR, FAR):
            subprocess.run(["ip", "netns", "delete", name], check=False, stderr=subprocess.DEVNULL)


def ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True)


if __name__ == "__main__":
    main()
