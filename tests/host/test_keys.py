"""Programs that fill the screen: each key's response, what is known and what is not, and programs that mean no good."""

import re
import shutil

import polars as pl
import pytest
from support import screen_programs
from support.outside import ROOT, Bench

SEES_PROGRAMS = ROOT
"""Whether what a program sleeps in can be read here. Without root it depends on the kernel's settings."""


def run_keys(bench: Bench, program: str, lines: str, head: str = "") -> pl.DataFrame:
    """The interactions of a user who starts `program` and, when it has drawn, types `lines`; in their order."""
    started = f'{{ type = "{screen_programs.CALLED}", as = "start", until = "screen", shows = "ready" }}'
    text = f"{head}\nlines = [{started}, {lines}]\n[files]\n\"program.py\" = '''{program}'''\n"
    rows = bench.run(bench.script(text), "--users", "1", "--meters", "none").interactions
    return rows.sort("sent_ns").with_columns(pl.col("command", "outcome").cast(pl.String))


def outcomes(rows: pl.DataFrame, command: str) -> list[str]:
    """The outcomes of a command's interactions."""
    return rows.filter(pl.col("command") == command)["outcome"].to_list()


def response_ns(rows: pl.DataFrame, command: str) -> list[int | None]:
    """The response times of a command's interactions."""
    mine = rows.filter(pl.col("command") == command)
    return (mine["ready_ns"].cast(pl.Int64) - mine["sent_ns"].cast(pl.Int64)).to_list()


QUIT = '{ keys = "q", as = "quit" }'


def test_a_response_lasts_until_the_last_drawing_that_the_program_made(bench: Bench) -> None:
    """The program sleeps between its two drawings for less than the screen takes to settle.

    On a busy host it may sleep for longer. Then nobody can tell that more is to come, and the answer is unconfirmed.
    """
    copy = bench.folder / "times"
    lines = f'{{ keys = "abcdefgh", as = "slow" }}, {QUIT}, {{ type = "cp times {copy}", status = 0 }}'
    rows = run_keys(bench, screen_programs.SLOW, lines, 'typing = "8 chars/s"\nsettle = "100ms"')
    responses = response_ns(rows, "slow")
    took = [int(end) - int(began) for began, end in map(str.split, copy.read_text().splitlines())]
    assert len(responses) == len(took) == 8
    for response, outcome, took_ns in zip(responses, outcomes(rows, "slow"), took, strict=True):
        # The log has the instant after the last drawing, which may be read before the program comes to that.
        assert outcome == "unconfirmed" or (response is not None and response >= 50_000_000)
        assert took_ns >= 50_000_000
    assert not SEES_PROGRAMS or "ok" in outcomes(rows, "slow")
    assert rows["exit_status"].drop_nulls().to_list() == [3, 0]


@pytest.mark.skipif(not SEES_PROGRAMS, reason="needs root: else the kernel may not tell what a program sleeps in")
def test_a_program_that_waits_for_keys_is_ready_and_one_that_computes_is_not(bench: Bench) -> None:
    """Without a look at the program the screen would have settled while it computes."""
    rows = run_keys(bench, screen_programs.BUSY, f'{{ keys = "ab", as = "busy" }}, {QUIT}', 'typing = "5 chars/s"')
    assert outcomes(rows, "start") == ["ok"]
    assert outcomes(rows, "busy") == ["ok", "ok"]
    assert all(response is not None and response >= 300_000_000 for response in response_ns(rows, "busy"))
    cpu = rows.filter(pl.col("command") == "busy").select(pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).to_series()
    assert all(used is None or used >= 250_000_000 for used in cpu)


def test_keys_that_change_nothing_have_no_response_and_the_report_says_so(bench: Bench) -> None:
    rows = run_keys(bench, screen_programs.BLIND, f'{{ keys = "ab", as = "blind" }}, {QUIT}')
    assert outcomes(rows, "blind") == ["unconfirmed"]
    assert response_ns(rows, "blind") == [None]
    report = " ".join(bench.typed("report", "kept").stdout.split())
    assert "1 key or burst changed nothing on the screen" in report


def test_a_screen_that_never_settles_ends_with_the_time_limit(bench: Bench) -> None:
    """The clock ticks each hundredth of a second: no busy host keeps it from ticking for three seconds.

    The time limit is that of the clock alone: a busy host may take long to start the program, and to end it.
    """
    lines = '{ keys = "a", as = "clock", settle = "3s", timeout = "4s" }, { type = "echo on", status = 0 }'
    rows = run_keys(bench, screen_programs.CLOCK, lines)
    assert outcomes(rows, "start") == ["ok"]
    assert outcomes(rows, "clock") == ["timeout"]
    assert outcomes(rows, "echo") == ["ok"]
    assert "ready" in bench.typed("report", "kept", "--failed").stdout


def test_a_program_that_asks_its_terminal_is_answered(bench: Bench) -> None:
    promise = "shows = '5;9R.*6c'"
    rows = run_keys(bench, screen_programs.ASKING, f'{{ keys = "a", as = "ask", {promise} }}, {QUIT}')
    assert outcomes(rows, "ask") == ["ok"]


def test_what_the_screen_was_promised_to_show_is_waited_for(bench: Bench) -> None:
    """The screen that broke its promise is that of the second key, or of the third if the program has seen it."""
    lines = (
        '{ keys = "a", as = "kept", shows = "1 keys", cursor = [2, 7] }, '
        '{ keys = "b", as = "second", shows = "2 keys" }, '
        f'{{ keys = "c", as = "broken", shows = "4 keys", timeout = "2s" }}, {QUIT}'
    )
    rows = run_keys(bench, screen_programs.COUNTING, lines)
    assert outcomes(rows, "kept") == ["ok"]
    assert outcomes(rows, "second") == ["ok"]
    assert outcomes(rows, "broken") == ["timeout"]
    assert re.search("[23] keys", bench.typed("report", "kept", "--failed").stdout)


def test_output_that_is_no_text_is_a_change_like_others(bench: Bench) -> None:
    rows = run_keys(
        bench, screen_programs.BYTES, f'{{ keys = "abcdef", as = "bytes" }}, {QUIT}', 'typing = "9 chars/s"'
    )
    assert len(outcomes(rows, "bytes")) == 6
    assert None not in response_ns(rows, "bytes")


def test_ten_thousand_keys_reach_the_program(bench: Bench) -> None:
    keys = "x" * 9_999
    lines = f'{{ keys = "{keys}", as = "many", shows = "9999 keys" }}, {QUIT}'
    assert outcomes(run_keys(bench, screen_programs.COUNTING, lines), "many") == ["ok"]


def test_a_program_that_changes_the_size_of_its_terminal_goes_on(bench: Bench) -> None:
    rows = run_keys(bench, screen_programs.SIZES, f'{{ keys = "a", as = "size", shows = "50 x 132" }}, {QUIT}')
    assert outcomes(rows, "size") == ["ok"]


def test_a_program_that_ends_at_once_is_answered_by_the_shells_mark(bench: Bench) -> None:
    short, line = (
        '{ type = "sh -c \'exit 7\'", as = "short", until = "screen" }',
        '{ keys = "echo a<Enter>", as = "line" }',
    )
    text = f"lines = [{short}, {line}]"
    rows = bench.run(bench.script(text), "--users", "1", "--meters", "none").interactions.sort("sent_ns")
    assert rows["exit_status"].to_list() == [7, 0]
    assert rows["outcome"].cast(pl.String).to_list() == ["ok", "ok"]
    assert rows["command"].cast(pl.String).to_list() == ["short", "line"]


def test_a_key_that_ends_the_shell_ends_the_session(bench: Bench) -> None:
    rows = bench.run(bench.script('lines = ["true", { keys = "<C-d>" }]'), "--users", "2", "--meters", "none")
    assert rows.interactions.filter(pl.col("line") == 2)["outcome"].cast(pl.String).to_list() == ["ok", "ok"]
    assert rows.sessions["outcome"].cast(pl.String).to_list() == ["done", "done"]


def test_keys_on_a_simulated_machine_are_interactions_of_their_command(bench: Bench) -> None:
    (bench.folder / "machine.toml").write_text(
        'title = "t"\nsource = "t"\n[commands."*"]\ncpu = "1s"\n[commands."vim keys"]\ncpu = "3ms"\n'
    )
    text = 'typing = "9 chars/s"\nlines = [{ type = "vim", until = "screen" }, { keys = "ab" }]'
    rows = bench.run(bench.script(text), "--on", "machine.toml", "--users", "1").interactions.sort("sent_ns")
    assert rows["command"].cast(pl.String).to_list() == ["vim", "vim keys", "vim keys"]
    assert (rows["ready_ns"] - rows["sent_ns"]).to_list() == [1_000_000_000, 3_000_000, 3_000_000]


MISSING = [program for program in ("vim", "less") if shutil.which(program) is None]


@pytest.mark.skipif(bool(MISSING), reason=f"not installed here: {', '.join(MISSING)} (apt install vim less)")
def test_the_bundled_editor_is_typed_whole(bench: Bench) -> None:
    measured = bench.run("editor", "--users", "2", "--think", "none", "--meters", "none")
    rows = measured.interactions.with_columns(pl.col("command", "outcome").cast(pl.String))
    assert measured.sessions["outcome"].cast(pl.String).to_list() == ["done", "done"]
    # On a busy host a look may find a program between two calls. A program that waits for keys is seen again and again.
    assert set(rows["outcome"]) <= {"ok", "unconfirmed"}
    assert not SEES_PROGRAMS or 2 * (rows["outcome"] == "ok").sum() > rows.height
    assert rows["ready_ns"].null_count() == 0
    keys_of = {"less page": 1, "less search": 7, "less quit": 1, "vim move": 6, "vim write": 3, "vim quit": 1}
    counts = {name: rows.filter(pl.col("command") == name).height for name in keys_of}
    assert counts == {name: 2 * keys for name, keys in keys_of.items()}
    assert rows.filter(pl.col("command") == "search")["exit_status"].to_list() == [0, 0]
    table = bench.typed("report", "kept", "--phases", "all", "--full").stdout
    assert all(name in table for name in ("vim insert", "less page"))
