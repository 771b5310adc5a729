"""The stretch of a report: the steady phase, and what is left out is counted."""

import dataclasses

import polars as pl
import pytest
from loadgo.measures.fail_if import evaluate
from loadgo.measures.fail_if_figures import parse_run_condition
from loadgo.measures.summary import summarize
from loadgo.records.phases import interactions_in, spans_in, stretch_of
from loadgo.records.tables import Tables
from loadgo.reporting.charts.over_time import over_time
from loadgo.reporting.words import answer
from support.synthetic import S, closed_loop, empty_run, frame, interaction, run_of


def test_only_the_steady_phase_counts_and_the_rest_is_counted_apart() -> None:
    run = closed_loop(10, 20)
    stretch = stretch_of(run)
    assert stretch.counted + stretch.warm_up + stretch.ramp_down == 200
    assert len(interactions_in(run.interactions, stretch)) == stretch.counted
    assert min(stretch.counted, stretch.warm_up, stretch.ramp_down) > 0
    began = dict(run.phases.select(pl.col("phase").cast(pl.String), "at_ns").rows())
    assert (stretch.start_ns, stretch.end_ns) == (began["steady"], began["ramp-down"])


def test_all_phases_count_on_request() -> None:
    stretch = stretch_of(closed_loop(10, 20), "all")
    assert (stretch.counted, stretch.warm_up, stretch.ramp_down) == (200, 0, 0)


def test_a_run_without_a_steady_phase_is_reported_whole_and_says_so() -> None:
    rows = [interaction(1, at, 1, phase="ramp-down") for at in (2, 4, 6)]
    stretch = stretch_of(run_of(rows))
    assert (stretch.name, stretch.counted) == ("all", 3)
    assert (stretch.start_ns, stretch.end_ns) == (2 * S, 7 * S)
    assert "No line was sent in the steady phase: the figures are of the whole run." in summarize(run_of(rows)).notes


def test_spans_count_that_the_meters_ended_soon_after_a_phase_began() -> None:
    stretch = dataclasses.replace(stretch_of(closed_loop(10, 20)), start_ns=10 * S, end_ns=13 * S)
    ends_s = [10.04, 11.04, 12.04, 13.04, 13.2]
    begins_s = [9.2, *ends_s[:-1]]
    spans = pl.DataFrame(
        {
            "at_ns": [round(end_s * S) for end_s in ends_s],
            "span_ns": [round((end_s - begin_s) * S) for begin_s, end_s in zip(begins_s, ends_s, strict=True)],
        }
    )
    counted = spans_in(spans, stretch)
    assert counted["at_ns"].to_list() == [round(end_s * S) for end_s in (11.04, 12.04, 13.04)]
    assert spans_in(spans[[0, -1]], stretch).equals(spans[[0, -1]]), "without a span in the stretch, all count"


def test_extrapolated_interactions_are_in_no_figure() -> None:
    rows = [interaction(1, at, 1) for at in (2, 4)] + [interaction(1, 6, 100, outcome="extrapolated")]
    summary = summarize(run_of(rows))
    assert summary.everything.response.count == 2
    assert summary.everything.response.max_ns == S
    assert any("1 interactions are extrapolated" in note for note in summary.notes)


def test_a_killed_run_ends_with_its_last_record() -> None:
    run = closed_loop(10, 20)
    killed = dataclasses.replace(
        run, phases=run.phases.filter(pl.col("phase").cast(pl.String).is_in(["warm-up", "steady"]))
    )
    assert stretch_of(killed).end_ns == run.interactions["ready_ns"].to_numpy().max()


def killed_after_two_lines(sampled_s: float) -> Tables:
    """Two lines of a user, 2.6 ms after the load was whole; killed after its last sample of the processors' time."""
    rows = [interaction(1, at, 0.001) for at in (1.2549, 1.2565)]
    run = run_of(rows, finished=False, outcome="")
    steady = {"at_ns": round(1.2549 * S), "phase": "steady"}
    sample = {"at_ns": round(sampled_s * S), "span_ns": S // 10, "processor": 0, "category": "idle", "time_ns": S // 10}
    return dataclasses.replace(run, phases=frame([steady], "phases"), time=frame([sample], "time"))


def test_a_killed_run_covers_the_time_until_its_last_sample() -> None:
    stretch = stretch_of(killed_after_two_lines(5.2549))
    assert (stretch.cut, stretch.end_ns) == (True, round(5.2549 * S))
    assert stretch.per_second == pytest.approx(0.5)
    assert "0.500 interactions a second" in answer(summarize(killed_after_two_lines(5.2549)))


def test_a_killed_run_that_covers_hardly_any_time_has_no_rate_and_says_why() -> None:
    """Two interactions in 2.6 ms are not 769 a second."""
    summary = summarize(killed_after_two_lines(1.3))
    assert summary.stretch.per_second is None
    assert "The throughput is not known: the records cover 45.1 ms of this." in answer(summary)
    assert evaluate(parse_run_condition("throughput < 1/s"), summary).holds is None


def test_one_interaction_has_no_rate_and_its_response_time_is_the_answer() -> None:
    """One interaction of 3.5 ms is not 286 a second."""
    run = run_of([interaction(1, 2, 0.0035)])
    summary = summarize(run)
    assert summary.stretch.per_second is None
    said = answer(summary)
    assert "the only response took 3.50 ms." in said
    assert "The throughput is not known from one interaction." in said
    assert over_time(summary, run).throughput.is_empty()


def test_a_stopped_run_whose_lines_were_in_progress_has_no_rate_of_a_moment() -> None:
    """One user was answered within 70 us; the lines of the others have no row."""
    run = dataclasses.replace(
        run_of([interaction(1, 1.2549, 0.00007)], finished=True, outcome="stopped"),
        phases=frame([{"at_ns": round(1.2549 * S), "phase": "steady"}], "phases"),
    )
    assert stretch_of(run).per_second is None
    assert "interactions a second" not in answer(summarize(run))


def test_an_unknown_phase_is_refused() -> None:
    with pytest.raises(ValueError, match="'warm' is neither of steady, all"):
        stretch_of(empty_run(), "warm")
