"""A run on another host that has another kernel, Debian's, in an emulator: its rows, its meters and its clock."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import loadgo
import polars as pl
import pytest
from loadgo.records.tables import Tables
from support import second_host, second_kernel
from support.command_line import typed
from support.far_programs import sshd

USERS, PASSES = 2, 3
SCRIPT = f"""
name   = "second kernel"
think  = "uniform(1s, 2s)"
passes = {PASSES}
lines  = [{{ type = "n=0; while [ $n -lt 20000 ]; do n=$((n+1)); done", as = "count" }}, "cat /proc/version"]
"""
FAR = "ssh://far"


@dataclass(frozen=True)
class OnSecondKernel:
    """A run on the emulated host, and what that host says of itself."""

    tables: Tables
    kernel: str
    booted_ns: int
    """When the emulator was started, on the monotonic clock here."""
    left: str
    """The names of files that are left there, and of processes of an agent."""


@pytest.fixture(scope="module")
def on_second_kernel(tmp_path_factory: pytest.TempPathFactory) -> Iterator[OnSecondKernel]:
    """A run whose users log in to the emulated host. A missing emulator is a failure where it should be installed."""
    missing = second_kernel.missing() or second_host.missing() or ("there is no sshd" if sshd() is None else None)
    if missing and os.geteuid() == 0 and shutil.which("apt-get"):
        pytest.fail(missing)
    if missing:
        pytest.skip(f"no run was made on a second kernel: {missing}")
    folder = tmp_path_factory.mktemp("second-host")
    booted_ns = time.monotonic_ns()
    with second_host.second_host(folder / "far") as host:
        (folder / "bin").mkdir()
        ssh = folder / "bin" / "ssh"
        ssh.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {host.config} "$@"\n')
        ssh.chmod(0o755)
        (folder / "work.toml").write_text(SCRIPT)
        path = f"{folder / 'bin'}:{os.environ['PATH']}"
        run = typed(
            folder, "run", "work.toml", "--on", FAR, "--users", f"{USERS}", "--out", "kept", status=None, PATH=path
        )
        assert run.returncode in (0, 1), f"{run.stdout}\n{run.stderr}"
        kernel = _said(path, "uname -r")
        left = _said(path, "ls -d /tmp/loadgo-* /var/tmp/loadgo-* /sys/fs/cgroup/*loadgo* 2>/dev/null; true")
        yield OnSecondKernel(loadgo.tables(folder / "kept"), kernel, booted_ns, left)


def _said(path: str, line: str) -> str:
    words = ["ssh", "far", line]
    return subprocess.run(words, env={**os.environ, "PATH": path}, capture_output=True, text=True, check=True).stdout


def test_the_run_has_the_lines_of_all_users_and_the_kernel_of_that_host(on_second_kernel: OnSecondKernel) -> None:
    tables = on_second_kernel.tables
    assert len(tables.interactions) == USERS * PASSES * 2
    assert tables.interactions["outcome"].cast(pl.String).unique().to_list() == ["ok"]
    system = tables.conditions["system"]
    assert system["kernel"] == on_second_kernel.kernel.strip() != os.uname().release
    assert system["name"] == FAR


def test_the_meters_are_those_of_that_kernel_and_its_times_add_up(on_second_kernel: OnSecondKernel) -> None:
    tables = on_second_kernel.tables
    assert tables.conditions["meters"]["tier"] == "cheap", tables.conditions["meters"]
    spans = tables.time.unique("at_ns")["span_ns"].sum()
    assert tables.time["time_ns"].sum() == pytest.approx(2 * spans, rel=0.01), "the machine has two processors"
    assert "sshd" in set(tables.processes["who"].cast(pl.String))


def test_the_clock_of_that_host_began_with_its_boot_and_is_known_within_a_bound(
    on_second_kernel: OnSecondKernel,
) -> None:
    clock = on_second_kernel.tables.conditions["clock"]
    for exchange in clock["exchanges"]:
        # It was zero when the machine had been started, after the emulator and before the first exchange.
        zero_ns = -exchange["offset_ns"]
        assert on_second_kernel.booted_ns - exchange["bound_ns"] < zero_ns < time.monotonic_ns()
    assert 0 < clock["bound_ns"] < 100_000_000


def test_nothing_is_left_there(on_second_kernel: OnSecondKernel) -> None:
    assert on_second_kernel.left == ""
