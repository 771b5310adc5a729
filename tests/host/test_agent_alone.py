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
from loadgo.notation.terms import CATEGORY_TERMS
from support.outside import NEEDS_ROOT, PATIENCE_S, finished, wait_until

PAGES = 16_384
"""Pages that a command touches."""
TOUCHING = f"import mmap; mmap.mmap(-1, {PAGES} * 4096).write(bytes({PAGES} * 4096)); print('touched')"
"""A program in Python that touches them."""


@pytest.fixture(scope="module")
def agent() -> str:
    """The program."""
    return str(find_agent_program().path)


def done(words: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """A process that has ended."""
    return subprocess.run(words, capture_output=True, text=True, stdin=subprocess.DEVNULL)


def test_ready_counts_the_faults_of_a_command_and_keeps_its_output_apart(agent: str) -> None:
    ended = done([agent, "ready", "--", sys.executable, "-c", TOUCHING])
    assert (ended.returncode, ended.stdout) == (0, "touched\n")
    faults = re.search(r"faults (\d+) minor, \d+ major", ended.stderr)
    assert faults, ended.stderr
    assert int(faults[1]) > PAGES
    assert ended.stderr.startswith(f"{sys.executable} -c import mmap")


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


def shares_by_name(report: str) -> dict[str, float]:
    """The share of each category in a report of `meter`, in per cent, in the order of the lines."""
    times, _, _ = report.partition("of it, the busiest processes:")
    return {name: float(share) for share, name in re.findall(r"^ +([\d.]+) %  (.+)$", times, re.MULTILINE)}


def check_shares(report: str) -> None:
    """Checks that the shares of a report are those of all time, the largest first."""
    shares = list(shares_by_name(report).values())
    assert "the processors' time:" in report
    assert shares == sorted(shares, reverse=True)
    assert abs(sum(shares) - 100) <= 0.05 * len(shares) + 0.1


def status_by_losses(report: str) -> int:
    """The exit status that a report of `meter` must have: on a busy host records may be lost, which it says."""
    return int("records were lost" in report)


@pytest.mark.parametrize("meters", ["none", *(pytest.param(tier, marks=NEEDS_ROOT) for tier in ("cheap", "exact"))])
def test_the_shares_of_the_processors_time_add_up(agent: str, meters: str) -> None:
    ended = done([agent, "meter", "--for", "1s", "--meters", meters])
    assert ended.returncode == status_by_losses(ended.stdout), ended.stderr
    check_shares(ended.stdout)


@NEEDS_ROOT
def test_the_words_of_a_metering_are_those_of_loadgo_meter(agent: str) -> None:
    ended = done([agent, "meter", "--meters", "exact", "--", sys.executable, "-c", TOUCHING])
    named = set(shares_by_name(ended.stderr))
    terms = {term.name for term in CATEGORY_TERMS.values()}
    assert {"user mode", "system call", "page fault", "page-table fault"} <= named
    assert named <= terms, named - terms


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_a_metering_early_with_its_whole_report(agent: str, number: signal.Signals) -> None:
    process = started([agent, "meter", "--for", "10min"])
    wait_until(lambda: _catches(process.pid, number), process)
    process.send_signal(number)
    ended = finished(process)
    assert ended.returncode == status_by_losses(ended.stdout), ended.stderr
    check_shares(ended.stdout)
    length = re.match(r"([\d.]+) (ms|s) of ", ended.stdout)
    assert length, ended.stdout
    assert length[2] == "ms" or float(length[1]) < 600, "it has ended before its time"


TRAPPING = """trap 'trap "" {name}; echo caught; exit 7' {name}; echo begun; while :; do sleep 0.05; done"""


@pytest.mark.parametrize("name", ["INT", "TERM", "HUP"])
@pytest.mark.parametrize(("command", "printed"), [("ready", "sh -c trap"), ("meter", "the processors' time:")])
def test_a_signal_reaches_the_command_which_ends_as_it_wants(agent: str, command: str, printed: str, name: str) -> None:
    process = started([agent, command, "--", "sh", "-c", TRAPPING.format(name=name)])
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    ended = ended_by(process, signal.Signals[f"SIG{name}"])
    assert (ended.returncode, set(ended.stdout.splitlines())) == (7, {"caught"}), ended.stderr
    assert printed in ended.stderr


def ended_by(process: subprocess.Popen[str], number: signal.Signals) -> subprocess.CompletedProcess[str]:
    """Sends a signal once: also one that comes before the agent knows the command's number must reach the command."""
    process.send_signal(number)
    return finished(process)


def test_an_interrupt_ends_a_series_of_runs_with_a_report_of_those_that_were(agent: str, tmp_path: Path) -> None:
    counted = tmp_path / "counted"
    process = started([agent, "ready", "-n", "1000000", "sh", "-c", 'echo >> "$0"', str(counted)])
    wait_until(lambda: counted.exists() and counted.stat().st_size >= 3, process)
    process.send_signal(signal.SIGINT)
    ended = finished(process)
    assert ended.returncode == 128 + signal.SIGINT, ended.stderr
    told = re.search(r"medians of (\d+) runs", ended.stderr)
    assert told, ended.stderr
    # The interrupt may have killed the last run before it wrote its line.
    assert int(told[1]) - counted.stat().st_size in (0, 1)


def started(words: Sequence[str]) -> subprocess.Popen[str]:
    """A process that goes on."""
    return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


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


@NEEDS_ROOT
def test_it_works_in_a_root_that_has_nothing_else(agent: str, tmp_path: Path) -> None:
    shutil.copy(agent, tmp_path / "loadgo-agent")
    for folder in ("proc", "tmp"):
        (tmp_path / folder).mkdir()
    inside = 'mount -t proc proc "$0/proc" && exec chroot "$0" /loadgo-agent ready -- /loadgo-agent version'
    ended = done(["unshare", "--mount", "--propagation=private", "sh", "-c", inside, str(tmp_path)])
    assert (ended.returncode, ended.stdout) == (0, f"loadgo-agent {loadgo.__version__}\n"), ended.stderr
    assert ended.stderr.startswith("/loadgo-agent version: real ")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["ready", "--"], "there is no command"),
        (["meter", "--"], "there is no command behind --"),
        (["meter", "--for", "0s"], "--for takes a time longer than 0"),
    ],
)
def test_a_wrong_command_line_is_refused_in_words(agent: str, words: list[str], said: str) -> None:
    ended = done([agent, *words])
    assert ended.returncode == 2
    assert said in ended.stderr


def test_an_input_that_is_not_that_of_a_controller_ends_the_agent_in_words(agent: str) -> None:
    ended = subprocess.run([agent, "serve"], input=bytes(range(256)) * 8, capture_output=True, timeout=PATIENCE_S)
    assert ended.returncode == 1
    assert b"the input is not that of a loadgo" in ended.stderr


@pytest.mark.parametrize("words", [["ready", "--", "true"], ["version"], ["meter", "--", "true"]])
def test_a_report_that_cannot_be_written_is_a_failure(agent: str, words: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        ended = subprocess.run([agent, *words], stdout=full, stderr=full, timeout=PATIENCE_S)
    assert ended.returncode in (1, 2)
