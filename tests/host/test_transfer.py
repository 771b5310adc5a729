"""`loadgo transfer` as a user meets it: both ends on this host, and what goes wrong between them."""

import json
import socket
import threading
from pathlib import Path

import loadgo
import pytest
from loadgo.errors import Refused
from loadgo.transfers.prices import prices
from loadgo.transfers.row import BITS_PER_GIGABYTE, BITS_PER_MEGABIT
from loadgo.transfers.transfer import impossible, methods, serving, transfer
from support.far_end import waiting
from support.outside import Bench, ended, wait_until
from support.transfer_rows import row_of

SIZE = 300_001


@pytest.mark.parametrize("receive", [False, True], ids=["sends", "receives"])
def test_each_method_gives_a_row_of_each_end(receive: bool) -> None:
    with waiting() as server:
        transferred = transfer(server.address, size=SIZE, method="all", receive=receive)
    assert transferred.complete
    possible = [method for method in methods() if method not in impossible()]
    assert [(row.method, row.side) for row in transferred.rows] == [
        (m, side) for m in possible for side in ("here", "there")
    ]
    assert [why.split()[0] for why in transferred.left_out] == list(impossible())
    for row in transferred.rows:
        assert (row.direction == "s") == ((row.side == "here") != receive)
        assert row.bytes == SIZE
        assert row.wire_bytes >= SIZE
        assert row.counted_bytes in (None, row.wire_bytes)
        assert row.cpu_s > 0
        assert row.messages >= 1
        assert row.calls >= row.messages or row.method == "io-uring"  # a chain of messages is one call


def test_a_byte_a_call_is_dearer_than_blocks() -> None:
    with waiting() as server:
        transferred = transfer(server.address, size=SIZE, method="bytes,blocks")
    dear, cheap = (row for row in transferred.rows if row.side == "here")
    assert dear.calls > SIZE
    assert cheap.calls < 100
    assert (dear.cpu_s_per_bit or 0) > 5 * (cheap.cpu_s_per_bit or 0)


def test_records_have_their_headers_on_the_wire() -> None:
    with waiting() as server:
        (here, there) = transfer(server.address, size=132 * 100, method="records", message=4096).rows
    # 30 records of 134 bytes fill 4093, and the rest of the block is begun by a short one
    assert here.wire_bytes == there.wire_bytes > 132 * 100 + 2 * 100
    assert here.messages == there.messages == 4


def test_a_file_is_kept_where_it_was_asked_for(tmp_path: Path) -> None:
    text = bytes(range(256)) * 5000
    (tmp_path / "deck").write_bytes(text)
    (tmp_path / "there").mkdir()
    with waiting(keep_in=tmp_path / "there") as server:
        assert transfer(server.address, from_file=tmp_path / "deck", method="sendfile").complete
        (kept,) = (tmp_path / "there").iterdir()
        assert kept.read_bytes() == text
        assert transfer(server.address, size=5000, receive=True, into_file=tmp_path / "back").complete
        assert len((tmp_path / "back").read_bytes()) == 5000
        with pytest.raises(Refused, match="exists"):
            transfer(server.address, size=5000, receive=True, into_file=tmp_path / "back")


def test_the_seeds_formulas_the_right_way_up() -> None:
    row = row_of()
    assert row.bits_per_s == 500_000
    assert row.cpu_s_per_bit == 1e-6
    assert row_of(bytes=0).cpu_s_per_bit is None


def test_a_megabit_costs_what_the_memo_says() -> None:
    """75 to 85 s of processor time a megabit at $474.60 an hour: $9.90 to $11.20."""
    costs = [row_of(thread_s=seconds).cost(474.60, BITS_PER_MEGABIT) or 0 for seconds in (75, 85)]
    assert costs == pytest.approx([9.90, 11.20], rel=2e-3)
    assert row_of().cost(474.60, BITS_PER_GIGABYTE) == pytest.approx(
        8000 * (row_of().cost(474.60, BITS_PER_MEGABIT) or 0)
    )


def test_the_host_is_thirty_three_to_thirty_seven_times_the_network() -> None:
    """Seed 002's own conclusion, from its own two prices."""
    then = prices("tenex-1972", "arpanet-1970")
    ratios = [then.ratio(row_of(thread_s=seconds)) for seconds in (75, 85)]
    assert ratios == pytest.approx([33, 37], rel=0.02)


def test_a_rented_machine_is_shared_by_its_processors() -> None:
    assert prices("cloud", processors=2).cpu_hour == prices("cloud", processors=1).cpu_hour / 2
    assert prices("cloud").network_gigabyte == 0.09
    assert prices("cloud", "0.01").network_gigabyte == 0.01


def test_a_tariff_without_a_price_for_this_is_refused() -> None:
    with pytest.raises(ValueError, match="cpu_hour or machine_hour"):
        prices("arpanet-1970")
    with pytest.raises(ValueError, match="gigabyte_out"):
        prices("tenex-1972", "tenex-1972")
    with pytest.raises(ValueError, match="positive"):
        prices("tenex-1972", "-1")


@pytest.mark.parametrize("format", ["text", "html", "md", "json"])
def test_every_format_has_both_ends_and_the_price(format: str) -> None:
    with waiting() as server:
        transferred = transfer(server.address, size=SIZE)
    content = transferred.report(format, prices=prices("tenex-1972", "arpanet-1970"), width=80)
    if format == "json":
        assert [row["side"] for row in json.loads(content)["rows"]] == ["here", "there"]
        return
    assert "blocks sends" in content
    assert "blocks receives there" in content
    if format == "text":
        assert max(map(len, content.splitlines())) <= 80


def test_who_has_not_the_token_is_refused() -> None:
    with waiting(token="sesame") as server:
        with pytest.raises(Refused, match="wants a token"):
            transfer(server.address, size=1)
        with pytest.raises(Refused, match="wrong"):
            transfer(server.address, size=1, token="barley")
        assert transfer(server.address, size=1, token="sesame").complete


def test_beyond_loopback_there_must_be_a_token() -> None:
    with pytest.raises(Refused, match="token"), serving("0.0.0.0:0"):
        pass


def test_nobody_there_is_told_with_the_remedy() -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))  # and nobody else gets the port, at which nobody listens
        with pytest.raises(Refused, match="loadgo transfer serve"):
            transfer(f"127.0.0.1:{silent.getsockname()[1]}", size=1)


def test_somebody_else_there_is_told() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        thread = threading.Thread(target=speak_otherwise, args=(other,))
        thread.start()
        with pytest.raises(Refused, match="does not speak"):
            transfer(f"127.0.0.1:{other.getsockname()[1]}", size=1)
        thread.join()


def speak_otherwise(other: socket.socket) -> None:
    """Answers who comes first as another service would."""
    came, _ = other.accept()
    with came:
        came.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")


def test_nonsense_is_refused_in_words(tmp_path: Path) -> None:
    with waiting() as server:
        with pytest.raises(ValueError, match="no method 'pigeon'"):
            transfer(server.address, size=1, method="pigeon")
        with pytest.raises(Refused, match="--size"):
            transfer(server.address)
        (tmp_path / "empty").touch()
        with pytest.raises(Refused, match="it has 0 bytes, not 5"):
            transfer(server.address, from_file=tmp_path / "empty", size=5)
        with pytest.raises(ValueError, match="out of range"):
            transfer(server.address, size=1, message=0)
    with pytest.raises(Refused, match="HOST:PORT"):
        transfer("nowhere", size=1)


def test_the_command_at_both_ends(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server = bench.start("transfer", "serve", "--listen", "127.0.0.1:0", "--once")
    assert server.stderr is not None
    address = server.stderr.readline().split()[2]
    result = bench.loadgo("transfer", "--to", address, "--size", "1MB", "--network", "0.09")
    assert "blocks sends" in result.stdout
    assert "times the network's price" in result.stdout
    assert "1,000,000 bytes" in ended(server, 0).stderr


@pytest.mark.parametrize("rows_alone", [False, True], ids=["a report", "rows alone"])
def test_the_other_end_that_dies_leaves_a_row_marked_incomplete(rows_alone: bool, tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server = bench.start("transfer", "serve", "--listen", "127.0.0.1:0")
    assert server.stderr is not None
    address = server.stderr.readline().split()[2]
    before = reads_of(server.pid)
    options = ("--csv", "-") if rows_alone else ()
    client = bench.start("transfer", "--to", address, "--size", "60GiB", "--method", "bytes", *options)
    wait_until(lambda: reads_of(server.pid) > before + 5000, client)
    server.kill()
    server.communicate()
    said = ended(client, 1)
    assert "broke off: the other end is gone" in " ".join((said.stderr if rows_alone else said.stdout).split())
    assert not rows_alone or len(said.stdout.splitlines()) == 1


def reads_of(pid: int) -> int:
    """How many calls of a process have read: where a byte comes with each, how far a transfer has come."""
    return int(Path(f"/proc/{pid}/io").read_text().split("syscr: ")[1].split()[0])


def test_from_python() -> None:
    assert loadgo.transfer is transfer


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--size", "99999999999999999999GiB"], "more than anybody can move"),
        (["--size", "many"], "no number of bytes"),
        (["--size", "1", "--into", "here"], "give --receive and one --method"),
        (["--size", "1", "--into", "here", "--receive", "--method", "all"], "give --receive and one --method"),
        (["--size", "1", "--receive", "--from", "deck"], "leave one out"),
        (["--size", "1", "--grid", "1", "--from", "deck"], "a grid has its own messages"),
    ],
)
def test_options_that_do_not_belong_together_are_refused(tmp_path: Path, options: list[str], told: str) -> None:
    result = Bench(tmp_path).typed("transfer", "--to", "127.0.0.1:9", *options, status=2)
    assert told in result.stderr


def test_who_speaks_a_byte_at_a_time_is_left_in_time() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        over = threading.Event()
        thread = threading.Thread(target=drip, args=(other, over))
        thread.start()
        with pytest.raises(Refused, match="it sent no message in 5 s"):
            transfer(f"127.0.0.1:{other.getsockname()[1]}", size=1)
        over.set()
        thread.join()


def drip(other: socket.socket, over: threading.Event) -> None:
    """Says a blank twice a second to who comes first, until it is over or he is gone."""
    came, _ = other.accept()
    with came:
        while not over.wait(0.5):
            try:
                came.sendall(b" ")
            except OSError:
                return


def test_control_characters_of_a_stranger_do_not_reach_the_terminal(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server = bench.start("transfer", "serve", "--listen", "127.0.0.1:0")
    assert server.stderr is not None
    host, _, port = server.stderr.readline().split()[2].rpartition(":")
    request = {"name": "\x1b[31mx", "version": 1, "token": None, "direction": "send", "method": "blocks"}
    with socket.create_connection((host, int(port))) as stranger:
        stranger.sendall(b"C" + json.dumps({**request, "size": 1, "message": 1}).encode() + b"\n")
        said = server.stderr.readline()
    server.terminate()
    server.communicate()
    assert "refused" in said
    assert "\x1b" not in said
