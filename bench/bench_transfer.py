"""Transfers beside iperf3 and beside bare loops of the same calls, in pairs, on loopback and between two hosts.

    python bench/bench_transfer.py [PAIRS] [GIBIBYTES OF A STREAM]

The two hosts are network namespaces with a cable (veth) between them, made here and removed; that needs root. The file
that is sent lies in memory. Ratios are made within a pair: rates as the sending end has them, processor time of each
end for the same bytes.
"""

from __future__ import annotations

import os
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from statistics import median

from figures import Figure, figure, finish
from machine import machine
from streams import Network, Sent, Server, Stream, bare, iperf3, loadgo, pinned, served

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))
from support.two_hosts import two_hosts

GIB = 1 << 30
BLOCK, LARGE = 1 << 16, 1 << 20
NOTES = (
    "one stream of a file in memory (tmpfs), received into /dev/null; sending end on processor 0, receiving end on 1",
    "every stream has a receiving process of its own",
    "iperf3: -F, the same blocks, its own figures of processor time; the bare loops: bare/transfer.c",
)
Pairs = list[tuple[Stream, Stream]]


def main() -> None:
    """Measures and records all figures."""
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    size = int((float(sys.argv[2]) if len(sys.argv) > 2 else 4) * GIB)
    here, figures, notes = machine(), list[Figure](), list(NOTES)
    raw: dict[str, object] = {}
    with tempfile.TemporaryDirectory(prefix="loadgo-bench-", dir="/dev/shm") as place:
        file = Path(place) / "sent"
        _write_text(file, size)
        for network in _networks(notes):
            token = Path(place) / "token"
            for name, measured in _measured(network, token, file, size, pairs, notes):
                raw[f"{network.name}: {name}"] = [list(map(asdict, pair)) for pair in measured]
                figures += _figures(network.name, name, measured)
            if network.name == "loopback":
                with served(network, token) as server:
                    figures.append(_every_method(server, size))
    finish("transfer", here, figures, notes, raw)


def _networks(notes: list[str]) -> Iterator[Network]:
    yield pinned("loopback", (), (), "127.0.0.1")
    if os.geteuid() != 0 or not shutil.which("ip"):
        notes.append("not between two hosts: network namespaces need root, and `ip` of iproute2")
        return
    with two_hosts() as (near, far):
        yield pinned("two hosts", near.inside, far.inside, far.address)


def _measured(
    network: Network, token: Path, file: Path, size: int, pairs: int, notes: list[str]
) -> Iterator[tuple[str, Pairs]]:
    """Pairs of loadgo with each of its peers."""
    blocks, large = Sent(file, size, BLOCK), Sent(file, size, LARGE)

    def ours(method: str, sent: Sent) -> Callable[[], Stream]:
        return lambda: loadgo(network, token, method, sent)

    def theirs(method: str, sent: Sent) -> Callable[[], Stream]:
        return lambda: bare(network, method, sent)

    if shutil.which("iperf3"):
        yield "iperf3", _paired(ours("blocks", blocks), lambda: iperf3(network, blocks), pairs)
    else:
        notes.append("iperf3 is not installed here")
    for method, sent in (("blocks", blocks), ("sendfile", large), ("splice", large)):
        yield method, _paired(ours(method, sent), theirs(method, sent), pairs)


def _paired(ours: Callable[[], Stream], theirs: Callable[[], Stream], pairs: int) -> Pairs:
    """Runs the pairs, in random order within each."""
    results: Pairs = []
    for _ in range(pairs):
        if random.random() < 0.5:
            results.append((ours(), theirs()))
        else:
            second = theirs()
            results.append((ours(), second))
    return results


def _figures(network: str, name: str, pairs: Pairs) -> list[Figure]:
    """The figures of the pairs, with their targets."""
    sends = [ours.sends_cpu_s / theirs.sends_cpu_s for ours, theirs in pairs]
    both_ends = [ours.cpu_s / theirs.cpu_s for ours, theirs in pairs]
    receives = [ours.receives_cpu_s / theirs.receives_cpu_s for ours, theirs in pairs]
    if name == "iperf3":
        rates = [ours.bits_per_s / theirs.bits_per_s for ours, theirs in pairs]
        return [
            figure(f"{network}: blocks, rate / iperf3's", "", rates, ">= 0.97"),
            figure(f"{network}: blocks, rate", "Gbit/s", [ours.bits_per_s / 1e9 for ours, _ in pairs]),
            figure(f"{network}: blocks, CPU of both ends / iperf3's", "", both_ends),
            figure(f"{network}: the median of that, off 1 by", "", [abs(median(both_ends) - 1)], "<= 0.05"),
            figure(f"{network}: blocks, CPU of the sending end / iperf3's", "", sends),
            figure(f"{network}: blocks, CPU of the receiving end / iperf3's", "", receives),
        ]
    if name == "blocks":
        return [figure(f"{network}: blocks with the metering, CPU / a bare loop's", "", both_ends, "<= 1.01")]
    return [
        figure(f"{network}: {name}, CPU a bit / a bare loop's", "", sends, "<= 1.05"),
        figure(f"{network}: {name}, CPU a bit of the receiving end / a bare loop's", "", receives),
    ]


def _every_method(server: Server, size: int) -> Figure:
    """The share of complete transfers, one by each method. The method of a byte a call moves fewer bytes."""
    rows = server.rows("--method", "all", "--size", str(size))
    complete = [row for row in rows if not row["broke_off"] and row["bytes"] in (size, min(size, 4 << 20))]
    return figure(
        f"ends of transfers of {size / GIB:g} GiB by every method that are whole",
        "",
        [len(complete) / len(rows)],
        ">= 1",
    )


def _write_text(file: Path, size: int) -> None:
    """Writes `size` bytes of text lines."""
    text = bytes(10 if offset % 80 == 79 else 97 + offset % 23 for offset in range(1 << 20))
    with file.open("wb") as out:
        for _ in range(size >> 20):
            out.write(text)
        out.write(text[: size & (1 << 20) - 1])


if __name__ == "__main__":
    main()
