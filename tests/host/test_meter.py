"""`loadgo meter` on this host: a command's meters and the host's, as a run that everything behind the folder reads."""

import json
import os
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import loadgo
import polars as pl
import pytest
from support.kernel_programs import WITHOUT_TYPES, all_unloaded, held_by, holds_programs
from support.outside import (
    NEEDS_ROOT,
    NOBODY,
    Bench,
    ended,
    finished,
    groups_of,
    readable_by_all,
    stolen_ns,
    wait_until,
)
from support.run_files import assert_written_columns

BUSY = "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done"
LONG_BUSY = BUSY.replace("100000", "300000")
# Choosing who is next, the kernel charges to who comes and the meters to who goes: where others are in it too, that
# is not the same, by about so much a dispatch.
CHOOSING_NS = 2000
pytestmark = NEEDS_ROOT


def kept(folder: Path) -> dict[str, object]:
    """The `run.toml` of what was metered."""
    return tomllib.loads((folder / "run.toml").read_text())


def test_signals_do_not_keep_the_kernel_from_taking_the_programs(tmp_path: Path) -> None:
    """The kernel gives up the check of a program when a signal is pending for the thread that loads it."""
    heard: list[int] = []
    before = signal.signal(signal.SIGALRM, lambda number, _: heard.append(number))
    signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0005)
    try:
        loadgo.meter(duration="200ms", meters="cheap", out=tmp_path / "kept")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    loadgo.meter(duration="200ms", meters="cheap", out=tmp_path / "undisturbed")
    assert heard
    disturbed, undisturbed = (kept(tmp_path / name)["meters"] for name in ("kept", "undisturbed"))
    assert disturbed["exact"] == undisturbed["exact"]  # type: ignore[index]  # these are tables
    assert disturbed["estimated"] == undisturbed["estimated"]  # type: ignore[index]


def test_a_command_is_the_only_user_and_its_life_the_only_interaction(bench: Bench) -> None:
    result = bench.loadgo("meter", "--out", "kept", "--", "sh", "-c", f"{BUSY}; echo done; exit 3", status=3)
    assert result.stdout == "done\n"
    assert "ended with status 3" in result.stderr
    assert_written_columns(bench.folder / "kept")
    measured = bench.tables("kept")
    (row,) = measured.interactions.rows(named=True)
    assert row["command"].startswith("sh -c i=0;")
    assert (row["user"], row["exit_status"], row["outcome"], row["phase"]) == (1, 3, "failed", "steady")
    assert row["cpu_user_ns"] + row["cpu_system_ns"] > 10_000_000
    assert len(measured.sessions) == 1
    assert (measured.conditions["kind"], measured.conditions["outcome"]) == ("meter", "done")
    assert measured.conditions["meters"]["tier"] == "cheap"


def test_a_long_command_has_a_name_that_ends_with_a_sign(bench: Bench) -> None:
    long = ["sh", "-c", f"true {'a' * 80}"]
    bench.loadgo("meter", "--meters", "cheap", "--out", "m", "--", *long)
    assert kept(bench.folder / "m")["name"] == f"sh -c true {'a' * 48}…"


@pytest.mark.parametrize("tier", ["cheap", "exact"])
def test_each_processors_time_adds_up_to_wall_time(bench: Bench, tier: str) -> None:
    bench.typed("meter", "--meters", tier, "--every", "200ms", "--out", "kept", "--", "sh", "-c", BUSY)
    time = (
        bench.tables("kept").time.group_by("processor", "at_ns").agg(pl.col("span_ns").first(), pl.col("time_ns").sum())
    )
    whole = time.group_by("processor").agg(pl.col("span_ns").sum(), pl.col("time_ns").sum())
    assert len(whole) == os.cpu_count()
    for _, span_ns, time_ns in whole.rows():
        assert time_ns == pytest.approx(span_ns, rel=1e-4)


def test_a_commands_waits_come_from_the_kernels_account(bench: Bench) -> None:
    bench.typed("meter", "--out", "kept", "--", "sh", "-c", f"({LONG_BUSY}) & ({LONG_BUSY}) & ({LONG_BUSY}) & wait")
    measured = bench.tables("kept")
    assert measured.conditions["usage"]["waits"] == "kernel meters"
    (waited,) = measured.interactions["ready_wait_ns"].to_list()
    by_user = measured.processes.filter(pl.col("user") == 1)["ready_wait_ns"].sum()
    # Until its first reading the command waits for us, and after its end nobody reads: that is in no interaction. The
    # waits of three long loops on two processors are many times that, also where others run.
    assert 0.8 * by_user <= waited <= by_user


def test_the_host_is_metered_for_a_time(bench: Bench) -> None:
    result = bench.typed("meter", "--for", "2s", "--every", "250ms", "--out", "kept", "--format", "json")
    json.loads(result.stdout)
    measured = bench.tables("kept")
    assert (len(measured.interactions), len(measured.sessions)) == (0, 0)
    spans = measured.time.unique("at_ns")["span_ns"]
    assert (spans < 700_000_000).sum() > 1, "they are shorter than without --every, also where a reading is late"
    assert spans.sum() >= 2_000_000_000
    assert measured.conditions["name"] == "this host"
    assert "load" not in measured.conditions


@pytest.fixture(scope="module")
def metered(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a command that was metered once for all."""
    bench = Bench(tmp_path_factory.mktemp("metered"))
    bench.homes.mkdir()
    bench.typed("meter", "--quiet", "--out", "kept", "--", "true")
    return bench.folder / "kept"


@pytest.mark.parametrize("format", ["text", "html", "json", "csv", "md"])
def test_a_report_of_a_metered_command_has_every_format(bench: Bench, metered: Path, format: str) -> None:
    assert bench.typed("report", str(metered), "--format", format, "--phases", "all", "--output", "-").stdout


def test_the_records_of_a_metered_command_can_be_queried(metered: Path) -> None:
    assert len(loadgo.query("SELECT category, sum(time_ns) FROM time GROUP BY category", run=metered)) > 0


def test_a_command_that_cannot_be_run_is_refused_as_a_shell_does(bench: Bench) -> None:
    plain = bench.folder / "plain"
    plain.write_text("no program")
    assert "no such program" in bench.typed("meter", "--", "no-such-program", status=127).stderr
    assert "not executable" in bench.typed("meter", "--", str(plain), status=126).stderr
    assert not (bench.folder / "runs").exists()


def test_what_makes_no_sense_is_refused_before_anything_is_loaded(bench: Bench) -> None:
    assert "leave --for out" in bench.typed("meter", "--for", "1s", "--", "true", status=2).stderr
    assert "out of range" in bench.typed("meter", "--every", "1ms", "--for", "1s", status=2).stderr
    with pytest.raises(ValueError, match="choose 'cheap' or 'cheap,locks' or 'cheap,profile' or 'sampled' or 'exact'"):
        loadgo.meter(("true",), meters="none", out=bench.folder / "kept")
    assert not (bench.folder / "kept").exists()
    served = bench.typed("meter", "--meters", "sampled", "--serve", "127.0.0.1:0", "--for", "1s", status=2)
    assert "choose 'cheap' or 'exact'" in " ".join(served.stderr.split())


def test_a_termination_is_the_commands_and_the_records_are_whole(bench: Bench) -> None:
    running = bench.start("meter", "--quiet", "--out", "kept", "--", "sh", "-c", "echo up >up; exec sleep 300")
    wait_until((bench.folder / "up").exists, running)
    programs = held_by(running.pid)
    running.send_signal(signal.SIGTERM)
    ended(running, 128 + signal.SIGTERM)
    (row,) = bench.tables("kept").interactions.rows(named=True)
    assert (row["exit_status"], row["outcome"]) == (None, "died")
    assert programs
    assert all_unloaded(programs)
    assert not groups_of(bench)


def test_an_interrupt_ends_it_in_order_and_the_report_comes(bench: Bench) -> None:
    running = bench.start("meter", "--out", "kept")
    wait_until(lambda: (bench.folder / "kept" / "time.arrows").exists() and holds_programs(running), running)
    programs = held_by(running.pid)
    running.send_signal(signal.SIGINT)
    assert "Processors" in ended(running, 0).stdout
    assert kept(bench.folder / "kept")["outcome"] == "done"
    assert all_unloaded(programs)


def test_a_killed_one_leaves_readable_records_and_no_program(bench: Bench) -> None:
    running = bench.start("meter", "--every", "100ms", "--out", "kept")
    wait_until(lambda: (bench.folder / "kept" / "time.arrows").exists() and len(bench.tables("kept").time) > 0, running)
    programs = held_by(running.pid)
    running.kill()
    running.communicate()
    assert programs
    assert all_unloaded(programs)
    (found,) = loadgo.runs(bench.folder)
    assert found.outcome == "killed"
    assert "killed" in bench.typed("report", "kept").stdout


def test_two_at_once_have_each_their_own_account(bench: Bench) -> None:
    several = [
        bench.start("meter", "--quiet", "--out", name, "--", "sh", "-c", f"{BUSY}; exit {status}")
        for name, status in (("first", 4), ("second", 5))
    ]
    assert [finished(running).returncode for running in several] == [4, 5]
    for name, status in (("first", 4), ("second", 5)):
        (row,) = bench.tables(name).interactions.rows(named=True)
        assert row["exit_status"] == status
        assert row["cpu_user_ns"] + row["cpu_system_ns"] > 10_000_000
        assert len(bench.tables(name).lost) == 0


def test_a_full_disk_is_named_and_the_records_are_readable_up_to_there(bench: Bench) -> None:
    disk = bench.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", disk], check=True)
    try:
        running = bench.start("meter", "--every", "50ms", "--out", "disk/kept")
        wait_until(lambda: (disk / "kept/time.arrows").exists() and len(bench.tables("disk/kept").time) > 0, running)
        programs = held_by(running.pid)
        subprocess.run(
            ["dd", "if=/dev/zero", f"of={disk / 'ballast'}", "bs=4k"], capture_output=True
        )  # as much as fits
        running.send_signal(signal.SIGINT)
        assert "No space left" in ended(running, 2).stderr
        assert len(bench.tables("disk/kept").time) > 0
        assert all_unloaded(programs)
    finally:
        subprocess.run(["umount", disk], check=True)


def test_records_that_a_disk_refused_for_a_while_are_lost_and_the_exit_status_says_so(bench: Bench) -> None:
    disk = bench.folder / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", disk], check=True)
    try:
        running = bench.start("meter", "--every", "20ms", "--out", "disk/kept")

        def has_lost() -> bool:
            """Whether records are lost, after the disk was full once more."""
            subprocess.run(["dd", "if=/dev/zero", f"of={disk / 'ballast'}", "bs=4k"], capture_output=True)
            time.sleep(0.2)  # several spans
            (disk / "ballast").unlink()
            return len(bench.tables("disk/kept").lost) > 0

        wait_until(lambda: (disk / "kept/time.arrows").exists() and len(bench.tables("disk/kept").time) > 0, running)
        wait_until(has_lost, running)
        running.send_signal(signal.SIGINT)
        assert "are lost: the figures cover those that were kept." in ended(running, 1).stdout
    finally:
        subprocess.run(["umount", disk], check=True)


def test_without_privilege_it_is_refused_with_the_remedy(bench: Bench) -> None:
    readable_by_all(bench)
    result = bench.loadgo("meter", "--for", "1s", status=2, before=NOBODY)
    assert "meters cannot be had" in result.stderr
    assert "root" in result.stderr or "CAP_BPF" in result.stderr
    assert not (bench.folder / "runs").exists()


def test_a_kernel_that_does_not_tell_its_types_is_named(bench: Bench) -> None:
    result = bench.loadgo("meter", "--for", "1s", status=2, before=WITHOUT_TYPES)
    assert "BTF" in result.stderr


@pytest.mark.parametrize(
    ("tier", "between"), [("cheap", ["idle dispatch"]), ("exact", ["idle dispatch", "interrupt", "soft interrupt"])]
)
def test_a_thousand_processes_a_second_are_all_counted(bench: Bench, tier: str, between: list[str]) -> None:
    forks = "i=0; while [ $i -lt 2000 ]; do (exit); i=$((i + 1)); done"
    before = stolen_ns()
    bench.typed("meter", "--quiet", "--meters", tier, "--out", "kept", "--", "sh", "-c", forks)
    stolen = stolen_ns() - before
    measured = bench.tables("kept")
    assert len(measured.lost) == 0
    (row,) = measured.interactions.rows(named=True)
    mine = measured.processes.filter(pl.col("user") == 1)["cpu_ns"].sum()
    # The kernel charges a task that ends an idle stretch from its wake-up on: to the meters that is dispatch, and the
    # interrupt that brought the wake-up, where interrupts are bracketed.
    waking = measured.time.filter(pl.col("category").cast(pl.String).is_in(between))["time_ns"].sum()
    choosing = CHOOSING_NS * measured.queue.filter(pl.col("measure").cast(pl.String) == "switches")["value"].sum()
    account = row["cpu_user_ns"] + row["cpu_system_ns"]
    assert 0.98 * mine - choosing - stolen <= account <= 1.02 * (mine + waking) + choosing


def test_it_meters_while_a_run_goes_on(bench: Bench) -> None:
    metering = bench.start("meter", "--quiet", "--out", "meter")
    wait_until(lambda: holds_programs(metering), metering)
    script = bench.script('think = "none"\npasses = 20\nlines = ["echo here", "true"]\n')
    measured = bench.run(script, "--users", "2", "--meters", "cheap")
    metering.send_signal(signal.SIGINT)
    ended(metering, 0)
    assert len(measured.interactions) == 80
    assert measured.conditions["meters"]["tier"] == "cheap"
    assert len(bench.tables("meter").time) > 0


def test_what_was_not_recorded_has_no_path() -> None:
    with pytest.raises(TypeError, match="nothing was recorded"):
        os.fspath(loadgo.Metered(None, "done", 0, None))
