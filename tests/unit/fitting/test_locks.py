"""Locks of a fitted machine: holding times inferred from waits, and locks that the machine does not have."""

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest
from loadgo.fitting.demands import fit_unmetered_wait
from loadgo.fitting.locks import FittedLocks, fit_locks, holding_time
from loadgo.fitting.reading import RunReading
from loadgo.notation.laws import Law
from loadgo.records.phases import Stretch
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns
from loadgo.theory.queueing import single_server
from support.fit_readings import by_key, reading, rows, units

FILE = "file fd:10:4711"
ROOM_NS = {"commit": 1e12}
"""An unmetered part of the response in which any lock has room."""


def one_holder(users: int, think_s: float, holding: Callable[[], float], seconds: float, seed: int) -> pl.DataFrame:
    """Users who think and then take a lock in turn: instants of asking, having and letting go, in nanoseconds."""
    generator = np.random.default_rng(seed)
    asking = [(float(generator.exponential(think_s)), user) for user in range(users)]
    heapq.heapify(asking)
    free_s, taken = 0.0, []
    while asking[0][0] < seconds:
        asked_s, user = heapq.heappop(asking)
        has_s = max(asked_s, free_s)
        free_s = has_s + holding()
        taken.append((asked_s * 1e9, has_s * 1e9, free_s * 1e9))
        heapq.heappush(asking, (free_s + float(generator.exponential(think_s)), user))
    return pl.DataFrame(taken, schema=["asked", "has", "lets_go"], orient="row")


def measured(users: int, taken: pl.DataFrame, seconds: int, kind: str = "flock", **waits: Any) -> RunReading:
    """A run of these takings, with the waits as a meter has them by seconds."""
    interactions = rows(
        response=(taken["lets_go"] - taken["asked"]).to_list(),
        command=["commit"] * len(taken),
        ready_at=taken["lets_go"].to_list(),
    )
    waited = taken.filter(pl.col("has") > pl.col("asked"))
    lock_waits = waited.group_by(at_ns=((pl.col("has") // 1e9 + 1) * 1_000_000_000).cast(pl.UInt64)).agg(
        count=pl.len().cast(pl.UInt64), wait_ns=(pl.col("has") - pl.col("asked")).sum().cast(pl.UInt64)
    )
    columns = {"kind": kind, "place": FILE, "command": "commit", "span_ns": 1_000_000_000, "longest_ns": 0} | waits
    table = lock_waits.with_columns(pl.lit(value).alias(name) for name, value in columns.items())
    return reading(
        kind="host",
        users=users,
        conditions={"load": {"users": users}},
        rows=interactions,
        span_s=float(seconds),
        stretch=Stretch("all", 0, seconds * 1_000_000_000, 0, 0, 0, 0, None),
        tables=reading_tables(with_columns(table, COLUMNS_BY_TABLE["lock_waits"])),
    )


def reading_tables(lock_waits: pl.DataFrame) -> Any:
    """Tables of a run that has these waits alone."""
    return type("TablesOfLocks", (), {"lock_waits": lock_waits})()


def fitted(run: RunReading) -> FittedLocks:
    """The locks of a machine fitted to the run."""
    return fit_locks([run], ROOM_NS)


@pytest.mark.parametrize("users", [2, 6, 20])
@pytest.mark.parametrize("variation", [0.1, 1.0, 2.0])
def test_the_holding_time_is_the_one_that_gives_the_waiting_users(users: int, variation: float) -> None:
    server = single_server(users, 1.2, 0.05, variation)
    rate = (users - server.waiting) / (1.2 + 0.05)
    found = holding_time(users, rate, server.waiting, server.busy_at_arrival)
    assert found == (pytest.approx(0.05, rel=1e-6), pytest.approx(variation, abs=0.01))


def test_without_waiting_users_no_holding_time_is_known() -> None:
    assert holding_time(5, 2.0, 0.0, 0.0) is None


def test_more_waiting_users_than_a_lock_can_have_give_no_holding_time() -> None:
    assert holding_time(3, 1.0, 2.5, 0.9) is None


def test_few_long_waits_are_of_a_lock_that_not_each_interaction_takes() -> None:
    assert holding_time(6, 10.0, 1.0, 0.05) is None


@pytest.mark.parametrize("law", ["exponential", "constant"])
@pytest.mark.parametrize("users", [3, 8])
def test_a_holding_time_lies_within_its_doubt(users: int, law: str) -> None:
    generator = np.random.default_rng(7)
    holding = (lambda: float(generator.exponential(0.05))) if law == "exponential" else (lambda: 0.05)
    locks = fitted(measured(users, one_holder(users, 0.4, holding, 600, 11), 600))
    (value,) = locks.values.values
    assert value.key == "storage.lock-1.service"
    assert value.deviation is not None
    assert abs(np.log(value.law.mean / 50e6)) < 2 * value.deviation
    assert value.deviation < 0.2
    assert value.law.spread == pytest.approx(1.0 if law == "exponential" else 0.0, abs=0.4)
    assert dict(locks.values.tables)["commands.commit.requests.lock-1"] == 1
    assert locks.warnings == ()


def test_the_lock_takes_its_wait_and_its_holding_from_the_unmetered_part() -> None:
    taken = one_holder(6, 0.4, lambda: 0.05, 300, 3)
    wait_ns = float((taken["has"] - taken["asked"]).mean() or 0.0)  # type: ignore[arg-type]
    locks = fitted(measured(6, taken, 300))
    (value,) = locks.values.values
    assert locks.taken_ns["commit"] == pytest.approx(wait_ns + value.law.mean, rel=0.01)


def test_the_unmetered_part_of_the_response_bounds_the_holding_time() -> None:
    """A user who does nothing but hold the lock has a response of the wait and the holding."""
    taken = one_holder(6, 0.4, lambda: 0.05, 300, 3)
    run = measured(6, taken, 300)
    room_ns = float(run.rows["response"].mean() or 0.0)  # type: ignore[arg-type]
    (value,) = fit_locks([run], {"commit": room_ns}).values.values
    assert value.law.mean == pytest.approx(50e6, rel=0.01)


def test_a_lock_that_is_held_while_processors_compute_is_shortened_with_a_warning() -> None:
    taken = one_holder(6, 0.4, lambda: 0.05, 300, 3)
    run = measured(6, taken, 300)
    room_ns = float(run.rows["response"].mean() or 0.0) - 10e6  # type: ignore[arg-type]
    locks = fit_locks([run], {"commit": room_ns})
    (value,) = locks.values.values
    assert value.law.mean == pytest.approx(40e6, rel=0.01)
    (warning,) = locks.warnings
    assert "is held for 5" in warning
    assert "on the machine for 40." in warning


def test_what_a_lock_takes_is_not_in_the_unmetered_wait() -> None:
    interactions = rows(response=[10e6] * 10, command=["commit"] * 10)
    groupings = [units([1] * 10, [1] * 10)]
    fit = fit_unmetered_wait(interactions, groupings, 0.0, {"commit": 4e6}, busy=False)
    assert by_key(fit) == {"storage.wait-commit.service": Law("fixed", (6e6,), timed=True)}


@pytest.mark.parametrize(
    ("run", "room_ns", "why"),
    [
        ({"kind": "rwsem write"}, 1e12, "may be many"),
        ({}, 1e6, "while processors compute"),
        ({"count": 1}, 1e12, "too few"),
    ],
    ids=["a lock of the kernel", "a lock that is held too long", "a lock with one wait a second"],
)
def test_a_lock_that_the_machine_cannot_have_is_named(run: dict[str, Any], room_ns: float, why: str) -> None:
    taken = one_holder(6, 0.4, lambda: 0.05, 120, 5)
    locks = fit_locks([measured(6, taken, 120, **run)], {"commit": room_ns})
    (warning,) = locks.warnings
    assert f"({FILE}) were " in warning
    assert why in warning
    assert "do not grow with the number of users" in warning
    assert (locks.values.values, locks.taken_ns) == ((), {})


def test_a_lock_that_most_interactions_do_not_take_is_not_modelled() -> None:
    """Three quarters of the interactions do something else for a moment."""
    taken = one_holder(6, 0.4, lambda: 0.05, 120, 5)
    others = taken.with_columns(has=pl.col("asked"), lets_go=pl.col("asked") + 1e6)
    locks = fitted(measured(6, pl.concat([taken, others, others, others]).sort("asked"), 120))
    assert locks.values.values == ()
    assert len(locks.warnings) == 1


@pytest.mark.parametrize("waits", [{"kind": "spinlock"}, {"command": None}], ids=["spinning", "no user's"])
def test_waits_that_are_processor_time_or_nobody_s_matter_not(waits: dict[str, Any]) -> None:
    assert fitted(measured(6, one_holder(6, 0.4, lambda: 0.05, 60, 5), 60, **waits)) == FittedLocks()


def test_short_waits_are_neither_modelled_nor_named() -> None:
    assert fitted(measured(2, one_holder(2, 4.0, lambda: 0.005, 600, 5), 600)) == FittedLocks()
