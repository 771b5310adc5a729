"""A run beside what was observed: equal laws are alike, a planted difference is found, and gaps are said."""

from __future__ import annotations

import json
import math
import tomllib
from pathlib import Path

import loadgo
import pytest
from loadgo.observation.likeness.results import ComparedFigure, Likeness
from loadgo.observation.likeness.words import interval_in_words
from support.accounting_records import made_day, written_accounting, written_history
from support.command_line import typed
from support.made_likeness import FAULTS_A_SECOND, Planted, made_observation, made_run
from support.small_machine import laid


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an observed script, its figures, a run of the same laws, and one with other laws."""
    place = tmp_path_factory.mktemp("likeness")
    made_observation(place)
    script = place / "monday.toml"
    made_run(place / "same", script)
    made_run(place / "slower", script, planted=Planted(cpu=1.3, think=1.5))
    made_run(place / "other-mix", script, planted=Planted(first_share=0.2))
    return place


def figure_of(likeness: Likeness, measure: str, command: str = "", user_class: str = "heavy") -> ComparedFigure:
    """The mean of a figure."""
    (figure,) = (
        row
        for row in likeness.figures
        if (row.measure, row.command, row.user_class, row.statistic) == (measure, command, user_class, "mean")
    )
    return figure


def shown(likeness: Likeness) -> str:
    """The text of a likeness as one line."""
    return " ".join(likeness.report().split())


def test_a_run_of_the_same_laws_is_alike(folder: Path) -> None:
    likeness = loadgo.likeness(folder / "monday.toml", folder / "same")
    judged = [*likeness.judged("script"), *likeness.judged("host")]
    assert likeness.is_alike
    assert not [row for row in judged if row.verdict == "differs"]
    intervals = [
        row.interval for row in likeness.figures if row.interval is not None and row.measure != "commands in a session"
    ]
    assert len(intervals) > 40
    assert sum(interval.holds(0.0) for interval in intervals) >= 0.85 * len(intervals)
    assert all(row.interval is not None and row.interval.low == 0 for row in likeness.distributions)
    assert shown(likeness).startswith("The run is like what was observed: of ")


def test_planted_differences_are_found_with_their_size(folder: Path) -> None:
    likeness = loadgo.likeness(folder / "monday.toml", folder / "slower")
    assert likeness.is_unlike
    cpu, think = figure_of(likeness, "processor time", "build"), figure_of(likeness, "think time")
    for figure, planted in ((cpu, 0.3), (think, 0.5)):
        assert figure.verdict == "differs"
        assert figure.interval is not None
        assert figure.interval.low < planted < figure.interval.high
    assert figure_of(likeness, "processor time", "test").verdict == "alike"
    assert figure_of(likeness, "think time", user_class="light").verdict == "alike"
    distance = next(row for row in likeness.distributions if (row.command, row.measure) == ("build", "processor time"))
    assert distance.distance == pytest.approx(0.3, abs=0.03)
    assert distance.interval is not None
    assert distance.interval.low > 0.1
    assert "of the script differ by more than 10 %, and not by chance. Most: the " in shown(likeness)


def test_another_mix_of_commands_is_found(folder: Path) -> None:
    likeness = loadgo.likeness(folder / "monday.toml", folder / "other-mix")
    shares = {(mix.user_class, mix.what): mix for mix in likeness.mixes}
    assert shares["light", "commands"].share == pytest.approx(0.4, abs=0.05)
    assert shares["light", "commands"].verdict == "differs"
    assert figure_of(likeness, "processor time", "build").verdict == "alike"


def test_each_figure_is_that_of_the_records(folder: Path) -> None:
    likeness = loadgo.likeness(folder / "monday.toml", folder / "same")
    rows = loadgo.tables(folder / "same").interactions.to_dicts()
    build = [row for row in rows if row["command"] == "build"]
    cpu = figure_of(likeness, "processor time", "build")
    assert cpu.counts[1] == len(build)
    assert cpu.run == pytest.approx(sum(row["cpu_user_ns"] for row in build) / len(build))
    faults = figure_of(likeness, "page faults", "build")
    assert faults.observed == pytest.approx((cpu.observed or 0) / 1e9 * FAULTS_A_SECOND, rel=1e-3)
    cycle_ns = [
        row["think_ns"] + row["ready_ns"] - row["sent_ns"] for row in rows if row["command"] in ("build", "test")
    ]
    assert figure_of(likeness, "commands a minute").run == pytest.approx(60e9 * len(cycle_ns) / sum(cycle_ns))
    assert {row.second: round(row.run or 0, 1) for row in likeness.correlations if row.command == "build"} == {
        "page faults": 1.0,
        "waiting": pytest.approx(0.0, abs=0.2),
    }


def test_few_sessions_have_no_verdict(tmp_path: Path) -> None:
    made_observation(tmp_path, sessions=4)
    likeness = loadgo.likeness(tmp_path / "monday.toml", made_run(tmp_path / "run", tmp_path / "monday.toml"))
    assert not likeness.is_alike
    assert not likeness.is_unlike
    assert all(row.interval is None for row in likeness.figures)
    report = shown(likeness)
    assert "cannot be told: no figure has enough values in enough sessions" in report
    assert "Trust: low: 4 observed sessions may not be like others" in report


def test_the_margin_is_what_counts_as_like(folder: Path) -> None:
    assert not loadgo.likeness(folder / "monday.toml", folder / "slower", margin="80%").is_unlike
    assert not loadgo.likeness(folder / "monday.toml", folder / "same", margin="0.1%").is_alike


def test_the_command_says_it_in_every_format_and_by_its_status(folder: Path) -> None:
    for kind in ("text", "json", "csv", "md", "html"):
        typed(folder, "likeness", "monday.toml", "same", "--format", kind, "-o", f"out.{kind}")
        assert (folder / f"out.{kind}").stat().st_size > 1000
    members = json.loads((folder / "out.json").read_text())
    assert members["is_alike"] is True
    told = typed(folder, "likeness", "monday.figures.parquet", "slower", "--full", status=1)
    assert "The run is not like what was observed" in told.stdout
    assert "What the script does not model" in told.stdout


def test_accounting_gives_ranges_and_says_what_it_lacks(tmp_path: Path) -> None:
    records, history = written_accounting(tmp_path / "pacct", made_day(60)), written_history(tmp_path / "history")
    loadgo.observe(records, think_from=history, output=tmp_path / "a.toml")
    _, machine = laid(tmp_path)
    run = loadgo.run(tmp_path / "a.toml", on=str(machine), users=3, duration="1h", out=tmp_path / "run")
    likeness = loadgo.likeness(tmp_path / "a.toml", run)
    counted = next(row for row in likeness.figures if (row.command, row.measure) == ("ls", "processor time"))
    assert counted.observed == 0
    assert counted.observed_most == 20_000_000  # a step of 10 ms of user and of system time
    assert counted.verdict == "differs"  # a command of the machine takes 200 ms
    assert counted.interval is not None
    assert 1 < counted.interval.low < counted.interval.high == math.inf
    assert interval_in_words(counted).endswith("or more")
    gaps = {gap.figure: gap.reason for gap in likeness.not_compared}
    assert "only the law is kept" in gaps["think time"]
    assert "does not say which command came before which" in gaps["order of commands"]
    assert gaps["page faults"] == "this run has not measured it"
    assert gaps["bytes read"] == "process accounting does not have it"
    assert "What cannot be compared" in likeness.report()
    assert "This is a simulation" in shown(likeness)


@pytest.mark.parametrize("changed", ["think", "line", "class"])
def test_a_changed_script_is_told(folder: Path, tmp_path: Path, changed: str) -> None:
    script = folder / "monday.toml"
    load = {"model": "closed", "users": 1, **({"think": "exponential(9s)"} if changed == "think" else {})}
    run = made_run(tmp_path / "run", script, load=load)
    text = (run / "script.toml").read_text()
    if changed == "line":
        text = text.replace('as = "quick"', 'as = "fast"')
    (run / "script.toml").write_text(text + "# mine\n")
    assert tomllib.loads(text)
    warnings = " ".join(loadgo.likeness(script, run).warnings)
    expected = {
        "think": "The run had think times of its own, exponential(9s), in place of the script's.",
        "line": "The run's script does not have `quick`, which was observed.",
        "class": "The run's script was changed after it was made of the observation.",
    }
    assert expected[changed] in warnings
