"""Processor time that depends on the load: fitted to two loads of a known machine, it predicts other loads."""

import tomllib
from dataclasses import dataclass, replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.errors import LoadgoError
from loadgo.fitting.design import best_second_load, further_runs
from loadgo.fitting.fit import Fit, _fit_runs, fit
from loadgo.fitting.load_law import LoadLaw, RunLoads, fit_load_law
from loadgo.fitting.reading import read_runs
from loadgo.fitting.uncertainty import resample_groupings
from loadgo.fitting.values import FittedValues
from loadgo.measures.other_work import OtherWork
from loadgo.notation.laws import read_law
from loadgo.prediction.draws import uncertain_parameters
from loadgo.prediction.figures import figures_of
from loadgo.records.machine_file import parsed_machine
from loadgo.records.prediction import ALL_COMMANDS
from loadgo.records.tables import tables
from loadgo.running.worker_runs import this_process
from support.loaded_machine import THREE_COMMANDS, machine_under_load


@dataclass(frozen=True)
class Laboratory:
    """A folder with the script and the known machine."""

    folder: Path

    def run(self, machine: Path, users: int, *changes: str, seed: int = 1, think: str | None = None) -> loadgo.Run:
        """A run of ten minutes."""
        out = self.folder / f"{machine.stem}-{users}-{seed}-{len(changes)}"
        load = loadgo.Load(users, think=think, duration="10min", seed=seed)
        return loadgo.run(self.folder / "three.toml", on=str(machine), load=load, set=changes, out=out)

    @property
    def truth(self) -> Path:
        """The known machine."""
        return self.folder / "truth.toml"


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Laboratory:
    """A folder with the script and the known machine."""
    folder = tmp_path_factory.mktemp("load-law")
    (folder / "three.toml").write_text(THREE_COMMANDS)
    (folder / "truth.toml").write_text(machine_under_load(0.7))
    return Laboratory(folder)


@pytest.fixture(scope="module")
def fitted(laboratory: Laboratory) -> Fit:
    """A machine fitted to 3 and 15 users of the known one."""
    runs = [laboratory.run(laboratory.truth, users) for users in (3, 15)]
    return fit(*[run.folder for run in runs], output=laboratory.folder / "fitted.toml")


def test_the_law_of_a_known_machine_is_found_within_its_interval(fitted: Fit) -> None:
    parameter = next(each for each in fitted.fitted.parameters if each.key == "processors.cpu_when_busy")
    assert parameter.low is not None
    assert parameter.high is not None
    assert float(parameter.low) < 0.7 < float(parameter.high)
    assert float(parameter.high) < 0.9
    machine = tomllib.loads(fitted.text)
    assert machine["processors"]["cpu_when_busy"] == pytest.approx(float(parameter.value))
    assert not fitted.warnings
    drawn = uncertain_parameters(fitted.text)
    assert drawn is not None
    assert "processors.cpu_when_busy mean" in drawn.parameters
    assert "--users 60" in fitted.hint


def test_two_small_loads_predict_a_large_one(laboratory: Laboratory, fitted: Fit) -> None:
    assert fitted.path is not None
    for users in (20, 40):
        true = figures_of(tables(laboratory.run(laboratory.truth, users, seed=5)), "steady")
        told = figures_of(tables(laboratory.run(fitted.path, users, seed=6)), "steady")
        for measure in ("response", "p90 response", "cpu", "throughput"):
            shown = true[ALL_COMMANDS, measure]
            assert told[ALL_COMMANDS, measure] == pytest.approx(shown, rel=0.1), f"{measure} with {users} users"


def test_one_load_leaves_the_law_out(laboratory: Laboratory) -> None:
    one = fit(laboratory.run(laboratory.truth, 15, seed=3).folder)
    assert "cpu_when_busy" not in one.text


def test_a_demand_that_does_not_depend_on_the_load_stays_out_with_a_sentence(laboratory: Laboratory) -> None:
    runs = [laboratory.run(laboratory.truth, users, "processors.cpu_when_busy=1", seed=9) for users in (4, 30)]
    constant = fit(*[run.folder for run in runs])
    assert "cpu_when_busy" not in constant.text
    assert any("which is left out" in text for text in constant.fitted.assumed), constant.fitted.assumed


def interactions(speeds: list[float], shares: list[float], slope: float) -> tuple[pl.DataFrame, np.ndarray]:
    """Interactions of one command in runs of these loads, whose processors have these speeds."""
    draws = np.random.default_rng(4)
    rows, work = [], []
    for run, (speed, share) in enumerate(zip(speeds, shares, strict=True)):
        count = 240
        rows.append(
            pl.DataFrame(
                {
                    "run": [run] * count,
                    "user": [n % 6 for n in range(count)],
                    "stretch": [n * 8 // count for n in range(count)],
                    "command": ["edit"] * count,
                }
            )
        )
        work.append(1e7 * (1 + slope * share) / speed * draws.gamma(25.0, 1 / 25, count))
    return pl.concat(rows), np.concatenate(work)


def law_of(speeds: list[float], shares: list[float], slope: float, *, drifts: bool = True) -> LoadLaw:
    """The law of such runs."""
    rows, work = interactions(speeds, shares, slope)
    return fit_load_law(rows, work, resample_groupings(rows), RunLoads(np.array(shares), drifts))


def width(law: LoadLaw) -> float:
    """The width of the interval of the dependence."""
    return law.shared.high - law.shared.low


def test_runs_of_one_load_that_differ_give_the_doubt_in_the_speed() -> None:
    steady = law_of([1.0] * 6, [0.05, 0.4] * 3, -0.3)
    drifting = law_of([1.1, 0.9, 1.0, 1.08, 0.92, 1.0], [0.05, 0.4] * 3, -0.3)
    assert steady.drift < 0.02
    assert drifting.drift > 0.06
    assert "processors.speed" in [value.key for value in drifting.values]
    assert width(drifting) > 2 * width(steady)
    assert law_of([1.1, 0.9, 1.0, 1.08, 0.92, 1.0], [0.05, 0.4] * 3, -0.3, drifts=False).drift == 0


def test_a_slope_that_the_runs_hardly_show_is_drawn_towards_none() -> None:
    near, far = law_of([1.0, 1.03], [0.01, 0.02], 0.0), law_of([1.0, 1.0], [0.05, 0.6], -0.3)
    assert abs(near.shared.resampled.value - 1) < 0.3
    assert near.shared.low < 1 < near.shared.high
    assert far.shared.resampled.value == pytest.approx(0.7, abs=0.07)


def test_a_command_that_certainly_differs_has_a_dependence_of_its_own() -> None:
    rows, work = interactions([1.0, 1.2, 0.9, 1.0], [0.05, 0.5, 0.05, 0.5], 0.0)
    other, other_work = interactions([1.0, 1.2, 0.9, 1.0], [0.05, 0.5, 0.05, 0.5], -0.5)
    both = pl.concat([rows, other.with_columns(pl.lit("print").alias("command"))])
    shares = RunLoads(np.array([0.05, 0.5, 0.05, 0.5]), drifts=True)
    law = fit_load_law(both, np.concatenate([work, other_work]), resample_groupings(both), shares)
    assert len(law.own) == 1
    assert any(value.key.startswith("commands.") for value in law.values)


def test_the_further_load_that_tells_most_is_at_the_end_of_what_can_be_run() -> None:
    assert best_second_load(5, most=10) == 10
    assert best_second_load(10, most=10) == 3
    assert best_second_load(1, most=1) is None


def test_a_fit_to_one_load_of_a_host_names_the_second_one(laboratory: Laboratory) -> None:
    (reading,) = read_runs([laboratory.run(laboratory.truth, 15, seed=4).folder])
    host = replace(reading, kind="host")
    quicker = further_runs([host], [0.2], FittedValues(()))
    assert "--users 15 --think 'exponential(" in quicker
    assert 0.15 < think_mean_s(quicker) < 0.25, "four times the load of a think time of a second"
    assert "--users 4 " in further_runs([host], [0.8], FittedValues(())), "a high load asks for a low one"
    assert further_runs([host], [0.01], FittedValues(())) == ""
    assert further_runs([reading], [0.3], FittedValues(())) == ""


def test_users_who_cannot_think_less_are_asked_to_be_more(laboratory: Laboratory) -> None:
    (reading,) = read_runs([laboratory.run(laboratory.truth, 15, seed=5).folder])
    host = replace(reading, kind="host", think="none")
    assert "--users 30 " in further_runs([host], [0.3], FittedValues(()))


def test_an_uncertain_dependence_asks_for_a_higher_load_or_for_more_of_both_ends(laboratory: Laboratory) -> None:
    readings = read_runs([laboratory.run(laboratory.truth, users, seed=4).folder for users in (2, 9)])
    hosts = [replace(reading, kind="host") for reading in readings]
    uncertain = FittedValues(law_of([1.0, 1.03], [0.01, 0.02], 0.0).values)
    certain = FittedValues(law_of([1.0, 1.0], [0.05, 0.6], -0.3).values)
    assert "a higher load tells most: `loadgo run " in further_runs(hosts, [0.01, 0.02], uncertain)
    assert "with 2 and 9 users, in turns" in further_runs(hosts, [0.01, 0.7], uncertain)
    quick = [hosts[1], replace(hosts[1], think="exponential(0.2s)")]
    in_turns = further_runs(quick, [0.15, 0.6], uncertain)
    assert "with the think times exponential(1s) and exponential(0.2s), in turns" in in_turns
    assert further_runs(hosts, [0.05, 0.6], certain) == ""


def test_commands_of_a_fit_have_the_pace_that_was_asked_for_and_no_other(laboratory: Laboratory) -> None:
    script = laboratory.folder / "own-pace.toml"
    lines = '["edit x", { type = "cc x.c", as = "compile", think = "fixed(0.1s)" }, "ls"]'
    script.write_text(f'name = "own pace"\nlogin = "sh"\nthink = "exponential(1s)"\nlines = {lines}\n')
    on = str(laboratory.truth)
    usual = loadgo.run(script, on=on, users=6, duration="5min", out=laboratory.folder / "own")
    typed = loadgo.run(script, on=on, users=6, duration="5min", typing="20 chars/s", out=laboratory.folder / "typed")
    of_usual, of_typed = fit(usual), fit(typed)
    assert "--think" not in of_usual.hint
    assert "--typing '20 chars/s'" in of_typed.hint
    throughput = next(check for check in of_usual.checks if check.figure == "throughput")
    assert abs(throughput.off) < 0.05, "a line's own think time stays"
    both = fit(typed, usual)
    assert both.hint == of_typed.hint, "the run with the longer pauses is the usual one, whatever the order"
    assert fit(usual, typed).hint == both.hint


def test_sessions_that_arrive_are_predicted_by_their_rate_with_its_unit(laboratory: Laboratory) -> None:
    run = loadgo.run(
        laboratory.folder / "three.toml",
        on=str(laboratory.truth),
        arrivals="1/s",
        duration="5min",
        out=laboratory.folder / "arriving",
    )
    assert "--arrivals 2/s " in fit(run).hint
    closed = laboratory.run(laboratory.truth, 3, seed=8)
    assert "--users 12" in fit(run, closed).hint, "users who came one after another are not there at once"


def think_mean_s(sentence: str) -> float:
    """The mean of the exponential law in a sentence."""
    law = read_law(sentence.partition("--think '")[2].partition("'")[0])
    return law.mean / 1e9


def test_few_users_who_think_little_show_the_law_that_many_will_meet(laboratory: Laboratory) -> None:
    """Eight users with two think times show the law of the known machine, and predict four times as many."""
    runs = [
        laboratory.run(laboratory.truth, 8, seed=6),
        laboratory.run(laboratory.truth, 8, seed=7, think="exponential(0.15s)"),
    ]
    found = fit(*[run.folder for run in runs], output=laboratory.folder / "by-think.toml")
    value = next(each for each in found.fitted.parameters if each.key == "processors.cpu_when_busy")
    low, high = float(value.low), float(value.high)
    assert low <= 0.7 <= high
    assert high / low < 1.25
    own = tomllib.loads(found.text)["load"][0]
    assert read_law(own["think"]).mean == pytest.approx(1e9, rel=0.1), "the load is that of the usual run"
    predicted = laboratory.run(laboratory.folder / "by-think.toml", 32)
    measured = laboratory.run(laboratory.truth, 32)
    shown, truth = figures_of(tables(predicted), "steady"), figures_of(tables(measured), "steady")
    assert shown[ALL_COMMANDS, "cpu"] == pytest.approx(truth[ALL_COMMANDS, "cpu"], rel=0.05)


@pytest.mark.parametrize("value", ["0", "-0.3", "1e9", "nan", "'a fifth less'"])
def test_a_machine_whose_law_makes_no_sense_is_refused_in_words(laboratory: Laboratory, value: str) -> None:
    with pytest.raises(LoadgoError, match="cpu_when_busy"):
        parsed_machine(laboratory.truth.read_text(), [f"processors.cpu_when_busy={value}"])


@pytest.mark.parametrize(
    ("others", "words", "seed"), [(0.4, "other programs took so much of the host", 21), (0.2, "", 22)]
)
def test_the_law_is_left_out_where_other_programs_took_much_of_the_host(
    others: float, words: str, seed: int, laboratory: Laboratory, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings = read_runs([laboratory.run(laboratory.truth, users, seed=seed).folder for users in (2, 9)])
    hosts = [replace(reading, kind="host") for reading in readings]
    monkeypatch.setattr("loadgo.fitting.fit.other_work", lambda *_: OtherWork(others))
    fitted = _fit_runs(hosts, None, None, this_process())
    assert ("cpu_when_busy" in fitted.text) is not bool(words)
    assert words in " ".join(fitted.fitted.assumed)
