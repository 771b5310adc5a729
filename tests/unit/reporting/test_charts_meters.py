"""The charts of the meters: true to the records, small for a run of any length, and told apart by every eye."""

import dataclasses
import itertools

import numpy as np
import polars as pl
import pytest
from loadgo.documents.palette import BUSY_COLORS, IDLE_COLORS, STATE_COLORS, category_colors
from loadgo.measures.summary import Summary, summarize
from loadgo.notation.figures import path_end
from loadgo.records.tables import Tables
from loadgo.reporting.charts.charts import chart, charts
from loadgo.reporting.charts.meter_chart_data import (
    MOST_HEAT_MAP_COLUMNS,
    fault_times,
    lengths_over_time,
    primitive_times,
    ready_over_time,
    segment_faults,
    segment_samples,
)
from support.synthetic import S, closed_loop, frame, interaction, run_of
from support.synthetic_meters import FAULTS, LENGTHS, LIBC, SEGMENTS, SHARES, SPANS, metered_host

Floats = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

PAPERS = ("#ffffff", "#15191e")
"""The page's own, light and dark (documents/templates/page.css)."""
HOST = [name for name in (*BUSY_COLORS, *IDLE_COLORS) if name in SHARES]
MACHINE = [
    *("user", "page fault", "segment fault", "bound fault", "wall crossing", "terminal", "network"),
    *("process creation", "getwork", "interrupt"),
]
TICKS = ["user", "nice", "system", "irq", "softirq"]
# What each kind of eye sees of red, green and blue light; Machado, Oliveira and Fernandes, IEEE TVCG 15 (2009), 1291.
EYES = {
    "all three": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "no red": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "no green": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
    "no blue": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
}
NOTICEABLE = 0.06
"""A distance in Oklab; about 0.02 is the least that is seen side by side."""


@pytest.fixture(scope="module")
def run() -> Tables:
    """A host's run with everything metered."""
    return metered_host()


@pytest.fixture(scope="module")
def summary(run: Tables) -> Summary:
    """All of it."""
    return summarize(run, phases="all")


def light(color: str, paper: str) -> Floats:
    """The linear light of a colour on the page: red, green and blue, 0 to 1."""
    front, back = (np.array([int(text[i : i + 2], 16) for i in (1, 3, 5)]) / 255 for text in (color, paper))
    opaque = int(color[7:9], 16) / 255 if len(color) == 9 else 1.0
    mixed: Floats = front * opaque + back * (1 - opaque)
    return np.where(mixed <= 0.04045, mixed / 12.92, ((mixed + 0.055) / 1.055) ** 2.4)


def oklab(seen: Floats) -> Floats:
    """Linear light as lightness, green to red, and blue to yellow (Ottosson, 2020)."""
    cones = np.array([[0.41222, 0.53633, 0.05145], [0.2119, 0.6807, 0.1074], [0.0883, 0.28172, 0.62998]]) @ seen
    lab = [[0.21045, 0.79362, -0.00407], [1.978, -2.42859, 0.45059], [0.0259, 0.78277, -0.80868]]
    return np.asarray(np.array(lab) @ np.cbrt(cones), dtype=np.float64)


def distance(one: str, other: str, paper: str, eye: str) -> float:
    """How different two colours look on the page."""
    seen = [oklab(np.clip(np.array(EYES[eye]) @ light(color, paper), 0, 1)) for color in (one, other)]
    return float(np.linalg.norm(seen[0] - seen[1]))


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("eye", EYES)
@pytest.mark.parametrize("stack", [HOST, MACHINE, TICKS, ["user", "idle zero"], ["iowait", "steal", "idle"]])
def test_neighbours_in_the_stack_are_told_apart_by_every_eye(stack: list[str], eye: str, paper: str) -> None:
    colors = BUSY_COLORS | IDLE_COLORS
    for below, above in itertools.pairwise(stack):
        assert distance(colors[below], colors[above], paper, eye) > NOTICEABLE, (below, above)


@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("eye", EYES)
def test_all_states_of_a_user_are_told_apart_by_every_eye(eye: str, paper: str) -> None:
    for one, other in itertools.combinations(STATE_COLORS, 2):
        assert distance(STATE_COLORS[one], STATE_COLORS[other], paper, eye) > NOTICEABLE, (one, other)


@pytest.mark.parametrize("paper", PAPERS)
def test_a_user_who_runs_is_seen_among_those_who_think(paper: str) -> None:
    for state in ("running", "CPU wait", "page wait", "disk wait"):
        assert distance(STATE_COLORS[state], STATE_COLORS["thinking"], paper, "all three") > 3 * NOTICEABLE, state


def test_a_state_that_is_a_category_too_has_one_colour() -> None:
    for state, category in (("running", "user"), ("page wait", "idle page wait"), ("disk wait", "idle disk wait")):
        assert (BUSY_COLORS | IDLE_COLORS)[category].startswith(STATE_COLORS[state])


@pytest.mark.parametrize("paper", PAPERS)
def test_every_category_is_seen_on_the_page(paper: str) -> None:
    for name, color in (BUSY_COLORS | IDLE_COLORS).items():
        assert distance(color, paper, paper, "all three") > NOTICEABLE, name


def test_every_category_has_a_colour_and_busy_ones_come_first() -> None:
    found = category_colors(["idle zero", "strange", "idle of a new kind", "user"])
    assert list(found) == ["user", "strange", "idle zero", "idle of a new kind"]
    assert len(found["strange"]) == 7
    assert len(found["idle of a new kind"]) == 9


def test_the_heat_map_holds_every_fault_and_no_interrupt(run: Tables) -> None:
    cells = fault_times(run).frame
    kinds = [kind for kind in FAULTS if "interrupt" not in kind]
    assert cells["count"].sum() == SPANS * sum(FAULTS[kind][0] for kind in kinds)
    assert fault_times(run, interrupts=True).frame["count"].sum() == SPANS * (420 + 700)
    told = " ".join(cells["kinds"])
    assert {kind for kind in FAULTS if f"{kind} " in told} == set(kinds)


def test_a_cell_of_the_heat_map_holds_its_buckets_whole() -> None:
    bounds = [1024, 1152, 1408, 1536, 1920, 2048]
    rows = [{"at_ns": S, "span_ns": S, "kind": "minor", "bucket_ns": bound, "count": 1} for bound in bounds]
    run = dataclasses.replace(run_of([interaction(1, 1, 0.5)]), faults=frame(rows, "faults"))
    cells = fault_times(run).frame.select("short_s", "long_s", "count").rows()
    in_ns = [(round(short * 1e9), round(long * 1e9), count) for short, long, count in cells]
    assert in_ns == [(1024, 1536, 3), (1536, 2048, 2), (2048, 3072, 1)]


def test_a_long_run_has_no_more_columns_than_are_drawn() -> None:
    rows = [
        {"at_ns": (i + 1) * S, "span_ns": S, "kind": "minor", "bucket_ns": 1024, "count": 2} for i in range(100_000)
    ]
    run = dataclasses.replace(run_of([interaction(1, 1, 0.5)]), faults=frame(rows, "faults"))
    cells = fault_times(run).frame
    assert len(cells) <= MOST_HEAT_MAP_COLUMNS
    assert cells["count"].sum() == 200_000
    # The last column is not full.
    assert cells["per_second"][:-1].to_list() == pytest.approx([2.0] * (len(cells) - 1))


def test_a_histogram_of_a_whole_phase_is_drawn_as_wide_as_the_phase() -> None:
    rows = [
        {"at_ns": at * S, "span_ns": span * S, "kind": "major", "bucket_ns": 1024, "count": 10 * span}
        for at, span in ((20, 20), (400, 380), (410, 10))
    ]
    run = dataclasses.replace(run_of([interaction(1, 1, 0.5)]), faults=frame(rows, "faults"))
    cells = fault_times(run).frame
    assert cells.select("from_s", "to_s", "per_second").rows() == [(0, 20, 10), (20, 400, 10), (400, 410, 10)]


def test_every_primitives_bins_are_all_of_its_calls(summary: Summary, run: Tables) -> None:
    bins = primitive_times(summary, run)
    shares = bins.frame.group_by("name").agg(pl.col("share").sum())
    assert shares["share"].to_list() == pytest.approx([1.0] * 20, abs=1e-3)
    assert bins.frame["name"][0] == "poll", "the one that took the most processor time"
    assert "4 more are metered" in bins.caption


def test_segments_are_drawn_with_their_faults_and_their_samples(summary: Summary) -> None:
    faults, samples = segment_faults(summary).frame, segment_samples(summary).frame
    assert faults["count"].sum() == SPANS * sum(minor + major for minor, major, _ in SEGMENTS.values())
    assert samples["segment"].to_list() == ["cc1", path_end(LIBC), "[heap]", "[anon]"]


def test_the_ready_queue_is_drawn_in_full(run: Tables) -> None:
    assert ready_over_time(run).frame["ready"].to_list() == pytest.approx([0.7] * SPANS)
    lengths = lengths_over_time(run).frame
    assert lengths["length"].unique(maintain_order=True).to_list() == [name.removeprefix("ready ") for name in LENGTHS]
    sums = lengths.group_by("from_s").agg(pl.col("share").sum())["share"]
    assert sums.to_list() == pytest.approx([1.0] * SPANS, abs=1e-4)


def test_a_run_without_meters_has_no_chart_of_them(summary: Summary, run: Tables) -> None:
    bare = closed_loop(10, 20)
    meters = {"faults", "interrupts", "primitives", "segments", "profile", "lengths"}
    assert not meters & {drawn.name for drawn in charts(summarize(bare), bare)}
    assert meters <= {drawn.name for drawn in charts(summary, run)}
    with pytest.raises(ValueError, match="chart 'faults' has nothing to show"):
        chart("faults", summarize(bare), bare)
