"""One stream of bytes from one end to the other: by loadgo, by iperf3, and by a bare loop of one call, told in one way.

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
    """Between which two ends."""

    name: str
    near: tuple[str, ...]
    """Words before a command that sends."""
    far: tuple[str, ...]
    """Words before a command that receives."""
    address: str
    """Where the far end is to be reached."""


@dataclass(frozen=True)
class Stream:
    """What one stream came to, at both ends."""

    bits_per_s: float
    """As the sending end has it."""
    sends_cpu_s: float
    receives_cpu_s: float

    @property
    def cpu_s(self) -> float:
        """Of both ends."""
        return self.sends_cpu_s + self.receives_cpu_s


@dataclass(frozen=True)
class Sent:
    """What is sent."""

    file: Path
    bytes: int
    message: int
    """Of a call."""


def pinned(network: str, near: tuple[str, ...], far: tuple[str, ...], address: str) -> Network:
    """A network whose near end has processor 0 and whose far end has processor 1."""
    return Network(network, (*near, "taskset", "-c", "0"), (*far, "taskset", "-c", "1"), address)


def iperf3(network: Network, sent: Sent) -> Stream:
    """iperf3, one stream, from the file and with its blocks; its own figures."""
    port = str(_free_port())
    with _under_way([*network.far, "iperf3", "-s", "-1", "-p", port, "-F", "/dev/null", "--forceflush"]) as server:
        _line_with(server, "listening")
        client = ["iperf3", "-c", network.address, "-p", port, "-N", "-J", "-F", str(sent.file)]
        told = json.loads(_said([*network.near, *client, "-n", str(sent.bytes), "-l", str(sent.message)]))
        server.wait()
    end = told["end"]
    used, span = end["cpu_utilization_percent"], end["sum_sent"]["seconds"]
    whole = end["sum_sent"]["bytes"]
    if whole < sent.bytes:
        raise SystemExit(f"iperf3 sent {whole} of {sent.bytes} bytes")
    ends = (used[f"{side}_total"] / 100 * span * sent.bytes / whole for side in ("host", "remote"))
    return Stream(end["sum_sent"]["bits_per_second"], *ends)


def bare(network: Network, method: str, sent: Sent, block: int = 1 << 16) -> Stream:
    """A loop of one call; the receiving end reads blocks of `block`, or splices."""
    _compile()
    with _under_way([*network.far, str(BARE), "receive", method, network.address, str(block)]) as receiver:
        port = _line_with(receiver, "")
        asked = [method, network.address, port.strip(), str(sent.bytes), str(sent.message), str(sent.file)]
        _, real_ns, sends_ns = map(int, _said([*network.near, str(BARE), "send", *asked]).split())
        came, _, receives_ns = map(int, _line_with(receiver, "").split())
    if came != sent.bytes:
        raise SystemExit(f"the bare loop received {came} of {sent.bytes} bytes")
    return Stream(8e9 * sent.bytes / real_ns, sends_ns / 1e9, receives_ns / 1e9)


@dataclass(frozen=True)
class Server:
    """`loadgo transfer serve` at the far end of a network."""

    network: Network
    address: str
    token: Path

    def stream(self, method: str, sent: Sent) -> Stream:
        """One transfer of the file by a method."""
        asked = ["--from", str(sent.file), "--size", str(sent.bytes), "--message", str(sent.message)]
        sends, receives = self.rows("--method", method, *asked)
        return Stream(sends["bits_per_s"], sends["thread_s"], receives["thread_s"])  # as the others' clocks have it

    def rows(self, *options: str) -> list[dict[str, float]]:
        """The rows of `loadgo transfer OPTIONS`, all of which must come to their end."""
        command = [*LOADGO, "--to", self.address, "--token-file", str(self.token), "--format", "json", *options]
        rows: list[dict[str, float]] = json.loads(_said([*self.network.near, *command]))["rows"]
        return rows


@contextmanager
def served(network: Network, token: Path) -> Iterator[Server]:
    """A server at the far end, while this lasts."""
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
    """One transfer by a method, into a server of its own, as its peers have receivers of their own.

    What a server has by chance, such as where its memory lies, would otherwise be in all pairs of a run.
    """
    with served(network, token) as server:
        return server.stream(method, sent)


@contextmanager
def _under_way(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A program that ends by itself, and is ended with whatever goes wrong beside it."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            yield program
        except BaseException:
            program.kill()
            raise


def _line_with(program: subprocess.Popen[str], word: str) -> str:
    assert program.stdout is not None
    found = next((line for line in program.stdout if word in line), None)
    if found is None:
        raise SystemExit(f"{program.args!r} ended too early")
    return found


def _said(command: list[str]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _compile() -> None:
    source = BARE.with_suffix(".c")
    if not BARE.exists() or BARE.stat().st_mtime < source.stat().st_mtime:
        subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-o", str(BARE), str(source)], check=True)
