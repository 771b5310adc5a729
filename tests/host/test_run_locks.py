"""Waits for locks in a run: users who lock one file, in the tables, the report and the fitted machine."""

from pathlib import Path

from loadgo.measures.summary import summarize
from support.outside import NEEDS_ROOT, Bench

HOLD_S = 0.05
USERS = 3
LOCKING = """think = "none"
passes = 30
lines = [{{ type = "flock {file} sleep {hold_s}", as = "commit" }}]
"""


@NEEDS_ROOT
def test_users_who_lock_one_file_wait_for_each_other(bench: Bench, tmp_path: Path) -> None:
    """Users do nothing else, so that while one holds the lock, the others nearly always wait for it."""
    file = tmp_path / "repository.lock"
    file.touch()
    file.chmod(0o666)
    script = bench.script(LOCKING.format(file=file, hold_s=HOLD_S))
    measured = bench.run(script, "--users", str(USERS), "--meters", "cheap,locks", out="locked")
    assert "locks" not in measured.conditions["meters"]["not_here"]
    summary = summarize(measured, phases="all")
    place = f":{file.stat().st_ino % 2**32}"
    (lock,) = [row for row in summary.meters.locks if row.kind == "flock" and (row.place or "").endswith(place)]
    assert 0 < lock.count <= len(measured.interactions)
    assert lock.users_wait_ns == lock.wait_ns
    assert lock.response_share is not None
    assert lock.response_share < 1
    assert lock.longest_ns >= HOLD_S * 1e9 / 2
    for options in ((), ("--full",)):
        assert "Waits for locks" in bench.typed("report", "locked", *options, status=None).stdout


@NEEDS_ROOT
def test_without_the_meter_there_are_no_waits_and_the_report_says_why(bench: Bench) -> None:
    script = bench.script('lines = ["true"]\n')
    measured = bench.run(script, "--users", "1", "--meters", "cheap", out="without")
    assert measured.lock_waits.is_empty()
    assert "--meters cheap,locks" in measured.conditions["meters"]["not_here"]["locks"]
