"""Runs compared: on simulated machines, where what differs is known; and records that are not whole."""

from dataclasses import replace
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.comparison.compare import Comparison, compare, of_sides, side_of, thresholds_of
from loadgo.comparison.document import comparison_document
from loadgo.comparison.headline import conditions_sentence
from loadgo.comparison.rows import matched
from loadgo.comparison.side import Side, side_of_runs
from loadgo.measures.record_checks import checks_of
from loadgo.measures.summary import summarize
from loadgo.records.conditions import DifferingCondition
from loadgo.records.extrapolation import with_missing
from loadgo.records.tables import Tables, tables
from loadgo.reporting.document import report_document
from loadgo.reporting.words import fine_print
from support.small_machine import laid

SEEDS = range(1, 21)
"""Seeds of A; those of B are others."""
OTHER = 1000


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("compared")
    laid(folder)
    return folder


def ran(room: Path, seed: int, *changes: str, users: int = 8, passes: int = 3) -> Path:
    """A run of the small script on the small machine, which is made only once."""
    name = f"{seed}-{users}-{passes}-{'-'.join(changes)}".replace("/", "_").replace("=", "_")
    folder = room / name
    if not folder.exists():
        machine = str(room / "small-machine.toml")
        loadgo.run(room / "small.toml", on=machine, users=users, passes=passes, seed=seed, set=changes, out=folder)
    return folder


@pytest.fixture(scope="module")
def faster(room: Path) -> Comparison:
    """The same seed on a machine 1.1 times as fast."""
    return compare(ran(room, 1, users=20), ran(room, 1, "processors.speed=1.1", users=20))


def test_a_run_compared_with_itself_differs_in_nothing(room: Path) -> None:
    comparison = compare(ran(room, 1), ran(room, 1))
    assert comparison.conditions == ()
    known = [one for row in comparison.rows.rows for one in row.measures.values() if one.change is not None]
    assert known
    assert {one.change for one in known} == {0.0}
    assert {one.verdict for one in known} <= {"no difference"}
    assert all(part.change == 0 for part in comparison.parts.parts)
    assert all(chain.ratio == 1 for chain in comparison.chains)


@pytest.mark.statistical
def test_two_runs_that_differ_by_chance_are_called_different_no_more_often_than_is_said(room: Path) -> None:
    """At 5 %, more than 4 of 20 pairs are called different in one of four hundred such tests."""
    called: dict[str, int] = {}
    for seed in SEEDS:
        a, b = side_of(ran(room, seed, passes=8)), side_of(ran(room, seed + OTHER, passes=8))
        for name, told in matched(a, b).whole.items():
            called[name] = called.get(name, 0) + (told.verdict in ("better", "worse"))
    assert {name for name, count in called.items() if count > 4} == set(), called


def test_a_faster_processor_is_found_and_its_factor_is_the_work(faster: Comparison) -> None:
    assert [(one.name, one.before, one.after) for one in faster.conditions] == [
        ("machine processors.speed", "1", "1.1")
    ]
    cpu, programs = faster.rows.whole["cpu"], faster.rows.whole["programs"]
    assert (cpu.verdict, faster.rows.paired) == ("better", True)
    assert programs.relative == pytest.approx(1 / 1.1 - 1, abs=1e-6)
    elapsed = faster.chains[0]
    assert {link.name: link.factor for link in elapsed.links}["work"] == pytest.approx(1.1, abs=1e-6)


def test_swapping_the_sides_inverts_everything(room: Path, faster: Comparison) -> None:
    back = compare(ran(room, 1, "processors.speed=1.1", users=20), ran(room, 1, users=20))
    for there, here in zip(faster.chains, back.chains, strict=True):
        assert there.ratio * here.ratio == pytest.approx(1, rel=1e-12)
    for one, other in zip(faster.parts.parts, back.parts.parts, strict=True):
        assert one.change == pytest.approx(-other.change)
        assert (one.by_count is None) == (other.by_count is None)
        if one.by_count is not None and other.by_count is not None:
            assert one.by_count == pytest.approx(-other.by_count, abs=1e-3)
    assert back.rows.whole["cpu"].verdict == "worse"
    assert back.rows.whole["cpu"].change == pytest.approx(-(faster.rows.whole["cpu"].change or 0))


def test_rows_add_up_to_their_sub_totals_and_these_to_the_whole(faster: Comparison) -> None:
    for measure in ("cpu", "response", "page"):
        values = {kind: [] for kind in ("row", "subtotal", "total")}  # type: ignore[var-annotated]
        for row in faster.rows.rows:
            values[row.kind].append(row.measures[measure].after)
        assert sum(values["row"]) == pytest.approx(sum(values["subtotal"]), rel=1e-12)
        assert sum(values["row"]) == pytest.approx(sum(values["total"]), rel=1e-12)


def test_parts_of_the_processor_time_add_up_to_the_busy_time(faster: Comparison) -> None:
    busy = [part for part in faster.parts.parts if part.busy]
    assert faster.parts.busy is not None
    assert sum(part.change for part in busy) == pytest.approx(faster.parts.busy.change, rel=1e-9)
    for part in busy:
        if part.by_count is not None and part.by_each is not None:
            assert part.by_count + part.by_each == pytest.approx(part.change, rel=1e-9)


def test_all_checks_of_a_simulated_run_hold(faster: Comparison) -> None:
    assert {check.verdict for _, check in faster.checks} <= {"holds", "cannot be told"}
    assert sum(check.verdict == "holds" for _, check in faster.checks) >= 12


@pytest.mark.long
def test_a_change_and_its_undoing_are_judged_by_a_threshold(room: Path) -> None:
    a, slow = ran(room, 1, users=20), ran(room, 1, "processors.speed=0.8", users=20)
    assert compare(a, slow, worse=["cpu=5%"]).bad
    assert not compare(a, slow, worse=["cpu=50%"]).bad
    assert not compare(slow, a, worse=["5%"]).bad
    with pytest.raises(ValueError, match="there is no measure 'speed'"):
        thresholds_of("speed=5%")


@pytest.mark.long
def test_a_prediction_of_the_same_machine_is_inside_and_of_a_slow_one_outside(room: Path) -> None:
    a = ran(room, 3, users=20, passes=12)
    assert compare(a, ran(room, 4, users=20, passes=12), judge=True, within="40%").predicted
    slow = compare(a, ran(room, 4, "processors.speed=0.5", users=20, passes=12), judge=True, within="40%")
    assert {one.measure: one.judgement for one in slow.judged}["response"] == "outside"


@pytest.mark.long
def test_of_five_runs_a_side_whole_runs_are_drawn_and_paired_by_seed(room: Path) -> None:
    a = [ran(room, seed) for seed in range(1, 7)]
    b = [ran(room, seed, "processors.speed=1.1") for seed in range(1, 7)]
    comparison = compare(a, b)
    assert (comparison.rows.unit, comparison.rows.units, comparison.rows.paired) == ("run", (6, 6), True)
    assert comparison.rows.whole["cpu"].verdict == "better"
    interval = comparison.chains[0].interval
    assert interval is not None
    assert interval.holds(comparison.chains[0].ratio)


def test_other_scripts_are_compared_by_the_commands_they_share(room: Path) -> None:
    other = room / "other.toml"
    other.write_text('name = "other"\npasses = 3\nthink = "exponential(3s)"\nlines = ["edit a", "sort b"]\n')
    if not (room / "other").exists():
        loadgo.run(other, on=str(room / "small-machine.toml"), users=8, seed=1, out=room / "other")
    comparison = compare(ran(room, 1), room / "other")
    assert (comparison.rows.by, comparison.rows.paired) == ("command", False)
    assert [row.label for row in comparison.rows.rows if row.kind == "row"] == ["edit"]
    assert any("sort" in text for text in comparison.notes)
    with pytest.raises(ValueError, match="by line: the two sides have not done the same lines"):
        compare(ran(room, 1), room / "other", by="line")


def without_user_7(run: Tables) -> Tables:
    """The run as if user 7 had died after six of nine lines."""
    rows = run.interactions.sort("sent_ns")
    seen = rows.with_columns(place=pl.int_range(pl.len()).over("user"))
    kept = seen.filter((pl.col("user") != 7) | (pl.col("place") < 6)).drop("place")
    died = pl.when(pl.col("user") == 7).then(pl.lit("died")).otherwise(pl.col("outcome").cast(pl.String))
    sessions = run.sessions.with_columns(outcome=died.cast(run.sessions.schema["outcome"]))
    return replace(run, interactions=kept, sessions=sessions)


@pytest.fixture
def dead(room: Path) -> Side:
    run = without_user_7(tables(ran(room, 1)))
    return replace(side_of_runs("dead", (run,), "all", "default", {}), lines=side_of(ran(room, 1)).lines)


def test_the_lines_of_a_user_who_died_are_what_they_took_the_others_in_the_users_own_proportion(room: Path) -> None:
    run = without_user_7(tables(ran(room, 1)))
    rows, (found,) = with_missing(run)
    assert (found.user, found.done, found.missing) == (7, 6, 3)
    added = rows.filter(pl.col("outcome").cast(pl.String) == "extrapolated")
    assert added.select("user", "pass", "line").rows() == [(7, 3, 1), (7, 3, 2), (7, 3, 3)]
    others = run.interactions.filter((pl.col("user") != 7) & (pl.col("pass") == 3)).group_by("line")
    means = dict(others.agg(pl.col("cpu_user_ns").cast(pl.Float64).mean()).rows())
    ratios = [cpu / means[line] for line, cpu in added.select("line", "cpu_user_ns").rows()]
    assert ratios == pytest.approx([ratios[0]] * 3, rel=1e-6)


def test_what_is_extrapolated_is_marked_everywhere(room: Path, dead: Side) -> None:
    comparison = of_sides(side_of(ran(room, 1)), dead)
    page = comparison_document(comparison)
    assert any("user 7 died 67 % through the script" in warning for warning in page.warnings)
    assert "dead (in part extrapolated), " in page.about[1]
    text = comparison.report(width=120)
    marked = [line for line in text.splitlines() if "†" in line and "sub-total, pass 3" in line]
    assert marked
    assert not [line for line in text.splitlines() if "†" in line and "sub-total, pass 1" in line]
    assert "†: with interactions that are extrapolated for a user who died." in text
    alone = of_sides(side_of(ran(room, 1)), side_of(ran(room, 1)))
    assert "†" not in alone.report(width=120)


def test_records_that_contradict_each_other_are_found(room: Path) -> None:
    run = tables(ran(room, 1))
    stretch = side_of(ran(room, 1), "all").stretches[0]
    thousandfold = run.interactions.with_columns(pl.col("cpu_user_ns") * 1000)
    broken = checks_of(replace(run, interactions=thousandfold), stretch)
    names = {check.name for check in broken if check.verdict == "broken"}
    assert {
        "interactions took no more than the busy time around them",
        "processor time fits into the response times",
    } <= names
    halved = replace(run, time=run.time.filter(pl.col("category").cast(pl.String) != "user"))
    assert checks_of(halved, stretch)[0].verdict == "broken"


def test_a_run_little_longer_than_a_span_is_held_against_all_spans_that_its_interactions_touch(room: Path) -> None:
    run = tables(ran(room, 1))
    stretch = side_of(ran(room, 1), "all").stretches[0]
    long_ns = int(0.4 * stretch.span_ns)
    at = pl.col("at_ns").cast(pl.Int64)
    later = (at - stretch.start_ns - long_ns // 2 + long_ns - 1) // long_ns
    coarse = run.time.with_columns(at_ns=later * long_ns + stretch.start_ns + long_ns // 2)
    by = ["at_ns", "processor", "category"]
    coarse = coarse.group_by(by).agg(pl.col("time_ns").sum()).with_columns(span_ns=pl.lit(long_ns))
    coarse = coarse.select(pl.col(name).cast(kind) for name, kind in run.time.schema.items())
    told = {check.name: check for check in checks_of(replace(run, time=coarse), stretch)}
    assert told["interactions took no more than the busy time around them"].verdict == "holds", told
    thousandfold = run.interactions.with_columns(pl.col("cpu_user_ns") * 1000)
    spoilt = checks_of(replace(run, time=coarse, interactions=thousandfold), stretch)
    assert "interactions took no more than the busy time around them" in {
        check.name for check in spoilt if check.verdict == "broken"
    }


def test_interactions_are_not_held_against_meters_that_saw_only_the_first_of_them(room: Path) -> None:
    """As where a run is killed before the meters have told of their second span."""
    run = tables(ran(room, 1))
    stretch = side_of(ran(room, 1), "all").stretches[0]
    first = run.time.filter(pl.col("at_ns") == pl.col("at_ns").min())
    told = {check.name: check for check in checks_of(replace(run, time=first), stretch)}
    assert told["interactions took no more than the busy time around them"].verdict == "cannot be told", told


def test_what_a_killed_run_has_lost_is_not_known(room: Path) -> None:
    run = tables(ran(room, 1))
    stretch = side_of(ran(room, 1), "all").stretches[0]
    killed = replace(run, conditions={**run.conditions, "finished": False, "outcome": ""})
    verdicts = [{check.name: check.verdict for check in checks_of(one, stretch)} for one in (run, killed)]
    assert [checks["nothing is lost"] for checks in verdicts] == ["holds", "cannot be told"]
    summary = summarize(killed)
    assert "the last second before the run was cut off may not have been written" in dict(fine_print(summary))["Lost"]
    assert "no record lost" not in report_document(summary).trust


def test_an_empty_run_and_one_interaction_get_an_answer_in_words(room: Path) -> None:
    whole = side_of(ran(room, 1))
    nothing = replace(whole, rows=whole.rows.clear(), accounts=())
    comparison = of_sides(whole, nothing)
    assert comparison_document(comparison).answer == "Nothing can be compared: the two sides have no figure in common."
    single = replace(whole, rows=whole.rows.head(1))
    compared = of_sides(single, single)
    assert compared.rows.whole["cpu"].interval is None
    assert compared.report(width=80)


@pytest.mark.long
def test_sides_of_different_parts_of_a_run_are_said_to_be_so_at_the_top(room: Path) -> None:
    timed = room / "timed"
    loadgo.run(room / "small.toml", on=str(room / "small-machine.toml"), users=8, duration="10min", seed=1, out=timed)
    answers = comparison_document(compare(timed, ran(room, 1))).further_answers
    assert answers[0] == (
        "The sides are not the same part of a run: the figures are of the steady part of the run in A, and of the "
        "whole run in B. `--phases all` compares both as a whole."
    )
    for document in (compare(timed, ran(room, 1), phases="all"), compare(ran(room, 1), ran(room, 2))):
        assert not any("not the same part" in answer for answer in comparison_document(document).further_answers)


def test_the_length_of_a_load_has_its_unit() -> None:
    length = DifferingCondition("duration_s", "40", "600")
    assert conditions_sentence([length]) == "What differs: duration (40.0 s in A, 10.0 min in B)."
    assert DifferingCondition("duration_s", "", "40").shown_values == ("none", "40.0 s")


def test_what_a_run_did_not_find_out_is_not_called_none() -> None:
    """A script without `cc` has no version of it in its run: the host may have any."""
    version = DifferingCondition("versions.cc", "", "gcc 12.2.0")
    assert conditions_sentence([version]) == "What differs: versions.cc (not recorded in A, gcc 12.2.0 in B)."
