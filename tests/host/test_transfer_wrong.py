"""Failures of `loadgo transfer` as a user meets them: the messages of both ends, the exit status, and the folder."""

import errno
import platform
import re
import resource
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from loadgo.transfers.transfer import impossible, methods
from support.far_end import waiting
from support.outside import NEEDS_ROOT, Bench, ended, wait_until
from support.places import TESTS
from support.two_hosts import two_hosts

WITHOUT_IO_URING = (sys.executable, str(TESTS / "support" / "without_call.py"), "425")
"""io_uring_setup, on every processor."""
RENAMEAT2 = {"x86_64": 316}.get(platform.machine(), 276)
WITHOUT_RENAMEAT2 = (sys.executable, str(TESTS / "support" / "without_call.py"), f"{RENAMEAT2}:{errno.ENOSYS}")
"""As on a disk that cannot rename without replacing."""


def serving(bench: Bench, *options: str, before: tuple[str, ...] = ()) -> tuple["subprocess.Popen[str]", str]:
    """A server under way, and its address."""
    listen = [] if "--listen" in options else ["--listen", "127.0.0.1:0"]
    server = bench.start("transfer", "serve", *listen, *options, before=before)
    assert server.stderr is not None
    line = server.stderr.readline()
    assert line.startswith("waiting at"), line + server.stderr.read()
    return server, line.split()[2]


def stopped(server: "subprocess.Popen[str]") -> str:
    """Stops a server, and returns its messages."""
    server.terminate()
    _, said = server.communicate()
    return said


def words(text: str) -> str:
    """A page without its line breaks."""
    return " ".join(text.split())


@NEEDS_ROOT
def test_two_network_namespaces_are_two_hosts(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "token").write_text("sesame")
    with two_hosts() as (near, far):
        at = ["--listen", f"{far.address}:0", "--token-file", "token"]
        server, address = serving(bench, *at, before=far.inside)
        asked = ("transfer", "--to", address, "--size", "300001", "--method", "all")
        assert "wants a token" in bench.loadgo(*asked, status=2, before=near.inside).stderr
        for way in ((), ("--receive",)):
            result = bench.loadgo(*asked, *way, "--token-file", "token", before=near.inside)
            for method in ("unix", "shm"):
                assert f"{method} works within one host, and the Unix socket of {address}" in words(result.stdout)
            both = {"blocks sends", "blocks receives there"} if not way else {"blocks receives", "blocks sends there"}
            assert all(end in result.stdout for end in both)
        said = stopped(server)
    assert said.count("300,001 bytes") >= 2 * (len(methods()) - len(impossible()) - 2)


def test_without_permission_for_io_uring_all_goes_on_without_it(tmp_path: Path) -> None:
    if "io-uring" in impossible():
        pytest.skip(f"it is not permitted here at all: {impossible()['io-uring']}")
    bench = Bench(tmp_path)
    with waiting() as server:
        asked = ("transfer", "--to", server.address, "--size", "1000", "--method")
        refused = bench.loadgo(*asked, "io-uring", status=2, before=WITHOUT_IO_URING)
        result = bench.loadgo(*asked, "all", before=WITHOUT_IO_URING)
    assert "io-uring is not possible here: io_uring may not be used" in words(refused.stderr)
    assert "io-uring is not possible here" in words(result.stdout)
    assert "unix sends" in result.stdout


def test_a_server_without_permission_for_io_uring_says_so(tmp_path: Path) -> None:
    if "io-uring" in impossible():
        pytest.skip(f"it is not permitted here at all: {impossible()['io-uring']}")
    bench = Bench(tmp_path)
    server, address = serving(bench, before=WITHOUT_IO_URING)
    refused = bench.typed("transfer", "--to", address, "--size", "1", "--method", "io-uring", status=2)
    assert f"io-uring is not possible at {address}" in words(refused.stderr)
    assert "io_uring may not be used" in stopped(server)


def test_methods_that_are_not_possible_here_are_listed_with_the_reason(tmp_path: Path) -> None:
    result = Bench(tmp_path).loadgo("transfer", "--methods", before=WITHOUT_IO_URING)
    listed = result.stdout + result.stderr
    assert re.search(r"^io-uring .*\n +not here: io_uring may not be used", listed, re.MULTILINE)
    assert re.search(r"^blocks +65,536 bytes a call$", listed, re.MULTILINE)


def test_a_grid_of_all_methods_goes_on_without_those_that_are_not_possible(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with waiting() as server:
        asked = ("transfer", "--to", server.address, "--size", "4096", "--grid", "1", "--csv", "rows.csv", "--method")
        result = bench.loadgo(*asked, "all", before=WITHOUT_IO_URING)
        refused = bench.loadgo(*asked, "blocks,io-uring", status=2, before=WITHOUT_IO_URING)
    left_out = {"io-uring", *impossible()}
    assert [name for name in left_out if f"{name} is not possible here" not in words(result.stdout)] == []
    made = {line.split(",")[0] for line in (tmp_path / "rows.csv").read_text().splitlines()[1:]}
    assert made == set(methods()) - left_out
    assert "io-uring is not possible here" in words(refused.stderr)


def test_all_files_that_a_server_keeps_are_bounded_together(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "kept").mkdir()
    server, address = serving(bench, "--into", "kept", "--total", "8KiB")
    bench.typed("transfer", "--to", address, "--size", "5000")
    refused = bench.typed("transfer", "--to", address, "--size", "5000", status=2)
    told = "8192 bytes is more than the 0 left of the 8192 that are kept here in all (--total)"
    assert told in words(refused.stderr)
    assert server.stderr is not None
    said = server.stderr.readline()
    assert told in server.stderr.readline()
    stopped(server)
    (file,) = (tmp_path / "kept").iterdir()
    assert said.endswith(f": 5,000 bytes, kept in kept/{file.name}\n")
    assert file.stat().st_size == 5000
    said = bench.typed("transfer", "serve", "--total", "0", status=2)
    assert "give positive numbers" in said.stderr


def test_on_a_disk_that_cannot_rename_without_replacing_nothing_is_replaced(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    with waiting() as server:
        asked = ("transfer", "--to", server.address, "--receive", "--into", "deck")
        bench.loadgo(*asked, "--size", "5000", before=WITHOUT_RENAMEAT2)
        assert [(file.name, file.stat().st_size) for file in tmp_path.iterdir()] == [("deck", 5000)]
        (tmp_path / "deck").unlink()
        client = bench.start(*asked, "--size", "2MB", "--method", "bytes", before=WITHOUT_RENAMEAT2)
        wait_until((tmp_path / "deck.incomplete").exists, client)
        (tmp_path / "deck").write_text("another's")
        assert "deck: File exists" in words(ended(client, 1).stdout)
    assert [(file.name, file.read_text()) for file in tmp_path.iterdir()] == [("deck", "another's")]


def test_a_server_without_a_descriptor_says_so_and_goes_on_when_there_is_one(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server, address = serving(bench)
    assert server.stderr is not None
    soft, hard = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
    taken = {int(one.name) for one in Path(f"/proc/{server.pid}/fd").iterdir()}
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (min(set(range(soft)) - taken), hard))
    host, _, port = address.rpartition(":")
    with socket.create_connection((host, int(port))):
        said = server.stderr.readline()
    assert "no connection can be accepted for now: Too many open files" in said
    resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (soft, hard))
    bench.typed("transfer", "--to", address, "--size", "1000")
    said = server.stderr.readline() + server.stderr.readline()
    assert "refused: it said nothing" in said  # who waited has been let in, and was gone
    assert "1,000 bytes" in said
    stopped(server)


@NEEDS_ROOT
def test_a_full_disk_is_told_at_both_ends_and_nothing_is_left_there(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    small = tmp_path / "small"
    small.mkdir()
    # In a mount namespace of its own: it is gone with the program.
    on_it = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=256k none "$0" && exec "$@"', str(small))
    server, address = serving(bench, "--into", "small", before=on_it)
    ways = "blocks,records,splice,io-uring,unix,shm,tls"
    possible = [way for way in ways.split(",") if way not in impossible()]
    result = bench.typed("transfer", "--to", address, "--size", "1MB", "--method", ",".join(possible), status=1)
    full = "receives there: broke off: No space left on device"
    assert [way for way in possible if f"{way} {full}" not in words(result.stdout)] == []
    assert list(Path(f"/proc/{server.pid}/root/{small}").iterdir()) == []
    assert stopped(server).count("No space left on device") == len(possible)


@NEEDS_ROOT
def test_a_full_disk_at_the_client_is_told_and_nothing_is_left_there(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    (tmp_path / "small").mkdir()
    mounts = 'mount -t tmpfs -o size=256k none "$0" && "$@"; status=$?; ls -A "$0" > left; exit $status'
    on_it = ("unshare", "--mount", "sh", "-c", mounts, "small")
    with waiting() as server:
        asked = ("transfer", "--to", server.address, "--size", "1MB", "--receive", "--into", "small/deck")
        result = bench.loadgo(*asked, status=1, before=on_it)
    assert "blocks receives: broke off: No space left on device" in words(result.stdout)
    assert (tmp_path / "left").read_text() == ""


def test_a_receiver_that_is_killed_leaves_a_file_that_says_it_is_incomplete(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server, address = serving(bench)
    asked = ("transfer", "--to", address, "--size", "1GiB", "--method", "bytes", "--receive", "--into", "deck")
    client = bench.start(*asked)
    part = tmp_path / "deck.incomplete"
    wait_until(lambda: part.exists() and part.stat().st_size > 0, client)
    client.kill()
    client.communicate()
    assert part.exists()
    assert not (tmp_path / "deck").exists()
    result = bench.typed(*asked, status=2)
    assert "deck.incomplete: File exists" in words(result.stderr)
    assert "the other end is gone" in stopped(server)


def test_the_other_end_of_shared_memory_that_is_killed_is_missed(tmp_path: Path) -> None:
    bench = Bench(tmp_path)
    server, address = serving(bench)
    client = bench.start("transfer", "--to", address, "--size", "64GiB", "--method", "shm", "--message", "1")
    wait_until(lambda: "loadgo-ring" in Path(f"/proc/{client.pid}/maps").read_text(), client)
    server.kill()
    server.communicate()
    assert "shm sends: broke off: the other end is gone" in words(ended(client, 1).stdout)


def test_a_folder_in_which_nothing_can_be_kept_is_told_at_the_start(tmp_path: Path) -> None:
    result = Bench(tmp_path).typed("transfer", "serve", "--listen", "127.0.0.1:0", "--into", "/proc", status=2)
    assert "nothing can be kept in /proc" in words(result.stderr)


def test_a_name_with_several_addresses_is_reached_by_the_one_that_answers(tmp_path: Path) -> None:
    with waiting() as server:
        _, _, port = server.address.rpartition(":")
        result = Bench(tmp_path).typed("transfer", "--to", f"localhost:{port}", "--size", "1000")
    assert "blocks sends" in result.stdout
