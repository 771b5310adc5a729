"""Bytes of an observed program: its stand-in reads and writes as many, by the kernel's own counts for the process."""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
import sys
import time
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import loadgo
import pytest
from support.kernel_programs import held_by
from support.outside import LOOK_EVERY_S, NEEDS_ROOT, PATIENCE_S, Bench, readable_by_all

pytestmark = NEEDS_ROOT

PERSON = "daemon"
"""An account of every host, under which no other test logs in."""
MB = 1 << 20
CLOSE = 0.1
COUNTED = """
import json, os, subprocess, sys
def counts():
    return {name: int(count) for name, count in (line.split(": ") for line in open("/proc/self/io"))}
before = counts()
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
print(json.dumps({name: count - before[name] for name, count in counts().items()}))
"""
MIXED = f"""#!/usr/bin/python3 -IS
import os, sys, time
source, target = os.open("source", os.O_RDONLY), os.open("target", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
os.posix_fadvise(source, 0, 0, os.POSIX_FADV_DONTNEED)
for _ in range({6 * MB} // 65536):
    os.read(source, 65536)
for _ in range({3 * MB} // 65536):
    os.write(target, bytes(65536))
os.fsync(target)
zeros = open("/dev/zero", "rb", buffering=0)
for _ in range({40 * MB} // 65536):
    zeros.read(65536)
while time.process_time() < 0.1:
    pass
"""
LINES = {
    "reads": "dd if=source of=/dev/null iflag=direct bs=1M count=5 status=none",
    "writes": "dd if=/dev/zero of=target conv=fsync bs=1M count=4 status=none",
    "writes-direct": "dd if=/dev/zero of=target oflag=direct bs=1M count=4 status=none",
    "mixed": "./mixed",
}
STORED = {"reads": (5 * MB, 0), "writes": (0, 4 * MB), "writes-direct": (0, 4 * MB), "mixed": (6 * MB, 3 * MB)}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A folder with a file to read, which people may write into."""
    folder = Bench(tmp_path)
    folder.homes.mkdir()
    (tmp_path / "source").write_bytes(os.urandom(6 * MB))
    (tmp_path / "mixed").write_text(MIXED)
    (tmp_path / "mixed").chmod(0o755)
    os.sync()
    readable_by_all(folder)
    tmp_path.chmod(0o777)
    # The first start of a program reads it from storage, and these reads are its own.
    counted(tmp_path, "/usr/bin/python3", "-IS", "-c", "import os, sys, time")
    if counted(tmp_path, "dd", "if=/dev/zero", "of=probe", "bs=1M", "count=1")["write_bytes"] < MB:
        pytest.skip(f"{tmp_path} is on no storage whose traffic the kernel counts: set TMPDIR to a folder on a disk")
    return folder


def counted(folder: Path, *words: str) -> dict[str, int]:
    """Runs a command, and returns what the kernel counts in `/proc/PID/io` for it and all its processes."""
    told = subprocess.run(
        [sys.executable, "-IS", "-c", COUNTED, *words], cwd=folder, check=True, capture_output=True, text=True
    )
    counts: dict[str, int] = json.loads(told.stdout)
    return counts


@contextmanager
def observing(bench: Bench) -> Iterator[subprocess.Popen[str]]:
    """An observation of the person, with its programs in the kernel. It ends with the context."""
    running = bench.start("observe", "--for", "1h", "-o", "observed.toml", "--users", PERSON, "--format", "json")
    try:
        give_up = time.monotonic() + PATIENCE_S
        while len(held_by(running.pid)) < 4:
            assert time.monotonic() < give_up
            assert running.poll() is None
            time.sleep(LOOK_EVERY_S)
        yield running
    finally:
        if running.poll() is None:
            running.kill()
            running.communicate()


def observed(bench: Bench, line: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The only command of an observation of a user who types this line three times, and the script."""
    with observing(bench) as running:
        typed = f'{{ type = "cd {bench.folder} && {line}", as = "known", status = 0 }}'
        # A line that comes before the shell waits for it would be one command with the line before it.
        head = f'login = "su -s /bin/sh {PERSON}"\nthink = "fixed(500ms)"\npasses = 3'
        script = bench.script(f"{head}\nlines = [{typed}]\n")
        known = loadgo.run(bench.folder / script, users=1, meters="none", out=bench.folder / "known")
        assert set(loadgo.tables(known).interactions["exit_status"]) == {0}
        running.send_signal(signal.SIGINT)
        told, complaints = running.communicate(timeout=PATIENCE_S)
    assert running.returncode == 130, complaints
    (command,) = (row for row in json.loads(told)["commands"] if row["command"] in ("dd", "mixed"))
    return command, tomllib.loads((bench.folder / "observed.toml").read_text())


@pytest.mark.parametrize("which", LINES)
def test_the_stand_in_moves_as_many_bytes_as_the_program(bench: Bench, which: str) -> None:
    command, script = observed(bench, LINES[which])
    assert command["count"] == 3
    stored = (command["storage_read_bytes"], command["storage_written_bytes"])
    assert stored == pytest.approx(STORED[which], rel=CLOSE, abs=64 * 1024)
    home = bench.folder / "home"
    home.mkdir()
    for name, content in script["files"].items():
        (home / name).write_text(content)
    before_prompt = shlex.split(script["login"])[2:]
    if before_prompt:  # makes the file to read from; a run counts it for no command
        subprocess.run(["sh", "-c", before_prompt[0].replace("exec sh", "exit")], cwd=home, check=True)
    jobs = next(iter(script["words"].values()))
    for words in jobs * (3 // len(jobs)):
        used = counted(home, "sh", "stand-in.sh", *words.split())
        assert (used["read_bytes"], used["write_bytes"]) == pytest.approx(STORED[which], rel=CLOSE, abs=64 * 1024)
        assert not used["cancelled_write_bytes"]
        if which == "mixed":  # a job of less processor time copies by `dd`, which reads what it writes
            assert used["rchar"] == pytest.approx(command["read_bytes"], rel=CLOSE)
            assert used["wchar"] == pytest.approx(command["written_bytes"], rel=CLOSE)


def test_a_script_whose_stand_ins_read_runs_and_makes_their_file_before_the_first_prompt(bench: Bench) -> None:
    _, script = observed(bench, LINES["mixed"])
    assert "prepare" in script["login"]
    run = loadgo.run(bench.folder / "observed.toml", users=2, think="none", meters="none", out=bench.folder / "again")
    rows = loadgo.tables(run).interactions
    assert len(rows)
    assert set(rows["outcome"].cast(str)) == {"ok"}
    assert set(rows["exit_status"]) == {0}
    used_ns = rows["cpu_user_ns"] + rows["cpu_system_ns"]
    assert used_ns.mean() == pytest.approx(0.1e9, rel=0.2)  # the file that they read takes as much alone
