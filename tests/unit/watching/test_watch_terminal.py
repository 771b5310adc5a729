"""The screen of a watched run in a terminal: headings, colours, and a line that says what has no room."""

from __future__ import annotations

import json
import math
import os
import pty
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.documents.palette import STATE_COLORS
from loadgo.measures.other_work import BUSY_SHARE, NOTED_SHARE, OtherWork, other_work_of
from loadgo.measures.total_time import total_time_of
from loadgo.notation.figures import duration, share
from loadgo.records.following import latest_ns
from loadgo.records.phases import Stretch
from loadgo.records.tables import Tables, tables
from loadgo.watching.answer import answer
from loadgo.watching.page_terms import terms_module
from loadgo.watching.paint import painted
from loadgo.watching.terminal import ScreenContext, columns_of, screen
from loadgo.watching.window import USER_STATES, WatchWindow, window_of
from support.outside import COMMAND, environment

ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal") / "run"
    loadgo.run("typical-user", on="multics-6180", users=20, passes=2, seed=3, out=folder)
    return folder


@pytest.fixture(scope="module")
def run_tables(run: Path) -> Tables:
    return tables(run)


def shown(run_tables: Tables, width: int, height: int, *, color: bool = False) -> list[str]:
    reach = latest_ns(run_tables)
    window = window_of(run_tables, reach, reach, columns_of(width))
    return screen(window, ScreenContext("typical user", "ended"), width, height, color=color)


@pytest.mark.parametrize(("width", "height"), [(80, 23), (120, 60), (60, 16)])
def test_columns_have_headings_and_the_screen_says_what_it_leaves_out(
    run_tables: Tables, width: int, height: int
) -> None:
    lines = shown(run_tables, width, height)
    assert len(lines) <= height
    assert max(map(len, lines)) <= width
    axis = next(line for line in lines if line.startswith("time "))
    assert axis.split() == ["time", "0.0", "s", f"{latest_ns(run_tables) / 1e9:.1f}", "s", "mean"]
    busy = next(line for line in lines if line.startswith("busy "))
    assert len(busy) - len(busy.rstrip("% ")) < 3
    assert len(axis) == len(busy), "the heading ends where the figures end"
    names = set(run_tables.interactions["command"].cast(str).unique())
    table = lines[next(at for at, line in enumerate(lines) if line.startswith("command ")) :]
    hidden = len(names - {line.split()[0] for line in table if line})
    left_out = next((line for line in lines if line.startswith("not shown: ")), "")
    assert (f"{hidden} command" in left_out) == bool(hidden)
    assert bool("times of faults" in left_out or re.search(r", \d+ other parts?; ", left_out)) == (height < 28)
    assert not left_out.endswith("…"), left_out


def test_colours_change_no_character(run_tables: Tables) -> None:
    plain, colored = shown(run_tables, 80, 23), shown(run_tables, 80, 23, color=True)
    assert [ESCAPES.sub("", line) for line in colored] == plain
    assert sum("\x1b[" in line for line in colored) > 8
    assert all(line.count("\x1b[0m") * 2 == len(ESCAPES.findall(line)) for line in colored)


def test_the_states_have_the_colours_of_the_palette() -> None:
    """The nearest of a terminal's 256 colours: 25 is #005faf, and 166 is #d75f00."""
    assert STATE_COLORS["running"] == "#0072b2"
    assert STATE_COLORS["page wait"] == "#d55e00"
    assert painted(f"{'user 1':<12}██PP", "band") == "user 1      \x1b[38;5;25m██\x1b[0m\x1b[38;5;166mPP\x1b[0m"


@pytest.mark.processes
@pytest.mark.parametrize("no_color", [False, True])
def test_a_terminal_has_colours_unless_no_color_is_set(run: Path, no_color: bool) -> None:
    ours, theirs = pty.openpty()
    more = {"NO_COLOR": "1" if no_color else ""}
    command = [*COMMAND, "watch", str(run), "--once"]
    with subprocess.Popen(command, stdout=theirs, env=environment(COLUMNS="80", LINES="24", **more)) as process:
        os.close(theirs)
        output = b""
        while chunk := _read(ours):
            output += chunk
        assert process.wait() == 0
    os.close(ours)
    assert (b"\x1b[" in output) == (not no_color)
    assert b"not shown: " in output


def _read(descriptor: int) -> bytes:
    """The next bytes of the terminal; empty at its end, which Linux calls an input error."""
    try:
        return os.read(descriptor, 65536)
    except OSError:
        return b""


def window_at_end(run_tables: Tables) -> WatchWindow:
    reach = latest_ns(run_tables)
    return window_of(run_tables, reach, reach, columns_of(80))


def test_a_screen_names_no_times_of_faults_where_none_were_metered(run_tables: Tables) -> None:
    untimed = replace(window_at_end(run_tables), fault_ns=None, fault_cpu=None, fault_waits=None)
    for width, height in ((80, 23), (120, 27)):
        lines = screen(untimed, ScreenContext("typical user", "ended"), width, height)
        assert not any("times of faults" in line for line in lines)


@pytest.mark.parametrize(("busy", "verdict", "color"), [(0.1, "Not full", ""), (0.95, "Full", "\x1b[1;31m")])
def test_all_lines_of_an_answer_have_one_colour(run_tables: Tables, busy: float, verdict: str, color: str) -> None:
    """Nobody knows without a target whether response times are good, so nothing is green."""
    time = {"user": busy, "idle zero": 0.7 - busy, "idle page wait": 0.3}
    of_users = window_at_end(run_tables)
    nobody = {state: 0 * users for state, users in of_users.states.items()}
    window = replace(of_users, bands={}, states=nobody, response_ns={}, time=time)
    first, second = screen(window, ScreenContext("this host", "live"), 60, 24, color=True)[1:3]
    assert first.startswith(f"{color}{verdict}: ")
    assert second.startswith(color)
    assert ("\x1b" in second) == bool(color)


def test_an_answer_is_fine_only_where_a_target_is_met(run_tables: Tables) -> None:
    quiet = replace(window_at_end(run_tables), time={"user": 0.5, "idle zero": 0.5})
    quiet = replace(quiet, states={state: np.ones(1) * (state == "running") for state in USER_STATES})
    p90_ns = quiet.response_ns[0.9]
    served = f"Response p90 {duration(p90_ns)}; no target is set. The processors are not full: 50.0 % busy"
    assert answer(quiet).startswith(served)
    assert answer(replace(quiet, time={})).startswith(served.partition(".")[0])
    assert answer(quiet, p90_ns + 1).startswith(f"Fine: p90 {duration(p90_ns)}, target ")
    assert answer(quiet, p90_ns - 1).startswith(f"Too slow: p90 {duration(p90_ns)}, target ")
    first = screen(quiet, ScreenContext("work", "live", p90_ns + 1), 80, 24, color=True)[1]
    assert first.startswith("\x1b[32mFine: ")


def test_figures_of_answers_that_have_stopped_say_since_when(run_tables: Tables) -> None:
    window = replace(window_at_end(run_tables), start_ns=0, end_ns=60_000_000_000, answered=100)
    assert "no answer" not in answer(replace(window, silent_ns=7_000_000_000))
    stopped = answer(replace(window, silent_ns=19_000_000_000))
    assert "; no answer in the last 19.0 s, so that this is of the time before" in stopped
    rare = replace(window, answered=4, silent_ns=19_000_000_000)
    assert "no answer" not in answer(rare), "such a wait is usual where an answer comes every ten seconds"


@pytest.mark.parametrize(("answered", "words"), [(1, "1 answer in "), (2, "2 answers in ")])
def test_one_answer_is_one_answer(run_tables: Tables, answered: int, words: str) -> None:
    window = replace(window_at_end(run_tables), answered=answered)
    assert screen(window, ScreenContext("typical user", "ended"), 80, 23)[-1].startswith(words)


@pytest.mark.parametrize(
    ("work", "words"),
    [
        (None, ""),
        (OtherWork(0.05), ""),
        (OtherWork(0.11, error=0.02), "; the host is partly busy with other things."),
        (OtherWork(0.34), "; the host is busy with other things."),
    ],
)
def test_the_answer_says_that_the_host_is_busy_with_other_things(
    run_tables: Tables, work: OtherWork | None, words: str
) -> None:
    window = window_at_end(run_tables)
    assert window.other_work is None, "a simulated machine has no other work"
    nobody = replace(window, answered=0)
    for seen in (window, nobody):
        said = answer(replace(seen, other_work=work))
        if work is None or not words:
            assert said == answer(seen)
            continue
        assert words in said
        assert f"{share(work.share)} for other programs" in said
        unknown = answer(replace(seen, other_work=work, users_share=math.nan))
        assert f"{words.removesuffix('.')}: {share(work.share)} of its processors." in unknown


@pytest.mark.parametrize("work", [None, OtherWork(0.0849), OtherWork(0.1749)])
def test_the_shares_of_the_processors_add_up_as_they_are_printed(run_tables: Tables, work: OtherWork | None) -> None:
    window = replace(
        window_at_end(run_tables),
        time={"user": 0.5304, "idle zero": 0.4696},
        users_share=0.3504,
        other_work=work,
        has_supervisor=False,
    )
    busy, shares = re.search(r"(\S+) % busy \((.*?)\)", answer(window)).groups()  # type: ignore[union-attr]
    parts = [float(part) for part in re.findall(r"(\S+) %", shares)]
    assert len(parts) == (2 if work is None else 3)
    assert sum(parts) == pytest.approx(float(busy))


def test_a_finished_run_is_judged_as_a_whole_and_a_part_of_it_names_the_part(tmp_path: Path) -> None:
    run = loadgo.run("typical-user", on="multics-645", users=4, passes=1, seed=1, out=tmp_path / "run")
    whole = tables(run.folder).interactions
    response = (whole["ready_ns"].cast(pl.Int64) - whole["sent_ns"].cast(pl.Int64)).to_numpy()
    p90 = f"p90 {duration(float(np.quantile(response, 0.9)))}"

    def said(**options: str) -> str:
        with loadgo.watch(run.folder, target="10s", **options) as watching:  # type: ignore[arg-type]
            return " ".join(watching.picture(100, 45).splitlines()[1:6])

    assert said().startswith(f"Too slow: {p90}, target 10.0 s")
    assert said(window="1h").startswith(f"Too slow: {p90}, ")
    last = said(window="60s")
    assert last.startswith("Only the last 60.0 s of ")
    assert f" are shown; over the whole run the {p90.replace('p90', 'p90 is')}. " in last
    assert said(at="30s").startswith("Only 0.0 s to 30.0 s of ")


def test_a_user_who_was_not_logged_in_has_words_instead_of_a_blank_row(run_tables: Tables) -> None:
    window = window_at_end(run_tables)
    away = {state: 0 * values for state, values in window.bands[1].items()}
    one = replace(window, bands={1: away, 2: window.bands[2]})
    lines = screen(one, ScreenContext("work", "ended"), 100, 45, color=True)
    assert "user 1      (not logged in)" in lines


def test_meters_that_ended_early_are_told(run_tables: Tables) -> None:
    window = replace(window_at_end(run_tables), metered_until_ns=5e9)
    assert "% busy until 5.0 s, when the meters ended" in answer(window)


def test_the_answer_says_how_many_answers_a_report_of_the_steady_phase_leaves_out(tmp_path: Path) -> None:
    warmed = tables(
        loadgo.run("typical-user", on="multics-6180", users=4, duration="3min", out=tmp_path / "run").folder
    )
    window = window_of(warmed, latest_ns(warmed), latest_ns(warmed), columns_of(80))
    phases = warmed.interactions.filter(pl.col("ready_ns").is_not_null())["phase"].cast(pl.String)
    outside = int((phases != "steady").sum())
    assert 0 < window.unsteady == outside < window.answered
    assert f" Of the {window.answered} answers, {outside} are of the warm-up or the ramp-down: " in answer(window)
    assert "warm-up" not in answer(replace(window, unsteady=0))


def test_the_legend_fits_and_says_that_a_sign_stands_for_a_wait(run_tables: Tables) -> None:
    lines = shown(run_tables, 80, 60)
    assert "█ running; waits: ▒ CPU P page D disk w other; t typing · thinking ? not known" in lines
    wide = shown(run_tables, 100, 60)
    assert any(line.endswith("? not known; blank: not logged in") for line in wide)


def test_after_the_end_the_first_line_has_all_users(run_tables: Tables) -> None:
    window = replace(window_at_end(run_tables), users=0)
    first = screen(window, ScreenContext("typical user", "ended"), 80, 23)[0]
    assert first.endswith(f"{len(window.bands)} users, ended after {duration(window.end_ns)}")


def test_a_window_of_a_host_has_the_other_work_of_its_report() -> None:
    host = tables(Path(__file__).parents[2] / "runs" / "reported" / "live-exact")
    reach = latest_ns(host)
    window = window_of(host, reach, reach, columns_of(80))
    whole = Stretch("all", 0, reach, 0, 0, 0, 0, None)
    assert window.other_work is not None
    assert window.other_work == other_work_of(host, whole, total_time_of(host, whole))


def test_the_page_gets_the_limits_of_other_work_from_the_one_rule() -> None:
    line = next(text for text in terms_module().decode().splitlines() if text.startswith("export const OTHER_WORK"))
    limits = json.loads(line.partition(" = ")[2].removesuffix(";"))
    assert (limits["busy"], limits["noted"]) == (BUSY_SHARE, NOTED_SHARE)


def test_no_name_of_a_row_runs_into_its_series(run_tables: Tables) -> None:
    of_users = window_at_end(run_tables)
    window = replace(of_users, states=of_users.states | {"not known yet": 1.0 + of_users.states["running"]})
    lines = screen(window, ScreenContext("typical user", "ended"), 80, 40)
    assert not any(line.startswith("not known yet") for line in lines)
    assert any(line.startswith("not known   ") for line in lines)


@pytest.mark.parametrize(("lost", "words"), [(1, "1 RECORD LOST"), (1234, "1,234 RECORDS LOST")])
def test_lost_records_are_counted_in_words_and_red(run_tables: Tables, lost: int, words: str) -> None:
    window = replace(window_at_end(run_tables), lost=lost)
    lines = screen(window, ScreenContext("typical user", "ended"), 80, 34, color=True)
    assert any(f"\x1b[1;31m{words}\x1b[0m" in line for line in lines)


def test_the_busy_share_beside_the_bars_is_that_of_the_answer(run_tables: Tables) -> None:
    """The columns have different amounts of the processors' time, so the mean of their shares is another figure."""
    reach = latest_ns(run_tables)
    window = window_of(run_tables, reach, reach, columns_of(80))
    uneven = replace(window, busy=window.busy / 2)
    lines = screen(uneven, ScreenContext("typical user", "ended"), 80, 23, color=False)
    (stated,) = re.findall(r"processors ([\d.]+ %) busy", " ".join(lines))
    assert next(line for line in lines if line.startswith("busy ")).endswith(f" {stated}")
