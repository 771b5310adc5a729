"""Live runs differ by themselves: no verdict from one run a side unless it is known how much they do."""

import json
import re
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from loadgo.comparison.compare import compare, of_sides, side_of, thresholds_of
from loadgo.comparison.document import comparison_document, comparison_json
from loadgo.comparison.drift_words import experiment_command
from loadgo.comparison.judgement import judged_of
from loadgo.comparison.judgement_words import why_not_judged
from loadgo.comparison.like_runs import like_runs_of
from loadgo.comparison.pictures import comparison_pictures
from loadgo.errors import BadArgument
from loadgo.stats.resample import Interval
from support.live_sides import PASSES, USERS, response, side

LIVE_RUN = Path(__file__).parents[2] / "runs/reported/live-exact"


def test_one_live_run_a_side_is_called_neither_better_nor_worse() -> None:
    comparison = of_sides(side(1, [1.0]), side(2, [1.6]))
    difference = comparison.rows.whole["response"]
    assert difference.interval is not None
    assert difference.interval.low > 0
    assert (difference.verdict, difference.drift) == ("cannot tell", "not known")
    answer = comparison_document(comparison).answer
    assert answer.startswith("B against A, from one run a side: too few runs to judge response (+")
    assert " within the runs)" in answer
    assert not {"better", "worse"} & set(answer.replace(";", " ").split())


def test_simulated_runs_have_no_drift_and_keep_their_verdicts() -> None:
    comparison = of_sides(side(1, [1.0], kind="machine"), side(2, [1.6], kind="machine"))
    assert (response(comparison), comparison.rows.between.drift) == ("worse", "none")
    assert comparison_document(comparison).answer.startswith("B against A: response is worse (+")


def test_a_difference_within_the_scatter_of_the_run_itself_is_no_difference_only_where_drift_is_known() -> None:
    a, b = side(1, [1.0]), side(2, [1.0])
    assert response(of_sides(a, b)) == "cannot tell"
    assert response(of_sides(a, b, margin=0.2)) == "cannot tell"
    like = [side(3, [1.0, 1.01, 0.99, 1.0, 1.01, 0.99])]
    assert response(of_sides(a, b, margin=0.2, like_runs=like)) == "no difference"


def test_like_runs_that_differ_by_little_allow_a_verdict_and_those_that_differ_by_much_do_not() -> None:
    a, b = side(6, [1.0]), side(7, [1.6])
    steady = of_sides(a, b, like_runs=[side(1, [1.0, 1.02, 0.98, 1.01, 0.99, 1.0])])
    assert (response(steady), steady.rows.between.drift) == ("worse", "allowed")
    text = " ".join(steady.report(width=120, full=True).split())
    counted = "6 runs of this host with the script, users and conditions of A or of B"
    assert f"differ by themselves is known from {counted}: the intervals are" in text
    drifting = of_sides(a, b, like_runs=[side(1, [1.0, 1.6, 0.7, 1.3, 0.8, 1.1])])
    difference = drifting.rows.whole["response"]
    assert difference.verdict == "cannot tell"
    assert difference.within_runs is not None
    assert difference.interval is not None
    assert difference.interval.low < 0 < difference.within_runs.low
    assert difference.interval.high > 2 * difference.within_runs.high
    assert f"{counted} differed by as much among themselves." in " ".join(comparison_document(drifting).warnings)


def test_too_few_like_runs_allow_no_verdict_and_the_advice_names_how_many_it_takes() -> None:
    comparison = of_sides(side(6, [1.0]), side(7, [1.6]), like_runs=[side(1, [1.0, 1.01, 0.99])])
    assert response(comparison) == "cannot tell"
    assert any("give 3 runs a side, or 5 runs" in text for text in comparison_document(comparison).warnings)


def test_the_scatter_of_three_runs_a_side_decides() -> None:
    alike = of_sides(side(1, [1.0, 1.3, 0.8]), side(4, [1.4, 1.8, 1.1]))
    assert (response(alike), alike.rows.between.drift) == ("cannot tell", "allowed")
    steady = of_sides(side(1, [1.0, 1.02, 0.99]), side(4, [1.4, 1.42, 1.41]))
    assert response(steady) == "worse"


def test_a_change_of_the_neighbours_that_no_like_run_had_allows_no_verdict() -> None:
    like = side(1, [1.0, 1.02, 0.98, 1.01, 0.99, 1.0], others=[0.01, 0.02, 0.01, 0.02, 0.01, 0.0])
    comparison = of_sides(side(6, [1.0], others=[0.01]), side(7, [1.6], others=[0.4]), like_runs=[like])
    assert response(comparison) == "cannot tell"
    warnings = " ".join(comparison_document(comparison).warnings)
    assert "Other programs had 1.0 % of the processors' time in s and 40.0 % in s." in warnings
    assert "share of the processors changed more between A and B than among the 6 runs like them" in warnings
    met = replace(like)
    met.__dict__["others_shares"] = (0.01, 0.4, 0.2, 0.0, 0.3, 0.1)
    met_by_like_runs = of_sides(side(6, [1.0], others=[0.01]), side(7, [1.6], others=[0.4]), like_runs=[met])
    assert response(met_by_like_runs) == "worse"


@pytest.mark.parametrize("runs", [3, 5])
def test_neighbours_in_all_runs_of_one_side_allow_no_verdict(runs: int) -> None:
    steady = [1.0, 1.02, 0.99, 1.01, 1.0][:runs]
    slower = [1.6 * factor for factor in steady]
    quiet, busy = [0.02, 0.3, 0.1, 0.2, 0.05][:runs], [0.32, 0.5, 0.4, 0.4, 0.5][:runs]
    comparison = of_sides(side(1, steady, others=quiet), side(6, slower, others=busy))
    assert response(comparison) == "cannot tell"
    assert "the neighbours' share of the processors was larger" in comparison.rows.between.reason
    mixed = of_sides(side(1, steady, others=quiet), side(6, slower, others=[0.1, *busy[1:]]))
    assert response(mixed) == "worse"


def test_a_like_run_without_the_figure_is_left_out_of_its_scatter() -> None:
    like = side(1, [1.0, 1.02, 0.98, 1.01, 0.99, 1.0])
    lost = replace(like, rows=like.rows.filter(pl.col("run") != 3))
    comparison = of_sides(side(8, [1.0]), side(9, [1.6]), like_runs=[lost])
    assert response(comparison) == "worse"


def test_a_like_run_with_a_figure_of_0_is_no_run_without_the_figure() -> None:
    like = side(1, [1.0, 1.02, 0.98, 1.01, 0.99, 1.0])
    made, known = (side(8, [1.0]), side(9, [1.6]), like), pl.col("response")
    a, b, like = (replace(one, rows=one.rows.with_columns(known.alias("paging wait"))) for one in made)
    zero = pl.when(pl.col("run") == 3).then(0.0).otherwise(known)
    without = replace(like, rows=like.rows.with_columns(zero.alias("paging wait")))
    assert of_sides(a, b, like_runs=[like]).rows.whole["paging wait"].verdict == "worse"
    assert of_sides(a, b, like_runs=[without]).rows.whole["paging wait"].verdict == "cannot tell"
    assert response(of_sides(a, b, like_runs=[without])) == "worse"


def test_where_whole_runs_are_drawn_it_takes_more_runs_and_not_longer_ones() -> None:
    comparison = of_sides(side(1, [1.0, 1.1, 0.9, 1.05, 0.95]), side(6, [1.0, 0.9, 1.1, 0.95, 1.05]))
    assert (response(comparison), comparison.rows.unit) == ("cannot tell", "run")
    assert any("times as many runs would tell." in text for text in comparison_document(comparison).further_answers)


def test_an_interval_that_drift_makes_wide_is_not_narrowed_by_longer_runs() -> None:
    a, b = side(6, [1.0]), side(7, [1.0])
    drifting = of_sides(a, b, like_runs=[side(1, [1.0, 1.1, 0.9, 1.1, 0.9, 1.0])], margin=0.2)
    difference = drifting.rows.whole["response"]
    assert (difference.verdict, difference.cannot_tell_by) == ("cannot tell", "width")
    headline = " ".join(comparison_document(drifting).further_answers)
    assert "The interval of response includes 0 and reaches beyond the margin of 20 %. To tell, " in headline
    assert re.search(r"To tell, run A and B in turn, about \d+ times each: `loadgo ab", headline)
    assert "times as many interactions" not in headline


def test_like_runs_of_a_few_minutes_do_not_stand_for_a_day() -> None:
    like = side(1, [1.0, 1.02, 0.98, 1.01, 0.99, 1.0])
    comparison = of_sides(side(6, [1.0]), side(6 + 24 * 60, [1.6]), like_runs=[like])
    assert response(comparison) == "cannot tell"
    assert "were made in a shorter time than lies between A and B" in comparison.rows.between.reason


def test_the_time_between_two_sides_is_that_of_their_mean_starts() -> None:
    """Three runs a side last two minutes from first to last start; the sides' means lie 3 or 10 minutes apart."""
    steady = [1.0, 1.02, 0.99]
    near, far = (of_sides(side(1, steady), side(minute, [1.6 * one for one in steady])) for minute in (4, 11))
    assert near.rows.between.reason == ""
    assert "were made in a shorter time than lies between A and B" in far.rows.between.reason


def test_draws_that_like_runs_do_not_vary_are_added_to_their_scatter() -> None:
    like = side(1, [1.0, 1.1, 0.9, 1.05, 0.95, 1.0])
    a, b = side(6, [1.0]), side(7, [1.6])
    other_seed = replace(b, rows=b.rows.with_columns(seed=pl.lit(2, pl.Int64)))
    same, others = (of_sides(a, one, like_runs=[like]).rows.whole["response"].interval for one in (b, other_seed))
    assert same is not None
    assert others is not None
    assert others.low < same.low
    assert others.high > same.high


def test_sides_with_different_seeds_are_told_to_take_the_same() -> None:
    a, b = side(1, [1.0]), side(2, [1.0])
    other_seed = replace(b, rows=b.rows.with_columns(seed=pl.lit(2, pl.Int64)))
    advice = "Run both sides with the same --seed."
    assert advice not in of_sides(a, b).report(width=120, full=True)
    assert of_sides(a, b).rows.paired
    assert advice in " ".join(of_sides(a, other_seed).report(width=120, full=True).split())
    assert not of_sides(a, other_seed).rows.paired


def test_the_advice_is_an_experiment_with_the_number_of_pairs() -> None:
    comparison = of_sides(side(1, [1.0]), side(2, [1.6]))
    (warning,) = comparison_document(comparison).warnings
    assert warning.endswith(
        "To tell, run A and B in turn, at least 4 times each: "
        "`loadgo ab x.toml --users 12 --for 10s --before-a COMMAND --before-b COMMAND`, where COMMAND sets up A or B"
    )
    document = json.loads(comparison_json(comparison))
    assert document["between_runs"] == {
        "drift": "not known",
        "like_runs": 0,
        "degrees": 0,
        "reason": "give 3 runs a side, or 5 runs that are like those of one side in its folder",
        "pairs_needed": 4,
        "command": "loadgo ab x.toml --users 12 --for 10s --before-a COMMAND --before-b COMMAND",
    }
    assert document["whole"]["response"]["verdict"] == "cannot tell"
    assert document["whole"]["response"]["drift"] == "not known"


def test_the_advice_repeats_the_load_and_names_enough_pairs() -> None:
    a, b = side(1, [1.0]), side(2, [1.6])
    conditions = [one.tables[0].conditions for one in (a, b)]
    for known in conditions:
        known["command"] = ["loadgo", "run", "x.toml", "--users", "12", "--think", "exponential(1s)"]
    advised = ["x.toml", "--users", "12", "--think", "exponential(1s)", "--for", "10s"]
    assert shlex.split(experiment_command(a, b, 60))[2:9] == advised
    assert "--pairs 60" in experiment_command(a, b, 60)
    for known in conditions:
        del known["command"]
        known["load"]["think"] = "uniform(1s, 2s)"
    assert "--think 'uniform(1s, 2s)'" in experiment_command(a, b, 60)
    assert "--pairs" not in experiment_command(a, b, 30)


def test_the_advice_repeats_options_that_are_joined_with_their_values_and_long_loads() -> None:
    a, b = side(1, [1.0]), side(2, [1.6])
    for known in (a.tables[0].conditions, b.tables[0].conditions):
        known["command"] = ["loadgo", "run", "x.toml", "--users=12", "--think=exponential(1s)"]
        known["load"]["duration_s"] = 1_234_567.0
    advised = ["x.toml", "--users", "12", "--think", "exponential(1s)", "--for", "1234567s"]
    assert shlex.split(experiment_command(a, b, 60))[2:9] == advised


def test_no_experiment_is_advised_where_one_side_is_simulated() -> None:
    comparison = of_sides(side(1, [1.0], kind="machine"), side(2, [1.6]))
    page = " ".join(comparison.report(width=120).split())
    assert "loadgo ab" not in page
    assert "More runs of the host would tell: 3 on its side, or 5 with its script, users and conditions" in page


def test_a_prediction_is_outside_only_if_drift_cannot_be_the_reason() -> None:
    machine, host = side(1, [1.0], kind="machine"), side(2, [1.22])
    near = {judged.measure: judged for judged in of_sides(machine, host, judge=True).judged}["response"]
    assert near.interval is not None
    assert not near.interval.holds(0.0)
    assert near.judgement == "too wide to judge"
    assert "how much runs of this host differ by themselves is not known" in why_not_judged((near,))[0]
    far = {judged.measure: judged for judged in of_sides(machine, side(2, [2.0]), judge=True).judged}["response"]
    assert far.judgement == "outside"


def test_a_judgement_with_the_doubt_of_a_fit_keeps_the_allowance_for_drift() -> None:
    like = side(1, [1.0, 1.6, 0.7, 1.3, 0.8, 1.1])
    whole = of_sides(side(6, [1.0], kind="machine"), side(7, [1.3]), like_runs=[like]).rows.whole
    (plain,) = judged_of({"response": whole["response"]}, {})
    (doubted,) = judged_of({"response": whole["response"]}, {"response": Interval(0.99, 1.01)})
    assert plain.interval is not None
    assert doubted.interval is not None
    assert doubted.interval.low == pytest.approx(plain.interval.low, rel=0.15)
    assert doubted.interval.high > 0.85 * plain.interval.high
    assert doubted.judgement == plain.judgement == "too wide to judge"


def test_a_threshold_that_may_be_passed_by_drift_cannot_be_decided() -> None:
    a, b = side(1, [1.0]), side(2, [1.6])
    comparison = of_sides(a, b, thresholds=thresholds_of("response=5%"))
    assert ([finding.failed for finding in comparison.findings], comparison.bad) == ([None], True)
    assert "whether runs differ by as much without a change cannot be told" in comparison.findings[0].text
    assert not of_sides(a, b, thresholds=thresholds_of("response=100%")).bad


def copies(folder: Path, count: int, **changes: str) -> list[Path]:
    """Copies of a recorded live run, a minute apart, with these texts of their `run.toml` replaced."""
    folders = []
    for number in range(1, count + 1):
        copy = folder / f"{changes.get('prefix', '')}{number:03}{changes.get('suffix', '')}"
        shutil.copytree(LIVE_RUN, copy)
        text = (copy / "run.toml").read_text()
        lines = [
            f"started = 2026-11-21T02:{number:02}:00Z" if line.startswith("started =") else line
            for line in text.splitlines()
        ]
        changed = "\n".join(lines).replace(changes.get("old", "\0"), changes.get("new", ""))
        (copy / "run.toml").write_text(changed)
        folders.append(copy)
    return folders


def test_like_runs_are_those_beside_a_run_with_its_script_users_and_conditions(tmp_path: Path) -> None:
    runs = copies(tmp_path, 7, old="seed = ", new="seed = 1")
    copies(tmp_path, 2, prefix="more-users-", old="users = 4", new="users = 3")
    copies(tmp_path, 2, prefix="stopped-", old='outcome = "done"', new='outcome = "stopped"')
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.toml").write_text("[")
    a, b = (side_of(run) for run in runs[:2])
    (group,) = like_runs_of(a, b, "default")
    assert group.starts_s == side_of(runs[2:]).starts_s
    comparison = compare(*runs[:2])
    assert (comparison.rows.between.drift, comparison.rows.between.like_runs) == ("allowed", 5)


def test_like_runs_of_equal_sides_are_one_group_that_contains_the_drift_between_them(tmp_path: Path) -> None:
    runs = copies(tmp_path, 40)
    (group,) = like_runs_of(side_of(runs[0]), side_of(runs[-1]), "default")
    minutes = sorted(round(start_s / 60) for start_s in group.starts_s)
    first = round(side_of(runs[0]).starts_s[0] / 60)
    assert [minute - first for minute in minutes] == [*range(1, 13), *range(27, 39)]


def test_a_side_that_ended_early_has_the_like_runs_of_the_other_in_one_group(tmp_path: Path) -> None:
    runs = copies(tmp_path, 4)
    (stopped,) = copies(tmp_path, 1, prefix="stopped-", old='outcome = "done"', new='outcome = "stopped"')
    a, b = side_of(runs[0]), side_of(stopped)
    for sides in ((a, b), (b, a)):
        (group,) = like_runs_of(*sides, "default")
        assert group.run_count == 3
        assert of_sides(*sides, like_runs=like_runs_of(*sides, "default")).rows.between.drift == "not known"


def test_in_the_folder_of_an_experiment_only_runs_of_the_same_variant_are_like(tmp_path: Path) -> None:
    runs_a = copies(tmp_path, 4, suffix="-a")
    runs_b = copies(tmp_path, 4, suffix="-b")
    (tmp_path / "experiment.json").write_text("{}")
    groups = like_runs_of(side_of(runs_a[0]), side_of(runs_b[0]), "default")
    assert [group.run_count for group in groups] == [3, 3]


def test_no_end_of_an_interval_and_no_axis_is_below_minus_100_percent() -> None:
    a, b = side(1, [1.0]), side(2, [1.0])
    spread = np.random.default_rng(1).lognormal(0, 3, USERS * PASSES)
    wide = [replace(one, rows=one.rows.with_columns(response=pl.col("response") * spread)) for one in (a, b)]
    comparison = of_sides(wide[0], wide[1])
    known = [one for row in comparison.rows.rows for one in row.measures.values() if one.interval is not None]
    assert any(one.interval.low < -0.5 * one.before for one in known if one.interval and one.before)
    assert all(one.interval.low >= -one.before for one in known if one.interval and one.before)
    axis, legend = comparison_pictures(comparison)[0].lines(100)[-2:]
    assert "no change" in legend
    assert ("+100 %" in axis, "−100" in axis) == (True, False)


@pytest.mark.parametrize("width", [80, 120])
def test_a_page_without_a_verdict_is_no_wider_than_asked(width: int) -> None:
    page = of_sides(side(1, [1.0]), side(2, [1.6])).report(width=width)
    assert max(map(len, page.splitlines())) <= width


def test_runs_without_an_interval_are_said_to_be_too_short() -> None:
    kept, short = side(1, [1.0]), side(2, [1.6])
    short.__dict__["rows"] = short.rows.filter((pl.col("user") == 1) & (pl.col("pass") == 1))
    kept.__dict__["rows"] = kept.rows.filter((pl.col("user") == 1) & (pl.col("pass") == 1))
    comparison = of_sides(kept, short)
    assert comparison.rows.whole["response"].interval is None
    answer = comparison_document(comparison).answer
    assert answer.endswith("The runs are too short for an interval: chance alone may explain the change.")
    assert "too short" not in comparison_document(of_sides(side(1, [1.0]), side(2, [1.6]))).answer


def test_a_row_with_a_single_answer_has_no_interval() -> None:
    a, b = side(1, [1.0]), side(2, [1.5])
    rare = b.rows.with_columns(command=pl.when(pl.int_range(pl.len()) == 5).then(pl.lit("rare")).otherwise("command"))
    often = a.rows.with_columns(
        command=pl.when(pl.int_range(pl.len()) % 9 == 5).then(pl.lit("rare")).otherwise("command")
    )
    comparison = of_sides(replace(a, rows=often), replace(b, rows=rare), by="command")
    (row,) = [row for row in comparison.rows.rows if row.label == "rare"]
    assert row.counts == (27, 1)
    assert row.measures["response"].interval is None
    assert row.measures["response"].verdict in ("higher", "lower")


def test_a_side_has_each_run_once(tmp_path: Path) -> None:
    first, second = copies(tmp_path, 2)
    copy = tmp_path / "copy"
    shutil.copytree(first, copy)
    for same in (f"{first},{first}", f"{first},{copy}"):
        with pytest.raises(BadArgument, match="are the same run: a side has each run once"):
            compare(same, second)
    assert side_of(f"{first},{second}").run_count == 2
