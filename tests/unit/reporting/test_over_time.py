"""The chart of a run over time: true to the rows, with gaps where nothing was measured, phases, and warnings."""

import json
import re
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from loadgo.documents.chart import Chart, svg
from loadgo.measures.summary import summarize
from loadgo.records.part import part_of
from loadgo.records.tables import Tables
from loadgo.reporting.charts.chart_data import MOST_TIME_BINS
from loadgo.reporting.charts.charts import chart, charts
from loadgo.reporting.charts.meter_chart_data import segment_faults
from loadgo.reporting.charts.over_time import EVERY_COMMAND, MOST_DOTS, OverTime, bin_width_ns, over_time
from loadgo.reporting.charts.run_events import RunEvent, run_events
from loadgo.reporting.report import render
from support.synthetic import S, Work, closed_loop, frame, interaction, run_of
from support.synthetic_meters import metered_host

SCRIPT = [Work("edit", 0.05), Work("compile", 0.4)]
RUN = closed_loop(10, 40, SCRIPT, think_s=5.0)


def parts_of(run: Tables) -> OverTime:
    return over_time(summarize(run, phases="all"), run)


def events_of(run: Tables) -> list[RunEvent]:
    summary = summarize(run)
    return run_events(summary, run, 0, round(over_time(summary, run).end_s * S))


def warned(run: Tables) -> dict[str, str]:
    """The text of the first event of each kind that is a warning."""
    found: dict[str, str] = {}
    for event in events_of(run):
        if event.warning:
            found.setdefault(event.kind, event.text)
    return found


def with_pause(pause_s: float = 100.0) -> Tables:
    """Ten users who type every second for 100 s, then all wait for an answer for a while, then it goes on."""
    moments = [*range(1, 100), *(at + 99 + pause_s for at in range(1, 100))]
    rows = [interaction(user, at + user / 20, 0.3) for at in moments for user in range(1, 11)]
    return run_of([*rows, *(interaction(user, 100 + user / 20, pause_s) for user in range(1, 11) if pause_s)])


@pytest.mark.parametrize("name", [EVERY_COMMAND, "edit", "compile"])
def test_every_step_is_the_quantile_of_the_answers_in_its_span(name: str) -> None:
    steps = parts_of(RUN).quantiles.filter(pl.col("command") == name)
    rows = RUN.interactions if name == EVERY_COMMAND else RUN.interactions.filter(pl.col("command") == name)
    ready = rows["ready_ns"].to_numpy() / S
    response = (rows["ready_ns"].cast(pl.Int64) - rows["sent_ns"].cast(pl.Int64)).to_numpy() / S
    assert steps["count"].sum() == len(rows)
    assert steps["p90_s"].count() > 3
    for begin, end, count, p50, p90 in steps.select("from_s", "to_s", "count", "p50_s", "p90_s").rows():
        mine = response[(ready > begin) & (ready <= end)]
        assert len(mine) == count
        assert p50 == (pytest.approx(np.quantile(mine, 0.5), rel=1e-4) if count >= 2 else None)
        assert p90 == (pytest.approx(np.quantile(mine, 0.9), rel=1e-4) if count >= 10 else None)


def test_a_span_without_answers_is_a_gap_and_no_zero() -> None:
    parts = parts_of(with_pause())
    inside = (pl.col("from_s") >= 102) & (pl.col("to_s") <= 198)
    silent = parts.quantiles.filter(inside & (pl.col("command") == EVERY_COMMAND))
    assert len(silent) > 0
    assert silent["p50_s"].null_count() == silent["p90_s"].null_count() == len(silent)
    assert parts.throughput.filter(inside)["per_second"].unique().to_list() == [0.0]
    assert [path.count("M") for path in lines_of(chart("over-time", summarize(with_pause()), with_pause()))] == [2, 2]


def lines_of(built: Chart) -> list[str]:
    """The paths of the p90 and the p50 in the picture of a chart. A gap divides a path."""
    paths = [part for part in svg(built).split('"') if part.startswith("M")]
    return sorted(paths, key=len)[-2:]


def test_all_answers_are_in_the_throughput() -> None:
    over = parts_of(RUN).throughput
    seconds = over["to_s"] - over["from_s"]
    assert (over["per_second"] * seconds).sum() == pytest.approx(len(RUN.interactions), rel=1e-3)


def test_the_last_answer_of_a_run_is_no_rate_of_its_own() -> None:
    rows = [interaction(1, second + place / 10, 0.05) for second in range(40) for place in range(10)]
    over = parts_of(run_of([*rows, interaction(1, 40.0, 0.005)])).throughput
    assert over["per_second"].max() == pytest.approx(10, rel=0.11)
    assert over["to_s"].max() == pytest.approx(40.005)


@pytest.mark.parametrize(("span_s", "answers"), [(10, 30), (60, 900), (3600, 1_000_000), (3600, 50), (0.2, 4000)])
def test_spans_are_round_and_few_and_hold_enough_answers(span_s: float, answers: int) -> None:
    width = bin_width_ns(round(span_s * S), answers)
    assert width / 10 ** np.floor(np.log10(width)) in (1, 2, 5)
    assert span_s * S / width <= MOST_TIME_BINS
    assert answers * width / (span_s * S) >= 20 * (1 - 1e-6)


def test_a_short_run_shows_every_answer_and_a_long_one_does_not() -> None:
    assert len(RUN.interactions) <= MOST_DOTS
    assert len(parts_of(RUN).dots) == len(RUN.interactions)
    assert "Each dot is one answer." in parts_of(RUN).notes
    long = closed_loop(20, 60, SCRIPT)
    assert parts_of(long).dots.is_empty()
    assert parts_of(long).quantiles["command"].unique(maintain_order=True).to_list() == [
        EVERY_COMMAND,
        "edit",
        "compile",
    ]


def test_the_phases_are_drawn_from_their_beginning_to_the_next() -> None:
    phases = [event for event in events_of(RUN) if not event.warning]
    assert [event.kind for event in phases] == ["warm-up", "steady", "ramp-down"]
    assert phases[0].to_ns == phases[1].from_ns
    assert phases[1].to_ns == phases[2].from_ns
    starts = dict(RUN.phases.with_columns(pl.col("phase").cast(pl.String)).select("phase", "at_ns").rows())
    assert [event.from_ns for event in phases] == [starts[event.kind] for event in phases]


def test_a_good_run_has_no_warning() -> None:
    assert warned(RUN) == {}


def test_a_stretch_without_answers_is_a_warning() -> None:
    pause = next(event for event in events_of(with_pause()) if event.kind == "no answers")
    assert (pause.from_ns / S, pause.to_ns / S) == (pytest.approx(99.8, abs=0.1), pytest.approx(200, abs=0.1))
    assert "no answers" not in warned(with_pause(0.0))


def test_users_who_all_think_are_no_stretch_without_answers() -> None:
    rows = [interaction(user, at + user / 100, 0.3) for at in range(1, 600, 30) for user in range(1, 31)]
    assert "no answers" not in warned(run_of(rows))


def test_what_went_wrong_stands_at_its_time() -> None:
    rows = [interaction(user, at, 0.3) for at in range(1, 60) for user in range(1, 6)]
    late = [row | {"planned_ns": row["sent_ns"] - 50_000_000} for row in rows if 30 * S < row["sent_ns"] < 35 * S]
    kept = [row for row in rows if not 30 * S < row["sent_ns"] < 35 * S]
    run = run_of([*kept, *late, interaction(2, 41, None)], finished=True, outcome="stopped")
    ends = {"ended_ns": pl.when(pl.col("user") == 3).then(20 * S).otherwise("ended_ns")}
    died = pl.when(pl.col("user") == 3).then(pl.lit("died")).otherwise(pl.col("outcome").cast(pl.String))
    lost = frame([{"at_ns": 50 * S, "what": "record", "count": 7, "reason": "disk full"}], "lost")
    run = replace(run, sessions=run.sessions.with_columns(**ends, outcome=died), lost=lost)
    found = {event.kind: event for event in events_of(run) if event.warning}
    assert set(found) == {"driver late", "user died", "timed out", "records lost", "ended early"}
    assert 30 <= found["driver late"].from_ns / S <= found["driver late"].to_ns / S <= 35
    assert found["user died"].text == "1 session died (user 3)"
    assert [found[kind].from_ns / S for kind in ("user died", "timed out", "records lost")] == [20, 41, 50]
    assert "stopped" in found["ended early"].text


def test_a_host_that_was_busy_in_one_part_has_that_part_marked() -> None:
    host = metered_host()
    shares = {at: 0.8 if 30 < at <= 60 else 0.01 for at in range(1, 91)}
    rows = [
        {"at_ns": at * S, "span_ns": S, "processor": 0, "category": category, "time_ns": round(part * S)}
        for at, busy in shares.items()
        for category, part in (("user", busy), ("idle zero", 1 - busy))
    ]
    processes = host.processes.with_columns(cpu_ns=pl.lit(0, pl.UInt64))
    run = replace(host, time=frame(rows, "time"), processes=processes)
    parts = [event for event in events_of(run) if event.kind == "busy host"]
    assert parts
    assert min(event.from_ns for event in parts) == pytest.approx(30 * S, abs=6 * S)
    assert max(event.to_ns for event in parts) == pytest.approx(60 * S, abs=6 * S)


def test_the_queue_and_the_faults_of_the_meters_are_in_it() -> None:
    host = metered_host()
    parts = parts_of(host)
    assert parts.ready["ready"].to_list() == pytest.approx([0.7] * 90)
    assert parts.faults["faults"].to_list() == pytest.approx([900 + 12 + 5 + 150 + 80 + 60] * 90)
    assert parts.faults["major"].to_list() == pytest.approx([17] * 90)


def test_a_span_that_was_metered_without_a_fault_counts_none() -> None:
    host = metered_host()
    gone = replace(host, faults=host.faults.filter(pl.col("at_ns") != 10 * S))
    assert parts_of(gone).faults.filter(pl.col("to_s") == 10)["faults"].to_list() == [0]


def test_a_metered_command_has_no_users_and_no_phases_but_its_own_time() -> None:
    host = metered_host()
    command = host.interactions.head(1).with_columns(
        sent_ns=pl.lit(10 * S, pl.UInt64), planned_ns=pl.lit(10 * S, pl.UInt64), ready_ns=pl.lit(70 * S, pl.UInt64)
    )
    metered = replace(host, interactions=command, conditions=host.conditions | {"kind": "meter"})
    parts = parts_of(metered)
    assert parts.quantiles.is_empty()
    assert parts.throughput.is_empty()
    assert parts.users.is_empty()
    assert [(event.kind, event.from_ns, event.to_ns) for event in events_of(metered)] == [("command", 10 * S, 70 * S)]
    assert chart("over-time", summarize(metered), metered).heading == "Waiting tasks and page faults over time"
    unfaulted = replace(metered, faults=metered.faults.clear())
    assert chart("over-time", summarize(unfaulted), unfaulted).heading == "Waiting tasks over time"


def test_what_says_nothing_is_left_out_and_said() -> None:
    host = metered_host()
    quiet = replace(host, queue=host.queue.with_columns(value=pl.lit(0.0)))
    assert parts_of(quiet).ready.is_empty()
    assert "No task ever waited for a processor." in parts_of(quiet).notes
    names = {one.name for one in charts(summarize(quiet), quiet)}
    assert "over-time" in names
    assert not names & {"throughput", "users", "queue"}, "they are in the chart over time"
    one = run_of([interaction(1, 2, 0.5)])
    assert [built.name for built in charts(summarize(one), one)] == ["over-time"], "single bars say nothing"
    assert chart("response", summarize(one), one).flat, "who asks for it gets it"


def test_long_bars_say_how_many_are_not_drawn() -> None:
    host = metered_host()
    rows = [
        {"at_ns": S, "span_ns": S, "segment": f"s{place}", "faults_minor": 1000 // (place + 1), "faults_major": 0}
        for place in range(63)
    ]
    many = replace(host, segments=frame(rows, "segments"))
    shown = segment_faults(summarize(many, phases="all"))
    assert shown.frame["segment"].n_unique() == 20
    assert shown.caption.startswith("… and 43 more, with ")


def test_a_page_lets_its_reader_choose_a_command_and_a_picture_has_the_asked_one() -> None:
    summary = summarize(RUN)
    spec = json.dumps(chart("over-time", summary, RUN).spec)
    assert '"options": ["all commands", "edit", "compile"]' in spec
    assert "compile over the run" in render(summary, RUN, "svg", chart="over-time:compile")
    with pytest.raises(ValueError, match="'nothing' is none of all commands, edit, compile"):
        render(summary, RUN, "svg", chart="over-time:nothing")
    with pytest.raises(ValueError, match="there is no chart 'response:edit'"):
        render(summary, RUN, "svg", chart="response:edit")


def test_a_picture_stands_under_the_warnings_of_its_run() -> None:
    stopped = replace(RUN, conditions=RUN.conditions | {"finished": True, "outcome": "stopped"})
    for name in ("over-time", "response", "timeline"):
        picture = render(summarize(stopped), stopped, "svg", chart=name)
        assert isinstance(picture, str)
        assert "The run ended early (stopped)" in picture, name
        assert "The run ended early" not in render(summarize(RUN), RUN, "svg", chart=name)


def test_a_part_of_a_run_has_the_answers_of_its_time_and_an_axis_of_its_own() -> None:
    part = part_of(RUN, 30 * S, 90 * S)
    summary = summarize(part, phases="all")
    answered = RUN.interactions.filter((pl.col("ready_ns") > 30 * S) & (pl.col("ready_ns") <= 90 * S))
    assert summary.everything.response.count == len(answered)
    assert (summary.stretch.start_ns, summary.stretch.end_ns) == (30 * S, 90 * S)
    parts = over_time(summary, part)
    assert (parts.begin_s, parts.end_s) == (30, 90)
    assert parts.throughput["from_s"].min() == 30
    assert parts.throughput["to_s"].max() == 90
    assert "the part from 30.0 s to 90.0 s of the run" in render(summary, part, "text")
    with pytest.raises(ValueError, match="no part of a run"):
        part_of(RUN, 5, 5)


def test_a_part_from_the_beginning_has_what_was_lost_at_the_first_moment() -> None:
    lost = frame([{"at_ns": 0, "what": "record", "count": 7, "reason": "disk full"}], "lost")
    run = replace(RUN, lost=lost)
    assert len(part_of(run, 0, 30 * S).lost) == 1
    assert len(part_of(run, 1, 30 * S).lost) == 0


@pytest.mark.parametrize("ends_s", [(30.4, 60.6), (30.2, 30.21)])
def test_no_bar_of_the_meters_leaves_the_part_that_is_shown(ends_s: tuple[float, float]) -> None:
    part = part_of(metered_host(), round(ends_s[0] * S), round(ends_s[1] * S))
    parts = parts_of(part)
    for bars in (parts.ready, parts.faults):
        assert (bars["from_s"].min(), bars["to_s"].max()) == ends_s


def test_a_run_of_a_few_answers_has_no_bar_of_all_its_time_and_no_span_that_is_longer() -> None:
    few = run_of([interaction(1, at, 0.3) for at in (1.0, 5.0, 9.0)])
    parts = parts_of(few)
    assert parts.throughput.is_empty()
    assert parts.notes[0] == "3 answers are too few for a p90 over time: it needs 3 spans with 10 answers each."
    assert parts.quantiles["p90_s"].count() == parts.quantiles["p50_s"].count() == 0
    assert len(parts.dots) == 3
    assert parts_of(RUN).throughput.height > 3
    assert "in spans of" in parts_of(RUN).notes[0]


def test_two_spans_make_no_line_and_three_do() -> None:
    def steps(answers: int) -> OverTime:
        return parts_of(run_of([interaction(1, at, 0.3) for at in np.linspace(1.0, 100.0, answers)]))

    two, three = steps(40), steps(120)
    assert not two.has_lines
    assert "Response time of each answer" in json.dumps(_spec_of(two))
    assert three.has_lines
    assert three.quantiles["p90_s"].count() >= 3


def _spec_of(parts: OverTime) -> dict[str, object]:
    run = run_of([interaction(1, at, 0.3) for at in parts.dots["at_s"]])
    return chart("over-time", summarize(run), run).spec


def test_a_command_without_a_line_or_dots_cannot_be_chosen_and_that_is_said() -> None:
    long = closed_loop(20, 60, SCRIPT)
    seldom = long.interactions.with_columns(
        command=pl.when(pl.int_range(pl.len()) < 15).then(pl.lit("seldom")).otherwise(pl.col("command").cast(pl.String))
    )
    parts = parts_of(replace(long, interactions=seldom))
    assert parts.dots.is_empty()
    assert parts.commands == [EVERY_COMMAND, "edit", "compile"]
    assert parts.notes[-1] == "1 command has too few answers for a p90 over time and cannot be chosen."


@pytest.mark.parametrize("end_s", [40, 225, 700, 9000])
def test_all_charts_of_a_run_have_one_unit_of_time(end_s: int) -> None:
    host = metered_host()
    rows = [interaction(user, at, 0.3) for at in np.linspace(1, end_s, 60) for user in (1, 2)]
    run = replace(host, interactions=run_of(rows).interactions)
    specs = [json.dumps(built.spec) for built in charts(summarize(run, phases="all"), run)]
    axes = [spec for spec in specs if "time since the run began" in spec]
    assert len(axes) >= 3
    assert all("seconds since" not in spec for spec in specs)
    units = {re.findall(r"'\.6~r'\) \+ ' (\w+)'", spec)[0] for spec in axes}
    assert len(units) == 1
