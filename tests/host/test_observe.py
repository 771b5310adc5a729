"""Observation held to a truth: the kernel accounts a load of known programs, and the script of it uses as much."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import loadgo
import pytest
from loadgo.observation.observe import observe
from support.accounting_records import EPOCH_S, MadeProcess, MadeSession, written_accounting

CPU_MS = {"burn-short": 250, "burn-long": 600}
PASSES = 2
KERNEL_ERROR = 0.25
"""The kernel counts these times by ticks, of which a busy virtual machine loses some."""
ACCOUNTING_FILES = [Path("/var/log/account/pacct"), Path("/var/account/pacct")]
OTHERS_ACCOUNTING = "this host keeps process accounting of its own, which the test would end"


@contextmanager
def accounted(path: Path) -> Iterator[None]:
    """Turns the kernel's process accounting on within the context. It is one for the whole host."""
    libc = ctypes.CDLL(None, use_errno=True)
    path.touch()
    if libc.acct(os.fsencode(path)):
        pytest.skip(f"acct(2) is refused here: {os.strerror(ctypes.get_errno())}")
    try:
        yield
    finally:
        assert libc.acct(None) == 0


def program(path: Path, cpu_ms: int) -> Path:
    """A program that uses so much processor time; the kernel knows it by its file's name."""
    path.write_text(
        "#!/usr/bin/python3 -IS\nimport time\n"
        f"while time.process_time() < {cpu_ms / 1000}:\n    sum(range(1000))\nopen('/dev/zero', 'rb').read(1 << 20)\n"
    )
    path.chmod(0o755)
    return path


def cpu_ns(run: loadgo.Run) -> dict[str, float]:
    """The mean processor time of each command's interactions."""
    rows = loadgo.tables(run).interactions
    used = rows.select("command", cpu=rows["cpu_user_ns"] + rows["cpu_system_ns"]).group_by("command").mean()
    return {str(command): float(cpu) for command, cpu in used.rows()}


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, float]]:
    """The records of a load of known programs, and the processor time that its own meters saw."""
    folder = tmp_path_factory.mktemp("observed")
    lines = [f'{{ type = "{program(folder / name, cpu_ms)}", as = "{name}" }}' for name, cpu_ms in CPU_MS.items()]
    script = folder / "known.toml"
    script.write_text(f'passes = {PASSES}\nthink = "fixed(50ms)"\nlines = [{", ".join(lines)}]\n')
    if any(path.exists() for path in ACCOUNTING_FILES):
        pytest.skip(OTHERS_ACCOUNTING)
    with accounted(folder / "pacct"):
        run = loadgo.run(script, users=2, meters="none", out=folder / "known")
    (folder / "pacct").write_bytes(of_the_load((folder / "pacct").read_bytes()))
    return folder / "pacct", cpu_ns(run)


def of_the_load(records: bytes) -> bytes:
    """The records of the known programs and of the shells that started them. Others at terminals are recorded, too."""
    parts = [records[place : place + 64] for place in range(0, len(records), 64)]
    known = {name.encode() for name in CPU_MS}
    shells = {parent_of(part) for part in parts if name_of(part) in known}
    return b"".join(part for part in parts if name_of(part) in known or pid_of(part) in shells)


def name_of(record: bytes) -> bytes:
    return record[48:].partition(b"\0")[0]


def pid_of(record: bytes) -> int:
    return int.from_bytes(record[16:20], sys.byteorder)


def parent_of(record: bytes) -> int:
    return int.from_bytes(record[20:24], sys.byteorder)


def test_the_kernels_records_have_the_commands_of_the_load(load: tuple[Path, dict[str, float]]) -> None:
    records, truth = load
    observation = observe(records)
    rows = {row.command: row for row in observation.commands}
    assert {name: row.count for name, row in rows.items()} == dict.fromkeys(CPU_MS, 2 * PASSES)
    for name, row in rows.items():
        assert row.cpu_ns == pytest.approx(truth[name], rel=KERNEL_ERROR)
        assert row.cpu_most_ns is not None
        assert row.elapsed_ns is not None
        assert row.elapsed_ns >= CPU_MS[name] * 1e6
    assert not observation.warnings


def test_each_command_of_the_script_uses_as_much_as_one_of_its_jobs(
    load: tuple[Path, dict[str, float]], tmp_path: Path
) -> None:
    observation = observe(load[0], output=tmp_path / "observed.toml")
    again = loadgo.run(tmp_path / "observed.toml", users=2, think="fixed(50ms)", meters="none", out=tmp_path / "again")
    used = cpu_ns(again)
    for row in observation.commands:
        job_cpu_ns = [job.cpu_ns for job in row.jobs]
        assert 0.95 * min(job_cpu_ns) < used[row.command] < 1.1 * max(job_cpu_ns)


def test_the_stand_ins_start_as_many_processes_and_touch_as_many_pages(tmp_path: Path) -> None:
    session = MadeSession(1000).typed("make", user_s=0.3, system_s=0.1, faults=20_000, memory_kb=40_000)
    session.commands += [MadeProcess("cc", 1100 + number, 1001, EPOCH_S + 10, user_s=0.02) for number in range(9)]
    observe(
        written_accounting(tmp_path / "pacct", in_order_of_ends(session.processes())), output=tmp_path / "observed.toml"
    )
    run = loadgo.run(tmp_path / "observed.toml", users=1, meters="none", out=tmp_path / "again")
    (row,) = loadgo.tables(run).interactions.rows(named=True)
    assert row["cpu_user_ns"] + row["cpu_system_ns"] == pytest.approx(0.58e9, rel=0.1)
    assert row["faults_minor"] == pytest.approx(20_900, rel=0.1)


def in_order_of_ends(processes: list[MadeProcess]) -> list[MadeProcess]:
    """The processes with each parent behind its children, as accounting has them."""
    return sorted(processes, key=lambda process: (process.command == "bash", process.command == "make"))


def test_histories_that_real_shells_write_are_read(tmp_path: Path) -> None:
    typed = 'history -s "ls -l secret"; history -s "for i in 1 2\ndo echo secret; done"; history -s "cat secret"'
    subprocess.run(
        ["bash", "--norc", "-ic", f"{typed}; history -w {tmp_path}/bash"],
        env={"PATH": os.defpath, "HISTTIMEFORMAT": "%s ", "HISTFILE": "/dev/null"},
        check=True,
        stdin=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # that it has no terminal
    )
    observation = observe(tmp_path / "bash")
    assert {row.command for row in observation.commands} >= {"ls", "for", "cat"}
    assert "secret" not in observation.text
    assert "1 line without a time" in observation.report()


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not here: apt-get install zsh")
def test_a_history_that_a_real_zsh_writes_is_read(tmp_path: Path) -> None:
    typed = "setopt extendedhistory; HISTSIZE=9 SAVEHIST=9; print -s 'ls secret'; print -s 'sleep secret'"
    subprocess.run(["zsh", "-f", "-i", "-c", f"{typed}; fc -W {tmp_path}/zsh"], check=True, stdin=subprocess.DEVNULL)
    observation = observe(tmp_path / "zsh")
    assert {row.command for row in observation.commands} == {"ls", "sleep"}
    assert "secret" not in observation.text
