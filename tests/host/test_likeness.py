"""A load of known users is observed live, and a run of its script is put beside it: both by the command line."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import loadgo
from support.kernel_programs import held_by, holds_programs
from support.outside import LOOK_EVERY_S, NEEDS_ROOT, PATIENCE_S, Bench
from support.readable_files import readable_bytes

pytestmark = NEEDS_ROOT

USERS, PASSES = 6, 8
WORKER = """#!/usr/bin/python3 -IS
import mmap, time
memory = mmap.mmap(-1, 3000 * mmap.PAGESIZE)
memory.madvise(mmap.MADV_NOHUGEPAGE)
for place in range(0, len(memory), mmap.PAGESIZE):
    memory[place] = 1
while time.process_time() < 0.1:
    pass
time.sleep(0.1)
"""


def test_the_script_of_an_observed_load_uses_what_was_observed(tmp_path: Path) -> None:
    (tmp_path / "homes").mkdir()
    (tmp_path / "burn-k").write_text(WORKER)
    (tmp_path / "burn-k").chmod(0o755)
    known = tmp_path / "known.toml"
    line = f'{{ type = "{tmp_path}/burn-k s3cretArgument", as = "burn-k" }}'
    known.write_text(f'passes = {PASSES}\nthink = "fixed(300ms)"\nlines = [{line}]\n')
    bench = Bench(tmp_path)
    observer = bench.start("observe", "--for", "1h", "-o", "monday.toml")
    give_up = time.monotonic() + PATIENCE_S
    while not holds_programs(observer) or len(held_by(observer.pid)) < 4:
        assert time.monotonic() < give_up
        time.sleep(LOOK_EVERY_S)
    loadgo.run(known, users=USERS, meters="none", out=tmp_path / "known")
    observer.send_signal(signal.SIGINT)
    observer.communicate(timeout=PATIENCE_S)

    figures = tmp_path / "monday.figures.parquet"
    assert figures.stat().st_mode & 0o777 == 0o600
    assert b"burn-k" in readable_bytes(figures)
    assert b"s3cretArgument" not in readable_bytes(figures)

    # Others may type on this host, too: the run types the observed mix for a time, and counts this command alone.
    loadgo.run(tmp_path / "monday.toml", users=USERS, duration="20s", meters="none", out=tmp_path / "again")
    told = bench.start("likeness", "monday.toml", "again", "--format", "json")
    answer, _ = told.communicate(timeout=PATIENCE_S)
    assert told.returncode in (0, 1)  # of what others typed much or little may be alike
    rows = [row for row in json.loads(answer)["figures"] if row["command"] == "burn-k" and row["statistic"] == "mean"]
    by_measure = {row["measure"]: row for row in rows}
    assert by_measure["processor time"]["counts"][0] == USERS * PASSES
    assert by_measure["processor time"]["observed"] >= 100_000_000
    for measure in ("processor time", "page faults"):
        assert abs(by_measure[measure]["relative"]) <= 0.1
    assert by_measure["response time"]["run"] >= 200_000_000
