"""A run on a simulated machine: its folder is as a host's, its time adds up, and it ends as it is asked to."""

import hashlib
import json
import tomllib
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.documents.formats import REPORT_FORMATS
from loadgo.errors import Mistake, Refused
from loadgo.records.tables import COLUMNS_BY_TABLE
from loadgo.running.host import Driver
from support.run_files import assert_written_columns
from support.small_machine import MACHINE, SCRIPT, laid


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory: pytest.TempPathFactory) -> loadgo.Run:
    """Six users on the small machine."""
    folder = tmp_path_factory.mktemp("machine")
    script, machine = laid(folder)
    return loadgo.run(script, on=str(machine), users=6, out=folder / "run")


def digests(folder: Path) -> dict[str, str]:
    """Each table's bytes, hashed."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.glob("*.parquet"))}


def test_every_table_is_filled_but_those_of_losses_stacks_screens_far_sessions_and_limits(
    finished_run: loadgo.Run,
) -> None:
    frames = loadgo.tables(finished_run).frames()
    assert {name for name, frame in frames.items() if frame.is_empty()} == {
        "lost",
        "stacks",
        "screens",
        "session_usage",
        "user_limits",
        "meter_price",
        "meter_windows",
        "window_events",
        "working_sets",
        "lock_waits",
        "processor_speed",
    }
    assert not list(finished_run.folder.glob("*.arrows"))


def test_each_file_has_the_columns_that_readers_know(finished_run: loadgo.Run) -> None:
    assert_written_columns(finished_run.folder)


def test_the_same_seed_gives_the_same_bytes(finished_run: loadgo.Run, tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    run = loadgo.run(script, on=str(machine), users=6, out=tmp_path / "again")
    other = loadgo.run(script, on=str(machine), users=6, seed=2, out=tmp_path / "other")
    assert digests(run.folder) == digests(finished_run.folder)
    assert digests(other.folder)["interactions.parquet"] != digests(finished_run.folder)["interactions.parquet"]
    assert sorted(digests(finished_run.folder)) == sorted(f"{name}.parquet" for name in COLUMNS_BY_TABLE)


def test_the_time_of_each_processor_adds_up_to_the_time_of_the_run(finished_run: loadgo.Run) -> None:
    run_tables = loadgo.tables(finished_run)
    spans = run_tables.time.group_by("at_ns", "processor").agg(pl.col("span_ns").first(), pl.col("time_ns").sum())
    assert (spans["time_ns"] == spans["span_ns"]).all()
    ends = run_tables.time.select("at_ns", "span_ns").unique().sort("at_ns")
    begins = ends["at_ns"].cast(pl.Int64) - ends["span_ns"].cast(pl.Int64)
    assert begins.to_list() == [0, *ends["at_ns"].to_list()[:-1]], "spans follow each other without a gap"
    assert ends["at_ns"][-1] == run_tables.sessions["ended_ns"].max()
    assert run_tables.time["processor"].unique().sort().to_list() == [0, 1]


def test_a_span_ends_where_a_phase_begins(finished_run: loadgo.Run) -> None:
    run_tables = loadgo.tables(finished_run)
    began = run_tables.phases.filter(pl.col("at_ns") > 0)["at_ns"].to_list()
    assert set(began) <= set(run_tables.time["at_ns"].to_list())


def test_what_users_used_is_what_the_processors_gave(finished_run: loadgo.Run) -> None:
    run_tables = loadgo.tables(finished_run)
    work = run_tables.interactions["cpu_user_ns"].sum()
    given = run_tables.time.filter(pl.col("category").cast(pl.String) == "user")["time_ns"].sum()
    assert work == given
    assert run_tables.processes.filter(pl.col("who").cast(pl.String) == "users")["cpu_ns"].sum() == given


def test_faults_are_the_same_by_kind_by_command_and_by_interaction(finished_run: loadgo.Run) -> None:
    run_tables = loadgo.tables(finished_run)
    major = run_tables.faults.filter(pl.col("kind").cast(pl.String) == "major")
    sums = major.filter(pl.col("bucket_ns").is_null())["count"].sum()
    assert sums == major.filter(pl.col("bucket_ns").is_not_null())["count"].sum()
    assert sums == run_tables.segments["faults_major"].sum() == run_tables.interactions["faults_major"].sum() > 0


def test_waits_are_exact_and_part_of_the_response(finished_run: loadgo.Run) -> None:
    rows = loadgo.tables(finished_run).interactions.cast({pl.UInt64: pl.Int64})
    used = ("cpu_user_ns", "cpu_system_ns", "ready_wait_ns", "paging_wait_ns", "io_wait_ns")
    assert all(rows[name].null_count() == 0 for name in (*used, "faults_major", "faults_minor"))
    accounted = rows.select(pl.sum_horizontal(used)).to_series()
    response = rows["ready_ns"] - rows["sent_ns"]
    assert (accounted <= response).all()
    assert rows["planned_ns"].equals(rows["sent_ns"], check_names=False, check_dtypes=False), "nobody is late"


def test_the_folder_says_what_it_was(finished_run: loadgo.Run) -> None:
    document = tomllib.loads((finished_run.folder / "run.toml").read_text())
    assert document["format"] == 1
    assert document["outcome"] == "done"
    system = document["system"]
    assert (system["kind"], system["title"], system["processors"]) == ("machine", "A small machine", 2)
    assert system["tariff"]["shifts"] == {"1": 400.0, "2": 100.0}
    assert "hostname" not in system
    assert "load_average" not in document["conditions"]
    assert document["wall_s"] == document["conditions"]["virtual_s"] > 0
    assert (finished_run.folder / "script.toml").read_text() == SCRIPT
    assert tomllib.loads((finished_run.folder / "machine.toml").read_text())["title"] == "A small machine"


def test_the_machine_that_is_kept_runs_the_same_again(finished_run: loadgo.Run, tmp_path: Path) -> None:
    script = laid(tmp_path)[0]
    run = loadgo.run(script, on=str(finished_run.folder / "machine.toml"), users=6, out=tmp_path / "again")
    assert digests(run.folder) == digests(finished_run.folder)


def test_what_is_set_changes_the_machine_and_is_kept(finished_run: loadgo.Run, tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    faster = loadgo.run(script, on=str(machine), users=6, set=["processors.speed=4"], out=tmp_path / "faster")
    document = tomllib.loads((faster.folder / "run.toml").read_text())
    assert document["system"]["set"] == ["processors.speed=4"]
    assert document["system"]["speed"] == 4.0
    before, after = (run.summary.everything.response.mean_ns for run in (finished_run, faster))
    assert before is not None
    assert after is not None
    assert after < before / 2
    made_run = loadgo.run(script, on=str(faster.folder / "machine.toml"), users=6, out=tmp_path / "kept")
    assert digests(made_run.folder) == digests(faster.folder)


def test_user_3_types_the_same_whatever_the_machine(finished_run: loadgo.Run, tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    slower = loadgo.run(script, on=str(machine), users=3, set=["processors.speed=0.5"], out=tmp_path / "slower")
    typed = [
        loadgo.tables(run).interactions.filter(pl.col("user") == 3).sort("sent_ns").select("line", "think_ns").rows()
        for run in (finished_run, slower)
    ]
    assert typed[0] == typed[1]
    work = [
        loadgo.tables(run).interactions.filter(pl.col("user") == 3).sort("sent_ns")["cpu_user_ns"].to_list()
        for run in (finished_run, slower)
    ]
    assert all(abs(slow - 2 * fast) <= 2 for fast, slow in zip(*work, strict=True)), "the same work, twice as long"


def test_a_run_goes_on_until_there_are_so_many_interactions(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    finished_run = loadgo.run(script, on=str(machine), users=6, until="interactions=3000", out=tmp_path / "run")
    steady = loadgo.tables(finished_run).interactions.filter(pl.col("phase").cast(pl.String) == "steady")
    assert 3000 <= len(steady) < 3000 + 6
    assert tomllib.loads((finished_run.folder / "run.toml").read_text())["load"]["until"] == "interactions=3000"


@pytest.mark.long
def test_a_run_goes_on_until_it_is_precise(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    finished_run = loadgo.run(script, on=str(machine), users=6, until="precision(mean)=5%", out=tmp_path / "run")
    assert finished_run.outcome == "done"
    assert len(loadgo.tables(finished_run).interactions) >= 20_000


@pytest.mark.long
def test_long_runs_have_small_tables(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    finished_run = loadgo.run(script, on=str(machine), users=2, duration="20h", out=tmp_path / "run")
    run_tables = loadgo.tables(finished_run)
    spans = run_tables.time["span_ns"].unique().sort()
    assert spans.max() == 128_000_000_000
    assert run_tables.time["at_ns"].n_unique() <= 8 * 512


def test_a_line_that_takes_too_long_is_given_up(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    text = SCRIPT.replace('"cc prime.c", as = "compile"', '"cc prime.c", as = "compile", timeout = "100ms"')
    script.write_text(text)
    finished_run = loadgo.run(script, on=str(machine), users=6, out=tmp_path / "run")
    rows = loadgo.tables(finished_run).interactions
    late = rows.filter(pl.col("outcome").cast(pl.String) == "timeout")
    assert set(late["command"].cast(pl.String)) == {"compile"}
    assert loadgo.tables(finished_run).sessions["outcome"].cast(pl.String).unique().to_list() == ["done"]


def test_an_open_load_runs_on_a_machine(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    finished_run = loadgo.run(script, on=str(machine), arrivals="0.2/s", users=20, passes=1, out=tmp_path / "run")
    assert loadgo.tables(finished_run).sessions["outcome"].cast(pl.String).unique().to_list() == ["done"]
    assert len(loadgo.tables(finished_run).interactions) == 60


def test_who_comes_to_an_open_load_leaves_after_the_passes_whatever_its_length(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    finished_run = loadgo.run(
        script, on=str(machine), arrivals="0.2/s", users=20, duration="10h", think="none", out=tmp_path / "run"
    )
    passes = loadgo.tables(finished_run).interactions["pass"].max()
    assert isinstance(passes, int)
    assert len(loadgo.tables(finished_run).interactions) == 20 * 3 * passes


def test_commands_that_the_machine_does_not_know_are_refused_before_anybody_logs_in(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    machine.write_text(MACHINE.partition('[commands."*"]')[0])
    with pytest.raises(Refused, match=r"does not know edit, ls: it knows compile.*\[commands\.NAME\]"):
        loadgo.run(script, on=str(machine), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_mistake_in_a_machine_file_has_its_place(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    machine.write_text(MACHINE.replace("count      = 2", "count      = 0"))
    with pytest.raises(Mistake, match=r"small-machine\.toml, line 5, column 14"):
        loadgo.run(script, on=str(machine), out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"limit": "memory=1G"}, "`limit` is for a host"),
        ({"usage_every": 2}, "`usage_every` is for a host"),
        ({"driver": Driver(fifo=False)}, "`fifo` is for a host"),
        ({"driver": Driver(processor=0)}, "`processor` is for a host"),
        ({"until": "forever"}, "interactions=1e6"),
        ({"set": ["processors.sped=2"]}, "processors"),
        ({"on": "no-such-machine"}, "no-such-machine"),
        ({"on": "here", "set": ["processors.speed=2"]}, "`set` changes a simulated machine"),
    ],
)
def test_what_makes_no_sense_on_a_machine_is_refused_in_words(
    tmp_path: Path, asked: dict[str, object], words: str
) -> None:
    script, machine = laid(tmp_path)
    given = {"on": str(machine), **asked}
    with pytest.raises((ValueError, Mistake), match=words):
        loadgo.run(script, out=tmp_path / "run", **given)
    assert not (tmp_path / "run").exists()


@pytest.mark.long
def test_the_report_is_to_be_had_in_all_formats_and_speaks_of_no_host(finished_run: loadgo.Run) -> None:
    for name in REPORT_FORMATS:
        assert loadgo.report(finished_run, format=name, width=80), name
    text = str(loadgo.report(finished_run, width=100, full=True))
    assert "simulated: A small machine (assumed, all of it)" in text
    assert "of virtual time" in text
    assert "idle: nothing to run" in text
    assert "$400 a CPU hour (A small machine, shift 1" in text
    assert "host" not in text
    assert "Faults by command" in text
    assert all(len(line) <= 100 for line in text.splitlines())
    document = json.loads(str(loadgo.report(finished_run, format="json")))
    assert {row["name"] for row in document["meters"]["faults"]} >= {"major", "segment", "interrupt"}


def test_faults_that_a_machine_does_not_have_have_no_column(finished_run: loadgo.Run) -> None:
    lines = str(loadgo.report(finished_run, width=140, full=True)).splitlines()
    heading = next(line for line in lines if "CPU" in line and "CPU wait" in line)
    assert "major" in heading
    assert "faults" not in heading


def test_a_shift_of_the_machines_own_tariff_can_be_asked_for(finished_run: loadgo.Run) -> None:
    first, second = (loadgo.report(finished_run, tariff=name, width=100) for name in ("machine", "machine:2"))
    assert "$400 a CPU hour" in str(first)
    assert "$100 a CPU hour" in str(second)
    with pytest.raises(ValueError, match="has no shift 7"):
        loadgo.report(finished_run, tariff="machine:7")


def test_sql_asks_the_meters(finished_run: loadgo.Run) -> None:
    asked = "SELECT kind, SUM(count) AS n FROM faults WHERE bucket_ns IS NULL GROUP BY kind ORDER BY n DESC"
    answer = loadgo.query(asked, run=finished_run)
    assert answer["n"].min() > 0
    queues = loadgo.query("SELECT DISTINCT queue FROM queue", run=finished_run)["queue"].cast(pl.String)
    assert set(queues) == {"processors", "drum", "disk"}


def test_runs_lists_it_with_its_machine(finished_run: loadgo.Run) -> None:
    from loadgo.records.runs import read_run

    recorded_run = read_run(finished_run.folder)
    assert recorded_run.system.endswith("small-machine.toml")
    assert recorded_run.outcome == "done"
