"""`loadgo transfer -- COMMAND`: bytes against the sockets' own counters, interrupts, and odd commands."""

import json
import re
import signal
import socket
import sys
from pathlib import Path
from typing import Any

import pytest
from loadgo.documents.table import Table
from loadgo.transfers.command_document import command_document
from support.command_transfers import PRICES, PYTHON, a_kind, a_run, made_of, others_talk
from support.kernel_programs import WITHOUT_TYPES, all_unloaded, held_by
from support.outside import NEEDS_ROOT, NOBODY, ROOT, Bench, ended, groups_of, readable_by_all, wait_until
from support.socket_programs import BOTH_ENDS, ENDS_AT_ONCE, LEAVES_A_DAEMON, MANY_SHORT, OTHER_KINDS


def metered(bench: Bench, *command: str, status: int = 0) -> dict[str, Any]:
    """The JSON of a command's transfer. What the command itself prints goes to this process's standard output."""
    bench.typed("transfer", "--format", "json", "-o", "told.json", "--", *command, status=status)
    found: dict[str, Any] = json.loads((bench.folder / "told.json").read_text())
    return found


def kinds_of(told: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {kind["kind"]: kind for kind in told["kinds"]}


@NEEDS_ROOT
@pytest.mark.parametrize(("there", "back"), [(1, 0), (300_001, 17), (64 << 20, 1 << 20)])
def test_bytes_are_those_of_the_sockets_own_counters(
    bench: Bench, there: int, back: int, capfd: pytest.CaptureFixture[str]
) -> None:
    moved = kinds_of(metered(bench, *PYTHON, BOTH_ENDS, str(there), str(back)))
    sent, received = json.loads(capfd.readouterr().out)
    assert (sent, received) == (there + back, there + back)
    assert set(moved) == {"TCP, loopback"}
    assert (moved["TCP, loopback"]["sent"], moved["TCP, loopback"]["received"]) == (sent, received)
    assert moved["TCP, loopback"]["sockets"] == 2


@NEEDS_ROOT
def test_thousands_of_short_connections_are_counted_each(bench: Bench) -> None:
    moved = kinds_of(metered(bench, *PYTHON, MANY_SHORT, "3000"))["TCP, loopback"]
    assert moved["sockets"] == 6000
    assert (moved["sent"], moved["received"]) == (6000, 6000)
    assert (moved["sends"], moved["receives"]) == (6000, 6000)


@NEEDS_ROOT
def test_what_the_kernel_still_sends_after_its_end_is_counted(bench: Bench) -> None:
    size = 100_000
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        running = bench.start(
            *("transfer", "--format", "json", "-o", "told.json", "--"), *PYTHON, ENDS_AT_ONCE, port, str(size)
        )
        far, _ = listener.accept()
        assert running.stdout is not None
        pid = running.stdout.readline().strip()
        wait_until(lambda: not Path(f"/proc/{pid}").exists(), running)
        came = 0
        while data := far.recv(65536):
            came += len(data)
        far.close()
    ended(running, 0)
    document = json.loads((bench.folder / "told.json").read_text())
    assert came == size
    assert kinds_of(document)["TCP, loopback"]["sent"] == size
    assert document["unsent"] == 0


@NEEDS_ROOT
def test_datagrams_and_unix_sockets_are_counted_apart_by_their_calls(bench: Bench) -> None:
    told = metered(bench, *PYTHON, OTHER_KINDS)
    moved = kinds_of(told)
    assert (moved["UDP, loopback"]["sent"], moved["UDP, loopback"]["sends"]) == (1000, 10)
    # Who receives has no fixed far end; what it only peeked at has not come twice.
    anywhere = moved["UDP, to anywhere"]
    assert (anywhere["sent"], anywhere["sends"], anywhere["received"], anywhere["receives"]) == (150, 3, 1150, 13)
    assert (moved["Unix"]["sent"], moved["Unix"]["received"]) == (7000, 7000)
    assert (told["moved"]["sent"], told["moved"]["received"]) == (1150, 1150)


@NEEDS_ROOT
def test_interrupts_that_worked_for_it_are_those_of_the_segments_that_its_sockets_count(bench: Bench) -> None:
    with others_talk():
        told = metered(bench, *PYTHON, BOTH_ENDS, str(256 << 20), "0")
        silent = metered(bench, "sleep", "1")
    interrupts, moved = told["interrupts"], kinds_of(told)["TCP, loopback"]
    # Two counters that know nothing of each other: packets that enter the protocols, and what the sockets count, which
    # have a few segments of their beginning and end before and after it is known whose they are.
    assert 0 <= moved["segments_received"] - interrupts["packets"] <= 8 * moved["sockets"]
    # Over loopback they come upon whoever sends: they are in the command's own time, which another meter tells.
    assert 0 < interrupts["inside_s"] < (told["run"]["cpu_user_ns"] + told["run"]["cpu_system_ns"]) / 1e9
    assert interrupts["packets_all"] > interrupts["packets"]
    # Packets of others meanwhile are nobody's but theirs.
    assert (silent["interrupts"]["packets"], silent["interrupts"]["soft_s"]) == (0, 0.0)
    assert silent["interrupts"]["packets_all"] > 0


@NEEDS_ROOT
def test_what_others_move_meanwhile_is_not_its(bench: Bench) -> None:
    with others_talk():
        told = metered(bench, "sh", "-c", f"{sys.executable} -I -c '{MANY_SHORT}' 200; true")
    moved = kinds_of(told)
    assert set(moved) == {"TCP, loopback"}
    assert (moved["TCP, loopback"]["sent"], moved["TCP, loopback"]["sockets"]) == (400, 400)
    assert told["interrupts"]["packets"] < told["interrupts"]["packets_all"]


@NEEDS_ROOT
def test_a_daemon_that_it_leaves_is_told_and_its_open_connection_counted_so_far(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        running = bench.start(
            *("transfer", "--format", "json", "-o", "told.json", "--"),
            *PYTHON,
            LEAVES_A_DAEMON,
            str(listener.getsockname()[1]),
        )
        far, _ = listener.accept()
        came = 0
        while came < 5000:
            came += len(far.recv(5000))
        far.send(b"x")
        ended(running, 0)
        document = json.loads((bench.folder / "told.json").read_text())
        far.close()  # and the daemon ends
    assert document["run"]["left_running"] == 1
    assert document["held"] == 1
    assert (document["moved"]["sent"], document["moved"]["received"]) == (5000, 1)


@NEEDS_ROOT
def test_a_command_without_a_socket_says_so_and_its_output_is_its_own(bench: Bench) -> None:
    result = bench.loadgo("transfer", "--", "echo", "its own words")
    assert result.stdout == "its own words\n"
    assert "`echo` used" in result.stderr
    assert "opened no socket that moved anything" in result.stderr
    assert "times the network" not in result.stderr


@NEEDS_ROOT
def test_in_another_network_namespace_faults_are_none_of_nothing(bench: Bench) -> None:
    options = ("--format", "json", "-o", "told.json")
    bench.loadgo("transfer", *options, "--", "true", before=("unshare", "--net"))
    document = json.loads((bench.folder / "told.json").read_text())
    assert document["run"]["faults_minor"] > 0
    assert document["run"]["ready_wait_ns"] != 0, "what is not known is not nothing"


@pytest.mark.parametrize(
    ("command", "status", "said"),
    [
        (("sh", "-c", "exit 7"), 7, "`sh` ended with exit status 7"),
        (("sh", "-c", "kill -9 $$"), 128 + signal.SIGKILL, "`sh` was killed by SIGKILL"),
        (("no-such-program",), 127, "no-such-program: no such program"),
        (("./deck",), 126, "./deck: Permission denied"),
    ],
)
def test_it_ends_as_the_command_does(bench: Bench, command: tuple[str, ...], status: int, said: str) -> None:
    (bench.folder / "deck").touch(mode=0o644)
    assert said in bench.typed("transfer", "--", *command, status=status).stderr
    assert not groups_of(bench)


def test_an_interrupt_is_the_commands_and_the_row_is_shown(bench: Bench) -> None:
    waits = (
        "import signal, sys; signal.signal(signal.SIGTERM, lambda *_: sys.exit(3))\n"
        "print('up', flush=True); signal.pause()"
    )
    running = bench.start("transfer", "--", *PYTHON, waits)
    assert running.stdout is not None
    assert running.stdout.readline() == "up\n"
    programs = held_by(running.pid)
    running.send_signal(signal.SIGTERM)
    told = ended(running, 3)
    assert "Time and bytes, in the columns of RFC 392" in told.stderr
    assert bool(programs) == ROOT
    assert not ROOT or all_unloaded(programs)
    assert not groups_of(bench)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--to", "127.0.0.1:1"), "leave --to out, or the command"),
        (("--size", "1GiB", "--at-most", "5s"), "leave --size, --at-most out, or the command"),
        (("--csv", "no/such/folder/rows.csv"), "there is no folder"),
        (("--csv", "other.csv"), "other.csv is not a table of commands"),
        (("--tariff", "no-such-tariff"), "no-such-tariff"),
    ],
)
def test_what_a_command_cannot_be_told_is_refused_before_it_runs(
    bench: Bench, options: tuple[str, ...], said: str
) -> None:
    (bench.folder / "other.csv").write_text("bytes,direction,cpu_s\n1,s,1\n")
    result = bench.typed("transfer", *options, "--", "touch", "ran", status=2)
    assert said in " ".join(result.stderr.split())
    assert not (bench.folder / "ran").exists()


@NEEDS_ROOT
@pytest.mark.parametrize("before", [NOBODY, WITHOUT_TYPES], ids=["without rights", "without types"])
def test_where_sockets_cannot_be_followed_the_rest_is_told_and_why(bench: Bench, before: tuple[str, ...]) -> None:
    readable_by_all(bench)
    result = bench.loadgo("transfer", "--", "sh", "-c", "echo its own", before=before)
    assert result.stdout == "its own\n"
    assert "what its sockets moved is not known" in result.stderr
    assert ("it takes root" if before == NOBODY else "does not tell its types") in " ".join(result.stderr.split())
    assert "What it used" in result.stderr


@NEEDS_ROOT
@pytest.mark.parametrize(("format", "sign"), [("html", "<!DOCTYPE html>"), ("md", "### "), ("json", '"cpu_s_per_bit"')])
def test_it_is_written_in_every_format(bench: Bench, format: str, sign: str) -> None:
    bench.typed("transfer", "--format", format, "-o", "page", "--", *PYTHON, BOTH_ENDS, "70000", "0")
    text = (bench.folder / "page").read_text()
    assert sign.lower() in text.lower()
    assert ("70,000" in text) == (format != "json")


def test_interrupts_that_came_upon_it_leave_its_system_time_and_those_for_it_are_added() -> None:
    made = made_of(a_run(200, 300), a_kind("TCP, network", 500, 1500), inside_s=0.1, soft_s=0.15)
    assert (made.user_s, made.system_s) == (pytest.approx(0.2), pytest.approx(0.2))
    assert made.cpu_s == pytest.approx(0.55)
    assert made.cpu_s_per_bit == pytest.approx(0.55 / 16000)
    assert made.cost(3600.0, 16000) == pytest.approx(0.55)


def test_more_interrupts_than_system_time_by_ticks_are_taken_from_the_rest() -> None:
    made = made_of(a_run(200, 50), a_kind("TCP, network", 1, 1), inside_s=0.1)
    assert (made.user_s, made.system_s) == (pytest.approx(0.15), 0.0)


def test_unix_sockets_count_only_where_there_is_no_network() -> None:
    network, unix = a_kind("TCP, network", 10, 20), a_kind("Unix", 1000, 2000)
    assert made_of(a_run(1, 1), network, unix).bytes == 30
    assert made_of(a_run(1, 1), unix).bytes == 3000
    assert made_of(a_run(1, 1)).bytes == 0


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_fits_and_says_that_both_directions_share_the_cost(width: int) -> None:
    transfer = made_of(
        a_run(200, 300), a_kind("TCP, network", 5 * 10**9, 123_456_789), a_kind("Unix", 9, 9), soft_s=0.2
    )
    text = transfer.report(prices=PRICES, width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "`fetch` sent 5,000,000,000 bytes and received 123,456,789" in " ".join(text.split())
    assert re.search(
        r"It used [\d.]+ m?s of processor time, at \$1 a CPU hour: .* \$[\d.]+ for a terabyte sent or",
        " ".join(text.split()),
    )
    assert "counts twice" not in text
    assert "cannot be divided" in " ".join(text.split())
    last = command_document(transfer, PRICES).sections[-1]
    assert isinstance(last, Table)
    assert last.title == "What the processor time of that costs"


def test_what_a_command_sends_to_itself_is_said_to_count_twice() -> None:
    made = made_of(a_run(200, 300), a_kind("TCP, loopback", 13_107_200, 13_107_200))
    text = " ".join(made.report(prices=PRICES, width=120).split())
    assert "where both ends are the command's, a byte counts twice" in text
