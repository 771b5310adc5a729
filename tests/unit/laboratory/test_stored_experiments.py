"""Stored results read back: the document is the one that was printed, and a damaged file is named."""

import json
from pathlib import Path

import loadgo
import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun
from loadgo.laboratory.lab_view import LaboratoryView
from loadgo.laboratory.laboratory_runs import found_in
from loadgo.laboratory.run_index import open_index
from loadgo.laboratory.stored_experiments import stored_capacity, stored_document, stored_experiment, stored_sweep
from loadgo.pairing.document import experiment_document
from loadgo.sizing.site import keep_result
from support.small_machine import laid
from support.sweeps import LastFirst, own_load_grid
from typer.testing import CliRunner


@pytest.fixture(scope="module")
def capacity(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, loadgo.Capacity]:
    """A capacity and the folder of its trials."""
    folder = tmp_path_factory.mktemp("stored")
    script, machine = laid(folder)
    out = folder / "capacity"
    found = loadgo.capacity(script, target="p90 < 30s", on=str(machine), max_users=6, trials=6, longest="2min", out=out)
    return out, found


def test_a_capacity_is_shown_as_it_was_found(capacity: tuple[Path, loadgo.Capacity]) -> None:
    folder, found = capacity
    stored = stored_capacity(folder)
    assert stored.report("json") == found.report("json")
    assert stored.report("text", width=100) == found.report("text", width=100)
    assert str(stored.report("html")).startswith("<!doctype html>")


def test_report_of_the_folder_of_a_search_shows_its_answer(capacity: tuple[Path, loadgo.Capacity]) -> None:
    folder, found = capacity
    shown = CliRunner().invoke(app, ["report", str(folder), "--format", "json"])
    assert shown.exit_code == 0
    assert shown.stdout == found.report("json")
    judged = CliRunner().invoke(app, ["report", str(folder), "--fail-if", "p90 > 1s"])
    assert judged.exit_code == 2
    assert "is no single run" in judged.stderr


def test_an_experiment_is_shown_as_it_was_found(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    slow, fast = (loadgo.Variant(script, on=str(machine), set=(f"processors.speed={speed}",)) for speed in (1, 2))
    found = loadgo.ab(slow, fast, users=3, duration="1min", most_pairs=3, out=tmp_path / "ab")
    stored = stored_experiment(tmp_path / "ab")
    assert stored.report("json") == found.report("json")
    assert stored.report("text", width=100) == found.report("text", width=100)


def test_the_doubt_about_a_fitted_machine_stands_over_its_experiment_and_is_kept(tmp_path: Path) -> None:
    script, machine = laid(tmp_path)
    machine.write_text(f'{machine.read_text()}\n[fit]\nruns = ["r"]\nwarnings = ["the mean response is off"]\n')
    slow, fast = (loadgo.Variant(script, on=str(machine), set=(f"processors.speed={speed}",)) for speed in (1, 2))
    found = loadgo.ab(slow, fast, users=3, duration="1min", most_pairs=2, out=tmp_path / "ab")
    for experiment in (found, stored_experiment(tmp_path / "ab")):
        doubt = "The machine's fit is doubtful: the mean response is off."
        assert experiment.fit_warnings == (doubt,)
        assert doubt in experiment_document(experiment).warnings


def test_a_capacity_that_cannot_be_written_is_still_the_answer(
    capacity: tuple[Path, loadgo.Capacity], tmp_path: Path
) -> None:
    _, found = capacity
    (tmp_path / "capacity.json").mkdir()
    kept = keep_result(found, tmp_path)
    assert (kept.answer, kept.interval) == (found.answer, found.interval)
    assert kept.notes == (
        *found.notes,
        f"capacity.json: the result could not be written to {tmp_path} (Is a directory).",
    )
    assert [path.name for path in tmp_path.iterdir()] == ["capacity.json"]
    assert keep_result(found, tmp_path / "new") == found


@pytest.mark.parametrize(
    "change", [{"points": 3}, {"targets": [{}]}, {"answer": "4"}, {"end": "never"}, {"limits": None}]
)
def test_a_damaged_capacity_is_named(
    capacity: tuple[Path, loadgo.Capacity], tmp_path: Path, change: dict[str, object]
) -> None:
    members = json.loads((capacity[0] / "capacity.json").read_text())
    (tmp_path / "capacity.json").write_text(json.dumps(members | change))
    with pytest.raises(BadRun, match="is no result of loadgo capacity, or is damaged"):
        stored_capacity(tmp_path)


@pytest.mark.parametrize("text", ["", "[", "[]", "{}", "[" * 50_000])
def test_files_that_are_no_results_are_named(tmp_path: Path, text: str) -> None:
    for name, read in (("capacity.json", stored_capacity), ("experiment.json", stored_experiment)):
        (tmp_path / name).write_text(text)
        with pytest.raises(BadRun, match="or is damaged"):
            read(tmp_path)


def test_a_sweep_is_listed_and_shown_as_it_was_computed(tmp_path: Path) -> None:
    with LastFirst() as executor:
        sweep = loadgo.sweep(own_load_grid(tmp_path), executor=executor, out=tmp_path / "lab" / "grid")
    runs, experiments = found_in(tmp_path / "lab")
    assert runs == []
    assert [(one.name, one.kind) for one in experiments] == [("grid", "sweep")]
    stored = stored_sweep(tmp_path / "lab" / "grid")
    assert stored.report("json") == sweep.report("json")
    assert sweep.in_words.split(":")[0] in stored_document(experiments[0])
    shown = CliRunner().invoke(app, ["report", str(sweep.folder), "--format", "json"])
    assert (shown.exit_code, shown.stdout) == (0, sweep.report("json"))
    points = min((sweep.folder / "points").iterdir())
    points.rename(tmp_path / "elsewhere")
    points.symlink_to(tmp_path / "elsewhere")
    with pytest.raises(BadRun, match="is a link that leaves the folder of runs"):
        LaboratoryView(open_index(tmp_path / "lab")).experiment("grid")
    (sweep.folder / "sweep.toml").write_text("format = 1")
    with pytest.raises(BadRun, match=r"sweep\.toml is damaged"):
        stored_sweep(sweep.folder)
