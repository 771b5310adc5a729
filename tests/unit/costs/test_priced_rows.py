"""Rows and shares of a bill: by whom, in which mix, and what nobody pays."""

from dataclasses import replace

import polars as pl
import pytest
from loadgo.costs.priced import in_mix, priced
from loadgo.measures.charged_use import RunUse, use_of
from loadgo.measures.tariff import Tariff
from support.synthetic import Work, closed_loop

SCRIPT = (Work("edit", 0.1), Work("compile", 0.4))
HOUR = Tariff("mine", "mine", "made up", False, "$", "", cpu_hour=3600.0)
"""A second of processor time costs a dollar."""


@pytest.fixture(scope="module")
def used() -> RunUse:
    """The use of one run of three users."""
    return use_of([closed_loop(3, 20, SCRIPT)])


def test_users_have_their_run_before_their_name_only_among_several_runs(used: RunUse) -> None:
    runs = [closed_loop(2, 20, SCRIPT), closed_loop(2, 20, SCRIPT, seed=2)]
    assert [row.name for row in priced(used, HOUR, "user").rows] == ["user 1", "user 2", "user 3"]
    names = [row.name for row in priced(use_of(runs), HOUR, "user").rows]
    assert names == ["run 1, user 1", "run 1, user 2", "run 2, user 1", "run 2, user 2"]


def test_a_mix_costs_what_its_commands_cost_by_their_shares(used: RunUse) -> None:
    each = {row.name: row.each.value or 0.0 for row in priced(used, HOUR).rows}
    assert in_mix(used, HOUR, {"edit": 1.0}).value == pytest.approx(each["edit"])
    mixed = 0.25 * each["edit"] + 0.75 * each["compile"]
    assert in_mix(used, HOUR, {"edit": 0.25, "compile": 0.75}).value == pytest.approx(mixed)


def test_a_mix_of_nothing_or_of_what_nobody_typed_has_no_cost(used: RunUse) -> None:
    assert in_mix(used, HOUR, {}).value is None
    assert in_mix(used, HOUR, {"edit": 0.5, "knit": 0.5}).value is None


def test_a_row_has_the_cost_of_all_its_interactions_of_an_hour_and_of_a_megabit(used: RunUse) -> None:
    for row in priced(used, HOUR).rows:
        cells = used.cells.filter(used.cells["command"] == row.name)
        seconds, output_bytes = cells["cpu_ns"].sum() / 1e9, cells["bytes_out"].sum()
        assert row.interactions == row.measured == cells["count"].sum()
        assert row.total == pytest.approx(seconds)
        assert row.megabit == (pytest.approx(seconds / output_bytes * 125_000) if output_bytes else None)


def test_nobodys_time_is_the_busy_time_less_that_of_interactions_and_of_loadgo(used: RunUse) -> None:
    assert used.machine is not None
    cpu_ns, count = used.cells["cpu_ns"].sum(), used.cells["count"].sum()
    nobodys_s = (used.machine.busy_ns - used.machine.laboratory_ns - cpu_ns) / 1e9
    assert priced(used, HOUR).uncharged == pytest.approx(nobodys_s / count)


def test_a_row_says_at_how_many_interactions_all_that_is_charged_was_read() -> None:
    run = closed_loop(3, 20, SCRIPT)
    cpu = pl.when(pl.int_range(pl.len()) % 2 == 0).then(pl.col("cpu_user_ns", "cpu_system_ns"))
    priced_run = priced(use_of([replace(run, interactions=run.interactions.with_columns(cpu))], phases="all"), HOUR)
    read = run.interactions.height - run.interactions.height // 2
    assert priced_run.everything.measured == read < priced_run.everything.interactions


def test_a_user_who_was_there_for_a_nanosecond_has_the_cost_of_an_hour() -> None:
    """A figure by the hour is none only where there was no time at all."""
    used = use_of([closed_loop(3, 20, SCRIPT)])
    moment = used.cells.with_columns(present_ns=pl.lit(0))
    moment = moment.with_columns(present_ns=pl.when(pl.int_range(pl.len()) == 0).then(1).otherwise(0))
    assert priced(replace(used, cells=moment), HOUR).everything.user_hour is not None
    assert priced(replace(used, cells=moment.with_columns(present_ns=pl.lit(0))), HOUR).everything.user_hour is None
