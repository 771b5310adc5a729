"""Watching a run: what is in a picture is what the tables say, in signs, as JSON, live and played again."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.notation.figures import duration, share
from loadgo.prediction.figures import figures_of
from loadgo.records.following import Following, follow, latest_ns
from loadgo.records.tables import Tables, tables
from loadgo.watching.expected import Model, in_background
from loadgo.watching.play import Clock, screens
from loadgo.watching.state_signs import STATE_SIGNS
from loadgo.watching.terminal import ScreenContext, screen
from loadgo.watching.watch import Watching
from loadgo.watching.window import USER_STATES, window_of
from support.command_line import typed
from support.outside import COMMAND, LOOK_EVERY_S, PATIENCE_S, environment
from support.watched import asked

S = 1_000_000_000


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("watched") / "run"
    loadgo.run("typical-user", on="multics-6180", users=6, passes=2, seed=3, out=folder)
    return folder


@pytest.fixture(scope="module")
def told(run: Path) -> Tables:
    return tables(run)


def test_the_states_of_a_user_fill_the_time_that_is_known(told: Tables) -> None:
    reach = latest_ns(told)
    frame = window_of(told, reach, reach, 50)
    for user, band in frame.bands.items():
        shares = sum(band[state] for state in USER_STATES)
        assert np.all(shares <= 1 + 1e-9), user
    inside = sum(float(np.sum(frame.states[state])) for state in USER_STATES[:5]) * reach / 50
    rows = told.interactions.filter(pl.col("ready_ns").is_not_null())
    response = float((rows["ready_ns"].cast(pl.Int64) - rows["sent_ns"].cast(pl.Int64)).sum())
    assert inside == pytest.approx(response, rel=1e-9)


def test_figures_of_a_window_are_those_of_the_rows_in_it(told: Tables) -> None:
    reach = latest_ns(told)
    end, width = reach * 2 // 3, reach // 4
    frame = window_of(told, end, width, 40)
    rows = told.interactions.filter((pl.col("ready_ns") > end - width) & (pl.col("ready_ns") <= end))
    assert frame.answered == len(rows) == sum(one.count for one in frame.commands)
    assert float(np.sum(frame.per_second)) * width / 40 / S == pytest.approx(len(rows))
    response = (rows["ready_ns"].cast(pl.Int64) - rows["sent_ns"].cast(pl.Int64)).to_numpy()
    assert frame.response_ns[0.5] == pytest.approx(float(np.quantile(response, 0.5)))
    assert sum(frame.time.values()) == pytest.approx(1)


def test_answers_that_were_not_yet_given_are_in_no_figure(told: Tables) -> None:
    first = int(told.interactions["ready_ns"].min())  # type: ignore[arg-type]
    frame = window_of(told, first - 1, first, 20)
    assert (frame.answered, frame.commands) == (0, ())


def test_what_a_user_does_after_the_last_row_is_not_known_while_the_run_goes_on(told: Tables) -> None:
    half = latest_ns(told) // 2
    still = told.sessions.with_columns(ended_ns=pl.lit(None, pl.UInt64))
    growing = replace(told, interactions=told.interactions.filter(pl.col("ready_ns") <= half), sessions=still)
    frame = window_of(growing, half, half, 20)
    assert sum(float(band["not known yet"][-1]) for band in frame.bands.values()) > 0
    whole = window_of(told, half, half, 20)
    assert sum(float(band["not known yet"].sum()) for band in whole.bands.values()) == 0


@pytest.mark.parametrize(("width", "height"), [(80, 24), (120, 40), (60, 16)])
def test_a_picture_fits_its_terminal(told: Tables, width: int, height: int) -> None:
    from loadgo.watching.terminal import columns_of

    frame = window_of(told, latest_ns(told), 600 * S, columns_of(width))
    lines = screen(frame, ScreenContext("typical user on multics-6180", "ended"), width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    assert lines[1].startswith(("Response p90 ", "Full", "Held up", "Nobody"))
    bands = [line for line in lines if line.startswith("user ") and line[5].isdigit()]
    assert not bands or set("".join(band[12:] for band in bands)) <= {*STATE_SIGNS.values(), " "}


def test_a_target_that_is_missed_is_the_answer(told: Tables) -> None:
    frame = window_of(told, latest_ns(told), latest_ns(told), 40)
    lines = screen(frame, ScreenContext("a run", "ended", 1.0), 80, 24)
    assert lines[1].startswith("Too slow")


def test_who_waited_for_a_processor_is_told_with_the_longest_wait(told: Tables) -> None:
    reach = latest_ns(told)
    frame = window_of(told, reach, reach, 40)
    rows = told.interactions.filter(pl.col("ready_wait_ns") > 0)
    sums = dict(rows.group_by("user").agg(pl.col("ready_wait_ns").cast(pl.Float64).sum()).rows())
    assert {one.user: one.sum_ns for one in frame.waiters} == pytest.approx(sums)
    most = frame.waiters[0]
    longest = rows.filter(pl.col("user") == most.user)["ready_wait_ns"].max()
    assert (most.sum_ns, most.longest_ns) == (pytest.approx(max(sums.values())), longest)
    line = next(
        line for line in screen(frame, ScreenContext("a run", "ended"), 80, 24) if line.startswith("CPU waits ")
    )
    part = share(most.sum_ns / sum(sums.values()))
    assert line.partition(";")[0][12:] == f"most: user {most.user} {part}, longest {duration(most.longest_ns)}"


@pytest.mark.parametrize("width", [80, 120])
def test_what_a_model_expects_stands_beside_what_was_measured(run: Path, told: Tables, width: int) -> None:
    model = Model(str(run), run)
    frame = window_of(told, latest_ns(told), latest_ns(told), 40)
    with in_background(model, waits=True) as expected:
        lines = screen(frame, ScreenContext("a run", "ended", None, expected()), width, 24)
    figures = figures_of(told, "steady")
    mean = duration(figures[frame.commands[0].name, "response"])
    head = next(at for at, line in enumerate(lines) if line.startswith("command"))
    assert lines[head].endswith("mean  expected")
    assert lines[head + 1].endswith(f"{duration(frame.commands[0].mean_ns):>10}{mean:>10}")
    line = next(line for line in lines if line.startswith("expected"))
    assert f"p90 {duration(figures['', 'p90 response'])}" in line
    assert f"busy {share(frame.busy_share)}" in line


def test_a_long_expectation_is_not_cut(told: Tables) -> None:
    frame = window_of(told, latest_ns(told), latest_ns(told), 40)
    p50, p90 = ({"command": "", "measure": f"{name} response", "value": 2.3e9} for name in ("p50", "p90"))
    figures = [one | {"low": 2.1e9, "high": 2.5e9} for one in (p50, p90)]
    expected = {"figures": figures, "busy": 0.672, "ready": 1.39, "note": ""}
    lines = screen(frame, ScreenContext("a run", "ended", None, expected), 80, 24)
    at = next(at for at, line in enumerate(lines) if line.startswith("expected"))
    whole = "p50 2.30 s (2.10 s to 2.50 s), p90 2.30 s (2.10 s to 2.50 s), busy 67.2 %, run queue 1.39"
    assert " ".join(f"{lines[at][12:]} {lines[at + 1].strip()}".split()) == whole
    nothing = {"figures": [], "busy": None, "ready": None, "note": "the model could not be run: " + "why " * 20}
    lines = screen(frame, ScreenContext("a run", "ended", None, nothing), 80, 24)
    assert sum(line.count("why") for line in lines) == 20
    assert max(map(len, lines)) <= 80


def test_one_picture_has_what_a_machine_expects_and_says_why_it_has_not(run: Path, tmp_path: Path) -> None:
    command = ("watch", run, "--once", "--model")
    picture = typed(tmp_path, *command, "multics-6180", COLUMNS="80")
    assert picture.stderr == ""
    assert "\nexpected    p50 " in picture.stdout
    metered = tmp_path / "metered"
    shutil.copytree(run, metered, ignore=shutil.ignore_patterns("script.toml"))
    without_script = typed(tmp_path, "watch", metered, "--once", "--model", "multics-6180", status=2)
    assert without_script.stdout == ""
    assert "no script" in without_script.stderr
    machine = tmp_path / "broken.toml"
    machine.write_text("processors = 0\n")
    broken = typed(tmp_path, *command, machine, status=2)
    assert broken.stdout == ""
    assert "broken.toml" in broken.stderr


def test_a_program_gets_the_pictures_that_the_command_shows(run: Path) -> None:
    arguments = {"window": "30s", "at": "40s", "target": "2s"}
    options = [word for name, value in arguments.items() for word in (f"--{name}", value)]
    result = typed(run.parent, "watch", run, "--once", *options, COLUMNS="90", LINES="30")
    with loadgo.watch(run, **arguments) as watching:
        assert watching.picture(90, 30) + "\n" == result.stdout
        assert ["\n".join(lines) + "\n" for lines in watching.pictures(lambda: os.terminal_size((90, 30)))] == [
            result.stdout
        ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"window": 1e-6}, "`window"),
        ({"speed": 2.0}, "`speed"),
        ({"at": "1s"}, "`at"),
        ({"model": "multics-6180"}, "`model"),
        ({"run": "last", "meters": "cheap"}, "`meters"),
    ],
)
def test_a_program_that_watches_is_told_what_makes_no_sense(arguments: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words), loadgo.watch(**arguments):
        pass


def test_a_run_is_played_from_its_beginning_to_its_end(run: Path) -> None:
    seconds = iter(range(0, 10_000_000, 5))
    clock = Clock(0, 10.0, lambda: next(seconds) * S)
    pictures = list(screens(follow(run), clock, 60 * S, None, lambda: os.terminal_size((80, 24))))
    assert len(pictures) > 3
    assert pictures[0] != pictures[1] != pictures[-1]
    assert pictures[-1][0].endswith("× 10.0")


def test_a_run_that_grows_is_followed_and_comes_out_as_its_tables(tmp_path: Path) -> None:
    script = tmp_path / "short.toml"
    script.write_text('name = "short"\nlogin = "sh"\nthink = "fixed(50ms)"\npasses = 1000000\nlines = ["true"]\n')
    folder = tmp_path / "growing"
    command = [*COMMAND, "run", str(script), "--users", "2", "--out", str(folder), "--until", "time=1h", "--quiet"]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    counts: list[int] = []
    deadline = time.monotonic() + PATIENCE_S
    while len(set(counts)) < 4 and process.poll() is None and time.monotonic() < deadline:
        if (folder / "interactions.arrows").exists() and (folder / "run.toml").exists():
            following = follow(folder)
            counts += [len(following.all_tables().interactions) for _ in range(2)]
        time.sleep(LOOK_EVERY_S)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, said.decode()
    assert len(set(counts)) >= 4, counts
    assert counts == sorted(counts)
    assert len(follow(folder).all_tables().interactions) == len(tables(folder).interactions) >= counts[-1]


def test_one_picture_goes_into_a_pipe(run: Path) -> None:
    command = [*COMMAND, "watch", str(run), "--once", "--window", "10min"]
    result = subprocess.run(command, env=environment(COLUMNS="80"), capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert "typical user on" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    wrong = typed(run.parent, "watch", run.parent, status=2)
    assert "run.toml" in wrong.stderr or "no run" in wrong.stderr


class LateFollowing(Following):
    """A host's metering whose first spans come at the fourth look."""

    looks = 0

    def all_tables(self) -> Tables:
        self.looks += 1
        whole = tables(self.folder)
        return whole if self.looks > 3 else replace(whole, time=whole.time.clear())


def test_one_picture_of_a_host_waits_for_its_first_span(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("loadgo.watching.watch.time.sleep", lambda _: None)
    late = LateFollowing(run)
    picture = Watching(late, 60 * S, None, None, None, None, live=True).picture()
    assert "processors not measured" not in picture
    assert late.looks == 5, "four until the first span, and one for the picture"


def test_this_host_is_watched_without_a_run_and_nothing_stays_behind(tmp_path: Path) -> None:
    lines = typed(tmp_path, "watch", "--once", COLUMNS="80", TMPDIR=str(tmp_path)).stdout.splitlines()
    assert lines[1].startswith(("Not full: processors", "Full: processors"))
    assert any(line.startswith("busy ") for line in lines)
    assert max(map(len, lines)) <= 80
    assert list(tmp_path.iterdir()) == []
    assert "--speed" in typed(tmp_path, "watch", "--speed", "3", status=2).stderr


def test_a_run_serves_its_page_while_it_goes_and_not_after_it(tmp_path: Path) -> None:
    script = tmp_path / "short.toml"
    script.write_text('name = "short"\nlogin = "sh"\nthink = "fixed(50ms)"\npasses = 9999\nlines = ["true"]\n')
    folder = tmp_path / "watched"
    command = [*COMMAND, "run", str(script), "--users", "2", "--out", str(folder), "--watch", "--quiet"]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    line = next((line for line in process.stderr if "http://" in line), "")
    where = line.split("http://")[1].split()[0]
    assert asked(where)[0] == 200
    deadline = time.monotonic() + PATIENCE_S
    while tables(folder).interactions.is_empty() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(LOOK_EVERY_S)
    process.terminate()
    process.communicate(timeout=PATIENCE_S)
    with pytest.raises(urllib.error.URLError):
        asked(where)
    assert len(tables(folder).interactions) > 0


def test_who_types_and_has_not_gone_is_there(told: Tables) -> None:
    half = latest_ns(told) // 2
    growing = replace(
        told,
        interactions=told.interactions.filter(pl.col("ready_ns") <= half),
        sessions=told.sessions.filter(pl.col("ended_ns") <= half),
    )
    assert window_of(growing, half, half, 10).users == window_of(told, half, half, 10).users == 6


def test_memory_and_faults_are_what_the_tables_say(told: Tables) -> None:
    reach = latest_ns(told)
    frame = window_of(told, reach, reach, 40)
    assert frame.memory is not None
    assert frame.fault_ns is not None
    size = int(told.memory.filter(pl.col("who").cast(pl.String) == "free")["size_bytes"][-1])
    assert sum(frame.memory.resident.values()) == size
    of_users = told.memory.filter(pl.col("user").is_not_null())["taken_pages"].sum()
    assert sum(pages for who, pages in frame.memory.taken.items() if who.startswith("user ")) == of_users > 0
    sums = told.faults.filter(pl.col("bucket_ns").is_null() & (pl.col("kind").cast(pl.String) != "interrupt"))
    assert frame.fault_ns[0] == pytest.approx(sums["cpu_ns"].sum() / sums["count"].sum())
    lines = screen(frame, ScreenContext("a run", "ended"), 100, 40)
    assert any(line.startswith("memory") and "free" in line for line in lines)
    assert frame.fault_cpu is not None
    assert any(line.startswith("fault CPU") and f"mean {duration(frame.fault_ns[0])}" in line for line in lines)
    assert any(line.startswith("fault wait") for line in lines)


def test_a_watcher_of_this_host_that_is_killed_leaves_no_metering_behind(tmp_path: Path) -> None:
    watching = subprocess.Popen(
        [*COMMAND, "watch"], env=environment(TMPDIR=str(tmp_path)), stderr=subprocess.PIPE, text=True
    )
    assert watching.stderr is not None
    assert "http://" in watching.stderr.readline()
    assert list(tmp_path.glob("loadgo-watch-*/host/run.toml"))
    watching.kill()
    watching.communicate()
    until = time.monotonic() + PATIENCE_S
    while list(tmp_path.glob("loadgo-watch-*")) and time.monotonic() < until:
        time.sleep(0.1)
    assert not list(tmp_path.glob("loadgo-watch-*"))


@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGTERM, 128 + 15), (signal.SIGHUP, 128 + 1), (signal.SIGINT, 0)]
)
@pytest.mark.parametrize("later_s", [0.0, 0.01, 0.3])
def test_a_terminal_is_left_as_it_was_when_the_view_is_asked_to_end(
    run: Path, later_s: float, number: int, status: int
) -> None:
    near, far = os.openpty()
    command = [*COMMAND, "watch", str(run), "--terminal", "--speed", "0.1"]
    with subprocess.Popen(command, env=environment(), stdin=far, stdout=far, stderr=far) as viewing:
        os.close(far)
        output = b""
        while b"\x1b[?1049h" not in output:
            output += os.read(near, 4096)
        time.sleep(later_s)
        viewing.send_signal(number)
        with suppress(OSError):
            while more := os.read(near, 4096):
                output += more
        viewing.communicate(timeout=PATIENCE_S)
    os.close(near)
    assert b"\x1b[?25h\x1b[?1049l" in output
    assert b"Traceback" not in output
    assert viewing.returncode == status
