"""Limits of each user on real shells: what the report says of them is what the kernel counted, and nothing stays."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadArgument, BadRun
from loadgo.records.tables import read_stream
from loadgo.running import bundled
from support.outside import (
    NEEDS_ROOT,
    NOBODY,
    Bench,
    groups_of,
    left_behind,
    readable_by_all,
    wait_until,
    with_own_state,
)

pytestmark = NEEDS_ROOT

SPIN = "(timeout 5 sh -c 'while :; do :; done' & timeout 5 sh -c 'while :; do :; done' & wait)"
OWN_GROUP = r"p=$(sed -n 's/.*:\(\/.*loadgo.*u1\)$/\1/p' /proc/self/cgroup | head -n 1)"
COUNTERS = "/sys/fs/cgroup/cpu$p/cpu.stat /sys/fs/cgroup/cpuacct$p/cpuacct.usage /sys/fs/cgroup$p/cpu.stat"
HOGS = [name for name in bundled.script_names() if name.startswith("hog-")]


def costs_of(bench: Bench, run: str = "kept") -> dict[str, Any]:
    """The costs of the limits, as the report has them."""
    told = json.loads(bench.typed("report", run, "--format", "json").stdout)
    costs: dict[str, Any] = told["limit_costs"]
    return costs


def kernel_counts(text: str) -> tuple[float, float]:
    """The processor time and the throttled time in the texts of a group's files, in nanoseconds."""
    words = [line.split() for line in text.splitlines()]
    named = {line[0]: float(line[1]) for line in words if len(line) == 2}
    alone = [float(line[0]) for line in words if len(line) == 1]
    usage = alone[0] if alone else 1000 * named["usage_usec"]
    return usage, named.get("throttled_time", 1000 * named.get("throttled_usec", 0))


def prefer(groups: list[str]) -> None:
    """Gives these groups precedence over all else on the host, so that their users can use their quotas up."""
    for group in groups:
        for name, weight in (("cpu.shares", "200000"), ("cpu.weight", "10000")):
            with contextlib.suppress(OSError):
                (Path(group) / name).write_text(weight)


def test_usage_and_throttled_time_are_those_of_the_kernels_own_counters(bench: Bench) -> None:
    """The last line copies the counters of its own group, after a pause in which the quota is fresh again.

    The loops begin when their group has precedence: others on the host could keep them from using their quota up.
    """
    counted, preferred = bench.folder / "counted", bench.folder / "preferred"

    def progress(_: object) -> None:
        groups = groups_of(bench)
        prefer(groups)
        if groups:
            preferred.touch()

    lines = [
        {"type": 'until [ -e "$PREFERRED" ]; do sleep 0.1; done', "as": "wait"},
        {"type": SPIN, "as": "spin"},
        {"type": "sleep 0.5", "as": "rest"},
        {"type": f'{OWN_GROUP}; cat {COUNTERS} > "$COUNTED" 2>/dev/null', "as": "count"},
    ]
    items = ", ".join(f"{{ type = {json.dumps(line['type'])}, as = {json.dumps(line['as'])} }}" for line in lines)
    script = f'think = "none"\nlines = [{items}]\n[env]\nCOUNTED = "{counted}"\nPREFERRED = "{preferred}"\n'
    bench.started.append(os.getpid())
    run = loadgo.run(
        bench.folder / bench.script(script),
        limit_each="cpus=0.25",
        out=bench.folder / "kept",
        progress=progress,
    )
    assert run.summary.limit_costs is not None
    costs = run.summary.limit_costs.everybody
    usage_ns, throttled_ns = kernel_counts(counted.read_text())
    assert throttled_ns > 1e9, "two loops want more than a quarter of a processor"
    assert costs.cpu_ns == pytest.approx(usage_ns, rel=0.01)
    assert costs.throttled_ns == pytest.approx(throttled_ns, rel=0.01)
    assert costs.throttled_periods is not None
    assert costs.periods is not None
    assert 0 < costs.throttled_periods <= costs.periods
    interactions = bench.tables("kept").interactions.filter(pl.col("command").cast(pl.String) != "wait")
    elapsed_ns = interactions["ready_ns"].max() - interactions["sent_ns"].min()  # type: ignore[operator]
    assert usage_ns < 0.25 * elapsed_ns * 1.1, "the quota holds"
    assert usage_ns > 0.25 * 4e9, "the quota is used"


@contextlib.contextmanager
def busy_loops(count: int) -> Iterator[None]:
    """Loops that run within the context, beside a run."""
    loops = [subprocess.Popen([sys.executable, "-IS", "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


@pytest.mark.parametrize("loops", [0, os.cpu_count() or 1], ids=["alone", "beside-busy-loops"])
def test_a_response_under_a_quota_is_processor_time_and_throttled_time(bench: Bench, loops: int) -> None:
    """The user's group has precedence, so that the program waits for nothing but its quota."""
    preferred = bench.folder / "preferred"

    def progress(_: object) -> None:
        groups = groups_of(bench)
        prefer(groups)
        if groups:
            preferred.touch()

    wait = 'until [ -e "$PREFERRED" ]; do sleep 0.1; done'
    burn = "python3 -IS -c 'import time\nwhile time.process_time() < 0.3: pass'"
    items = f'{{ type = {json.dumps(wait)}, as = "wait" }}, {{ type = {json.dumps(burn)}, as = "burn", repeat = 3 }}'
    script = f'think = "none"\nlines = [{items}]\n[env]\nPREFERRED = "{preferred}"\n'
    bench.started.append(os.getpid())
    with busy_loops(loops):
        run = loadgo.run(
            bench.folder / bench.script(script), limit_each="cpus=0.2", out=bench.folder / "kept", progress=progress
        )
    rows = bench.tables("kept").interactions.filter(pl.col("command").cast(pl.String) == "burn")
    response_ns = (rows["ready_ns"] - rows["sent_ns"]).sum()
    cpu_ns, throttled_ns = (rows["cpu_user_ns"] + rows["cpu_system_ns"]).sum(), rows["throttled_ns"].sum()
    assert len(rows) == 3
    assert throttled_ns > 2e9, "0.9 s at a fifth of a processor"
    assert cpu_ns + throttled_ns == pytest.approx(response_ns, rel=0.05)
    assert run.summary.command("burn").usage.throttled_ns == pytest.approx(throttled_ns / 3)
    assert "throttled" in bench.typed("report", "kept", "--full").stdout
    bench.typed("report", "kept", "--fail-if", "throttled(burn) > 10s")
    bench.typed("report", "kept", "--fail-if", "throttled(burn) > 10ms", status=1)


def test_a_user_without_a_quota_has_no_throttled_time(bench: Bench) -> None:
    kept = bench.run(bench.script('think = "none"\nlines = ["true"]\n'), "--limit-each", "pids=100")
    assert kept.interactions["throttled_ns"].null_count() == len(kept.interactions) == 1
    told = json.loads(bench.typed("report", "kept", "--format", "json").stdout)
    assert told["everything"]["usage"]["throttled_ns"] is None


def test_a_user_who_wants_too_much_is_refused_and_the_other_is_not(bench: Bench) -> None:
    """User 1 and user 2 type the same; each has a memory and processes of their own."""
    grow = "python3 -c 'x = bytearray(200 << 20)' 2>/dev/null; [ $? -ge 1 ]"
    fork = "python3 storm.py"
    storm = (
        "import os, time\nrefused = 0\nfor _ in range(30):\n    try:\n        if os.fork() == 0:\n"
        "            time.sleep(1)\n            os._exit(0)\n"
        "    except OSError:\n        refused += 1\nprint(refused)\n"
    )
    script = (
        f'think = "none"\nstatus = 0\nlines = [{{ type = {json.dumps(grow)}, as = "grow" }}, '
        f'{{ type = "{fork}", as = "fork" }}, '
        f'{{ type = \'[ "$(nice)" = 5 ]\', as = "nice" }}]\n'
        f"[files]\n\"storm.py\" = '''\n{storm}'''\n"
    )
    kept = bench.run(bench.script(script), "--users", "2", "--limit-each", "memory=64M,swap=0,pids=20,nice=5")
    assert set(kept.interactions["outcome"].cast(str)) == {"ok"}
    costs = costs_of(bench)
    assert [row["user"] for row in costs["users"]] == [1, 2]
    for row in costs["users"]:
        assert row["memory_kills"] >= 1
        assert row["memory_refusals"] is None or row["memory_refusals"] >= 1, "v1 of new kernels counts none"
        assert 0 < row["memory_peak_bytes"] <= 64 << 20
        assert row["pids_refusals"] >= 1
    assert costs["everybody"]["memory_kills"] == sum(row["memory_kills"] for row in costs["users"])
    page = bench.typed("report", "kept").stdout
    assert "Limits for each user" in page
    assert "each user held to memory 64 MiB (67.1 MB)" in bench.typed("report", "kept", "--full").stdout


def test_limits_of_all_and_of_each_hold_together(bench: Bench) -> None:
    """The kernel of control groups v1 refuses a user more than all have, which is no limit at all then."""
    lines = 'think = "none"\nstatus = 0\nlines = ["true"]\n'
    bench.run(bench.script(lines), "--limit", "cpus=1,memory=256M", "--limit-each", "cpus=2,memory=128M")
    conditions = bench.tables("kept").conditions
    assert (conditions["limit"]["cpus"], conditions["limit_each"]["cpus"]) == (1, 2)
    assert left_behind(bench) == []


def has_rows(stream: Path) -> bool:
    """Whether a table of a run that goes on has a row."""
    try:
        rows = read_stream(stream)
    except (BadRun, FileNotFoundError):
        return False
    return rows is not None and len(rows) >= 2


def test_the_next_run_removes_the_groups_of_a_killed_one(bench: Bench) -> None:
    own, _ = with_own_state(bench)
    lasting = bench.script('think = "fixed(20ms)"\nlines = ["true"]\n', "lasting")
    options = ("--users", "2", "--for", "1h", "--limit-each", "cpus=1,memory=64M,pids=50,io=1G", "--quiet")
    running = bench.start("run", lasting, *options, "--out", "killed", before=own)
    wait_until(lambda: has_rows(bench.folder / "killed" / "user_limits.arrows"), running)
    running.kill()
    running.communicate()
    assert len(groups_of(bench)) >= 1
    bench.run(bench.script('think = "none"\nlines = ["true"]\n', "next"), out="next", before=own)
    assert left_behind(bench) == []
    assert len(bench.tables("killed").user_limits) >= 2, "rows are written while a run goes on"


def test_python_has_the_same_limits(bench: Bench) -> None:
    script = bench.folder / bench.script('think = "none"\nstatus = 0\nlines = ["true"]\n')
    each = loadgo.EachLimits(cpus=0.5, memory="64M", swap=0, pids=20)
    run = loadgo.run(script, limits=loadgo.Limits(cpus=1, each=each), meters="none", out=bench.folder / "run")
    assert run.summary.run.limit_each["swap_bytes"] == 0
    assert run.summary.limit_costs is not None
    with pytest.raises(BadArgument, match="leave one out"):
        loadgo.run(script, limits=loadgo.Limits(each=each), limit_each="cpus=1")


def test_without_privileges_the_limit_is_refused_with_the_remedy(bench: Bench) -> None:
    readable_by_all(bench)
    script = bench.script('think = "none"\nlines = ["true"]\n')
    told = bench.loadgo("run", script, "--limit-each", "pids=50", "--out", "no", status=2, before=NOBODY)
    assert "--limit-each" in told.stderr
    assert "run as root" in told.stderr


@pytest.mark.parametrize("name", HOGS)
def test_a_hog_ends_by_itself_and_leaves_nothing(name: str, bench: Bench) -> None:
    """Each hog runs whole, with small numbers, under limits that stop none of its lines from ending."""
    text = bundled.find_script(name).text
    small = {
        "SECONDS": '"1"',
        "MB": '"16"',
        "PROCESSES": '"20"',
        "LINES": '"500"',
    }
    shrunk = []
    for line in text.splitlines():
        key, equals, _ = line.partition(" = ")
        is_size = equals and key.startswith("HOG_")
        shrunk.append(f"{key} = {small[key.rpartition('_')[2]]}" if is_size else line)
    assert shrunk != text.splitlines()
    script = bench.script("\n".join(shrunk), name)
    kept = bench.run(script, "--users", "2", "--passes", "1", "--think", "none", "--limit-each", "cpus=1,pids=60")
    assert set(kept.interactions["outcome"].cast(str)) == {"ok"}
    assert len(kept.interactions) == 2
    assert left_behind(bench) == []
    shutil.rmtree(bench.folder / "kept")
