"""Real failures around a run: full disks, refused log-ins, missing rights, damaged folders, two runs at once."""

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import BadRun, LoadgoError, Refused
from support.outside import (
    COMMAND,
    NEEDS_ROOT,
    NOBODY,
    PATIENCE_S,
    ROOT,
    Bench,
    ended,
    environment,
    left_behind,
    phase_has_begun,
    readable_by_all,
    wait_until,
)

QUICK = 'think = "none"\npasses = 3\nlines = ["echo here", "true"]\n'


@pytest.fixture
def small_disk(bench: Bench) -> Iterator[Path]:
    """A disk of two megabytes, below the place to run in."""
    if not ROOT:
        pytest.skip("needs root, to mount a small disk: run the tests with sudo -E make test")
    disk = bench.folder / "disk"
    disk.mkdir()
    mount(disk, "2m")
    yield disk
    subprocess.run(["umount", disk], check=True)


def mount(disk: Path, size: str) -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "none", disk], check=True)


def fill(disk: Path) -> Path:
    """Takes all the room that is left; the file that does so."""
    ballast = disk / "ballast"
    with ballast.open("wb", buffering=0) as out:
        try:
            while True:
                out.write(bytes(4096))
        except OSError:
            return ballast


# Where the run is written.


@pytest.mark.parametrize("place", ["/proc/nowhere", "/dev/null", "/dev/null/run"])
def test_a_folder_that_cannot_be_made_is_refused_before_anybody_logs_in(place: str, bench: Bench) -> None:
    result = bench.typed("run", bench.script(QUICK), "--out", place, status=2)
    assert f"cannot create the folder {place}" in result.stderr
    assert left_behind(bench) == []


def test_a_folder_without_write_permission_is_refused(bench: Bench) -> None:
    if ROOT and shutil.which("setpriv") is None:
        pytest.skip("root may write everywhere, and there is no setpriv to become somebody else: install util-linux")
    readable_by_all(bench)
    (bench.folder / "closed").mkdir(mode=0o555)
    result = bench.loadgo("run", bench.script(QUICK), "--out", "closed/run", status=2, before=NOBODY if ROOT else ())
    assert "cannot create the folder closed/run" in result.stderr
    assert "Permission denied" in result.stderr


def test_a_run_that_is_there_is_never_written_over(bench: Bench) -> None:
    script = bench.script(QUICK)
    bench.run(script)
    before = {path: path.read_bytes() for path in (bench.folder / "kept").iterdir()}
    assert "holds a run already" in bench.typed("run", script, "--out", "kept", status=2).stderr
    assert {path: path.read_bytes() for path in (bench.folder / "kept").iterdir()} == before


def test_a_full_disk_loses_rows_that_are_counted_to_the_last(bench: Bench, small_disk: Path) -> None:
    """Rows that were written and rows that were lost are all the passes of the two users."""
    script = bench.script('think = "none"\npasses = 20000\nlines = ["echo here"]\n')
    told = bench.typed("run", script, "--users", "2", "--out", "disk/run", status=None)
    kept = bench.tables("disk/run")
    # A run that takes more than a second has samples of the meters too, and the disk refuses those as well.
    is_of_interactions = pl.col("reason").str.contains("^(interactions could not be written|the disk was slower)")
    lost = kept.lost.filter(is_of_interactions)
    assert len(kept.interactions) + lost["count"].sum() == 2 * 20000
    assert lost["count"].sum() > 0
    # 2 where the streams have left no room for Parquet: they stay then.
    assert told.returncode == (2 if list((small_disk / "run").glob("*.arrows")) else 1)
    report = bench.typed("report", "disk/run").stdout
    assert "No space left on device" in report
    assert "records are lost" in "\n".join(report.splitlines()[:6])


def test_a_disk_that_is_full_at_the_end_leaves_the_streams_to_read(bench: Bench, small_disk: Path) -> None:
    running = bench.start(
        "run", bench.script('think = "fixed(2ms)"\npasses = 1000000\nlines = ["true"]\n'), "--out", "disk/run"
    )
    wait_until(
        lambda: phase_has_begun(small_disk / "run", "steady") and bool(len(bench.tables("disk/run").interactions)),
        running,
    )
    ballast = fill(small_disk)
    running.terminate()
    told = ended(running, 2)
    assert "No space left on device" in told.stderr
    assert "make room" in told.stderr
    assert "What was recorded up to then is kept: loadgo report disk/run" in told.stderr.replace("`", "")
    ballast.unlink()
    assert len(bench.tables("disk/run").interactions) > 0
    assert "The run ended early (stopped)" in bench.typed("report", "disk/run").stdout
    assert left_behind(bench) == []


@NEEDS_ROOT
def test_users_who_fill_their_disk_fail_and_go_on(bench: Bench) -> None:
    mount(bench.homes, "1m")
    try:
        script = bench.script(
            'think = "none"\nstatus = 0\nlines = ["dd if=/dev/zero of=big bs=64k 2>/dev/null", "echo still here"]\n'
        )
        bench.run(script, "--users", "2")
        rows = bench.tables("kept").interactions
        assert sorted(rows.select("line", pl.col("outcome").cast(pl.String)).rows()) == [
            (1, "failed"),
            (1, "failed"),
            (2, "ok"),
            (2, "ok"),
        ]
        assert left_behind(bench) == []
    finally:
        subprocess.run(["umount", bench.homes], check=True)


# Who may log in.


def test_an_unknown_log_in_command_is_named_with_the_places_that_were_looked_at(bench: Bench) -> None:
    result = bench.typed("run", bench.script('login = "no-such-shell"\nlines = ["true"]\n'), "--out", "run", status=2)
    assert 'there is no program "no-such-shell" on the PATH' in result.stderr
    assert not (bench.folder / "run").exists()


def test_an_unknown_person_is_refused_in_the_words_of_su(bench: Bench) -> None:
    result = bench.typed("run", bench.script('login = "su - nobody-of-this-name"\nlines = ["true"]\n'), status=2)
    assert 'nobody could log in with "su - nobody-of-this-name"' in result.stderr
    assert "nobody-of-this-name" in result.stderr.split("it printed")[1]


def test_a_log_in_that_asks_what_nobody_answers_is_refused(bench: Bench) -> None:
    script = bench.script("login = \"sh -c 'printf Password:; read secret; echo Sorry; exit 1'\"\nlines = ['true']\n")
    result = bench.typed("run", script, "--users", "3", "--out", "asked", status=2)
    assert "Sorry" in result.stderr
    assert bench.tables("asked").sessions["outcome"].to_list() == ["refused"] * 3
    assert left_behind(bench) == []


def test_one_of_ten_who_cannot_log_in_is_told_and_the_others_work(bench: Bench) -> None:
    login = "sh -c 'test $LOADGO_USER != 7 && exec sh; echo not you; exit 3'"
    script = bench.script(f'login = "{login}"\n' + QUICK)
    result = bench.typed("run", script, "--users", "10", "--out", "kept", status=1)
    kept = bench.tables("kept")
    assert kept.lost.select("user", pl.col("what").cast(pl.String), "count").rows() == [(7, "log-in", 1)]
    assert "not you" in kept.lost["reason"][0]
    refused = kept.sessions.filter(pl.col("outcome").cast(pl.String) == "refused")
    assert refused["user"].to_list() == [7]
    assert kept.interactions.group_by("user").len()["len"].to_list() == [6] * 9
    assert "1 was refused at log-in" in result.stdout


def test_more_users_than_terminals_are_refused_with_the_remedy(bench: Bench) -> None:
    most = int(Path("/proc/sys/kernel/pty/max").read_text())
    result = bench.typed("run", bench.script(QUICK), "--users", str(most + 1), "--out", "run", status=2)
    assert f"kernel.pty.max is {most}" in result.stderr
    assert "remedy: sysctl kernel.pty.max=" in result.stderr
    assert not (bench.folder / "run").exists()


# Without privilege, and beside another.


def test_without_privilege_it_runs_with_what_there_is_and_says_what_is_missing(bench: Bench) -> None:
    if ROOT:
        readable_by_all(bench)
        able = subprocess.run(
            [*NOBODY, *COMMAND, "--version"], cwd=bench.folder, capture_output=True, env=environment()
        )
        if able.returncode:
            pytest.skip(f"somebody without rights cannot read this installation: {able.stderr.decode()[-200:]}")
    kept = bench.run(bench.script(QUICK), "--users", "3", before=NOBODY if ROOT else ())
    assert len(kept.interactions) == 3 * 3 * 2
    assert set(kept.sessions["outcome"].to_list()) == {"done"}
    missing = [*kept.conditions["notes"], *kept.conditions["usage"]["notes"], *kept.conditions["driver"]["notes"]]
    assert any("no control group" in note for note in missing)
    assert any("SCHED_FIFO" in note for note in missing)
    words = " ".join(bench.typed("report", "kept", "--full").stdout.split())
    assert "without SCHED_FIFO" in words
    assert "CPU from /proc" in words
    assert left_behind(bench) == []


def test_two_runs_at_once_do_not_disturb_each_other(bench: Bench) -> None:
    going = bench.script('think = "fixed(5ms)"\npasses = 1000000\nlines = ["echo here"]\n', "first")
    first = bench.start("run", going, "--users", "2", "--out", "first")
    wait_until(lambda: phase_has_begun(bench.folder / "first", "steady"), first)
    bench.run(bench.script(QUICK, "second"), "--users", "2", out="second")
    seen = len(bench.tables("first").interactions)
    wait_until(lambda: len(bench.tables("first").interactions) > seen, first)
    first.terminate()
    ended(first, 130)
    assert set(bench.tables("second").sessions["outcome"].to_list()) == {"done"}
    assert bench.tables("first").lost.filter(pl.col("what").cast(pl.String) == "session").is_empty()
    assert left_behind(bench) == []


def test_a_mistake_in_a_script_has_file_line_and_column_and_nothing_is_made(bench: Bench) -> None:
    result = bench.typed(
        "run", bench.script('name = "x"\nlines = ["true", { tipe = "x" }]\n'), "--out", "run", status=2
    )
    assert "asked.toml, line 2, column 20: a line has no `tipe`; did you mean `type`?" in result.stderr
    assert not (bench.folder / "run").exists()


# Programs that do what they should not.


@pytest.mark.parametrize(
    ("line", "outcome"),
    [
        ("kill -9 $$", "died"),
        ("exec 0<&- 1>&- 2>&-", "died"),
        ("sleep 1000", "timeout"),
        ("trap '' INT; cat", "timeout"),
        ("head -c 20000000 /dev/zero", "ok"),
        ("head -c 300000 /dev/urandom", "ok"),
        ("printf '\\033]133;D;0;aid=0123456789abcdef\\007$ '; exit 4 | false", "failed"),
    ],
)
def test_a_hostile_line_is_told_for_what_it_is(line: str, outcome: str, bench: Bench) -> None:
    quoted = line.replace("\\", "\\\\").replace('"', '\\"')
    patience = "2s" if outcome == "timeout" else f"{PATIENCE_S}s"
    hostile = f'{{ type = "{quoted}", as = "hostile", timeout = "{patience}", status = 0 }}'
    asked = bench.script(f'think = "none"\nlines = ["true", {hostile}, "true"]\n')
    told = bench.typed("run", asked, "--quiet", "--out", "kept", status=None)
    kept = bench.tables("kept")
    rows = kept.interactions.filter(pl.col("command").cast(pl.String) == "hostile")
    assert rows["outcome"].to_list() == [outcome]
    assert told.returncode == 1 or kept.lost.is_empty(), "a loss is a bad finding"
    assert left_behind(bench) == []


# Folders and questions that make no sense.


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that was recorded once for all, and stays as it is."""
    bench = Bench(tmp_path_factory.mktemp("recorded"))
    bench.homes.mkdir()
    bench.run(bench.script(QUICK))
    return bench.folder / "kept"


@pytest.fixture
def kept(bench: Bench, recorded: Path) -> Path:
    """A copy of a recorded run."""
    return shutil.copytree(recorded, bench.folder / "kept")


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda run: (run / "run.toml").unlink(), "not a run's folder"),
        (lambda run: (run / "run.toml").write_text("format = [\n"), "cannot read"),
        (lambda run: (run / "run.toml").write_bytes(b"\xff\xfe"), "cannot read"),
        (lambda run: (run / "run.toml").write_text("format = 2\n"), "use a newer one"),
        (lambda run: (run / "interactions.parquet").write_bytes(b"PAR1 not"), "interactions.parquet is damaged"),
        (lambda run: (run / "interactions.parquet").write_bytes(b""), "interactions.parquet is damaged"),
        (lambda run: (run / "sessions.parquet").write_bytes(os.urandom(4096)), "sessions.parquet is damaged"),
        (lambda run: (run / "sessions.parquet").unlink(), "has lost its table sessions"),
    ],
)
def test_a_damaged_run_is_refused_in_words(damage: object, words: str, kept: Path, bench: Bench) -> None:
    assert callable(damage)
    damage(kept)
    assert words in bench.typed("report", str(kept), status=2).stderr
    bench.typed("runs")


@pytest.mark.parametrize("conditions", ["", "format = 1\n", 'format = 1\nload = "much"\n', 'format = "one"\n'])
def test_a_folder_of_somebody_else_gives_a_report_or_words(conditions: str, bench: Bench) -> None:
    foreign = bench.folder / "foreign"
    foreign.mkdir()
    (foreign / "run.toml").write_text(conditions)
    told = bench.typed("report", "foreign", status=None)
    assert told.returncode in (0, 2), told.stderr
    assert told.stdout or told.stderr


@pytest.mark.parametrize("sql", ["", "nonsense", "SELECT nothing FROM interactions", "SELECT * FROM nowhere"])
def test_a_question_without_an_answer_names_what_there_is(sql: str, kept: Path, bench: Bench) -> None:
    result = bench.typed("query", sql, "--run", str(kept), status=2)
    assert "interactions: user, pass, line" in result.stderr
    assert len(bench.tables("kept").interactions) == 6


def test_a_question_cannot_harm_the_records(kept: Path, bench: Bench) -> None:
    for question in ("DROP TABLE interactions", "DELETE FROM interactions"):
        result = bench.typed("query", question, "--run", str(kept), status=2)
        assert "a query changes nothing in a run" in result.stderr
    assert len(bench.tables("kept").interactions) == 6


@pytest.mark.parametrize(
    ("attempt", "error"),
    [
        (lambda: loadgo.run("asked.toml", out="/proc/nowhere"), BadRun),
        (lambda: loadgo.tables("nowhere"), BadRun),
        (lambda: loadgo.run("asked.toml", users=100000), Refused),
    ],
    ids=["a place that cannot be made", "no run", "too many users"],
)
def test_python_gets_the_same_refusals_as_errors_of_one_family(
    attempt: Callable[[], object], error: type[LoadgoError], bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(bench.folder)
    bench.script(QUICK)
    with pytest.raises(error):
        attempt()
    assert issubclass(error, LoadgoError)
