"""One stream of bytes between two ends: by loadgo, by iperf3, and by a bare loop of one call, with the same figures.

All send the same file and receive into /dev/null; the sending end has processor 0, the receiving end processor 1.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
BARE = HERE / "bare" / "transfer"
LOADGO = [sys.executable, "-m", "loadgo", "transfer"]


@dataclass(frozen=True)
class Network:
    """The two ends of a network."""

    name: str
    near: tuple[str, ...]
    """Words before a command that sends."""
    far: tuple[str, ...]
    """Words before a command that receives."""
    address: str
    """The address of the far end."""


@dataclass(frozen=True)
class Stream:
    """The figures of one stream at both ends."""

    bits_per_s: float
    """The rate at the sending end."""
    sends_cpu_s: float
    receives_cpu_s: float

    @property
    def cpu_s(self) -> float:
        """Processor time of both ends."""
        return self.sends_cpu_s + self.receives_cpu_s


@dataclass(frozen=True)
class Sent:
    """The data of a stream: a file, its size, and the size of a message."""

    file: Path
    bytes: int
    message: int
    """Size of a message, which one call sends."""


def pinned(network: str, near: tuple[str, ...], far: tuple[str, ...], address: str) -> Network:
    """A network whose near end has processor 0 and whose far end has processor 1."""
    return Network(network, (*near, "taskset", "-c", "0"), (*far, "taskset", "-c", "1"), address)


def iperf3(network: Network, sent: Sent) -> Stream:
    """Runs iperf3 with one stream from the file, and returns its own figures."""
    port = str(_free_port())
    with _under_way([*network.far, "iperf3", "-s", "-1", "-p", port, "-F", "/dev/null", "--forceflush"]) as server:
        _line_with(server, "listening")
        client = ["iperf3", "-c", network.address, "-p", port, "-N", "-J", "-F", str(sent.file)]
        report = json.loads(_output_of([*network.near, *client, "-n", str(sent.bytes), "-l", str(sent.message)]))
        server.wait()
    end = report["end"]
    used, span = end["cpu_utilization_percent"], end["sum_sent"]["seconds"]
    sent_bytes = end["sum_sent"]["bytes"]
    if sent_bytes < sent.bytes:
        raise SystemExit(f"iperf3 sent {sent_bytes} of {sent.bytes} bytes")
    ends = (used[f"{side}_total"] / 100 * span * sent.bytes / sent_bytes for side in ("host", "remote"))
    return Stream(end["sum_sent"]["bits_per_second"], *ends)


def bare(network: Network, method: str, sent: Sent, block: int = 1 << 16) -> Stream:
    """Runs a loop of one call. The receiving end reads blocks of `block` bytes, or splices."""
    _compile()
    with _under_way([*network.far, str(BARE), "receive", method, network.address, str(block)]) as receiver:
        port = _line_with(receiver, "")
        arguments = [method, network.address, port.strip(), str(sent.bytes), str(sent.message), str(sent.file)]
        _, real_ns, sends_ns = map(int, _output_of([*network.near, str(BARE), "send", *arguments]).split())
        received, _, receives_ns = map(int, _line_with(receiver, "").split())
    if received != sent.bytes:
        raise SystemExit(f"the bare loop received {received} of {sent.bytes} bytes")
    return Stream(8e9 * sent.bytes / real_ns, sends_ns / 1e9, receives_ns / 1e9)


@dataclass(frozen=True)
class Server:
    """`loadgo transfer serve` at the far end of a network."""

    network: Network
    address: str
    token: Path

    def stream(self, method: str, sent: Sent) -> Stream:
        """Makes one transfer of the file by a method."""
        options = ["--from", str(sent.file), "--size", str(sent.bytes), "--message", str(sent.message)]
        sends, receives = self.rows("--method", method, *options)
        return Stream(sends["bits_per_s"], sends["thread_s"], receives["thread_s"])  # as the peers measure it

    def rows(self, *options: str) -> list[dict[str, float]]:
        """The rows of `loadgo transfer OPTIONS`, which must succeed."""
        command = [*LOADGO, "--to", self.address, "--token-file", str(self.token), "--format", "json", *options]
        rows: list[dict[str, float]] = json.loads(_output_of([*self.network.near, *command]))["rows"]
        return rows


@contextmanager
def served(network: Network, token: Path) -> Iterator[Server]:
    """Runs a server at the far end."""
    token.write_text("of no use to anybody else")
    listen = ["--listen", f"{network.address}:0", "--token-file", str(token)]
    command = [*network.far, *LOADGO, "serve", *listen]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            yield Server(network, server.stderr.readline().split()[2], token)
        finally:
            server.terminate()


def loadgo(network: Network, token: Path, method: str, sent: Sent) -> Stream:
    """Makes one transfer by a method to a new server, as its peers have new receivers.

    A server's accidents, such as the place of its memory, would otherwise affect all pairs of a run.
    """
    with served(network, token) as server:
        return server.stream(method, sent)


@contextmanager
def _under_way(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """Runs a program that ends by itself, and kills it after an error."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        except BaseException:
            program.kill()
            raise


def _line_with(program: subprocess.Popen[str], word: str) -> str:
    assert program.stdout is not None
    matching_line = next((line for line in program.stdout if word in line), None)
    if matching_line is None:
        raise SystemExit(f"{program.args!r} ended too early")
    return matching_line


def _output_of(command: list[str]) -> str:
    finished = subprocess.run(command, capture_output=True, text=True)
    if finished.returncode:
        raise SystemExit(f"{' '.join(command)}: status {finished.returncode}\n{finished.stdout}{finished.stderr}")
    return finished.stdout


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _compile() -> None:
    source = BARE.with_suffix(".c")
    if not BARE.exists() or BARE.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(BARE), str(source)], check=True)
