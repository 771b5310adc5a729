"""Predictions: drawings from a fit's covariance, and intervals that hold the truth."""

import json
import math
import re
import subprocess
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import pytest
from loadgo.comparison.compare import compare, side_of
from loadgo.comparison.figures import change, change_interval
from loadgo.errors import BadRun, Mistake
from loadgo.notation.figures import duration
from loadgo.notation.laws import read_law
from loadgo.prediction.draws import draw_parameters, uncertain_parameters
from loadgo.prediction.figures import figures_of, predicted_figures
from loadgo.prediction.predict import plan_draws, predict
from loadgo.records.prediction import PREDICTION_FILE, read_prediction
from loadgo.records.tables import tables
from loadgo.reporting.words import answer as answer_of
from support.command_line import typed
from support.fitted_machine import CORRELATION, DOUBT, laid, machine, truth


def allowed(_set: object) -> bool:
    return True


def mean_of(setting: str) -> float:
    """The mean that a drawing sets, in nanoseconds."""
    return read_law(setting.partition("=")[2]).mean


def test_drawings_have_the_covariance_that_the_fit_has_found() -> None:
    draws, redrawn = draw_parameters(machine(), 3000, 1, allowed)
    logs = np.log([[mean_of(setting) for setting in draw] for draw in draws])
    assert redrawn == 0
    assert logs.std(axis=0) == pytest.approx([DOUBT["edit"], DOUBT["compile"]], rel=0.05)
    assert np.corrcoef(logs.T)[0, 1] == pytest.approx(CORRELATION, abs=0.05)


def test_what_is_set_otherwise_than_fitted_is_in_no_doubt() -> None:
    uncertain = uncertain_parameters(machine().replace("lognormal(300.0ms, 240.0ms)", "lognormal(200ms, 160ms)"))
    assert uncertain is not None
    assert uncertain.parameters == ("commands.edit.cpu mean",)
    assert uncertain.set_aside == ("commands.compile.cpu",)


@pytest.mark.long
def test_drawings_that_are_no_machine_are_drawn_again_and_counted() -> None:
    draws, redrawn = draw_parameters(machine(), 50, 1, lambda settings: mean_of(settings[0]) > 50e6)
    assert all(mean_of(draw[0]) > 50e6 for draw in draws)
    assert 20 < redrawn < 100
    assert set(draws) <= set(draw_parameters(machine(), 50 + redrawn, 1, allowed)[0])
    with pytest.raises(ValueError, match=r"only 0 of 500 draws .* make a valid machine: fit it from more"):
        draw_parameters(machine(), 5, 1, lambda _set: False)


def test_a_covariance_that_is_none_is_told_so() -> None:
    rows = "[[1.0, 2.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.0, 1.0]]"
    with pytest.raises(Mistake, match="not a covariance matrix, since it has a negative eigenvalue: fit"):
        plan_draws(machine().split("covariance")[0] + f"covariance = {rows}\n", (), 20, 1)


@pytest.mark.parametrize(
    ("before", "after", "marked", "words"),
    [
        ("commands.edit.cpu", "commands.nothing.cpu", "nothing", "parameter commands.nothing.cpu: the machine has no"),
        ("commands.edit.cpu", "processors.count", "processors.count", "has no such time: remove the parameter"),
        (
            "commands.edit.cpu",
            "processors.discipline",
            "processors.discipline",
            "has no such time: remove the parameter",
        ),
        ('value = "50.0ms"', 'value = "-1s"', "-1s", "'-1s' is not a mean: write a value"),
        ('value = "0.8"', 'value = "much"', "much", "'much' is not a spread: write a value"),
        (
            '"spread", value = "0.8"',
            '"correlation", value = "1.5"',
            '"1.5"',
            "'1.5' is not a correlation: write a value",
        ),
        ("0.0, 0.01]]", "0.0, 1e6]]", "covariance", "row 3, of commands.compile.cpu, has 1e+06 on the diagonal"),
    ],
)
def test_a_fit_that_cannot_be_drawn_from_is_told_with_file_line_key_and_remedy(
    before: str, after: str, marked: str, words: str, tmp_path: Path
) -> None:
    laid(tmp_path)
    head, fit, rest = machine().partition("[fit]")
    text = head + fit + rest.replace(before, after, 1)
    assert text != machine()
    file = tmp_path / "fitted.toml"
    file.write_text(text, encoding="utf-8")
    told = command("run", "two-commands.toml", "--on", "fitted.toml", "--out", "out", folder=tmp_path)
    line = next(at for at, row in enumerate(text.splitlines(), start=1) if at > head.count("\n") and marked in row)
    assert told.returncode == 2
    said = " ".join(told.stderr.split())
    assert f"fitted.toml, line {line}, column" in said
    assert words in said
    assert "fit the machine again" in said
    assert not (tmp_path / "out").exists()


def test_a_machine_without_a_fit_or_a_covariance_is_in_no_doubt() -> None:
    assert uncertain_parameters(machine(fit=False)) is None
    assert uncertain_parameters(machine().split("covariance")[0]) is None


def test_an_interval_holds_a_further_run_95_times_of_100_and_its_parts_are_told_apart() -> None:
    random = np.random.default_rng(5)
    held_count, shares = 0, []
    for _ in range(400):
        chance, parameters = 0.03 * random.standard_normal(21), 0.04 * random.standard_normal(21)
        key = ("", "response")
        fitted = [{key: math.exp(one)} for one in chance[:20]]
        draws = [{key: math.exp(sum(one))} for one in zip(chance[:20], parameters[:20], strict=True)]
        (found,) = predicted_figures(fitted, draws)
        another = random.standard_normal()
        held_count += found.interval.holds(math.exp(0.03 * another + parameters[20]))
        shares.append(found.parameters_share)
    assert 0.925 <= held_count / 400 <= 0.975
    assert np.mean(shares) == pytest.approx(16 / 25, abs=0.03)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("predicted")
    laid(folder)
    return folder


@pytest.fixture(scope="module")
def predicted(room: Path) -> loadgo.Run:
    """Twenty users on the machine as fitted, and what the doubt makes of it."""
    script, file = room / "two-commands.toml", room / "fitted.toml"
    return loadgo.run(script, on=str(file), users=20, draws=20, out=room / "predicted")


@pytest.mark.statistical
def test_a_prediction_holds_what_machines_of_the_fits_doubt_show(room: Path, predicted: loadgo.Run) -> None:
    """At least 34 of 40 machines drawn from the fit's covariance lie in the interval; fewer do once in 300 tests."""
    assert predicted.summary.prediction is not None
    figures_by_measure = {
        figure.measure: figure for figure in predicted.summary.prediction.figures["steady"] if figure.command == ""
    }
    random = np.random.default_rng(11)
    held_counts = dict.fromkeys(figures_by_measure, 0)
    for place in range(40):
        file, out = room / "truth.toml", room / f"truth-{place}"
        file.write_text(truth(tuple(map(float, random.standard_normal(3)))))  # type: ignore[arg-type]
        loadgo.run(room / "two-commands.toml", on=str(file), users=20, seed=1000 + place, out=out)
        figures = figures_of(tables(out), "steady")
        for name, figure in figures_by_measure.items():
            held_counts[name] += figure.interval.holds(figures["", name])
    assert set(figures_by_measure) == {"response", "p50 response", "p90 response", "cpu", "throughput"}
    assert {name for name, count in held_counts.items() if count < 34} == set(), held_counts


def test_a_report_of_a_prediction_tells_its_interval_and_whose_doubt_it_is(predicted: loadgo.Run) -> None:
    text = str(loadgo.report(predicted, width=100, full=True))
    assert "Predicted, with the doubt in what was fitted" in text
    assert "due to the fit" in text
    assert "3 parameters drawn anew, which were fitted to runs with 5 users" in " ".join(text.split())
    for width in (80, 120):
        for full in (False, True):
            assert max(map(len, str(loadgo.report(predicted, width=width, full=full)).splitlines())) <= width
    told = json.loads(str(loadgo.report(predicted, format="json")))["prediction"]
    figure = told["figures"]["steady"][0]
    assert figure["interval"]["low"] < figure["predicted"] < figure["interval"]["high"]
    assert 0 < figure["parameters_share"] < 1
    assert figure["central"] == pytest.approx((figure["interval"]["low"] * figure["interval"]["high"]) ** 0.5)
    assert "Predicted, with the doubt" in str(loadgo.report(predicted, format="html"))


def test_the_headline_of_a_prediction_is_of_the_machines_as_drawn(predicted: loadgo.Run) -> None:
    """The run as fitted is one of 40: with another first seed it would say something else."""
    prediction = predicted.summary.prediction
    assert prediction is not None
    told = {one.measure: one for one in prediction.figures["steady"] if one.command == ""}
    answer = " ".join(answer_of(predicted.summary).split())
    assert answer.startswith("20 users, predicted: mean response ")
    for name in ("response", "p90 response"):
        ends = [duration(value) for value in (told[name].central, told[name].interval.low, told[name].interval.high)]
        assert f"{ends[0]} ({ends[1]} to {ends[2]})" in answer
    other = replace(predicted.summary, everything=predicted.summary.commands[0])
    assert " ".join(answer_of(other).split()) == answer


def test_the_parameters_have_most_of_the_doubt_where_they_are_in_much(predicted: loadgo.Run) -> None:
    assert predicted.summary.prediction is not None
    shares = {
        (one.command, one.measure): one.parameters_share for one in predicted.summary.prediction.figures["steady"]
    }
    assert shares["compile", "cpu"] > shares["edit", "cpu"]
    assert shares["compile", "cpu"] > 0.5


@pytest.mark.long
def test_a_comparison_takes_a_prediction_as_its_runs_and_judges_with_its_doubt(
    room: Path, predicted: loadgo.Run
) -> None:
    side = side_of(str(predicted.folder))
    assert (len(side.tables), side.seeds) == (20, tuple(range(1, 21)))
    assert set(side.doubts) >= {"response", "p90 response", "cpu", "throughput"}
    file = room / "as-fitted.toml"
    file.write_text(machine(fit=False))
    measured = loadgo.run(room / "two-commands.toml", on=str(file), users=20, seed=77, out=room / "measured")
    comparison = compare(predicted, measured, by="command", judge=True, within="100%")
    assert comparison.predicted, comparison.judged
    response = compare(predicted, measured, by="command", judge=True).judged[0]
    assert (response.judgement, response.doubt is None) == ("too wide to judge", False)
    file.write_text(machine(edit_ms=150.0, fit=False))
    slow = loadgo.run(room / "two-commands.toml", on=str(file), users=20, seed=77, out=room / "slow")
    judged = {
        one.measure: one.judgement for one in compare(predicted, slow, by="command", judge=True, within="100%").judged
    }
    assert judged["cpu"] == "outside"


@pytest.mark.long
def test_a_verdict_is_beside_the_answer_with_one_interval_for_each_figure(
    room: Path, predicted: loadgo.Run, tmp_path: Path
) -> None:
    """Above all conditions that differ; and why the tables below have narrower intervals is said."""
    file = room / "as-fitted.toml"
    file.write_text(machine(fit=False))
    measured = loadgo.run(room / "two-commands.toml", on=str(file), users=20, seed=78, out=tmp_path / "measured")
    comparison = compare(predicted, measured, judge=True)
    response, whole = comparison.judged[0], comparison.rows.whole["response"]
    assert change_interval(response) != change_interval(whole)
    text = " ".join(comparison.report(width=120).split())
    answer = text[: text.index("A: ")]
    assert re.match(r"The prediction is |Whether the prediction is ", answer)
    assert "Simulated against predicted: " in answer, "both sides are simulated, and nothing was measured"
    assert f"response {change(response)} ({change_interval(response)})" in answer
    assert change_interval(whole) not in answer
    assert text.index("A as a prediction of B") < text.index("Conditions that differ")
    assert "These intervals include the doubt in the fitted machine. Those of the tables below do not" in text


def test_a_what_if_on_a_fitted_machine_is_a_prediction_too(room: Path, predicted: loadgo.Run) -> None:
    script, file = room / "two-commands.toml", str(room / "fitted.toml")
    more = ["processors.count=4", "storage.disk.service=exponential(1ms)", "commands.compile.cpu=exponential(0.2s)"]
    run = loadgo.run(script, on=file, users=20, draws=5, set=more, out=room / "what-if")
    prediction, before = run.summary.prediction, predicted.summary.prediction
    assert prediction is not None
    assert before is not None
    assert prediction.set_aside == ("commands.compile.cpu",)
    assert prediction.parameters == ("commands.edit.cpu mean",)
    assert prediction.figures["steady"][0].predicted < before.figures["steady"][0].predicted
    assert "set to another value than fitted" in " ".join(str(loadgo.report(run, full=True)).split())


def test_the_same_seed_predicts_the_same(room: Path) -> None:
    script, file = room / "two-commands.toml", str(room / "fitted.toml")
    found = [
        loadgo.run(script, on=file, users=5, draws=5, seed=3, out=room / f"again-{place}").summary.prediction
        for place in range(2)
    ]
    assert found[0] == found[1]


def test_a_run_that_predicts_nothing_leaves_no_runs_below_it(room: Path) -> None:
    script, file = room / "two-commands.toml", str(room / "fitted.toml")
    run = loadgo.run(script, on=file, users=2, out=room / "plain")
    assert run.summary.prediction is None
    assert not [path for path in run.folder.iterdir() if path.is_dir()]


def test_draws_of_what_cannot_be_drawn_are_refused_before_anybody_logs_in(room: Path) -> None:
    script, bare = room / "two-commands.toml", room / "bare.toml"
    bare.write_text(machine(fit=False))
    with pytest.raises(ValueError, match=r"it has no \[fit\] with a covariance; fit a machine with loadgo fit"):
        loadgo.run(script, on=str(bare), draws=20, out=room / "never")
    with pytest.raises(ValueError, match="3 draws give no interval: at least 5"):
        loadgo.run(script, on=str(room / "fitted.toml"), draws=3, out=room / "never")
    with pytest.raises(ValueError, match="name one with `on`"):
        loadgo.run(script, draws=20, out=room / "never")
    every = ["commands.edit.cpu=1s", "commands.compile.cpu=1s"]
    with pytest.raises(ValueError, match="all fitted values were replaced"):
        loadgo.run(script, on=str(room / "fitted.toml"), draws=20, set=every, out=room / "never")
    assert not (room / "never").exists()
    assert loadgo.run(script, on=str(bare), draws=None, out=room / "plain-bare").summary.prediction is None


def test_a_prediction_that_is_damaged_is_told_so(room: Path) -> None:
    folder = room / "damaged"
    folder.mkdir()
    (folder / PREDICTION_FILE).write_text("format = 1\ndraws = 5\n")
    with pytest.raises(BadRun, match="predict again"):
        read_prediction(folder)
    (folder / PREDICTION_FILE).write_text("format = 9\n")
    with pytest.raises(BadRun, match="has format 9"):
        read_prediction(folder)
    assert read_prediction(room) is None


def command(*arguments: str | Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """`loadgo ARGUMENTS` in `folder`, as a person would type it."""
    return typed(folder, *arguments, status=None)


@pytest.mark.long
def test_the_command_predicts_of_its_own_accord_and_judges_with_an_exit_status(room: Path) -> None:
    load = ("run", "two-commands.toml", "--on", "fitted.toml", "--users", "20", "--quiet")
    assert command(*load, "--out", "by-command", folder=room).returncode == 0
    prediction = read_prediction(room / "by-command")
    assert prediction is not None
    assert prediction.draws == 20
    assert command(*load, "--draws", "0", "--out", "no-draws", folder=room).returncode == 0
    assert read_prediction(room / "no-draws") is None
    judged = {
        within: command(
            "compare", "by-command", "no-draws", "--by", "command", "--judge", "--within", within, folder=room
        )
        for within in ("150%", "5%")
    }
    assert [one.returncode for one in judged.values()] == [0, 1]
    answers = {within: " ".join(one.stdout.split()) for within, one in judged.items()}
    right = "The prediction is right within 150 % in response, p90 response, CPU and throughput."
    assert right in answers["150%"]
    assert "cannot be told" in answers["5%"]
    assert "Trust in the data: " in answers["5%"]
    assert "a prediction that is wrong by 5 % would pass" in " ".join(judged["5%"].stdout.split())


@pytest.mark.long
def test_the_command_refuses_nonsense_with_what_would_be_right(room: Path, predicted: loadgo.Run) -> None:
    few = command("run", "two-commands.toml", "--on", "fitted.toml", "--draws", "3", folder=room)
    near = command("compare", predicted.folder, predicted.folder, "--judge", "--within", "near", folder=room)
    alone = command("compare", predicted.folder, predicted.folder, "--within", "5%", folder=room)
    assert [one.returncode for one in (few, near, alone)] == [2, 2, 2]
    assert "at least 5, or 0" in few.stderr
    assert "write a percentage over 0, such as 20%" in near.stderr
    assert "say judge, too" in alone.stderr


def test_an_error_in_one_of_the_runs_ends_them_all_and_leaves_a_run_that_is_no_prediction(tmp_path: Path) -> None:
    plan = plan_draws(machine(), (), 5, seed=1)
    assert plan is not None
    begun: list[Path] = []

    def again(_set: tuple[str, ...], _seed: int, folder: Path, _go_on: object) -> None:
        begun.append(folder)
        folder.mkdir(parents=True)
        if len(begun) > 3:
            raise BadRun("the disk is full")

    with pytest.raises(BadRun, match="the disk is full"):
        predict(again, plan, tmp_path, seed=1)
    assert len(begun) >= 4
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt(), OSError(28, "No space left on device")], ids=["^C", "full disk"]
)
def test_an_error_among_the_drawn_runs_names_the_run_that_is_complete(room: Path, error: BaseException) -> None:
    def progress(state: dict[str, object]) -> None:
        if state["phase"] == "drawing":
            raise error

    out = room / f"not-predicted-{type(error).__name__}"
    with pytest.raises(type(error)) as raised:
        loadgo.run(
            room / "two-commands.toml", on=str(room / "fitted.toml"), users=2, draws=5, out=out, progress=progress
        )
    note = f"the run of the machine as fitted is complete, without a prediction: see {out}"
    assert raised.value.__notes__ == [note]
    assert str(loadgo.report(out)).startswith("2 users; every line was answered")


def test_a_user_of_python_hears_how_far_the_drawing_has_come(room: Path) -> None:
    heard: list[dict[str, object]] = []
    script, file = room / "two-commands.toml", str(room / "fitted.toml")
    loadgo.run(script, on=file, users=2, draws=5, out=room / "heard", progress=heard.append)
    drawing_told = [one for one in heard if one["phase"] == "drawing"]
    assert [one["runs"] for one in drawing_told] == list(range(1, 10))
    assert {one["runs_expected"] for one in drawing_told} == {9}
