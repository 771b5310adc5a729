"""The watch page's server: what it answers to whom, and that no viewer costs the others or the run anything."""

from __future__ import annotations

import asyncio
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from urllib.parse import quote

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.notation.figures import duration
from loadgo.records.following import latest_ns
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, tables
from loadgo.serving.loopback import REQUEST_TIMEOUT_S
from support.outside import COMMAND, PATIENCE_S, environment
from support.printed_rows import without_spans
from support.run_files import forget_manifest
from support.watched import PAGE_PATIENCE_S, Served, asked, heads, served

pytestmark = pytest.mark.processes

CROWD = 200
MANY = 400_000
"""Rows: some tens of megabytes on the wire."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("served") / "run"
    loadgo.run("typical-user", on="multics-6180", users=6, passes=2, seed=3, out=folder)
    return folder


@pytest.fixture(scope="module")
def run_tables(run: Path) -> Tables:
    return tables(run)


@pytest.fixture(scope="module")
def page(run: Path) -> Iterator[Served]:
    with served(str(run)) as page:
        yield page


@pytest.fixture(scope="module")
def large(run: Path, run_tables: Tables, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The run again and again, one after another, as a long one would be."""
    folder = tmp_path_factory.mktemp("large") / "run"
    folder.mkdir()
    rows = run_tables.interactions.filter(pl.col("ready_ns").is_not_null())
    times, reach = ("planned_ns", "sent_ns", "ready_ns"), latest_ns(run_tables)
    turns = -(-MANY // len(rows))
    shifts = pl.Series(np.repeat(np.arange(turns, dtype=np.uint64) * reach, len(rows)))
    long = pl.concat([rows] * turns).with_columns((pl.col(name) + shifts).alias(name) for name in times)
    for name in COLUMNS_BY_TABLE:
        table = long if name == "interactions" else getattr(run_tables, name)
        table.write_parquet(folder / f"{name}.parquet")
    (folder / "run.toml").write_text((run / "run.toml").read_text())
    return forget_manifest(folder)


@pytest.mark.parametrize("begin_ns", [0, 5_000_000_000])
def test_a_report_of_a_part_ends_with_the_run(page: Served, run_tables: Tables, begin_ns: int) -> None:
    status, body, _ = asked(page.address, f"report?from={begin_ns}&to=999999999999999999")
    words = f"the part from {duration(begin_ns)} to {duration(latest_ns(run_tables))} of the run"
    assert (status, words in without_spans(body.decode())) == (200, True)


def test_a_part_after_the_run_and_other_digits_are_refused_in_words(page: Served, run_tables: Tables) -> None:
    reach_ns = latest_ns(run_tables)
    status, body, _ = asked(page.address, f"report?from={reach_ns}&to={reach_ns + 1}")
    assert (status, f"the run has {duration(reach_ns)}" in body.decode()) == (400, True)
    arabic_five = quote("\u0665")
    assert asked(page.address, f"report?from=0&to={arabic_five}000000000")[0] == 400
    assert asked(page.address, f"feed?from={arabic_five}")[0] == 400


def test_the_page_and_the_rows_are_served(page: Served, run_tables: Tables) -> None:
    status, body, _ = asked(page.address)
    assert (status, b"<canvas" in body) == (200, True)
    status, body, _ = asked(page.address, "feed")
    messages = heads(body)
    rows = run_tables.interactions.filter(pl.col("ready_ns") > 0)
    answered = [one for one in messages if one.get("table") == "interactions"]
    assert (status, sum(one["rows"] for one in answered)) == (200, len(rows))
    assert np.array_equal(np.concatenate([one["sent_ns"] for one in answered]), rows["sent_ns"].to_numpy())
    words = [word for one in answered for word in one["words"].get("command", ())]
    codes = np.concatenate([one["command"] for one in answered])
    assert [words[code] for code in codes] == rows["command"].cast(pl.String).to_list()
    assert messages[-1] == {"over": True}
    assert messages[-2] == {
        "title": "typical user on multics-6180",
        "reach_ns": latest_ns(run_tables),
        "ended": True,
        "how": "ended",
        "provisional": False,
        "lost_host": None,
    }
    assert len(asked(page.address, f"feed?from={len(messages)}")[1]) == 0
    assert asked(page.address, "feed?from=soon")[0] == 400


@pytest.mark.parametrize("path", ["", "main.js", "feed"])
def test_nothing_is_told_without_the_token_or_to_the_pages_of_others(page: Served, path: str) -> None:
    host, token = page.address.split("/")[:2]
    assert asked(page.address, path)[0] == 200
    other = "y" if token.endswith("x") else "x"
    for wrong in (f"{token[:-1]}{other}", f"{token}x", token[:-1], token.swapcase(), "%00", "é".encode().hex()):
        assert asked(f"{host}/{wrong}/", path)[0] == 404, wrong
    for headers in (
        {"Host": "rebound.example"},
        {"Host": f"localhost:{host.split(':')[1]}"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "null"},
        {"Origin": f"https://{host}"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
    ):
        assert asked(page.address, path, **headers)[0] == 404, headers
    assert asked(page.address, path, Origin=f"http://{host}")[0] == 200
    assert asked(f"{host}/", path)[0] == 404
    assert asked(page.address, "../../../watch_server.py")[0] == 404


def test_the_server_only_reads_and_its_answers_may_be_used_by_no_other_page(page: Served) -> None:
    for path in ("", "main.js", "watch.css", "feed"):
        headers = asked(page.address, path)[2]
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "access-control-allow-origin" not in headers
    for method in ("POST", "PUT", "DELETE", "OPTIONS"):
        assert b" 405 " in _first_line(page, f"{method} /{page.address.split('/')[1]}/ HTTP/1.1"), method
    port = int(page.address.split("/")[0].split(":")[1])
    listening = [line.split()[1] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if " 0A " in line]
    assert [place for place in listening if place.endswith(f":{port:04X}")] == [f"0100007F:{port:04X}"]


def _first_line(page: Served, request: str) -> bytes:
    host, port = page.address.split("/")[0].split(":")
    with socket.create_connection((host, int(port)), PATIENCE_S) as line:
        line.sendall(f"{request}\r\nHost: {host}:{port}\r\nConnection: close\r\n\r\n".encode())
        return line.makefile("rb").readline()


def test_two_hundred_viewers_at_once_get_every_row(page: Served, run_tables: Tables) -> None:
    async def viewer() -> bytes:
        host, port = page.address.split("/")[0].split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        path = page.address.split("/", 1)[1]
        # Of HTTP/1.0 the stream is told without chunks.
        writer.write(f"GET /{path}feed HTTP/1.0\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.partition(b"\r\n\r\n")[2]

    async def crowd() -> list[bytes]:
        return await asyncio.gather(*(viewer() for _ in range(CROWD)))

    streams = asyncio.run(crowd())
    assert len(streams) == CROWD
    assert len(set(streams)) == 1
    rows = sum(one["rows"] for one in heads(streams[0]) if one.get("table") == "interactions")
    assert rows == int(run_tables.interactions["ready_ns"].is_not_null().sum())


def test_more_viewers_than_have_room_are_told_to_come_later(page: Served) -> None:
    statuses = statuses_of_viewers_together(page)
    assert statuses[:CROWD] == [b"200"] * CROWD
    assert statuses[-1] == b"503"
    assert _until_served(page) == 200


def statuses_of_viewers_together(page: Served) -> list[bytes]:
    """The statuses of more viewers than have room, none of whom was let go meanwhile.

    A viewer who asks for nothing more is let go after a time. If the last one came later than that, all come again.
    """
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline:
        began = time.monotonic()
        statuses = _statuses_of_viewers(page)
        if time.monotonic() - began < REQUEST_TIMEOUT_S:
            return statuses
        _until_served(page)
    pytest.fail("the viewers did not come together")


def test_strangers_take_no_viewers_place(page: Served) -> None:
    host, port = page.address.split("/")[0].split(":")
    with ExitStack() as strangers:
        for number in range(CROWD + 100):
            line = strangers.enter_context(socket.create_connection((host, int(port)), PATIENCE_S))
            if number % 2:
                with suppress(OSError):
                    line.sendall(f"GET /x/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        assert asked(page.address)[0] == 200
        line = strangers.enter_context(socket.create_connection((host, int(port)), PATIENCE_S))
        line.sendall(f"GET /x/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
        answer = b"".join(iter(lambda: line.recv(4096), b""))
        assert answer.startswith(b"HTTP/1.1 404 "), "and its connection ends with the answer"


def _statuses_of_viewers(page: Served) -> list[bytes]:
    lines, statuses = [], []
    host, port = page.address.split("/")[0].split(":")
    try:
        for _ in range(CROWD + 60):
            lines.append(socket.create_connection((host, int(port)), PATIENCE_S))
            lines[-1].sendall(f"GET /{page.address.split('/')[1]}/ HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            statuses.append(lines[-1].recv(12).split()[1])
    finally:
        for line in lines:
            line.close()
    return statuses


def _until_served(page: Served) -> int:
    """The status of a request after the server has room again."""
    deadline = time.monotonic() + PATIENCE_S
    while (status := asked(page.address)[0]) == 503 and time.monotonic() < deadline:
        pass
    return status


def resident_mb(pid: int) -> float:
    """The resident memory of a process now."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith("VmRSS")).split()[1]) / 1000


def test_viewers_who_never_read_cost_neither_the_others_nor_memory_nor_the_end(large: Path) -> None:
    with served(str(large)) as page:
        stream = asked(page.address, "feed")[1]
        before = resident_mb(page.process.pid)
        host, port = page.address.split("/")[0].split(":")
        idle = [socket.create_connection((host, int(port)), PATIENCE_S) for _ in range(50)]
        for line in idle:
            line.sendall(f"GET /{page.address.split('/')[1]}/feed HTTP/1.1\r\nHost: {host}:{port}\r\n\r\n".encode())
            assert line.recv(16).startswith(b"HTTP/1.1 200")
        assert asked(page.address, "feed")[1] == stream
        assert len(stream) > 20e6
        assert resident_mb(page.process.pid) - before < 32, "each holds less than a message"
        page.process.send_signal(signal.SIGINT)
        page.process.wait(PATIENCE_S)
        assert page.process.stderr is not None
        assert "Traceback" not in page.process.stderr.read()
        for line in idle:
            line.close()


def test_a_damaged_run_is_refused_with_the_place(run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cut"
    folder.mkdir()
    for file in run.iterdir():
        (folder / file.name).write_bytes(file.read_bytes())
    rows = folder / "interactions.parquet"
    rows.write_bytes(rows.read_bytes()[:-200])
    for options in ((), ("--once",)):
        command = [*COMMAND, "watch", str(folder), *options]
        result = subprocess.run(command, env=environment(), capture_output=True, text=True, timeout=PATIENCE_S)
        assert result.returncode == 2, result.stderr
        assert "interactions.parquet" in result.stderr
        assert "Traceback" not in result.stderr
    (folder / "run.toml").write_text("garbage = [")
    result = subprocess.run([*COMMAND, "watch", str(folder)], env=environment(), capture_output=True, text=True)
    assert (result.returncode, "run.toml" in result.stderr) == (2, True)


def test_who_asks_for_nothing_is_let_go_and_takes_nobodys_place(run: Path) -> None:
    with served(str(run)) as page:
        host, port = page.address.split("/")[0].split(":")
        idle = [socket.create_connection((host, int(port)), timeout=PATIENCE_S) for _ in range(300)]
        # Each is closed from the other side, which is when reading from it ends.
        assert all(_closed(one) for one in idle)
        assert asked(page.address)[0] == 200
        for one in idle:
            one.close()


@pytest.mark.parametrize(
    "request_without_secret", ["GET / HTTP/1.1\r\nHost: x\r\n", "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n"]
)
def test_half_a_second_request_keeps_no_place_either(page: Served, request_without_secret: str) -> None:
    host, port = page.address.split("/")[0].split(":")
    with socket.create_connection((host, int(port)), timeout=PAGE_PATIENCE_S) as idle:
        idle.sendall(f"{request_without_secret}\r\n".encode())
        assert idle.recv(12).endswith(b" 404")
        idle.sendall(b"GET /")
        # Reading ends when the other side closes the connection; else it raises `TimeoutError`.
        with suppress(ConnectionResetError):
            while idle.recv(4096):
                pass


def _closed(connection: socket.socket) -> bool:
    """Whether the other side ends it before we lose patience."""
    try:
        return not connection.recv(4096)
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--model", "multics-6180"), "--model"),
        (("RUN", "--model", "nosuch.toml"), "nosuch.toml"),
        (("RUN", "--once", "--speed", "10"), "--at"),
        (("RUN", "--meters", "exact"), "--meters"),
    ],
)
def test_options_that_make_no_sense_are_refused_in_words(run: Path, arguments: tuple[str, ...], says: str) -> None:
    words = [str(run) if one == "RUN" else one for one in arguments]
    result = subprocess.run([*COMMAND, "watch", *words], env=environment(), capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout) == (2, "")
    assert says in result.stderr


def test_an_interrupt_is_a_good_end_and_a_port_that_is_taken_is_named(run: Path) -> None:
    with served(str(run)) as page:
        port = page.address.split("/")[0].split(":")[1]
        command = [*COMMAND, "watch", str(run), "--port", port]
        second = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
        assert second.returncode == 2
        assert f"--port {port}" in second.stderr
        page.process.send_signal(signal.SIGINT)
        assert page.process.wait(PATIENCE_S) == 0
