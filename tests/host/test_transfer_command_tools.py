"""`loadgo transfer -- COMMAND` with the programs that people move data with: scp, rsync, curl, git, unchanged.

What the row says is held against the far ends' own sockets, and against what the kernel charges the processes.
"""

import json
import random
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from support.far_programs import FarEnd, far_end, git_daemon, over_ssh, rsync_daemon, ssh_client, sshd, web_server
from support.outside import NEEDS_ROOT, Bench

pytestmark = NEEDS_ROOT

SIZE = 3_000_003
# Runs a command, and prints what the kernel charged it and all that it waited for, in seconds.
CHARGED = """
import resource, subprocess, sys
status = subprocess.run(sys.argv[1:]).returncode
used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
print(sum(each.ru_utime + each.ru_stime for each in used), used[1].ru_utime + used[1].ru_stime)
sys.exit(status)
"""


def needs(*tools: str) -> None:
    """Fails where setup would have brought what is missing, and skips where it could not."""
    there = {"sshd": sshd() is not None}
    missing = [tool for tool in tools if not there.get(tool, shutil.which(tool) is not None)]
    if missing:
        told = f"{', '.join(missing)} is missing, so that it was not metered: scripts/setup dev brings it"
        (pytest.fail if shutil.which("apt-get") else pytest.skip)(told)


@dataclass(frozen=True)
class Place:
    """Where a program moves a file of random bytes, `here` or `there`."""

    bench: Bench

    @property
    def here(self) -> Path:
        """The folder that the command is run in."""
        return self.bench.folder

    @property
    def there(self) -> Path:
        """The far end's folder."""
        return self.bench.folder / "there"

    def metered(self, *command: str) -> dict[str, Any]:
        """The JSON of the command's transfer."""
        self.bench.typed("transfer", "--format", "json", "-o", "told.json", "--", *command)
        found: dict[str, Any] = json.loads((self.here / "told.json").read_text())
        return found


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A file of random bytes on both sides."""
    for folder in ("homes", "there"):
        (tmp_path / folder).mkdir()
    made = Place(Bench(tmp_path))
    for path, seed in ((made.here / "up", 1), (made.there / "down", 2)):
        path.write_bytes(random.Random(seed).randbytes(SIZE))
    return made


def holds(told: dict[str, Any], far: FarEnd, *, least_sent: int, least_received: int) -> None:
    """The row has what the far sockets counted, and at least the file in its direction."""
    (tcp,) = [kind for kind in told["kinds"] if kind["kind"] == "TCP, loopback"]
    assert (tcp["sent"], tcp["received"]) == (far.received, far.sent), far.said
    assert (told["moved"]["sent"], told["moved"]["received"]) == (far.received, far.sent)
    assert tcp["sockets"] == far.connections
    assert far.received >= least_sent
    assert far.sent >= least_received
    assert told["cpu_s"] > 0
    assert told["held"] == told["unsent"] == told["lost"] == 0


def same(one: Path, other: Path) -> None:
    """Both files hold the same."""
    assert one.read_bytes() == other.read_bytes()


@dataclass(frozen=True)
class Ssh:
    """A far end for ssh, and the command that moves a file there or from there."""

    far: FarEnd
    config: Path
    program: str

    def words(self, source: str, target: str) -> tuple[str, ...]:
        """The command, with `far:` before a path that is there."""
        if self.program == "scp":
            return ("scp", "-q", "-F", str(self.config), source, target)
        return ("rsync", "--whole-file", "-e", f"ssh -F {self.config}", source, target)


@contextmanager
def by_ssh(place: Place, program: str) -> Iterator[Ssh]:
    """An sshd as the far end of `program`."""
    keys = place.here / "keys"
    keys.mkdir()
    with far_end(*over_ssh(keys)) as far:
        yield Ssh(far, ssh_client(keys, far.port), program)


OVER_SSH = pytest.mark.parametrize("program", ["scp", "rsync"])


@OVER_SSH
def test_a_file_sent_over_ssh_is_counted_as_the_far_socket_counts_it(place: Place, program: str) -> None:
    needs("sshd", program)
    with by_ssh(place, program) as ssh:
        metered = place.metered(*ssh.words("up", f"far:{place.there}/up"))
    same(place.here / "up", place.there / "up")
    holds(metered, ssh.far, least_sent=SIZE, least_received=1000)


@OVER_SSH
def test_a_file_fetched_over_ssh_is_counted_as_the_far_socket_counts_it(place: Place, program: str) -> None:
    needs("sshd", program)
    with by_ssh(place, program) as ssh:
        metered = place.metered(*ssh.words(f"far:{place.there}/down", "down"))
    same(place.here / "down", place.there / "down")
    holds(metered, ssh.far, least_sent=1000, least_received=SIZE)


@OVER_SSH
def test_the_processor_time_of_ssh_is_in_the_row_of_who_started_it(
    place: Place, program: str, capfd: pytest.CaptureFixture[str]
) -> None:
    needs("sshd", program)
    with by_ssh(place, program) as ssh:
        run = place.metered(sys.executable, "-I", "-c", CHARGED, *ssh.words("up", f"far:{place.there}/up"))["run"]
    all_s, of_tools_s = map(float, capfd.readouterr().out.split())
    in_row_s = (run["cpu_user_ns"] + run["cpu_system_ns"]) / 1e9
    assert of_tools_s > 0.01
    # What is in the row beside is the command's own end.
    assert all_s - 0.005 <= in_row_s <= all_s + 0.5


@pytest.mark.parametrize("up", [True, False], ids=["sent", "fetched"])
def test_a_file_by_rsyncs_daemon_is_counted_as_the_far_socket_counts_it(place: Place, *, up: bool) -> None:
    needs("rsync")
    with far_end(*rsync_daemon(place.here, place.there)) as far:
        url = f"rsync://127.0.0.1:{far.port}/far/"
        words = ("up", url) if up else (f"{url}down", "down")
        metered = place.metered("rsync", "--whole-file", *words)
    name = "up" if up else "down"
    same(place.here / name, place.there / name)
    holds(metered, far, least_sent=SIZE if up else 10, least_received=10 if up else SIZE)


def test_what_rsync_need_not_send_is_not_in_the_row(place: Place) -> None:
    needs("rsync")
    shutil.copy(place.here / "up", place.there / "up")
    with far_end(*rsync_daemon(place.here, place.there)) as far:
        metered = place.metered("rsync", "--no-whole-file", "--checksum", "up", f"rsync://127.0.0.1:{far.port}/far/")
    holds(metered, far, least_sent=10, least_received=10)
    assert metered["bytes"] < SIZE / 100


def test_a_file_by_curl_is_counted_as_the_far_socket_counts_it(place: Place) -> None:
    needs("curl")
    with far_end(*web_server(place.there / "down")) as far:
        metered = place.metered("curl", "-s", "--noproxy", "*", "-o", "down", f"http://127.0.0.1:{far.port}/down")
    same(place.here / "down", place.there / "down")
    holds(metered, far, least_sent=10, least_received=SIZE)


def test_a_clone_by_git_is_counted_as_the_far_socket_counts_it(place: Place) -> None:
    needs("git")
    origin = place.there / "origin"
    who = ("-c", "user.name=anybody", "-c", "user.email=anybody@localhost")
    subprocess.run(["git", "init", "-q", str(origin)], check=True)
    shutil.copy(place.there / "down", origin / "down")
    for words in (("add", "."), ("commit", "-qm", "it")):
        subprocess.run(["git", "-C", str(origin), *who, *words], check=True)
    with far_end(*git_daemon(place.there)) as far:
        metered = place.metered("git", "clone", "-q", f"git://127.0.0.1:{far.port}/origin", "clone")
    same(place.here / "clone" / "down", place.there / "down")
    holds(metered, far, least_sent=10, least_received=SIZE)


def test_a_copy_that_is_refused_ends_as_scp_does_and_has_its_row(place: Place) -> None:
    needs("sshd", "scp")
    with by_ssh(place, "scp") as ssh:
        words = ssh.words("far:/no/such/file", "down")
        result = place.bench.typed("transfer", "--csv", "rows.csv", "--", *words, status=1)
    assert "`scp` ended with exit status 1" in result.stderr
    (row,) = pl.read_csv(place.here / "rows.csv").to_dicts()
    assert (row["method"], row["exit_status"]) == ("scp", 1)
    assert (row["sent"], row["received"]) == (ssh.far.received, ssh.far.sent)
