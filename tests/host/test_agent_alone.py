"""The agent without a controller: what it says of a command and of this host, and its exit statuses."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import loadgo
import pytest
from loadgo.hosts.delivery import find_agent_program

PAGES = 16_384
"""Pages that a command touches."""


@pytest.fixture(scope="module")
def agent() -> str:
    """The program."""
    return str(find_agent_program().path)


def done(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A process that has ended."""
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_ready_counts_the_faults_of_a_command_and_keeps_its_output_apart(agent: str) -> None:
    touching = f"import mmap; mmap.mmap(-1, {PAGES} * 4096).write(bytes({PAGES} * 4096)); print('touched')"
    ended = done([agent, "ready", "--", sys.executable, "-c", touching])
    assert (ended.returncode, ended.stdout) == (0, "touched\n")
    faults = re.search(r"faults (\d+) \+ \d+ major", ended.stderr)
    assert faults, ended.stderr
    assert int(faults[1]) > PAGES
    assert ended.stderr.startswith(f"r {sys.executable} -c import mmap")


def test_ready_ends_as_its_command_does(agent: str) -> None:
    statuses = [
        (["ready", "--", "sh", "-c", "exit 3"], 3),
        (["ready", "-n", "2", "--quiet-output", "sh", "-c", "echo heard; exit 4"], 4),
        (["ready", "--", "sh", "-c", "kill -TERM $$"], 128 + signal.SIGTERM),
        (["ready", "--", "no-such-program"], 127),
        (["ready", "--", "/etc/passwd"], 126),
        (["ready"], 2),
        (["ready", "-n", "0", "true"], 2),
        (["meter", "--for", "3"], 2),
        (["meter", "--for", "1s", "--", "true"], 2),
        (["meter", "--meters", "all", "--for", "1s"], 2),
        (["meter", "--", "sh", "-c", "exit 5"], 5),
        (["doctor", "--fully"], 2),
        (["unheard-of"], 2),
    ]
    ended = {" ".join(words): done([agent, *words]) for words, _ in statuses}
    assert {words: one.returncode for words, one in ended.items()} == {
        " ".join(words): status for words, status in statuses
    }
    assert not any(one.stdout for one in ended.values())
    assert all(one.stderr for one in ended.values())
    assert "medians of 2 runs" in ended["ready -n 2 --quiet-output sh -c echo heard; exit 4"].stderr


@pytest.mark.parametrize("meters", ["none", "cheap", "exact"])
def test_the_shares_of_the_processors_time_add_up(agent: str, meters: str) -> None:
    ended = done([agent, "meter", "--for", "1s", "--meters", meters])
    assert ended.returncode in (0, 1), ended.stderr
    times, _, _ = ended.stdout.partition("of it, the busiest processes:")
    shares = [float(share) for share in re.findall(r"^ +([\d.]+) %", times, re.MULTILINE)]
    assert shares == sorted(shares, reverse=True)
    assert abs(sum(shares) - 100) <= 0.05 * len(shares) + 0.1


def test_an_interrupt_ends_a_metering_with_its_report(agent: str) -> None:
    process = subprocess.Popen([agent, "meter"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while not _catches(process.pid, signal.SIGINT):
        assert process.poll() is None
    process.send_signal(signal.SIGINT)
    printed, errors = process.communicate()
    # In the first instants there is no row yet, and so no report of anything.
    assert process.returncode in (0, 1, 2), errors
    assert "the processors' time:" in printed


def _catches(pid: int, number: int) -> bool:
    """Whether a process has a handler for a signal."""
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    caught = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return caught is not None and bool(int(caught[1], 16) >> (number - 1) & 1)


def test_doctor_knows_the_abilities_that_loadgo_knows(agent: str) -> None:
    ended = done([agent, "doctor", "--full"])
    assert ended.returncode == 0
    for ability in loadgo.doctor():
        assert f"\n{ability.name}: " in ended.stdout
    short = done([agent, "doctor"]).stdout
    assert len(short.splitlines()) < len(ended.stdout.splitlines())


def test_it_works_in_a_root_that_has_nothing_else(agent: str, tmp_path: Path) -> None:
    shutil.copy(agent, tmp_path / "loadgo-agent")
    for folder in ("proc", "tmp"):
        (tmp_path / folder).mkdir()
    inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" /loadgo-agent ready -- /loadgo-agent version'
    ended = done(["unshare", "--mount", "--propagation=private", "sh", "-c", inside, str(tmp_path)])
    assert (ended.returncode, ended.stdout) == (0, f"loadgo-agent {loadgo.__version__}\n"), ended.stderr
    assert ended.stderr.startswith("r /loadgo-agent version: real ")
