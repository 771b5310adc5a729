"""The cost of a run: parts add up to the rent, commands to the run, and intervals hold exact values."""

from dataclasses import replace

import polars as pl
import pytest
from loadgo.costs.cost import Costs, Point
from loadgo.costs.document import notes
from loadgo.costs.priced import Priced, priced
from loadgo.measures.charged_use import RunUse, command_counts, use_of
from loadgo.measures.summary import summarize
from loadgo.measures.tariff import Tariff, load_tariff
from loadgo.records.tables import Tables
from loadgo.theory.queueing import repairman
from support.synthetic import S, Work, closed_loop, empty_run, interaction, run_of

HOUR = 3600.0
SCRIPT = (Work("edit", 0.1), Work("compile", 0.4), Work("list", 0.05))


def charging(**prices: float) -> Tariff:
    """A made-up tariff with these prices."""
    return Tariff("mine", "mine", "made up", False, "$", "", **({"cpu_hour": 0.0} | prices))


def use(run: Tables, phases: str = "steady") -> RunUse:
    """The use of one run."""
    return use_of([run], phases=phases)


def with_memory(run: Tables, held_bytes: int) -> Tables:
    """The run with users who hold `held_bytes` of memory all the time."""
    users = pl.col("who").cast(pl.String) == "users"
    held = pl.when(users).then(pl.lit(held_bytes, pl.UInt64)).alias("memory_bytes")
    return replace(run, processes=run.processes.with_columns(held))


def test_a_machine_that_was_seen_to_do_less_than_its_users_is_told_in_words_for_less() -> None:
    """Never "-95.1 % more"."""
    run = closed_loop(5, 20, SCRIPT)
    dozing = run.time.with_columns(
        time_ns=pl.when(pl.col("category").cast(pl.String) == "user").then(0).otherwise(pl.col("time_ns"))
    )
    run_use = use_of([replace(run, time=dozing)])
    price = charging(cpu_hour=1.0)
    point = Point(5, ("killed",), run_use, command_counts([run]), (priced(run_use, price),))
    words = dict(notes(Costs("killed", "command", (point,), (), ())))["Nobody's"]
    assert "less than what the interactions used: not all of their time was metered" in words
    assert "more" not in words
    assert "-" not in words


def total(told: Priced) -> float:
    """The total cost of a run."""
    assert told.everything.total is not None
    return told.everything.total


def test_processor_time_costs_what_was_used_of_it() -> None:
    run = closed_loop(8, 10, SCRIPT)
    priced_run = priced(use(run, "all"), charging(cpu_hour=HOUR))
    used = run.interactions.select((pl.col("cpu_user_ns") + pl.col("cpu_system_ns")).sum()).item()
    assert total(priced_run) == pytest.approx(used / S)


def test_a_rented_machine_costs_its_rent_however_it_is_shared() -> None:
    for phases in ("all", "steady"):
        used = use(closed_loop(8, 10, SCRIPT), phases)
        priced_run = priced(used, charging(machine_hour=HOUR))
        assert total(priced_run) == pytest.approx(used.stretches[0].span_ns / S)


def test_a_users_hour_on_a_rented_machine_is_his_part_of_the_rent() -> None:
    priced_run = priced(use(closed_loop(8, 10, SCRIPT)), charging(machine_hour=4.0))
    assert priced_run.user_hour.value == pytest.approx(4.0 / 8)


def test_an_interaction_costs_more_on_an_idle_machine_that_is_rented() -> None:
    rent = charging(machine_hour=1.0)
    alone, full = (priced(use(closed_loop(users, 20)), rent).interaction.value for users in (1, 20))
    assert alone is not None
    assert full is not None
    assert alone > 10 * full


def test_an_hour_logged_in_costs_its_price_whatever_was_typed() -> None:
    priced_run = priced(use(closed_loop(8, 10, SCRIPT)), charging(connect_hour=3.0))
    assert priced_run.user_hour.value == pytest.approx(3.0)


def test_memory_costs_as_much_as_was_held_for_as_long() -> None:
    used = use(with_memory(closed_loop(8, 10, SCRIPT), 2_000_000_000))
    priced_run = priced(used, charging(memory_gigabyte_hour=HOUR))
    assert total(priced_run) == pytest.approx(2 * used.stretches[0].span_ns / S)


def test_memory_that_was_not_measured_has_no_cost() -> None:
    priced_run = priced(use(closed_loop(8, 10)), charging(memory_gigabyte_hour=1.0, cpu_hour=1.0))
    assert not priced_run.known
    assert priced_run.everything.parts["memory"] is None
    assert priced_run.everything.parts["processor time"] is not None


def test_what_is_charged_for_adds_up_to_the_whole_and_so_do_commands_and_users() -> None:
    run = with_memory(closed_loop(8, 10, SCRIPT), 10**9)
    prices = {
        "cpu_hour": 5.0,
        "connect_hour": 1.0,
        "memory_gigabyte_hour": 2.0,
        "gigabyte_out": 9.0,
        "machine_hour": 3.0,
    }
    for by in ("command", "user"):
        priced_run = priced(use(run), charging(**prices), "command" if by == "command" else "user")
        assert sum(item.amount or 0.0 for item in priced_run.items) == pytest.approx(total(priced_run), rel=1e-12)
        assert sum(row.total or 0.0 for row in priced_run.rows) == pytest.approx(total(priced_run), rel=1e-12)
        assert sum(row.interactions for row in priced_run.rows) == priced_run.everything.interactions
    assert len(priced_run.items) == len(prices)


def test_the_report_and_the_bill_tell_the_same() -> None:
    run = with_memory(closed_loop(8, 10, SCRIPT), 10**9)
    for tariff in (load_tariff("cloud"), charging(cpu_hour=5.0, connect_hour=1.0, memory_gigabyte_hour=2.0)):
        told, summary = priced(use(run), tariff), summarize(run, tariff=tariff)
        assert summary.cost.interaction == pytest.approx(told.interaction.value)
        assert summary.cost.user_hour == pytest.approx(told.user_hour.value)
        assert [row.cost for row in summary.commands] == pytest.approx([row.each.value for row in told.rows])


def test_a_megabit_by_the_network_of_1972_costs_what_was_printed() -> None:
    """75 to 85 µs of processor time per bit, at $474.60 an hour: $9.90 to 11.20 a million bits."""
    for us_a_bit, printed in ((75, 9.90), (85, 11.20)):
        cpu_ns = us_a_bit * 1000 * 8 * 5000
        sent = interaction(1, 10, 5, bytes_out=5000, cpu_user_ns=cpu_ns, cpu_system_ns=0)
        priced_run = priced(use(run_of([sent]), "all"), load_tariff("tenex-1972"))
        assert priced_run.megabit.value == pytest.approx(printed, rel=0.002)


def test_usage_that_was_read_at_every_other_interaction_stands_for_all() -> None:
    run = closed_loop(8, 20)
    rows = run.interactions.with_row_index("row")
    usage = ["cpu_user_ns", "cpu_system_ns"]
    sampled = rows.with_columns(pl.when(pl.col("row") % 2 == 0).then(pl.col(usage))).drop("row")
    whole, part = (priced(use(each), charging(cpu_hour=1.0)) for each in (run, replace(run, interactions=sampled)))
    assert whole.interaction.value is not None
    assert part.interaction.value == pytest.approx(whole.interaction.value, rel=0.25)
    assert part.everything.interactions == whole.everything.interactions
    assert total(part) == pytest.approx((part.interaction.value or 0) * part.everything.interactions)


def test_a_run_without_processor_time_can_be_priced_by_the_rent_alone() -> None:
    run = run_of([interaction(1, at, 1) for at in range(1, 20, 2)])
    assert priced(use(run), load_tariff()).interaction.value is None
    assert priced(use(run), load_tariff()).user_hour.value is None
    assert priced(use(run), charging(machine_hour=1.0)).known


def test_a_run_in_which_nobody_typed_anything_has_no_cost() -> None:
    priced_run = priced(use(empty_run()), load_tariff("cloud"))
    assert not priced_run.known
    assert priced_run.rows == ()


@pytest.mark.statistical
def test_intervals_hold_what_is_exact_also_where_users_wait_for_each_other() -> None:
    """With 95 % intervals, fewer than 90 of 100 seeds hold the truth in one of fifty such tests.

    The intervals of a saturated machine are wider.
    """
    own, rent = charging(cpu_hour=HOUR), charging(machine_hour=HOUR)
    for users in (10, 30):
        exact = 1 / repairman(users, 2.0, 0.1).throughput
        held = [0, 0]
        for seed in range(100):
            used = use(closed_loop(users, 12, seed=seed))
            for place, (tariff, truth) in enumerate(((own, 0.1), (rent, exact))):
                interval = priced(used, tariff).interaction.interval
                held[place] += interval is not None and interval.holds(truth)
        assert min(held) >= 90, (users, held)


def test_one_user_has_an_interval_when_there_is_enough_time() -> None:
    assert priced(use(closed_loop(1, 100)), charging(cpu_hour=1.0)).interaction.interval is not None
    assert priced(use(closed_loop(1, 20)), charging(cpu_hour=1.0)).interaction.interval is None
