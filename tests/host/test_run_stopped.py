"""A run that is stopped or killed at any stage: it exits as documented, its folder is whole, nothing stays behind."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from support.delay_accounting import delay_accounting_without_runs
from support.outside import (
    DELAY_ACCOUNTING,
    NEEDS_ROOT,
    ROOT,
    Bench,
    ended,
    groups_of,
    left_behind,
    phase_has_begun,
    processes_of,
    wait_until,
    with_own_state,
)

BUSY = 'think = "none"\npasses = 1000000\nlines = ["echo here"]\n'

# A script, options, and what shows that the run is at this stage, for as long as nobody stops it.
STAGES = {
    "log-in": ("login = \"sh -c 'while read line; do :; done'\"\nlines = ['true']\n", (), "nobody is in"),
    "warm-up": ('think = "fixed(1h)"\nlines = ["true"]\n', (), "warm-up"),
    "steady": (BUSY, ("--users", "3"), "steady"),
    "ramp-down": ('think = "none"\nlines = ["sleep 1000"]\n', ("--for", "100ms"), "ramp-down"),
}


@contextmanager
def nothing_left(bench: Bench) -> Iterator[None]:
    """Looks afterwards whether the run left the machine as it had been."""
    before = delay_accounting_without_runs()
    yield
    assert left_behind(bench) == []
    assert delay_accounting_without_runs() == before


def named(request: pytest.FixtureRequest) -> str:
    """A name for a run that no other has."""
    return f"hostile-{os.getpid()}-{abs(hash(request.node.name)):x}"


def is_at(bench: Bench, run_id: str, stage: str) -> Callable[[], bool]:
    if stage == "nobody is in":
        return lambda: bool(processes_of(bench))
    return lambda: phase_has_begun(bench.folder / run_id, stage)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("stage", STAGES)
def test_a_run_can_be_stopped_at_every_stage(
    stage: str, number: signal.Signals, bench: Bench, request: pytest.FixtureRequest
) -> None:
    script, options, shown = STAGES[stage]
    run_id = named(request)
    with nothing_left(bench):
        running = bench.start("run", bench.script(script), *options, "--out", run_id)
        wait_until(is_at(bench, run_id, shown), running)
        running.send_signal(number)
        told = ended(running, 130)
    assert "stopped before its end" in told.stderr
    whole = bench.tables(run_id)
    assert (whole.conditions["finished"], whole.conditions["outcome"]) == (True, "stopped")
    assert len(whole.sessions) == whole.conditions["load"]["users"]
    assert set(whole.sessions["outcome"].to_list()) == {"stopped"}
    assert not list((bench.folder / run_id).glob("*.arrows"))
    if stage == "ramp-down":
        assert whole.lost["what"].to_list() == ["interaction"], "the line that was not answered is told"


def test_a_second_interrupt_however_soon_ends_it_too_names_the_folder_and_leaves_nothing(
    bench: Bench, request: pytest.FixtureRequest
) -> None:
    """The second comes in the stop of the run, in its summary, or in its report."""
    gaps_s = (0.0, 0.2, 0.5)
    script, _, stage = STAGES["warm-up"]
    idle = bench.script(script)
    with nothing_left(bench):
        runs = {f"{named(request)}-{number}": gap_s for number, gap_s in enumerate(gaps_s)}
        all_running = {run_id: bench.start("run", idle, "--out", run_id) for run_id in runs}
        for run_id, running in all_running.items():
            wait_until(is_at(bench, run_id, stage), running)
            running.send_signal(signal.SIGINT)
            with suppress(subprocess.TimeoutExpired):
                running.wait(runs[run_id])
            running.send_signal(signal.SIGINT)
        for run_id, running in all_running.items():
            assert run_id in ended(running, 130).stderr


def test_what_a_user_left_in_the_background_is_ended_with_the_run(bench: Bench, request: pytest.FixtureRequest) -> None:
    """A process in a session of its own, deaf to hang-ups: only its control group knows whose it is."""
    if not ROOT:
        pytest.skip("needs root: without a control group nobody knows whose a process is that left its session")
    run_id = named(request)
    script = bench.script('think = "none"\nlines = ["setsid nohup sleep 1000 >/dev/null 2>&1 &"]\n')
    with nothing_left(bench):
        bench.run(script, "--users", "2", out=run_id)


def kill_in_the_middle(bench: Bench, run_id: str, *options: str, before: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Starts a busy run, and kills loadgo once records are there."""
    running = bench.start("run", bench.script(BUSY), "--users", "2", *options, "--out", run_id, before=before)
    wait_until(lambda: phase_has_begun(bench.folder / run_id, "steady"), running)
    wait_until(lambda: len(bench.tables(run_id).interactions) > 100, running)
    running.kill()
    running.communicate()
    return running


@pytest.fixture(scope="module")
def killed(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    """Where a run with conditions was killed, `killed`, and the next one has cleared away what it left."""
    bench = Bench(tmp_path_factory.mktemp("killed"))
    bench.homes.mkdir()
    kill_in_the_middle(bench, "killed", "--fail-if", "p50 > 1h", "--fail-if", "p50(echo) > 1ns")
    bench.run(bench.script('lines = ["true"]\nthink = "none"\n', "next"), out="next")
    return bench


def test_after_a_kill_the_records_are_read_and_the_report_says_so(killed: Bench) -> None:
    result = killed.typed("report", "killed")
    assert "killed" in result.stdout.splitlines()[0]
    kept = killed.tables("killed").interactions
    assert len(kept) > 100
    each = kept.group_by("user", maintain_order=True).agg("pass")
    for passes in each["pass"].to_list():
        assert passes == list(range(1, len(passes) + 1)), "no row is missing before the last"


def test_a_killed_run_keeps_its_conditions(killed: Bench) -> None:
    asked = ["p50 > 1h", "p50(echo) > 1ns"]
    assert killed.tables("killed").conditions["fail_if"] == [{"condition": condition} for condition in asked]
    reported = json.loads(killed.typed("report", "killed", "--format", "json").stdout)["fail_if"]
    assert [result["condition"] for result in reported] == asked
    assert [result["holds"] for result in reported] == [False, True]


@NEEDS_ROOT
def test_the_next_run_clears_away_what_a_killed_one_left(bench: Bench, request: pytest.FixtureRequest) -> None:
    """Both have a /run of their own, so that no other run on this host clears away first."""
    own, delay_accounting = with_own_state(bench)
    kill_in_the_middle(bench, named(request), before=own)
    assert groups_of(bench)
    assert list(bench.homes.iterdir())
    assert delay_accounting.read_text().strip() == "1"
    bench.run(bench.script('think = "none"\nlines = ["true"]\n', "next"), out="next", before=own)
    assert left_behind(bench) == []
    assert "undone after a run that was killed" in (bench.folder / "next" / "run.toml").read_text()
    assert delay_accounting.read_text().strip() == "0"


@NEEDS_ROOT
def test_a_kernel_s_switch_that_another_turned_off_meanwhile_is_told(bench: Bench) -> None:
    own, delay_accounting = with_own_state(bench)
    script = bench.script(f'think = "none"\nlines = ["echo 0 > {DELAY_ACCOUNTING}"]\n')
    bench.run(script, "--meters", "none", out="switched", before=own)
    assert delay_accounting.read_text().strip() == "0"
    assert bench.tables("switched").conditions["usage"]["delays_switched_off"]
    sentence = "somebody switched the kernel's delay accounting off"
    assert sentence in " ".join(bench.typed("report", "switched").stdout.split())
    metered = bench.run(script, "--meters", "cheap", out="metered", before=own).conditions["usage"]
    assert (metered["waits"], metered["delays_switched_off"]) == ("kernel meters", True)
    assert sentence not in " ".join(bench.typed("report", "metered").stdout.split())


def test_a_run_whose_lines_are_never_answered_ends_with_the_time_that_it_had(bench: Bench) -> None:
    script = bench.script('think = "none"\ntimeout = "50ms"\nlines = ["sleep 1000"]\n')
    kept = bench.run(script, "--until", "time=300ms")
    assert (kept.conditions["finished"], kept.conditions["outcome"]) == (True, "done")
    assert kept.conditions["load"]["until"] == "time=300ms"
    assert set(kept.interactions["outcome"].cast(str)) == {"timeout"}
