"""The progress of a run: the time that is left, what is left out of a narrow line, and silence where nobody reads."""

from __future__ import annotations

import errno
import io
import os
import pty
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import loadgo
import pytest
from loadgo.cli import progress
from loadgo.cli.progress import changing_line, metering_progress, progress_bar
from loadgo.cli.progress_words import (
    RunClock,
    TimeLeft,
    clock,
    fit_line,
    metering_line,
    observing_line,
    progress_line,
    sweep_line,
)
from loadgo.cli.run import _progress_bar
from loadgo.measures.steady_responses import Headline
from loadgo.observation.live import WatchState
from loadgo.records.growing_table import GrowingTable
from loadgo.records.tables import tables
from loadgo.stats.quantiles import Quantile
from rich.console import Console
from support.outside import COMMAND, NEEDS_FULL_DEVICE, PATIENCE_S, environment
from support.places import TESTS


def state(phase: str, at_s: float, **more: Any) -> dict[str, Any]:
    """A state of a run as `loadgo.run` reports it."""
    known = {"users_logged_in": 20, "users": 20, "interactions": 1234, "interactions_expected": None}
    return {"phase": phase, "at_s": at_s, "computed_s": None, "duration_s": None, "until": None, **known, **more}


HEADLINE = Headline(Quantile(0.9, "measured", 213e6, None, None), 2, 1000)


def test_a_load_with_a_length_counts_down_from_its_steady_phase() -> None:
    run = RunClock(began_s=1000.0)
    assert run.left(state("warm-up", 5.0, duration_s=90.0), 1005.0) == TimeLeft(None, "over 1:30 left")
    assert run.left(state("steady", 10.0, duration_s=90.0), 1010.0) == TimeLeft(0.0, "1:30 left")
    assert run.left(state("steady", 40.0, duration_s=90.0), 1040.0).words == "1:00 left"
    assert run.left(state("steady", 40.0, duration_s=90.0), 1040.0).done == pytest.approx(1 / 3)
    assert run.left(state("ramp-down", 101.0, duration_s=90.0), 1101.0) == TimeLeft(None, "until each user is done")


def test_a_simulated_load_counts_in_the_time_of_the_computation() -> None:
    run = RunClock(began_s=1000.0)
    run.left(state("steady", 0.0, duration_s=3600.0, computed_s=0.1), 1000.1)
    assert run.left(state("steady", 900.0, duration_s=3600.0, computed_s=10.0), 1010.0).words == "0:30 left"


def test_a_number_of_interactions_is_left_by_their_rate_once_it_is_known() -> None:
    run = RunClock(began_s=1000.0)
    early = state("warm-up", 2.0, interactions=9, interactions_expected=400)
    assert run.left(early, 1002.0).words == ""
    later = state("steady", 22.0, interactions=100, interactions_expected=400)
    assert run.left(later, 1022.0) == TimeLeft(0.25, "about 1:00 left")


def test_an_end_that_is_not_known_is_not_guessed() -> None:
    run = RunClock(began_s=1000.0)
    precise = state("steady", 30.0, until="precision(p90)=2%")
    assert run.left(precise, 1030.0) == TimeLeft(None, "until precision(p90)=2%")


@pytest.mark.parametrize("phase", ["warm-up", "steady"])
def test_a_load_until_a_time_counts_down_to_it(phase: str) -> None:
    run = RunClock(began_s=1000.0)
    assert run.left(state(phase, 15.0, until="time=1min"), 1015.0) == TimeLeft(0.25, "0:45 left")
    either = state(phase, 15.0, until="time=60s, precision(p90)=2%")
    assert run.left(either, 1015.0).words == "0:45 left (or precision(p90)=2%)"
    simulated = state(phase, 900.0, until="time=1h", computed_s=10.0)
    assert run.left(simulated, 1010.0).words == "0:30 left"
    assert run.left(state("steady", 30.0), 1030.0) == TimeLeft(None, "")


def test_the_line_has_time_left_p90_and_errors() -> None:
    left = TimeLeft(0.5, "1:00 left")
    assert progress_line(state("steady", 40.0), left, HEADLINE, 61.0, 120) == (
        "steady  [██████      ]  20 users  1,234 lines  p90 213 ms  2 errors  at 1:01  1:00 left"
    )
    few = Headline(Quantile(0.9, "too few samples", None, None, None), 0, 5)
    assert progress_line(state("warm-up", 4.0), TimeLeft(None, ""), few, 4.0, 120) == (
        "warm-up  20 users  1,234 lines  no errors  at 0:04"
    )
    logging_in = state("log-in", 1.0, users_logged_in=3)
    assert progress_line(logging_in, left, None, 1.0, 120).startswith("3 of 20 users logged in")


@pytest.mark.parametrize("width", range(1, 100))
def test_a_narrow_line_keeps_the_time_left_longest(width: int) -> None:
    busy = state("steady", 40.0, computed_s=2.0, step="trial 3 of at most 24")
    line = progress_line(busy, TimeLeft(0.5, "1:00 left"), HEADLINE, 61.0, width)
    assert len(line) <= width
    assert ("1:00 left" in line) == (width >= 9)
    assert ("p90 213 ms" in line) == (width >= 21)


def test_observing_counts_lines_and_sessions() -> None:
    assert observing_line(WatchState(15.0, 1, 1, 1), 60.0, 90) == (
        "observing  [███         ]  1 line in 1 session  1 open  0:45 left, Ctrl-C ends it"
    )
    assert observing_line(WatchState(15.0, 20, 3, 2), 60.0, 50) == "20 lines in 3 sessions  0:45 left, Ctrl-C ends it"


def test_metering_says_what_is_left_or_how_to_end_it() -> None:
    assert metering_line(4.0, 10.0, 80) == "metering  [████▊       ]  0:06 left"
    assert metering_line(4.0, 10.0, 12) == "0:06 left"
    assert metering_line(64.0, None, 80) == "metering  1:04  until an interrupt (Ctrl-C)"


def test_metering_counts_from_when_the_meters_are_ready() -> None:
    out = io.StringIO()
    with metering_progress(Console(file=out, width=80), "5min", shown=True) as show:
        assert show is not None
        show({"at_s": 0.0, "serving": "127.0.0.1:9464"})
        for at_s in range(2, 200):
            show({"at_s": float(at_s)})
    lines = [re.sub(r"\[.*\] ", "", line) for line in out.getvalue().splitlines()]
    assert lines == ["the meters can be read at 127.0.0.1:9464"] + [f"metering   {left}:00 left" for left in (4, 3, 2)]


def test_a_clock_has_hours_only_where_there_are_some() -> None:
    assert [clock(seconds) for seconds in (0.4, 59.6, 725, 3723)] == ["0:00", "1:00", "12:05", "1:02:03"]


def test_without_a_terminal_there_is_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    out, now = io.StringIO(), [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress_bar(Console(file=out, width=80)) as show:
        assert show is not None
        for second in range(150):
            now[0] = float(second)
            show(state("steady", now[0], duration_s=300.0, folder="/nowhere"))
    lines = out.getvalue().splitlines()
    assert [re.sub(r"\[.*\] ", "", line) for line in lines] == [
        "steady   20 users  1,234 lines  no errors  at 1:00  4:00 left",
        "steady   20 users  1,234 lines  no errors  at 2:00  3:00 left",
    ]


@NEEDS_FULL_DEVICE
def test_a_full_disk_under_the_standard_error_ends_no_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "LINE_PERIOD_S", 0.0)
    with open("/dev/full", "wb", buffering=0) as full, progress_bar(Console(file=io.TextIOWrapper(full))) as show:
        assert show is not None
        show(state("steady", 1.0, folder=""))


class LostTerminal(io.StringIO):
    """A terminal that is closed after some writings, as by a connection that was cut."""

    writings = 0

    def write(self, text: str) -> int:
        """Refuses the text as the kernel does."""
        self.writings -= 1
        if self.writings < 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return len(text)


@pytest.mark.parametrize("writings", range(6))
def test_a_terminal_that_is_closed_ends_no_command(writings: int) -> None:
    terminal = LostTerminal()
    terminal.writings = writings
    with changing_line(Console(file=terminal, force_terminal=True, width=80)) as line:
        for number in range(3):
            line.write(f"line {number}")
            line.note("a note")
    assert terminal.writings < 0, "the terminal was lost while it was in use"


def test_quiet_and_short_commands_write_nothing() -> None:
    with _progress_bar(shown=False) as show:
        assert show is None
    out = io.StringIO()
    with changing_line(Console(file=out)), progress_bar(Console(file=out)) as show:
        assert show is not None
        show(state("steady", 1.0, folder=""))
    assert out.getvalue() == ""


def test_a_growing_table_has_the_rows_that_are_written_by_now(tmp_path: Path) -> None:
    folder = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-cut"
    growing = GrowingTable(folder, "interactions")
    assert growing.rows().equals(tables(folder).interactions)
    assert growing.rows().equals(tables(folder).interactions)
    assert GrowingTable(tmp_path, "interactions").rows().is_empty()


@pytest.mark.processes
@pytest.mark.parametrize("columns", [40, 100])
def test_in_a_terminal_the_line_changes_and_is_gone_at_the_end(tmp_path: Path, columns: int) -> None:
    """A capacity search on a simulated machine, whose standard error is a terminal."""
    arguments = ["capacity", "typical-user", "--on", "multics-645", "--target", "p90 < 40s", "--trials", "3"]
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, *arguments],
        cwd=tmp_path,
        env=environment() | {"COLUMNS": str(columns), "TERM": "xterm"},
        stdout=subprocess.DEVNULL,
        stderr=theirs,
    )
    os.close(theirs)
    written = b""
    while True:
        try:
            written += os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
    process.wait(PATIENCE_S)
    os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "\n", written.decode())
    lines = [line.strip() for line in re.split(r"[\r\n]+", text) if line.strip()]
    changing = [line for line in lines if re.match(r"trial \d+ of at most 3\b", line)]
    assert changing, lines
    assert max(map(len, changing)) < columns
    assert any(re.match(r"\d+ users?, ", line) for line in lines)  # the line about a trial that stays


def test_a_sweep_that_goes_on_counts_the_time_left_by_its_new_points_alone() -> None:
    begun = {"points": 500, "points_expected": 1000, "points_before": 500}
    assert sweep_line(begun, 0.0, 79) == "sweeping  [██████      ]  500 of 1,000 simulations  at 0:00"
    later = begun | {"points": 600}
    assert sweep_line(later, 10.0, 79) == (
        "sweeping  [███████▎    ]  600 of 1,000 simulations  about 0:40 left  at 0:10"
    )
    assert sweep_line(later, 10.0, 45) == "600 of 1,000 simulations  about 0:40 left"
    assert sweep_line(later, 10.0, 30) == "600 of 1,000 simulations"
    assert sweep_line({"points": 0, "points_expected": 0, "points_before": 0}, 0.0, 79).endswith(
        "0 of 0 simulations  at 0:00"
    )


@pytest.mark.long
def test_a_fit_counts_down_over_all_its_trials(tmp_path: Path) -> None:
    states: list[dict[str, Any]] = []
    runs = [loadgo.run("typical-user", on="multics-645", users=n, passes=1, out=tmp_path / str(n)) for n in (3, 4)]
    fitted = loadgo.fit(*(run.folder for run in runs), progress=states.append)
    assert len(fitted.checks) == 8
    first = fitted.checks[0]
    answer = " ".join(str(fitted.report("text")).split())
    side = "high" if first.off > 0 else "low"
    expected = f"Under this load the model's mean response is {100 * abs(first.off):.1f} % too {side} with 3 users and"
    assert expected in answer
    done = [each["interactions"] for each in states]
    assert done == sorted(done)
    assert {each["trials"] for each in states} == {3}
    assert {1, 2} <= {each["trial"] for each in states} <= {1, 2, 3}, "two of the trials run side by side"
    assert 0 < done[-1] <= states[-1]["interactions_expected"]


def test_a_fit_says_what_is_left() -> None:
    trying = {"trial": 2, "trials": 4, "interactions": 15_000, "interactions_expected": 60_000}
    assert fit_line(trying, 21.0, 20.0, 120) == (
        "fitting  [███         ]  trial 2 of 4  about 1:00 left  15,000 lines  at 0:21"
    )
    assert fit_line(trying, 2.1, 2.0, 120).startswith("fitting  [███         ]  trial 2 of 4  15,000 lines")
    for width in range(1, 100):
        assert len(fit_line(trying, 21.0, 20.0, width)) <= width


def test_an_interrupt_ends_a_fit_without_a_machine(tmp_path: Path) -> None:
    measured = loadgo.run("typical-user", on="multics-645", users=3, passes=1, out=tmp_path / "run")
    machine = tmp_path / "here.toml"

    def interrupt(_state: dict[str, Any]) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        loadgo.fit(measured.folder, output=machine, progress=interrupt)
    assert not machine.exists()
