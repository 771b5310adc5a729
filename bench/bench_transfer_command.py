"""What `loadgo transfer -- COMMAND` charges a command with, against what the command adds to the machine's busy time.

    python bench/bench_transfer_command.py [PAIRS [MEBIBYTES]]

In pairs: the command alone, and the command metered, in random order. Busy time is what all processors were not idle
(/proc/stat, which knows idle time to the microsecond where the clock stops when nobody runs), less what they are busy
with in the same time when nothing runs, measured before each pair; a single pair tells it to a tenth or worse, so the
median of the pairs counts. Both ends are the command's, so that all that it adds is its own; in the last case each end
is metered by a loadgo of its own, and their sum counts. Needs root.
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
from socket_programs import BOTH_ENDS

QUIET_S = 2.0
MOST_BUSY = 0.05
"""With more of the machine busy otherwise, what a command adds drowns: on a full one it adds nothing."""
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
    """One command alone and metered: seconds."""

    busy_s: float
    """What it added to the machine's busy time, unmetered."""
    charged_s: float
    plain_s: float
    """Processor time of its processes by wait4, unmetered."""
    metered_s: float
    """The same, metered: with interrupts that came upon them in both."""

    @property
    def ratio(self) -> float:
        """Charged to what was added."""
        return self.charged_s / self.busy_s


def main() -> None:
    """Measures each case, and what the meter itself adds."""
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
        made = {name: [pair(words, Random(number)) for number in range(pairs)] for name, words in cases.items()}
        made["two namespaces, each end apart"] = [apart(size, Random(number)) for number in range(pairs)]
    figures = [one for name, those in made.items() for one in told(name, those)]
    raw = {name: [vars(one) for one in those] for name, those in made.items()}
    finish("transfer_command", here, figures, [f"{size >> 20} MiB a transfer, curl a quarter of it"], raw)


def told(name: str, pairs: list[Pair]) -> list[Figure]:
    """The figures of a case."""
    ratios = [one.ratio for one in pairs]
    added = [one.metered_s / one.plain_s - 1 for one in pairs if one.plain_s]
    return [
        figure(f"{name}: charged / added", "", ratios),
        figure(f"{name}: the median of that, off 1 by", "", [abs(median(ratios) - 1)], "<= 0.05"),
        figure(f"{name}: one pair off 1 by", "", [abs(ratio - 1) for ratio in ratios]),
        *([figure(f"{name}: the meter adds", "", added)] if added else []),
    ]


def pair(words: tuple[str, ...], random: Random) -> Pair:
    """The command alone, and metered."""
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


def apart(size: int, random: Random) -> Pair:
    """Both ends alone, and each under a loadgo of its own."""
    quiet = background()
    busy = charged = 0.0
    for metered in random.sample((True, False), 2):
        if metered:
            charged = each_end(size)
        else:
            busy, _ = unmetered(in_namespaces(size), quiet)
    return Pair(busy, charged, 0.0, 0.0)


def each_end(size: int) -> float:
    """What two loadgos charge their ends with, together."""
    with TemporaryDirectory() as folder:
        told = [Path(folder) / name for name in ("far", "near")]
        loadgo = [
            [sys.executable, "-m", "loadgo", "transfer", "--format", "json", "-o", str(path), "--"] for path in told
        ]
        far = ["ip", "netns", "exec", FAR, *PYTHON, SERVES, "10.92.0.2"]
        near = ["ip", "netns", "exec", NEAR, *PYTHON, SENDS, "10.92.0.2", str(size)]
        with subprocess.Popen([*loadgo[0], *far], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
            assert server.stdout is not None
            assert server.stdout.readline() == b"up\n"
            subprocess.run([*loadgo[1], *near], check=True, stderr=subprocess.DEVNULL)
        return sum(float(json.loads(path.read_text())["cpu_s"]) for path in told)


def unmetered(words: tuple[str, ...], quiet: float) -> tuple[float, float]:
    """What it adds to the machine's busy time, which is `quiet` a second without it; and its own time."""
    began, busy = time.monotonic(), busy_s()
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    assert not status, words
    added = busy_s() - busy - quiet * (time.monotonic() - began)
    return added, used.ru_utime + used.ru_stime


def background() -> float:
    """Processors that are busy when nothing runs."""
    began, busy = time.monotonic(), busy_s()
    time.sleep(QUIET_S)
    return (busy_s() - busy) / (time.monotonic() - began)


def busy_s() -> float:
    """Seconds that all processors were not idle, since some beginning."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    idle, waiting, stolen = ticks[3], ticks[4], ticks[7]
    return time.monotonic() * len(os.sched_getaffinity(0)) - (idle + waiting + stolen) * TICK_S


def curl(folder: Path, size: int) -> tuple[str, ...]:
    """A server of files and curl, which fetches one, as one command."""
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
    """A server in one namespace and what sends to it in the other, as one command."""
    script = (
        'ip netns exec "$1" "$3" -I -c "$4" 10.92.0.2 | '
        '{ read up; ip netns exec "$2" "$3" -I -c "$5" 10.92.0.2 "$6"; cat; }'
    )
    return ("sh", "-c", script, "sh", FAR, NEAR, sys.executable, SERVES, SENDS, str(size))


@contextmanager
def namespaces() -> Iterator[None]:
    """Two network namespaces with a cable between them; gone afterwards."""
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
