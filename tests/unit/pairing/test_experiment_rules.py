"""The rules of an experiment: its order, the runs that are left out, and when it ends."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import chain, repeat
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import loadgo
import pytest
from loadgo.measures.audit import Loss
from loadgo.pairing import experiment as rules
from loadgo.pairing.document import experiment_document
from loadgo.pairing.experiment import ab
from loadgo.pairing.results import Experiment, LeftOut
from loadgo.pairing.run_figures import CommandMeans, RunFigures, common_commands, log_ratio
from loadgo.running.run import Run
from support.small_machine import laid

RUN_S = 10.0
"""Length of each run, on the clock of these tests."""


@pytest.fixture(scope="module")
def valid_run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """A run on a simulated machine that an experiment accepts."""
    folder = tmp_path_factory.mktemp("rules")
    script, machine = laid(folder)
    return loadgo.run(script, on=str(machine), users=2, duration="1min", out=folder / "run")


class Runs:
    """The runs that an experiment asks for: each is the next of `results`, and takes `RUN_S` of the clock."""

    def __init__(self, results: Iterator[Run]) -> None:
        self.results = results
        self.seeds: list[int] = []
        self.letters: list[str] = []
        self.now_s = 1000.0

    def run(self, _script: object, **asked: Any) -> Run:
        self.now_s += RUN_S
        self.seeds.append(asked["load"].seed)
        self.letters.append(asked["out"].name[-1].upper())
        return replace(next(self.results), folder=asked["out"])


@pytest.fixture
def experiment_of(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., tuple[Experiment, Runs]]:
    """Makes an experiment with the runs that an iterator yields. Both variants are the same script."""

    def made(results: Iterator[Run], **arguments: Any) -> tuple[Experiment, Runs]:
        runs = Runs(results)
        monkeypatch.setattr(rules, "run", runs.run)
        monkeypatch.setattr(rules, "time", SimpleNamespace(monotonic=lambda: runs.now_s))
        folder = tmp_path / f"{len(list(tmp_path.iterdir()))}"
        return ab("light", "light", out=folder, **arguments), runs

    return made


def late(run: Run) -> Run:
    """The run with a driver that was late with two lines."""
    driver = replace(run.summary.driver, lateness_p99_ns=1e9, late_lines=2)
    return replace(run, summary=replace(run.summary, driver=driver))


def losing(run: Run) -> Run:
    """The run with seven lost rows."""
    losses = (Loss("interactions", "the buffer was full", 3), Loss("samples", "the disk was full", 4))
    return replace(run, summary=replace(run.summary, losses=losses))


def failed(run: Run) -> Run:
    """The run with a failure as its outcome."""
    return replace(run, outcome="failed", notes=("a first note", "the disk was full"))


def unanswered(run: Run) -> Run:
    """The run without an answered line."""
    everything = run.summary.everything
    response = replace(everything.response, answered=0)
    return replace(run, summary=replace(run.summary, everything=replace(everything, response=response)))


INVALID = {
    "late driver": (late, "the driver was late or was the bottleneck"),
    "lost rows": (losing, "7 records were lost"),
    "failure": (failed, "it failed: the disk was full"),
    "no answer": (unanswered, "no line was answered"),
}
"""Each kind of invalid run, and the reason why it is left out."""
MakeExperiment = Callable[..., tuple[Experiment, Runs]]


def test_either_variant_may_run_first_in_the_first_pair(experiment_of: MakeExperiment, valid_run: Run) -> None:
    firsts = set()
    for seed in range(12):
        experiment, runs = experiment_of(repeat(valid_run), seed=seed, most_pairs=2)
        begins = [pair.first for pair in experiment.pairs]
        assert runs.letters[::2] == begins
        firsts.add(tuple(begins))
    assert firsts == {("A", "B"), ("B", "A")}


@pytest.mark.parametrize("kind", INVALID)
@pytest.mark.parametrize("place", [0, 1], ids=["first run", "second run"])
def test_an_invalid_run_is_left_out_and_its_pair_is_run_again(
    experiment_of: MakeExperiment, valid_run: Run, kind: str, place: int
) -> None:
    invalid, reason = INVALID[kind]
    results = chain(repeat(valid_run, place), [invalid(valid_run)], repeat(valid_run))
    experiment, runs = experiment_of(results, seed=40, most_pairs=2)
    first, second = runs.letters[-2:]
    letters = [second, first][: place + 1]
    assert runs.letters == [*letters, second, first, first, second]
    assert runs.seeds == [*(40 for _ in letters), 40, 40, 41, 41]
    folder = experiment.folder / f"001-{letters[-1].lower()}"
    assert experiment.left_out == (LeftOut(letters[-1], folder, reason),)  # type: ignore[arg-type]
    assert [pair.seed for pair in experiment.pairs] == [40, 41]
    assert {run.folder.name[:3] for pair in experiment.pairs for run in (pair.a, pair.b)} == {"002", "003"}
    assert ("Left out", f"{folder.name} of {letters[-1]}: {reason}.") in experiment_document(experiment).notes


def test_after_six_invalid_runs_the_experiment_ends_with_what_is_known(
    experiment_of: MakeExperiment, valid_run: Run
) -> None:
    results = chain(repeat(valid_run, 2), repeat(late(valid_run), 6))
    experiment, runs = experiment_of(results)
    assert (experiment.end, len(experiment.left_out), len(experiment.pairs)) == ("left out too often", 6, 1)
    assert len(runs.letters) == 2 + 6


@pytest.mark.parametrize(("limit_s", "pairs"), [(65, 3), (60, 3), (59, 2), (1, 1)])
def test_no_pair_begins_that_would_end_after_the_time_limit(
    experiment_of: MakeExperiment, valid_run: Run, limit_s: float, pairs: int
) -> None:
    """A pair takes 20 seconds. The first is run in any case."""
    experiment, _runs = experiment_of(repeat(valid_run), time_limit=limit_s)
    assert (experiment.end, len(experiment.pairs)) == ("time limit", pairs)


def test_a_time_limit_ends_no_experiment_before_its_first_pair(experiment_of: MakeExperiment, valid_run: Run) -> None:
    experiment, _runs = experiment_of(chain([late(valid_run)], repeat(valid_run)), time_limit=1)
    assert (experiment.end, len(experiment.left_out), len(experiment.pairs)) == ("time limit", 1, 1)


def test_means_of_a_pair_are_over_the_commands_that_both_runs_typed(tmp_path: Path) -> None:
    def figures(whole_cpu: float, **cpu_by_command: float) -> RunFigures:
        commands = {name: CommandMeans(5, 2 * cpu, cpu) for name, cpu in cpu_by_command.items()}
        return RunFigures(tmp_path, {"cpu": whole_cpu, "response": 1.0}, commands, 0, None)

    further, slower = figures(2.0, edit=4.0, compile=9.0, list=1.0), figures(6.5, edit=4.0, compile=9.0)
    assert log_ratio(further, slower, "cpu") == 0.0
    assert common_commands(further, slower) == ["edit", "compile"]
    assert log_ratio(figures(1.0, edit=1.0), figures(1.0, list=1.0), "cpu") is None
