"""The reference work: its time is read for the span of each run, and it ends with the experiment."""

import time
from pathlib import Path

import pytest
from loadgo.documents.table import Table
from loadgo.pairing.chart_data import measures_changes
from loadgo.pairing.document import experiment_document
from loadgo.pairing.reference import FEWEST_PIECES, ReferenceWork
from loadgo.pairing.results import Experiment, Pair
from loadgo.pairing.run_figures import RunFigures
from loadgo.pairing.variant import Variant
from loadgo.pairing.words import notes
from loadgo.running.load import Load


def test_the_work_is_timed_on_the_processors_of_this_host_until_it_is_left() -> None:
    began_ns = time.time_ns()
    with ReferenceWork(is_used=True) as reference:
        process = reference._process
        assert process is not None
        while (size := Path(f"/proc/{process.pid}/fd/1").stat().st_size) < 40 * 2 * FEWEST_PIECES:
            assert process.poll() is None, size
            time.sleep(0.05)
        mean_ns = reference.mean_ns(began_ns, time.time_ns())
        assert mean_ns is not None
        assert 1e5 < mean_ns < 1e9
        assert reference.mean_ns(began_ns, began_ns + 1) is None
    assert process.poll() is not None


def test_a_work_that_is_not_used_starts_nothing() -> None:
    with ReferenceWork(is_used=False) as reference:
        assert reference.mean_ns(0, time.time_ns()) is None


def test_without_room_for_its_file_there_is_no_work(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused() -> None:
        raise FileNotFoundError("no usable temporary directory")

    monkeypatch.setattr("tempfile.TemporaryFile", refused)
    with ReferenceWork(is_used=True) as reference:
        assert reference.mean_ns(0, time.time_ns()) is None


def run_at(cpu_ns: float, reference_ns: float | None) -> RunFigures:
    """The figures of a run with this processor time, and of the reference work beside it."""
    whole = {"response": cpu_ns, "p90 response": None, "cpu": cpu_ns, "throughput": None}
    return RunFigures(Path(), whole, {}, 0, None, reference_ns=reference_ns)


def experiment_of(speeds: list[tuple[float, float]], change: float) -> Experiment:
    """An experiment of which B needs `change` times A's processor time, on processors that are slower by `speeds`."""
    pairs = tuple(
        Pair(seed, "A", run_at(30e6 * a, 2e6 * a), run_at(30e6 * b * change, 2e6 * b), (seed + 1) / len(speeds))
        for seed, (a, b) in enumerate(speeds)
    )
    script = Variant("light")
    return Experiment(script, script, Load(), 0.05, ("cpu",), pairs, (), "most pairs", Path())


SPEEDS = [(1.0, 1.4), (1.3, 1.0), (1.1, 1.2), (1.5, 1.0), (1.0, 1.02), (1.2, 1.3)]


def test_processor_time_is_compared_at_equal_speed_and_response_as_it_was() -> None:
    experiment = experiment_of(SPEEDS, 1.1)
    cpu, response = experiment.change("cpu"), experiment.change("response")
    assert cpu is not None
    assert response is not None
    assert cpu.verdict == "worse"
    assert cpu.relative == pytest.approx(0.1)
    assert response.verdict == "cannot tell"
    assert any(label == "Speed" and "1.00 times as much" in text for label, text in notes(experiment))


def test_the_pairs_are_shown_at_equal_speed_as_their_mean_is() -> None:
    """The chart had the mean at equal speed, and the circles of the pairs and the table as they were measured."""
    experiment = experiment_of(SPEEDS, 1.1)
    cpu, response = measures_changes(experiment)
    assert (cpu.name, response.name) == ("CPU, equal speed", "response")
    assert [pair.ratio for pair in cpu.pairs] == pytest.approx([1.1] * len(SPEEDS))
    assert response.pairs[0].ratio == pytest.approx(1.1 * 1.4)
    sections = experiment_document(experiment).sections
    table = next(each for each in sections if isinstance(each, Table) and each.title == "Pair by pair")
    columns = {column.heading: column.cells for column in table.columns}
    assert columns["CPU, equal speed"] == tuple(pair.text for pair in cpu.pairs)


def test_a_pair_without_reference_work_leaves_all_pairs_as_they_were() -> None:
    experiment = experiment_of(SPEEDS, 1.1)
    last = experiment.pairs[-1]
    pairs = (*experiment.pairs[:-1], Pair(last.seed, "A", last.a, run_at(30e6, None), 1.0))
    change = Experiment(**{**vars(experiment), "pairs": pairs}).change("cpu")
    assert change is not None
    assert change.reference_logs is None
    assert change.mean.slope == 0.0
