"""The share of other programs in a host's processor time, and the warnings about it."""

import dataclasses

import polars as pl
import pytest
from loadgo.comparison.compare import of_sides
from loadgo.comparison.document import comparison_document
from loadgo.comparison.side import side_of_runs
from loadgo.measures.other_work import OtherWork, judged_after, judged_together
from loadgo.measures.summary import summarize
from loadgo.notation.figures import duration
from loadgo.records.tables import COLUMNS_BY_TABLE, Tables, with_columns
from loadgo.reporting.words import answer, fine_print, warnings
from support.synthetic import closed_loop


def beside(others: float, category: str = "user") -> Tables:
    """A run whose users have a sixth of the host, while something else has this share of it."""
    run = closed_loop(10, 20)
    moved = (pl.col("span_ns") * others).cast(pl.Int64)
    name = pl.col("category").cast(pl.String)
    time = pl.when(name == category).then(pl.col("time_ns") + moved).otherwise(pl.col("time_ns").cast(pl.Int64))
    time = pl.when(name == "idle").then(pl.col("time_ns") - moved).otherwise(time)
    return dataclasses.replace(run, time=run.time.with_columns(time_ns=time.cast(pl.UInt64)))


def without_root(run: Tables) -> Tables:
    """The run as without root: the time of all users was not measured by itself."""
    return dataclasses.replace(run, processes=run.processes.filter(pl.col("who").cast(pl.String) != "users"))


def others_share(run: Tables) -> float:
    """The measured share."""
    total = summarize(run).total_time
    assert total is not None
    assert total.others_share is not None
    return total.others_share


def test_others_have_what_belongs_to_nobody_and_is_not_the_kernels_own() -> None:
    none = others_share(beside(0.0))
    assert none < 0.01
    assert others_share(beside(0.2)) == pytest.approx(none + 0.2, abs=0.001)
    assert others_share(beside(0.2, "softirq")) == pytest.approx(none, abs=0.001)


def test_the_report_warns_of_a_tenth_whatever_the_users_have() -> None:
    assert warnings(summarize(beside(0.08))) == []
    (warning,) = warnings(summarize(beside(0.12)))
    assert warning.startswith("The host was busy with other things: other programs used 12.6 % of its processors' time")


def test_a_comparison_names_the_side_that_was_busy() -> None:
    quiet, busy = (
        side_of_runs(name, (beside(others),), "steady", "default", {}) for name, others in (("a", 0.0), ("b", 0.2))
    )
    shown = comparison_document(of_sides(quiet, busy)).warnings
    assert [line[:67] for line in shown] == ["b: the host was busy with other things: other programs used 20.6 % "]


def test_a_run_near_the_bound_is_partly_busy() -> None:
    notes = dict(fine_print(summarize(beside(0.08))))
    assert notes["Neighbours"].startswith(
        "The host was partly busy with other things: other programs used 8.6 % of its processors' time"
    )
    assert "Neighbours" not in dict(fine_print(summarize(beside(0.03))))
    sides = [side_of_runs(name, (beside(0.07),), "steady", "default", {}) for name in "ab"]
    document = comparison_document(of_sides(*sides))
    assert document.warnings == ()
    assert sum("partly busy with other things: other programs used 7.6 %" in text for _, text in document.notes) == 2


def test_without_root_the_lines_stand_for_the_users() -> None:
    measured, assumed = (summarize(run).other_work for run in (beside(0.2), without_root(beside(0.2))))
    assert measured is not None
    assert assumed is not None
    assert not measured.at_most
    assert assumed.at_most
    assert assumed.share == pytest.approx(measured.share, abs=0.02)
    (warning,) = warnings(summarize(without_root(beside(0.2))))
    assert "busy with other things: other programs may have used up to 2" in warning
    stopped = dataclasses.replace(without_root(beside(0.2)), conditions=beside(0.2).conditions | {"outcome": "stopped"})
    assert summarize(stopped).other_work is None, "lines in progress have no row"


@pytest.mark.parametrize(
    ("share", "error", "level"),
    [
        (0.04, 0.0, "quiet"),
        (0.06, 0.0, "partly busy"),
        (0.12, 0.0, "busy"),
        (0.12, 0.03, "partly busy"),
        (0.47, 0.03, "busy"),
    ],
)
def test_a_share_is_a_warning_only_if_its_error_is_smaller_than_what_is_above_the_bound(
    share: float, error: float, level: str
) -> None:
    assert OtherWork(share, error).level == level


def far_run(others: float, *, usage: bool) -> Tables:
    """A run on another host, whose agent meters processes by name; `usage` says whether that of lines is known."""
    run = beside(others)
    owner = run.processes["who"].cast(pl.String)
    spans = run.time.group_by("at_ns", "span_ns").agg(cpu_ns=(pl.col("time_ns").sum() * others).cast(pl.UInt64))
    busy = spans.with_columns(who=pl.lit("cc1").cast(pl.Categorical))
    processes = pl.concat([run.processes.filter(~owner.is_in(["users", "driver"])), busy], how="diagonal_relaxed")
    interactions = run.interactions
    if not usage:
        interactions = interactions.with_columns(
            cpu_user_ns=pl.lit(None, pl.UInt64), cpu_system_ns=pl.lit(None, pl.UInt64)
        )
    system = {"kind": "host", "name": "ssh://far", "processors": 1}
    conditions = {**run.conditions, "system": {**run.conditions.get("system", {}), **system}}
    processes = with_columns(processes, COLUMNS_BY_TABLE["processes"])
    return dataclasses.replace(run, interactions=interactions, processes=processes, conditions=conditions)


def test_other_work_of_another_host_is_at_most_what_no_line_used() -> None:
    (warning,) = warnings(summarize(far_run(0.2, usage=True)))
    assert warning.startswith("The host was busy with other things: other programs may have used up to ")


def test_the_busy_programs_of_another_host_are_told_where_nobody_knows_whose_they_are() -> None:
    summary = summarize(far_run(0.2, usage=False))
    assert summary.other_work is None
    assert warnings(summary) == []
    (note,) = (text for label, text in fine_print(summary) if label == "Neighbours")
    assert note.startswith("The programs that used most of the processors' time of ssh://far: `cc1` 20.0 %.")
    assert not [label for label, _ in fine_print(summarize(far_run(0.05, usage=False))) if label == "Neighbours"]


def test_the_headline_says_in_which_time_the_processors_were_metered_before_the_meters_were_lost() -> None:
    run = far_run(0.2, usage=False)
    lost = pl.DataFrame({"at_ns": [0], "what": ["meters"], "count": [1], "reason": ["the agent was lost"]})
    ends = sorted(run.time["at_ns"].unique())
    first = [frame.filter(pl.col("at_ns") <= ends[len(ends) // 3]) for frame in (run.time, run.processes)]
    cut = dataclasses.replace(run, time=first[0], processes=first[1], lost=with_columns(lost, COLUMNS_BY_TABLE["lost"]))
    summary = summarize(cut)
    assert summary.total_time is not None
    span = duration(summary.total_time.span_ns)
    assert f" busy in the {span} until the meters were lost." in answer(summary)
    (coverage,) = (text for label, text in fine_print(summary) if label == "Coverage")
    assert f"cover the first {span} of the steady phase" in coverage
    assert coverage.endswith("then the meters were lost.")
    assert " until the meters were lost" not in answer(summarize(run))


@pytest.mark.parametrize(
    ("share", "error", "words"),
    [
        (0.126, 0.02, "12.6 % (± 2.0 %)"),
        (0.126, 0.001, "12.6 %"),
        (0.987, 0.454, "98.7 % (53.3 % to 100.0 %)"),
        (0.01, 0.03, "1.0 % (0.0 % to 4.0 %)"),
    ],
)
def test_the_error_of_other_work_stays_within_what_is_possible(share: float, error: float, words: str) -> None:
    assert OtherWork(share, error).in_words == words


def test_nearly_equal_shares_of_one_result_have_one_level() -> None:
    """By themselves 9.8 % is a note and 10.2 % a warning; beside it, 9.8 % and 8.1 % are one too, and 7.9 % is not."""
    shares = (0.098, 0.102, 0.081, 0.079, 0.045, 0.039)
    levels = [work.level for work in judged_together(map(OtherWork, shares)) if work is not None]
    assert levels == ["busy", "busy", "busy", "partly busy", "partly busy", "quiet"]
    assert OtherWork(0.098).level == "partly busy"
    assert [work and work.level for work in judged_together([OtherWork(0.098), None])] == ["partly busy", None]


def test_a_host_that_is_watched_becomes_busy_over_10_percent_and_stops_being_so_under_8() -> None:
    levels, work = [], None
    for share in (0.03, 0.048, 0.052, 0.048, 0.095, 0.102, 0.098, 0.085, 0.101, 0.079, 0.095, 0.041, 0.039, 0.045):
        work = judged_after(OtherWork(share), work)
        assert work is not None
        levels.append(work.level)
    partly, busy = "partly busy", "busy"
    assert levels == ["quiet", "quiet", *[partly] * 3, *[busy] * 4, *[partly] * 3, "quiet", "quiet"]
    assert judged_after(None, OtherWork(0.2)) is None
