"""Histories of made runs: the figure, runs that are alike, changes, exit statuses, and honesty with few runs."""

import csv
import io
import json
import shutil
from datetime import timedelta
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.cli.app import app
from loadgo.errors import BadArgument, BadRun
from loadgo.laboratory.history_charts import history_charts
from loadgo.laboratory.history_document import history_document
from loadgo.measures.fail_if import with_conditions
from loadgo.measures.summary import summarize
from loadgo.notation.comparisons import ConditionError
from loadgo.records.tables import COLUMNS_BY_TABLE
from support.made_laboratory import FIRST_START, made_run, made_runs, scattered
from typer.testing import CliRunner

WORSE = [(14, 1.0), (10, 1.4)]
"""Numbers of runs, and the seconds of their compilations: a change for the worse at the run 0014."""


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A laboratory whose compilations became slower, in `runs`, and what is kept of runs that were read, in `cache`."""
    folder = tmp_path_factory.mktemp("history")
    made_runs(folder / "runs", scattered(WORSE))
    return folder


@pytest.fixture(autouse=True)
def cache(shared: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(shared / "cache"))


@pytest.fixture
def worse(shared: Path) -> Path:
    """The laboratory's runs, which no test changes."""
    return shared / "runs"


@pytest.fixture
def own_worse(worse: Path, tmp_path: Path) -> Path:
    """The same runs for the test alone."""
    return shutil.copytree(worse, tmp_path / "runs")


def invoked(*arguments: str | Path) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["history", *map(str, arguments)])
    return result.exit_code, result.output


def test_a_change_is_found_between_the_runs_where_it_lies_with_its_size(worse: Path) -> None:
    past = loadgo.history("p90(compile)", runs=worse)
    (change,) = past.changes
    assert (change.last_before.run.name, change.first_after.run.name) == ("0013", "0014")
    assert change.level.interval is not None
    assert change.level.interval.low < 0.4 < change.level.interval.high
    assert (change.direction, past.bad) == ("worse", True)
    assert loadgo.history("p90(edit)", runs=worse).changes == ()


def test_a_point_is_the_figure_that_a_condition_of_fail_if_sees(worse: Path) -> None:
    past = loadgo.history("mean(compile)", runs=worse)
    for point in past.points[:3]:
        summary = summarize(loadgo.tables(point.run.folder))
        row = next(row for row in summary.commands if row.name == "compile")
        assert point.value == pytest.approx(row.response.mean_ns, rel=1e-8)
        (result,) = with_conditions(summary, [f"mean(compile) > {point.value / 1e6 + 1}ms"]).fail_if
        assert result.holds is False


@pytest.mark.parametrize(("figure", "status"), [("p90(compile)", 1), ("p90(edit)", 0), ("count", 0)])
def test_the_exit_status_is_1_for_a_change_for_the_worse_only(worse: Path, figure: str, status: int) -> None:
    assert invoked(figure, "--runs", worse)[0] == status


def test_a_change_for_the_better_after_one_for_the_worse_is_good_and_since_counts_all(tmp_path: Path) -> None:
    made_runs(tmp_path / "runs", scattered([*WORSE, (10, 0.9)]))
    assert invoked("p90(compile)", "--runs", tmp_path / "runs")[0] == 0
    assert invoked("p90(compile)", "--runs", tmp_path / "runs", "--since", "2026-01-06")[0] == 1
    assert invoked("p90(compile)", "--runs", tmp_path / "runs", "--since", "0020")[0] == 0
    assert invoked("p90(compile)", "--runs", tmp_path / "runs", "--since", "soon")[0] == 2


def test_each_change_since_a_date_names_its_runs_as_they_are_called(tmp_path: Path) -> None:
    for number, seconds in enumerate(scattered([*WORSE, (10, 0.9)])):
        made_run(tmp_path / "runs" / f"Night-{number:02}T", FIRST_START + timedelta(hours=6 * number), seconds)
    past = loadgo.history("p90(compile)", runs=tmp_path / "runs", since="2026-01-06")
    (line,) = history_document(past).further_answers
    assert line.startswith("+")
    assert line.endswith(": worse.")
    assert "between Night-13T and Night-14T" in line


@pytest.mark.parametrize("figure", ["lost", "lateness_p99"])
def test_the_history_of_losses_and_of_lateness_has_the_runs_that_are_no_good_for_other_figures(
    tmp_path: Path, figure: str
) -> None:
    folders = made_runs(tmp_path / "runs", scattered([(24, 1.0)]))
    for folder in folders[14:]:
        make_unfit(folder, figure)
    past = loadgo.history(figure, runs=tmp_path / "runs")
    assert len(past.points) == 24
    assert [(change.first_after.run.name, change.direction) for change in past.changes] == [("0014", "worse")]
    assert len(loadgo.history("p90(compile)", runs=tmp_path / "runs").points) == 14


def make_unfit(folder: Path, figure: str) -> None:
    """Makes a run lose records, or send its lines late."""
    if figure == "lost":
        rows = {"at_ns": [1_000_000_000], "user": [None], "what": ["record"], "count": [3], "reason": ["no space"]}
        loss = pl.DataFrame(rows)
        columns = COLUMNS_BY_TABLE["lost"]
        loss.select(pl.col(name).cast(columns[name]) for name in columns).write_parquet(folder / "lost.parquet")
        return
    path = folder / "interactions.parquet"
    early = pl.col("sent_ns") - 500_000_000
    pl.read_parquet(path).with_columns(planned_ns=early).write_parquet(path)


def test_throughput_is_better_when_there_is_more(worse: Path) -> None:
    past = loadgo.history("throughput", runs=worse)
    assert [change.direction for change in past.changes] == ["worse"]
    assert past.changes[0].level.size < 0


def test_few_runs_tell_nothing_and_say_so(tmp_path: Path) -> None:
    made_runs(tmp_path / "runs", scattered([(2, 1.0), (2, 5.0)]))
    status, text = invoked("p90(compile)", "--runs", tmp_path / "runs")
    assert status == 0
    assert "cannot tell from 4 runs" in text


def test_runs_that_are_unlike_are_left_out_and_each_reason_is_said(own_worse: Path) -> None:
    later = FIRST_START - timedelta(days=1)
    made_run(own_worse / "users", later, 1.0, users="5")
    made_run(own_worse / "script", later, 1.0, script="night")
    made_run(own_worse / "host", later, 1.0, host="other")
    made_run(own_worse / "log-in", later, 1.0, login="ssh old")
    made_run(own_worse / "stopped", later, 1.0, outcome="stopped")
    (made_run(own_worse / "text", later, 1.0) / "script.toml").write_text("changed")
    (made_run(own_worse / "broken", later, 1.0) / "run.toml").write_text("[")
    (made_run(own_worse / "cut", later, 1.0) / "interactions.parquet").write_bytes(b"PAR1")
    machine = made_run(own_worse / "machine", later, 1.0) / "run.toml"
    machine.write_text(machine.read_text().replace("[system]\n", '[system]\nset = ["processors.count=4"]\n'))
    odd = made_run(own_worse / "odd", later, 1.0) / "run.toml"
    odd.write_text(odd.read_text().replace("every = 1", "every = inf"))
    past = loadgo.history("p90(compile)", runs=own_worse)
    reasons = {names: one.reason for one in past.left_out for names in one.names}
    assert reasons == {
        "users": "another number of users",
        "script": "another script",
        "host": "another host",
        "log-in": "another log-in",
        "machine": "another system",
        "stopped": "outcome stopped",
        "text": "another text of the script",
        "broken": "cannot be read",
        "cut": "its tables cannot be read",
        "odd": "cannot be read",
    }
    text = str(past.report("text", width=120))
    assert all(reason in " ".join(text.split()) for reason in reasons.values())
    assert [point.run.name for point in loadgo.history("p90", runs=own_worse, like="users").points] == ["users"]


def test_the_kernel_that_changed_stands_beside_the_change(tmp_path: Path) -> None:
    times = scattered(WORSE)
    made_runs(tmp_path / "runs", times[:14])
    for number, seconds in enumerate(times[14:], 14):
        made_run(tmp_path / "runs" / f"{number:04}", FIRST_START + timedelta(hours=6 * number), seconds, kernel="6.6.0")
    past = loadgo.history("p90(compile)", runs=tmp_path / "runs", by="kernel")
    assert [(one.name, one.before, one.after) for one in past.changes[0].conditions] == [("kernel", "6.1.0", "6.6.0")]
    assert [(group.name, len(group.points)) for group in past.groups] == [("6.1.0", 14), ("6.6.0", 10)]


def test_by_host_each_host_has_changes_of_its_own(tmp_path: Path) -> None:
    made_runs(tmp_path / "runs", scattered([(12, 1.0)]), host="slow")
    for number, seconds in enumerate(scattered([(12, 0.2)], seed=2)):
        made_run(
            tmp_path / "runs" / f"fast-{number}", FIRST_START + timedelta(hours=6 * number + 3), seconds, host="fast"
        )
    past = loadgo.history("p90(compile)", runs=tmp_path / "runs", by="host")
    assert ([series.host for series in past.series], past.changes) == (["slow", "fast"], ())
    assert len(past.points) == 24


def test_each_format_has_the_same_points_and_changes(worse: Path) -> None:
    past = loadgo.history("p90(compile)", runs=worse)
    members = json.loads(str(past.report("json")))
    assert members["format"] == 1
    assert members["bad"] is True
    assert [point["value"] for point in members["points"]] == [point.value for point in past.points]
    assert [change["first_run_after"] for change in members["changes"]] == ["0014"]
    rows = list(csv.DictReader(io.StringIO(str(past.report("csv")))))
    assert [row["run"] for row in rows if row["direction"] == "worse"] == ["0014"]
    assert [float(row["value"]) for row in rows] == [point.value for point in past.points]
    assert all("0014" in text for text in (str(past.report("text")), str(past.report("md"))))
    assert "0014" in str(past.report("html")).split("<script")[0]


@pytest.mark.parametrize("width", [80, 120])
def test_a_text_fits_its_width(worse: Path, width: int) -> None:
    text = str(loadgo.history("p90(compile)", runs=worse).report(width=width))
    assert max(map(len, text.splitlines())) <= width
    assert "▲" in text


def test_mistakes_are_named_and_nothing_is_shown(own_worse: Path, tmp_path: Path) -> None:
    with pytest.raises(ConditionError, match="column 1: 'p91' is no figure"):
        loadgo.history("p91(compile)", runs=own_worse)
    with pytest.raises(ConditionError, match="without a limit"):
        loadgo.history("p90(compile) > 1s", runs=own_worse)
    with pytest.raises(BadRun, match=r"no run in .* has p90\(link\): its runs have the commands compile, edit, print"):
        loadgo.history("p90(link)", runs=own_worse)
    with pytest.raises(BadRun, match="No such file"):
        loadgo.history("p90", runs=tmp_path / "missing")
    with pytest.raises(BadArgument, match="no run of this name"):
        loadgo.history("p90", runs=own_worse, like="9999")
    assert invoked("p90(link)", "--runs", own_worse)[0] == 2
    made_run(own_worse / "short", FIRST_START, 1.0, passes=1, users="2")
    with pytest.raises(BadRun, match=r"no completed run that is like short has the figure: .* too few samples"):
        loadgo.history("p99(compile)", runs=own_worse, like="short")


def test_names_with_markup_stay_text(tmp_path: Path) -> None:
    for number, seconds in enumerate(scattered(WORSE)):
        made_run(
            tmp_path / "runs" / f"{number:04}<img src=x onerror=alert(1)>",
            FIRST_START + timedelta(hours=number),
            seconds,
            script="<script>alert(1)</script>\u202e",
        )
    past = loadgo.history("p90(compile)", runs=tmp_path / "runs")
    page = str(past.report("html"))
    assert "<img" not in page.split("<script>")[0]
    assert "<script>alert" not in page
    assert "\u202e" not in str(past.report("text"))
    assert history_document(past).title.startswith("p90(compile)")


def test_the_axis_of_a_history_has_the_names_that_its_answer_has(worse: Path) -> None:
    past = loadgo.history("p90(compile)", runs=worse)
    assert "between 0013 and 0014" in history_document(past).answer
    (chart,) = history_charts(past)
    axis = chart.spec["layer"][0]["encoding"]["x"]["axis"]
    names, _, _ = axis["labelExpr"].partition("[datum.value - 1]")
    assert json.loads(names) == [point.run.name for point in past.series[0].points]
    assert axis["values"] == [1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23]
