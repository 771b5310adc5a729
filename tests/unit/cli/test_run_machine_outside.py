"""Simulated machines from the command line: stopped, killed, refused in words, and asked until there is enough."""

import json
import signal
import subprocess
import tomllib
from pathlib import Path

import pytest
from support.outside import Bench, ended, phase_has_begun, wait_until
from support.small_machine import MACHINE, laid

ENDLESS = ("--passes", "100000000", "--users", "3")
QUICK_SCRIPT = 'name = "quick"\nlogin = "sh"\nthink = "none"\nlines = ["ls"]\n'
QUICK_MACHINE = 'title = "quick"\nsource = "a test"\n[commands."*"]\ncpu = "1ms"\n'


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    """A place to run in, with the small machine and its script."""
    (tmp_path / "homes").mkdir()
    laid(tmp_path)
    return Bench(tmp_path)


def under_way(bench: Bench, *more: str) -> subprocess.Popen[str]:
    """A run without end whose load is whole."""
    running = bench.start("run", "small.toml", "--on", "small-machine.toml", *ENDLESS, "--out", "kept", *more)
    wait_until(lambda: phase_has_begun(bench.folder / "kept", "steady"), running)
    return running


@pytest.mark.processes
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda number: number.name)
def test_a_run_on_a_machine_is_stopped_in_order(bench: Bench, number: signal.Signals) -> None:
    running = under_way(bench)
    running.send_signal(number)
    told = ended(running, 130)
    assert "stopped before its end" in told.stderr
    whole = bench.tables("kept")
    assert (whole.conditions["finished"], whole.conditions["outcome"]) == (True, "stopped")
    assert set(whole.sessions["outcome"].to_list()) == {"stopped"}
    assert not list((bench.folder / "kept").glob("*.arrows"))


def test_after_a_kill_the_records_are_read_and_the_report_says_so(bench: Bench) -> None:
    running = under_way(bench)
    wait_until(lambda: len(bench.tables("kept").interactions) > 1000, running)
    running.kill()
    running.communicate()
    result = bench.typed("report", "kept")
    assert "killed" in result.stdout.splitlines()[0]
    assert len(bench.tables("kept").interactions) > 1000


@pytest.fixture
def quick(bench: Bench) -> tuple[str, ...]:
    """The words that run a script on a machine which simulates interactions faster than a disk takes them."""
    (bench.folder / "quick-machine.toml").write_text(QUICK_MACHINE)
    return ("run", bench.script(QUICK_SCRIPT, "quick"), "--on", "quick-machine.toml")


@pytest.mark.long
def test_the_disk_may_be_slower_than_the_machine_and_no_row_is_lost(bench: Bench, quick: tuple[str, ...]) -> None:
    bench.typed(*quick, "--users", "50", "--until", "interactions=400000")
    (run,) = (bench.folder / "runs").iterdir()
    told = bench.tables(str(run))
    assert len(told.interactions) >= 400_000
    assert told.lost.is_empty()


@pytest.mark.processes
def test_a_run_ends_when_the_disk_takes_no_more(bench: Bench, quick: tuple[str, ...]) -> None:
    no_more = ("prlimit", "--fsize=20000000")
    options = ("--for", "100h", "--users", "3", "--out", "kept")
    result = bench.loadgo(*quick, *options, status=2, before=no_more)
    assert "the disk takes no more" in result.stderr
    whole = bench.tables("kept")
    assert len(whole.interactions) > 1000
    assert (whole.conditions["finished"], whole.conditions["outcome"]) == (True, "stopped")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--limit", "memory=1G"), "--limit is for a host"),
        (("--no-fifo",), "--no-fifo is for a host"),
        (("--processor", "0"), "--processor is for a host"),
        (("--usage-every", "2"), "--usage-every is for a host"),
        (("--set", "processors.count=none"), "processors.count=none"),
        (("--set", "processors.count"), "--set processors.speed=2"),
        (("--until", "tired"), "interactions=1e6"),
        (("--tariff", "machine:9"), "has no shift 9"),
    ],
)
def test_what_makes_no_sense_is_told_in_words(bench: Bench, options: tuple[str, ...], words: str) -> None:
    result = bench.typed("run", "small.toml", "--on", "small-machine.toml", *options, "--out", "kept", status=2)
    assert words in result.stderr


def test_an_unknown_command_is_refused_before_anything_is_made(bench: Bench) -> None:
    (bench.folder / "small-machine.toml").write_text(MACHINE.partition('[commands."*"]')[0])
    result = bench.typed("run", "small.toml", "--on", "small-machine.toml", "--out", "kept", status=2)
    assert "does not know edit, ls" in result.stderr
    assert not (bench.folder / "kept").exists()


def test_an_unknown_machine_is_told_with_those_there_are(bench: Bench) -> None:
    result = bench.typed("run", "light", "--on", "multics-654", status=2)
    assert "multics-645" in result.stderr


def test_the_bundled_machines_are_listed_and_printed(bench: Bench) -> None:
    listed = bench.typed("machines").stdout
    assert all(name in listed for name in ("ctss", "multics-645", "multics-6180", "tenex"))
    printed = bench.typed("machines", "multics-645").stdout
    (bench.folder / "mine.toml").write_text(printed)
    bench.typed("run", "typical-user", "--on", "mine.toml", "--users", "4", "--out", "kept")
    merged = bench.typed("machines", "multics-645", "--set", "memory.frames=384").stdout
    assert "frames = 384" in merged


def test_a_condition_can_fail_a_run_on_a_machine(bench: Bench) -> None:
    options = ("--on", "small-machine.toml", "--users", "4", "--out", "kept", "--fail-if", "p50 > 1ms")
    result = bench.typed("run", "small.toml", *options, status=1)
    assert "failed:" in result.stderr
    assert "Failed: p50 is" in result.stdout


def test_the_results_of_conditions_are_kept_and_others_can_be_asked_later(bench: Bench) -> None:
    options = ("--on", "small-machine.toml", "--users", "4", "--out", "kept", "--fail-if", "p50 > 1h")
    bench.typed("run", "small.toml", *options, "--quiet")
    kept = tomllib.loads((bench.folder / "kept" / "run.toml").read_text())["fail_if"]
    assert [(result["condition"], result["holds"]) for result in kept] == [("p50 > 1h", False)]
    assert kept[0]["text"] in bench.typed("report", "kept").stdout
    reported = json.loads(bench.typed("report", "kept", "--format", "json").stdout)
    assert reported["fail_if"] == [{**result, "is_open": False} for result in kept]
    outcome = bench.typed("report", "kept", "--fail-if", "p50 > 1ms", "--format", "json", status=1)
    assert "failed: p50 is" in outcome.stderr
    assert [(result["condition"], result["holds"]) for result in json.loads(outcome.stdout)["fail_if"]] == [
        ("p50 > 1ms", True)
    ]
    bench.typed("report", "kept", "--fail-if", "p50 > 1h")
    unknown = bench.typed("report", "kept", "--fail-if", "p50(nobody) > 1ms", status=2)
    assert "--fail-if, column 5: there is no command 'nobody'" in unknown.stderr


@pytest.mark.long
def test_a_doubtful_fit_is_said_by_each_command_that_uses_the_machine(bench: Bench) -> None:
    doubt = "the machine's mean response is 54 % too low"
    (bench.folder / "fitted.toml").write_text(f'{MACHINE}\n[fit]\nruns = ["r"]\nwarnings = ["{doubt}"]\n')
    for name in ("a", "b"):
        ran = bench.typed("run", "small.toml", "--on", "fitted.toml", "--users", "2", "--out", name)
        assert ran.stdout.startswith(f"The machine's fit is doubtful: {doubt}.")
    assert f"a: The machine's fit is doubtful: {doubt}." in bench.typed("compare", "a", "b").stdout.replace("\n", " ")
    searched = bench.typed("capacity", "small.toml", "--on", "fitted.toml", "--target", "p90 < 1h", "--max-users", "2")
    assert doubt in searched.stderr
    assert doubt in bench.typed("machines", "fitted.toml", "--set", "processors.speed=2").stdout
    pairs = ("--set-b", "processors.speed=2", "--pairs", "1", "--out", "pairs")
    assert doubt in bench.typed("ab", "small.toml", "--on", "fitted.toml", *pairs).stderr
    change = ("--change", "processors.speed=2", "--runs", "1")
    assert doubt in bench.typed("speedup", "small.toml", "--on", "fitted.toml", *change).stderr


@pytest.mark.processes
@pytest.mark.parametrize(
    "words",
    [
        ("capacity", "small.toml", "--target", "p90 < 1h", "--max-users", "2", "--on", "/dev/stdin"),
        ("simulate", "/dev/stdin", "--until", "interactions=3000"),
    ],
    ids=["capacity", "simulate"],
)
def test_a_fitted_machine_can_come_through_a_pipe_which_is_read_once(bench: Bench, words: tuple[str, ...]) -> None:
    load = '[[load]]\nname = "terminals"\nusers = 2\nthink = "exponential(3s)"\ncommands = ["compile"]\n'
    fitted = f'{MACHINE}\n{load}\n[fit]\nruns = ["r"]\nwarnings = ["the mean response is off"]\n'
    (bench.folder / "fitted.toml").write_text(fitted)
    result = bench.loadgo(*words, before=("sh", "-c", 'cat fitted.toml | "$0" "$@"'))
    assert "The machine's fit is doubtful: the mean response is off." in result.stderr


def test_a_machine_is_simulated_under_its_own_load(bench: Bench) -> None:
    load = '[[load]]\nname = "terminals"\nusers = 10\nthink = "exponential(3s)"\ncommands = ["compile"]\n'
    (bench.folder / "loaded.toml").write_text(f"{MACHINE}\n{load}")
    told = bench.typed("simulate", "loaded.toml", "--until", "interactions=3000").stdout
    assert "Little's law holds" in told
    refused = bench.typed("simulate", "small-machine.toml", status=2)
    assert "[[load]]" in refused.stderr


def test_a_document_is_reproduced(bench: Bench) -> None:
    told = bench.typed("reproduce", "ctss-trivial", "--format", "csv").stdout
    assert told.startswith("document,id,")
    assert ",predicted,within," in told
