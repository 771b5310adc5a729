"""The meters' figures: sums, quantiles from histograms, owners, and the length of the ready queue."""

import dataclasses

import polars as pl
import pytest
from loadgo.measures.event_totals import EventTotals
from loadgo.measures.meters import MetersOfPart, meters_of
from loadgo.measures.queues import length_range
from loadgo.measures.summary import Summary, summarize
from loadgo.measures.whose_time import whose_time_of
from loadgo.records.phases import stretch_of
from loadgo.records.tables import Tables
from support.synthetic import S, closed_loop, frame, interaction, run_of
from support.synthetic_meters import DEVICES, FAULTS, LENGTHS, PRIMITIVES, SPANS, WAITING, metered_host


@pytest.fixture(scope="module")
def run() -> Tables:
    """A host's run with everything metered."""
    return metered_host()


@pytest.fixture(scope="module")
def summary(run: Tables) -> Summary:
    """All of it, warm-up and ramp-down with it."""
    return summarize(run, phases="all", by="command")


def named(rows: tuple[EventTotals, ...], name: str) -> EventTotals:
    """The row called so."""
    return next(row for row in rows if row.name == name)


def part(summary: Summary, whose: str) -> MetersOfPart:
    """The meters of one user or command."""
    return next(part for part in summary.meters.parts if part.whose == whose)


def histogram(bounds: list[int], counts: list[int], **told: object) -> Tables:
    """A run with one second of major faults that took so long."""
    sums = {"at_ns": 2 * S, "span_ns": S, "kind": "major", "count": sum(counts), "cpu_ns": 10, "wait_ns": 30}
    rows = [sums] + [
        {"at_ns": 2 * S, "span_ns": S, "kind": "major", "bucket_ns": bound, "count": count}
        for bound, count in zip(bounds, counts, strict=True)
    ]
    run = run_of([interaction(1, at, 0.5) for at in range(1, 9)])
    return dataclasses.replace(run, faults=frame([row | told for row in rows], "faults"))


def test_faults_add_up_by_kind_without_their_parts_by_user_and_device(summary: Summary) -> None:
    for kind, (count, cpu_ns, wait_ns, _) in FAULTS.items():
        row = named(summary.meters.faults, kind)
        assert (row.count, row.cpu_ns, row.wait_ns) == (SPANS * count, SPANS * count * cpu_ns, SPANS * count * wait_ns)
        assert row.mean_ns == cpu_ns + wait_ns


def test_a_primitives_processor_time_is_its_time_without_its_wait(summary: Summary) -> None:
    for name, (count, each_ns, failed) in PRIMITIVES.items():
        row = named(summary.meters.primitives, name)
        assert (row.count, row.errors, row.faults) == (
            SPANS * count,
            SPANS * round(count * failed),
            SPANS * (count // 2),
        )
        assert row.mean_ns == each_ns
        wait_ns = SPANS * (count * each_ns * 9 // 10) if name in WAITING else 0
        assert (row.wait_ns, row.cpu_ns) == (wait_ns, SPANS * count * each_ns - wait_ns)


def test_quantiles_are_the_lower_bounds_of_their_buckets() -> None:
    run = histogram([100, 200, 400, 800], [50, 39, 10, 1])
    (row,) = meters_of(run, stretch_of(run, "all")).faults
    assert (row.p50_ns, row.p90_ns, row.p99_ns) == (100, 400, 400)
    (row,) = meters_of(histogram([100, 200], [99, 1]), stretch_of(run, "all")).faults
    assert (row.p50_ns, row.p90_ns, row.p99_ns) == (100, 100, 100)


def test_faults_without_a_histogram_have_no_quantiles() -> None:
    run = histogram([], [])
    (row,) = meters_of(run, stretch_of(run, "all")).faults
    assert (row.p50_ns, row.p99_ns, row.mean_ns) == (None, None, None)


def test_faults_outside_of_the_stretch_are_not_counted_when_the_stretch_has_none() -> None:
    run = closed_loop(10, 20)
    early = [{"at_ns": S, "span_ns": S, "kind": "minor", "count": 7, "cpu_ns": 70, "wait_ns": 0}]
    metered = dataclasses.replace(run, faults=frame(early, "faults"))
    assert meters_of(metered, stretch_of(metered, "steady")).faults == ()
    assert named(meters_of(metered, stretch_of(metered, "all")).faults, "minor").count == 7


def test_interrupts_are_told_by_device_and_soft_ones_by_kind(summary: Summary) -> None:
    found = {row.name: row.count for row in summary.meters.interrupts}
    assert found == {
        device: SPANS * round(FAULTS[kind][0] * share)
        for kind, devices in DEVICES.items()
        for device, share in devices.items()
    }
    assert [row.name for row in summary.meters.interrupts[2:]] == list(DEVICES["soft interrupt"])


def test_a_function_is_where_the_stack_ends(summary: Summary) -> None:
    found = [(row.name, row.samples, row.share) for row in summary.meters.functions]
    assert found == [
        ("next_token", SPANS * 300, 300 / 450),
        ("copy_page_[k]", SPANS * 90, 90 / 450),
        ("parse", SPANS * 60, 60 / 450),
    ]


def test_the_parts_by_command_are_those_of_the_rows_with_a_command(summary: Summary) -> None:
    assert summary.meters.by == "command"
    assert [found.whose for found in summary.meters.parts] == ["edit", "compile"]
    assert named(part(summary, "edit").faults, "minor").count == SPANS * (FAULTS["minor"][0] // 3)
    assert named(part(summary, "compile").faults, "minor").count == SPANS * (FAULTS["minor"][0] // 2)
    assert named(part(summary, "edit").primitives, "read").count == SPANS * (PRIMITIVES["read"][0] // 4)
    assert part(summary, "compile").primitives == ()


def test_rows_of_a_command_alone_win_over_those_of_its_users() -> None:
    row = {"at_ns": 2 * S, "span_ns": S, "kind": "minor", "cpu_ns": 0, "wait_ns": 0}
    of_users = [row | {"user": user, "command": "edit", "count": 5} for user in (1, 2)]
    run = run_of([interaction(1, at, 0.5) for at in range(1, 9)])
    split = dataclasses.replace(run, faults=frame(of_users, "faults"))
    both = dataclasses.replace(run, faults=frame([*of_users, row | {"command": "edit", "count": 11}], "faults"))
    counts = [
        [(found.whose, named(found.faults, "minor").count) for found in meters_of(tables, stretch_of(run), by).parts]
        for tables, by in ((split, "command"), (both, "command"), (split, "user"))
    ]
    assert counts == [[("edit", 10)], [("edit", 11)], [("1", 5), ("2", 5)]]


def test_parts_are_there_only_when_asked_for(run: Tables) -> None:
    meters = summarize(run).meters
    assert (meters.by, meters.parts) == (None, ())


def test_the_ready_queue_has_its_mean_its_counts_and_its_wait_by_littles_law(summary: Summary) -> None:
    ready = summary.meters.ready
    assert ready is not None
    assert ready.mean == pytest.approx(0.7)
    assert (ready.switches, ready.preemptions) == (SPANS * 5_000, SPANS * 800)
    assert ready.wait_ns == pytest.approx(0.7 * S / 5_000)
    assert ready.interruptions == SPANS * (FAULTS["interrupt"][0] + FAULTS["soft interrupt"][0])
    assert ready.a_second["switches"] == pytest.approx(5_000)


def test_the_lengths_of_the_ready_queue_are_all_of_its_time_from_the_shortest(summary: Summary) -> None:
    assert summary.meters.ready is not None
    lengths = summary.meters.ready.lengths
    assert [(row.low, row.high) for row in lengths] == [(0, 0), (1, 1), (2, 3), (4, 7), (8, 15)]
    assert sum(row.share for row in lengths) == pytest.approx(1)
    assert sum(row.time_ns for row in lengths) == pytest.approx(SPANS * S)
    assert lengths[0].share == pytest.approx(LENGTHS["ready 0"], abs=0.1)


def test_a_length_without_end_has_none() -> None:
    found = {name: length_range(name) for name in ("ready", "ready 0", "ready 2-3", "ready 16384-", "switches")}
    assert found == {
        "ready": None,
        "ready 0": (0, 0),
        "ready 2-3": (2, 3),
        "ready 16384-": (16384, None),
        "switches": None,
    }


def test_a_machines_primitives_take_processor_time() -> None:
    row = {"at_ns": 2 * S, "span_ns": S, "name": "line in", "count": 3, "time_ns": 90}
    run = run_of([interaction(1, at, 0.5) for at in range(1, 9)], system={"kind": "machine"})
    metered = dataclasses.replace(run, primitives=frame([row], "primitives"))
    (found,) = meters_of(metered, stretch_of(metered)).primitives
    assert (found.cpu_ns, found.wait_ns) == (90, None)


def test_time_by_user_is_of_all_that_the_users_processes_did(run: Tables) -> None:
    times = whose_time_of(run, stretch_of(run, "all"))
    assert times.source == "processes"
    assert [used.name for used in times.users[:2]] == ["12", "11"]
    assert times.users[0].cpu_ns == SPANS * (10_000_000 + 12_000_000)
    assert times.users[0].ready_wait_ns == SPANS * 2 * 24_000_000
    assert {used.name for used in times.processes} == {"sh", "cc1", "kworker/0:1"}
    assert (
        sum(used.cpu_ns or 0 for used in times.processes)
        == run.processes.filter(~pl.col("who").cast(pl.String).is_in(["users", "driver", "meters"]))["cpu_ns"].sum()
    )


def test_time_by_user_is_that_of_the_interactions_where_no_process_is_told_apart() -> None:
    run = closed_loop(5, 20)
    times = whose_time_of(run, stretch_of(run, "all"))
    assert times.source == "interactions"
    assert times.processes == ()
    used = run.interactions.filter(pl.col("user") == 3)
    of_three = next(row for row in times.users if row.name == "3")
    assert of_three.cpu_ns == used["cpu_user_ns"].sum() + used["cpu_system_ns"].sum()
    assert of_three.ready_wait_ns == used["ready_wait_ns"].sum()


def test_time_by_user_is_not_told_from_a_sample_of_the_interactions() -> None:
    run = closed_loop(5, 20)
    sampled = dataclasses.replace(run, conditions=run.conditions | {"usage": {"every": 10}})
    assert whose_time_of(sampled, stretch_of(run, "all")).users == ()
