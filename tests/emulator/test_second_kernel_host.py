"""Runs on another host that has another kernel, Debian's, in an emulator: rows, meters, usage, clock, a bad network."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.measures.summary import summarize
from loadgo.records.tables import Tables
from support import second_host, second_kernel
from support.agent_hosts import FAR
from support.command_line import typed
from support.far_programs import sshd
from support.outside import PATIENCE_S
from support.places import TESTS
from support.second_host import SecondHost

USERS, PASSES = 2, 2
GOOD: AbstractContextManager[Any] = nullcontext()
CHILDREN_PAGES = 40
SHELL_FAULTS = 100
"""More faults than a shell has for a line that starts a program; a step of the lines' pages, too."""
HOUR_NS = 3_600_000_000_000
OUT_S, BACK_S = 0.15, 0.05
"""How long packets from the other host take, and packets to it: the clocks seem 50 ms further apart than they are."""
ROUND_TRIP_NS = int((OUT_S + BACK_S) * 1e9)
WORK = {
    "pages": 'type = "line_work pages {user}{pass}00 >/tmp/pages-{user}-{pass}", as = "pages"',
    "children": f'type = "line_work children {{user}}{{pass}} {CHILDREN_PAGES} >/tmp/children-{{user}}-{{pass}}", '
    'as = "children"',
    "spin": 'type = "line_work spin {user}{pass}0 >/tmp/spin-{user}-{pass}", as = "spin"',
    "cat": 'type = "cat /proc/version"',
    "count": 'type = "n=0; while [ $n -lt 2000 ]; do n=$((n+1)); done", as = "count"',
    "ahead": 'type = "date -s \'1 hour\' >/dev/null", as = "ahead"',
    "back": 'type = "date -s \'1 hour ago\' >/dev/null", as = "back"',
}
"""Lines by their command. No two of the same command touch as many pages, or have as many children."""


@dataclass(frozen=True)
class FarRun:
    """A run on the emulated host, and what that host says of its lines."""

    tables: Tables
    report: str
    exit_status: int
    said: dict[tuple[str, int, int], tuple[int, int]]
    """CPU in nanoseconds and minor faults that the programs of lines have printed, by command, user and pass."""
    left: str
    """Files, agents and log-ins that the run has left there."""
    began_ns: int
    """When loadgo was started, on the monotonic clock here."""

    @property
    def lines(self) -> pl.DataFrame:
        """The interactions, with text commands, response times here, and CPU."""
        instants = pl.col("sent_ns", "ready_ns", "response_there_ns").cast(pl.Int64)
        lines = self.tables.interactions.with_columns(pl.col("command", "outcome").cast(pl.String), instants)
        response, cpu = pl.col("ready_ns") - pl.col("sent_ns"), pl.col("cpu_user_ns") + pl.col("cpu_system_ns")
        return lines.with_columns(response.alias("response_ns"), cpu.alias("cpu_ns"))

    @property
    def exchanges(self) -> list[dict[str, Any]]:
        """The comparisons of the clocks. `here_ns` is the instant on the monotonic clock here, to some seconds."""
        exchanges: list[dict[str, Any]] = self.tables.conditions["clock"]["exchanges"]
        return [{**one, "here_ns": self.began_ns + one["at_s"] * 1e9} for one in exchanges]


@dataclass(frozen=True)
class Machine:
    """The emulated host, and the folder here from which loadgo reaches it."""

    host: SecondHost
    folder: Path
    booted_ns: int
    """When the emulator was started, on the monotonic clock here."""

    def run(
        self, commands: list[str], *options: str, think: str, out: str, network: AbstractContextManager[Any] = GOOD
    ) -> FarRun:
        """A run of users who type these lines over this network."""
        lines = ", ".join(f"{{ {WORK[command]} }}" for command in commands)
        keys = f'name = "second kernel"\nthink = "{think}"\npasses = {PASSES}\nstatus = 0\n'
        (self.folder / "work.toml").write_text(f"{keys}lines = [{lines}]\n")
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        words = ("run", "work.toml", "--on", FAR, "--users", f"{USERS}", "--out", out, *options)
        began_ns = time.monotonic_ns()
        with network:
            run = typed(self.folder, *words, status=None, PATH=path)
        assert run.returncode in (0, 1), f"{run.stdout}\n{run.stderr}"
        report = typed(self.folder, "report", out, "--full").stdout
        said, left = self._told()
        return FarRun(
            tables=loadgo.tables(self.folder / out),
            report=" ".join(report.split()),
            exit_status=run.returncode,
            said=said,
            left=left,
            began_ns=began_ns,
        )

    def _told(self) -> tuple[dict[tuple[str, int, int], tuple[int, int]], str]:
        """The figures that the lines' programs have printed, and all that is left there after some time."""
        printed, left = self.host.typed(TOLD).split("left:")
        said = {}
        for name, cpu_ns, faults in (line.split() for line in printed.splitlines()):
            command, user, number = name.split("-")
            said[command, int(user), int(number)] = (int(cpu_ns), int(faults))
        return said, left.strip()


# Agents and log-ins have some time to end: sshd sees last that a connection is gone.
TOLD = f"""
cd /tmp
for file in pages-* children-* spin-*; do [ -e $file ] && echo $file $(cat $file) && rm $file; done
left() {{
    ls -d /tmp/* /var/tmp/* /sys/fs/cgroup/*loadgo* 2>/dev/null
    ls /run/loadgo | grep -v '^lock$'
    readlink /proc/[0-9]*/exe | grep /agent-
    cat /proc/[0-9]*/cmdline | tr '\\0' ' ' | grep -o '[@]pts'
}}
tries=0
while [ -n "$(left)" ] && [ $tries -lt {PATIENCE_S:.0f} ]; do sleep 1; tries=$((tries + 1)); done
echo left: $(left)
"""


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """The emulated host. A missing emulator is a failure where it should be installed."""
    missing = second_kernel.missing() or second_host.missing() or ("there is no sshd" if sshd() is None else None)
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"no run was made on a second kernel: {missing}")
    folder = tmp_path_factory.mktemp("second-host")
    program = folder / "line_work"
    subprocess.run(["cc", "-O1", "-o", program, TESTS / "support" / "line_work.c"], check=True)
    booted_ns = time.monotonic_ns()
    with second_host.second_host(folder / "far", {"/bin/line_work": program}) as host:
        (folder / "bin").mkdir()
        ssh = folder / "bin" / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {host.config} "$@"\n')
        ssh.chmod(0o755)
        yield Machine(host, folder, booted_ns)


@pytest.fixture(scope="module")
def usual(machine: Machine) -> FarRun:
    """A run with the cheap meters, in which nothing happens."""
    return machine.run(["count", "pages", "children", "spin"], think="uniform(0.8s, 1.2s)", out="usual")


@pytest.fixture(scope="module")
def far_away(machine: Machine, usual: FarRun) -> FarRun:
    """A run over a network that takes 200 ms for a round trip and loses 5 % of the packets of each direction.

    It comes between two runs with a good network, which tell what the clock there shows.
    """
    assert usual
    out, back = (f"delay {delay_s * 1000:.0f}ms loss 5%" for delay_s in (OUT_S, BACK_S))
    lost: list[int] = []
    network = machine.host.bad_network(out=out, back=back, lost=lost)
    run = machine.run(["cat", "pages"], think="uniform(0.5s, 1s)", out="away", network=network)
    assert len(lost) == 2, "each direction loses packets"
    assert min(lost) > 0
    return run


@pytest.fixture(scope="module")
def stepped(machine: Machine, far_away: FarRun) -> FarRun:
    """A run with the exact meters, in which the clock there is set an hour ahead and back, twice by each user."""
    assert far_away
    commands = ["children", "ahead", "pages", "back", "spin"]
    return machine.run(commands, "--meters", "exact", think="uniform(0.8s, 1.2s)", out="stepped")


@pytest.fixture(params=["usual", "stepped"])
def run(request: pytest.FixtureRequest) -> FarRun:
    """Either run whose meters are known."""
    found = request.getfixturevalue(request.param)
    assert isinstance(found, FarRun)
    return found


def test_the_run_has_the_lines_of_all_users_and_the_kernel_of_that_host(machine: Machine, usual: FarRun) -> None:
    tables = usual.tables
    assert len(tables.interactions) == USERS * PASSES * 4
    assert usual.lines["outcome"].unique().to_list() == ["ok"]
    system = tables.conditions["system"]
    assert system["kernel"] == machine.host.typed("uname -r").strip() != os.uname().release
    assert system["name"] == FAR


def test_the_meters_are_those_of_that_kernel_and_its_times_add_up(run: FarRun) -> None:
    tables = run.tables
    assert tables.conditions["meters"]["tier"] in ("cheap", "exact"), tables.conditions["meters"]
    spans = tables.time.unique("at_ns")["span_ns"].sum()
    assert tables.time["time_ns"].sum() == pytest.approx(2 * spans, rel=0.01), "the machine has two processors"
    assert "sshd" in set(tables.processes["who"].cast(pl.String))


def test_the_clock_of_that_host_began_with_its_boot_and_is_known_within_a_bound(machine: Machine, run: FarRun) -> None:
    clock = run.tables.conditions["clock"]
    for exchange in clock["exchanges"]:
        # It was zero when the machine had been started, after the emulator and before the first exchange.
        zero_ns = -exchange["offset_ns"]
        assert machine.booted_ns - exchange["bound_ns"] < zero_ns < time.monotonic_ns()
    assert 0 < clock["bound_ns"] < 100_000_000


def test_the_usage_of_each_line_is_what_its_program_says_and_some_of_the_shells(run: FarRun) -> None:
    """Both are the kernel's own counts. The faults of a line are null where a process ended while they were read."""
    lines = run.lines.filter(pl.col("command").is_in(["pages", "children", "spin"]))
    assert set(lines.select("command", "user", "pass").rows()) == set(run.said)
    spent_ns = 0
    known = lines.filter(pl.col("cpu_ns").is_not_null())
    for command, user, number, cpu_ns, faults in known.select(
        "command", "user", "pass", "cpu_ns", "faults_minor"
    ).iter_rows():
        said_ns, said_faults = run.said[command, user, number]
        assert cpu_ns >= said_ns, (command, user, number)
        assert faults is None or said_faults <= faults < said_faults + SHELL_FAULTS, (command, user, number)
        spent_ns += said_ns
    assert known["cpu_ns"].sum() < 2 * spent_ns, "the shells have a small part in it"
    counted = known.filter(pl.col("faults_minor").is_not_null())
    assert set(counted["command"]) == {"pages", "children", "spin"}


def test_the_programs_say_what_they_were_told_to_do(run: FarRun) -> None:
    for (command, user, number), (cpu_ns, faults) in run.said.items():
        asked = 10 * user + number
        least = {"pages": 100 * asked, "children": CHILDREN_PAGES * asked, "spin": 0}[command]
        assert least < faults, (command, user, number)
        assert cpu_ns >= (asked * 10_000_000 if command == "spin" else 1), (command, user, number)


def test_usage_is_known_of_all_lines_for_which_a_user_has_thought(run: FarRun) -> None:
    """A user's first line may come at once: the run does not begin with all users at the beginning of a think time."""
    lines = run.lines.filter((pl.col("pass") > 1) | (pl.col("line") > 1))
    known = lines.filter(pl.col("cpu_ns").is_not_null())
    assert (known["cpu_ns"] > 0).all()
    assert len(known) >= 0.9 * len(lines), run.tables.conditions["usage"]["notes"]
    told = f"({len(run.lines) - run.lines['cpu_ns'].null_count()} interactions of {len(run.lines)})"
    assert told in run.tables.conditions["usage"]["notes"][-1]


def test_the_system_calls_of_all_children_of_a_line_stand_with_its_command(stepped: FarRun) -> None:
    """Each process that touches pages makes the call once. Where news of a line were late, its command is not known."""
    calls = stepped.tables.primitives.filter(
        (pl.col("name").cast(pl.String) == "sched_yield") & pl.col("command").is_not_null()
    )
    counts = dict(calls.group_by(pl.col("command").cast(pl.String)).agg(pl.col("count").sum()).rows())
    children = sum(10 * user + number for command, user, number in stepped.said if command == "children")
    expected = {"children": children, "pages": USERS * PASSES}
    assert sum(counts.values()) == sum(expected.values()), "nothing is left out"
    assert all(counts.get(command, 0) <= most for command, most in expected.items()), counts
    notes = [note for note in stepped.tables.conditions["notes"] if note.startswith("by command: ")]
    assert counts == expected or notes, counts


def test_setting_the_clock_there_changes_no_time_and_no_row_of_a_run(stepped: FarRun) -> None:
    tables, lines = stepped.tables, stepped.lines
    assert lines["outcome"].unique().to_list() == ["ok"], "the clock was set, and every line was answered"
    assert len(lines) == USERS * PASSES * 5
    steps = lines.filter(pl.col("command").is_in(["ahead", "back"]))
    assert steps["response_there_ns"].null_count() == len(steps), "an hour came into what the shell measures"
    moments = steps.select("sent_ns", "ready_ns").rows()
    for sent_ns, ready_ns, there_ns, response_ns in lines.select(
        "sent_ns", "ready_ns", "response_there_ns", "response_ns"
    ).iter_rows():
        if all(ready_ns < began_ns or ended_ns < sent_ns for began_ns, ended_ns in moments):
            assert 0 < there_ns <= response_ns
    assert (lines["response_there_ns"].drop_nulls() < HOUR_NS / 2).all()
    assert tables.time["at_ns"].n_unique() >= 3
    assert tables.time["at_ns"].max() < tables.conditions["wall_s"] * 1e9 + HOUR_NS / 2
    assert (tables.time["span_ns"] < HOUR_NS / 2).all()
    assert tables.lost.is_empty(), tables.lost


def test_responses_over_a_bad_network_have_its_round_trip_and_the_report_says_so(
    usual: FarRun, far_away: FarRun
) -> None:
    lines = far_away.lines
    assert lines["outcome"].to_list() == ["ok"] * (USERS * PASSES * 2)
    assert lines["response_there_ns"].null_count() == 0
    network_ns = lines["response_ns"] - lines["response_there_ns"]
    # A lost packet lengthens some lines; a busy emulator lengthens all of both runs.
    near_ns = (usual.lines["response_ns"] - usual.lines["response_there_ns"]).min()
    assert ROUND_TRIP_NS <= network_ns.min() < 1.5 * ROUND_TRIP_NS + near_ns  # type: ignore[operator]
    network = summarize(far_away.tables, phases="all").network
    assert network is not None
    assert network.network_ns == pytest.approx(network_ns.mean())
    assert "The network and ssh took" in far_away.report


def test_the_clock_is_told_within_a_bound_that_holds_though_one_way_is_slower(
    usual: FarRun, far_away: FarRun, stepped: FarRun
) -> None:
    before, after = usual.exchanges[-1], stepped.exchanges[0]
    drift = (after["offset_ns"] - before["offset_ns"]) / (after["here_ns"] - before["here_ns"])
    assert [exchange["stage"] for exchange in far_away.exchanges] == ["beginning", "middle", "end"]
    for exchange in far_away.exchanges:
        shown_ns = before["offset_ns"] + drift * (exchange["here_ns"] - before["here_ns"])
        error_ns = abs(exchange["offset_ns"] - shown_ns)
        assert error_ns <= exchange["bound_ns"] + before["bound_ns"] + after["bound_ns"]
        assert exchange["bound_ns"] >= ROUND_TRIP_NS / 2


def test_usage_and_meters_that_such_a_clock_cannot_place_are_told_as_not_known(far_away: FarRun) -> None:
    assert far_away.exit_status == 1
    assert far_away.lines["cpu_ns"].null_count() == len(far_away.lines)
    (reason,) = far_away.tables.lost["reason"].cast(pl.String)
    assert "ms only, over a slow network; its records are in other-host" in reason
    (note,) = far_away.tables.conditions["usage"]["notes"]
    assert note.startswith(f"what each interaction used on {FAR} is not known: its clock is known to ")
    assert note in far_away.report


@pytest.mark.parametrize("name", ["usual", "far_away", "stepped"])
def test_nothing_is_left_there(name: str, request: pytest.FixtureRequest) -> None:
    assert request.getfixturevalue(name).left == ""
