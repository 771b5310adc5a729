"""The values of a fitted machine, worked out by hand: laws of requests, waits, memory, supervisor, and uncertainty."""

import math
from typing import cast

import numpy as np
import polars as pl
import pytest
from loadgo.fitting.demands import (
    command_names,
    fit_disk_waits,
    fit_processor_times,
    fit_requests,
    fit_unmetered_wait,
)
from loadgo.fitting.memory import MemorySize, _fit_curve, _rising_values
from loadgo.fitting.reading import StoreUse
from loadgo.fitting.supervisor import fit_stores, supervisor_steps, switch_time_per_interaction, switch_value
from loadgo.fitting.trial import FittedCheck, FittedTrial, switch_cost, trial_interactions
from loadgo.fitting.uncertainty import (
    FitCovariance,
    ResampledValue,
    fit_covariance,
    log_interval,
    resample_groupings,
    resampled_ratio,
    resampled_spread,
)
from loadgo.fitting.values import FittedValues
from loadgo.notation.laws import Law
from support.fit_readings import by_key, reading, rows, units

ONCE = units([1] * 16)


def test_commands_are_in_the_order_of_their_first_lines() -> None:
    assert command_names(rows(command=["b", "a", "b", "c"], line=[3, 2, 1, 2])) == ["b", "a", "c"]


def test_the_supervisors_part_is_taken_from_the_work_and_never_more() -> None:
    fitted = fit_processor_times(rows(cpu=[5.0, 5.0, 5.0, 1.0, 5.0, 5.0]), [units([1] * 6)], np.full(6, 2.0))
    (value,) = fitted.values
    assert value.law.mean == pytest.approx((3 * 5 + 0) / 6)
    assert fitted.assumed == ()
    rare = fit_processor_times(rows(cpu=[5.0] * 4), [units([1] * 4)], np.zeros(4))
    assert rare.values[0].deviation == 0.5, "the mean of 4 draws from an exponential law"
    assert rare.assumed == ("`edit`: fewer than 5 interactions, so the uncertainty is large",)


def test_requests_are_waits_over_the_wait_of_one() -> None:
    """Sixteen waits of 40 over 20 are 2 requests; `ls` never waited, and has none."""
    waited = rows(io=[40.0] * 16 + [0.0], command=["edit"] * 16 + ["ls"])
    fitted = by_key(fit_requests(waited, [units([1] * 17)], "disk", 20.0))
    assert fitted == {"commands.edit.requests.disk": Law("fixed", (2.0,), timed=False)}


@pytest.mark.parametrize(
    ("deviation", "name"),
    [(0.0, "fixed"), (2.6, "fixed"), (3.1, "fixed"), (3.2, "geometric"), (3.9, "geometric")],
)
def test_the_law_of_requests_is_the_one_whose_waits_vary_more_alike(deviation: float, name: str) -> None:
    """Waits of four requests, each exponential with mean 1, have the variance 4. A geometric number adds 4 × 3.

    Halfway between 4 and 16 is 10: the law turns where the waits deviate by the root of 10, which is 3.162.
    """
    waits = [50 * (4.0 - deviation), 50 * (4.0 + deviation)] * 8
    fitted = by_key(fit_requests(rows(io=waits), [ONCE], "disk", 50.0))
    assert fitted["commands.edit.requests.disk"].name == name


def test_disks_have_the_waits_that_were_and_as_many_requests_as_waited() -> None:
    """Waits of 10 in 8 of 16 interactions: a service of 10, and half a request."""
    waited = rows(io=[10.0, 0.0] * 8, response=[100.0] * 16)
    fitted = fit_disk_waits(waited, [ONCE])
    laws = by_key(fitted)
    assert laws["storage.disk.service"].mean == 10.0
    assert laws["commands.edit.requests.disk"] == Law("fixed", (0.5,), timed=False)
    assert fitted.tables == (("storage.disk.kind", "server"), ("storage.disk.servers", "any"))
    few = rows(io=[1.0] + [0.0] * 15, response=[12.5] * 16)
    assert fit_disk_waits(few, [ONCE]).values == (), "half a percent of the response times is not modelled"
    more = rows(io=[1.1] + [0.0] * 15, response=[12.5] * 16)
    assert len(fit_disk_waits(more, [ONCE]).values) == 2


def test_the_unmetered_wait_is_the_rest_of_the_response() -> None:
    """100 ms less 20 + 30 + 10 + 5 ms and an interrupt of 1 ms: 34 ms, a wait of the command's own."""
    ms = 1e6
    measured = rows(
        response=[100 * ms] * 16, cpu=[20 * ms] * 16, ready=[30 * ms] * 16, paging=[10 * ms] * 16, io=[5 * ms] * 16
    )
    laws = by_key(fit_unmetered_wait(measured, [ONCE], 1 * ms, busy=False))
    assert {key: law.mean for key, law in laws.items()} == {"storage.wait-edit.service": 34 * ms}


def test_a_meter_that_was_not_read_explains_nothing_of_a_response() -> None:
    """100 less 70 and an interrupt of 1 is 29; with an I/O wait of 29 nothing is left."""
    measured = {"response": [100.0] * 5, "cpu": [70.0] * 5}
    for io, rest in ((None, 29.0), (29.0, 0.0)):
        fitted = fit_unmetered_wait(rows(**measured, io=[io] * 5), [units([1] * 5)], 1.0, busy=False)
        assert by_key(fitted) == {"storage.terminal.service": Law("fixed", (rest,), timed=True)}


def test_commands_without_a_wait_of_their_own_share_that_of_the_terminal() -> None:
    """A wait of its own is at least 1 ms and 3 % of the response."""
    ms = 1e6
    responses = {"a": 100.0, "b": 10.0, "c": 10.0}
    waits = {"a": 2.9, "b": 0.9, "c": 1.0}
    names = [name for name in responses for _ in range(5)]
    measured = rows(
        command=names,
        response=[responses[name] * ms for name in names],
        cpu=[(responses[name] - waits[name]) * ms for name in names],
    )
    fitted = fit_unmetered_wait(measured, [units([1] * 15)], 0.0, busy=False)
    means = {key: law.mean / ms for key, law in by_key(fitted).items()}
    assert means == pytest.approx({"storage.wait-c.service": 1.0, "storage.terminal.service": 1.9})
    requests = {key: value for key, value in fitted.tables if key.startswith("commands")}
    assert requests == {
        "commands.a.requests.terminal": 1,
        "commands.b.requests.terminal": 1,
        "commands.c.requests.wait-c": 1,
    }


def test_a_busy_host_has_the_median_of_its_unmetered_waits() -> None:
    ms = 1e6
    measured = rows(response=[10 * ms] * 4 + [90 * ms], cpu=[5 * ms] * 5)
    busy, idle = (
        by_key(fit_unmetered_wait(measured, [units([1] * 5)], 0.0, busy=busy))["storage.wait-edit.service"].mean
        for busy in (True, False)
    )
    assert (busy, idle) == (5 * ms, pytest.approx((4 * 5 + 85) / 5 * ms))


def test_waits_that_overlap_are_remarked_from_5_percent_on() -> None:
    for cpu, remarks in ((104.0, 1), (106.0, 2)):
        fitted = fit_unmetered_wait(rows(cpu=[cpu] * 5, response=[100.0] * 5), [units([1] * 5)], 0.0, busy=False)
        assert len(fitted.assumed) == remarks
    assert fitted.assumed[1].endswith("their sum to the response: `edit` (1.06 times)")


def test_curves_that_fall_are_pooled_until_they_rise() -> None:
    """3 and 1 with the weights 1 and 3 pool to 1.5, which the 2 before pools to 1.75 with the weight 2 + 4."""
    values, weights = np.array([1.0, 2.0, 3.0, 1.0, 5.0]), np.array([1.0, 2.0, 1.0, 3.0, 1.0])
    pooled = (2 * 2 + 3 * 1 + 1 * 3) / 6
    assert _rising_values(np.array([3.0, 1.0]), np.array([1.0, 3.0])) == pytest.approx([1.5, 1.5])
    assert _rising_values(values, weights) == pytest.approx([1.0, pooled, pooled, pooled, 5.0])


def test_a_headway_in_proportion_to_pages_is_saltzers_law() -> None:
    """Work of 1000 and 4000 with 100 and 200 faults at 10 and 20 pages: headways 10 and 20, so 1 for each page."""
    line, assumed = _fit_curve([MemorySize(10, 1000.0, 100.0), MemorySize(20, 4000.0, 200.0)])
    assert (line.law, line.deviation, assumed) == (Law("fixed", (1.0,), timed=True), 300**-0.5, ())  # type: ignore[union-attr]
    curve, words = _fit_curve([MemorySize(10, 1000.0, 100.0), MemorySize(20, 6000.0, 200.0)])
    assert curve == [[10.0, "10ns"], [20.0, "30ns"]]
    assert words[0].startswith("below 10 and above 20 pages a user")
    alone, words = _fit_curve([MemorySize(10, 1000.0, 0.0)])
    assert alone == [[10.0, "2us"]], "without a fault, twice the work"
    assert "fit runs with several amounts of memory" in words[0]


def test_the_supervisors_steps_are_time_over_count_of_all_runs() -> None:
    """Lines of 100 in 10 and of 500 in 20: 600 / 30. Log-ins are those of the whole run."""
    first = reading(
        supervisor={"line in": (10.0, 100.0), "major": (2.0, 0.4)},
        supervisor_whole_run={"process creation": (4.0, 4000.0)},
    )
    second = reading(supervisor={"line in": (20.0, 500.0)}, supervisor_whole_run={"process creation": (0.0, 0.0)})
    steps = supervisor_steps([first, second])
    assert {key: law.mean for key, law in by_key(steps.values).items()} == {
        "supervisor.line_in": 20.0,
        "supervisor.process_creation": 1000.0,
    }
    assert (steps.line_in_ns, steps.page_fault_ns) == (20.0, pytest.approx(0.2))


def test_switches_are_shared_out_over_all_interactions() -> None:
    class Total:
        def category_time_ns(self, name: str) -> float:
            return {"getwork": 900.0}[name]

    runs = [reading(total=Total(), rows=rows(cpu=[1.0] * 10)), reading(total=None, rows=rows(cpu=[1.0] * 20))]
    assert switch_time_per_interaction(runs) == 30.0
    assert by_key(switch_value(30.4)) == {"supervisor.getwork": Law("fixed", (30.0,), timed=True)}
    assert switch_value(0.9).values == ()
    assert len(switch_value(1.0).values) == 1


def test_the_service_of_a_store_is_its_busy_time_over_its_requests() -> None:
    """Two runs with 60 and 40 requests of 2000 in all: a service of 20, known to 1 / √100. Waits of 25 a request."""
    machine = {"storage": {"disk": {"kind": "server"}, "drum": {"kind": "drum"}}}
    runs = [
        reading(machine=machine, stores={"disk": StoreUse(60.0, 1500.0), "drum": StoreUse(5.0, 5.0)}),
        reading(machine=machine, stores={"disk": StoreUse(40.0, 500.0)}),
    ]
    waited = rows(io=[2500.0 / 16] * 16)
    fitted = fit_stores(runs, waited, [ONCE], "drum")
    service = fitted.values[0]
    assert (service.key, service.law, service.deviation) == (
        "storage.disk.service",
        Law("exponential", (20.0,), timed=True),
        0.1,
    )
    assert fitted.values[1].law.mean == pytest.approx(100 / 16)


def test_a_ratio_is_drawn_again_with_its_units() -> None:
    twice = units([1, 1, 1], [3, 0, 0], [0, 1, 2])
    value = resampled_ratio([twice], np.array([1.0, 2.0, 6.0]), np.array([1.0, 1.0, 1.0]))
    assert value.value == 3.0
    assert value.draws[0] == pytest.approx([3.0, 1.0, 14 / 3])
    spread = resampled_spread([twice], np.array([1.0, 3.0, 7.0]), np.array([1.0, 1.0, 0.0]))
    assert spread.value == pytest.approx(0.5), "of 1 and 3: a deviation of 1 and a mean of 2"
    assert spread.draws[0][:2] == pytest.approx([0.5, 0.0])


def test_logarithms_of_what_has_none_are_those_of_the_value() -> None:
    logs = ResampledValue(2.0, (np.array([2.0, 4.0, 0.0, np.nan, np.inf]),)).logs[0]
    assert logs == pytest.approx([math.log(4), math.log(2), math.log(2), math.log(2)])
    assert ResampledValue(2.0, (np.array([2.0, 0.5]),)).logs[0] == pytest.approx([math.log(0.5)])
    assert ResampledValue(0.5, (np.array([0.5, np.nan]),)).logs[0] == pytest.approx([math.log(0.5)])
    assert ResampledValue(0.0, (np.array([0.0, 0.0]),)).logs[0] == pytest.approx([0.0])


def test_the_uncertainty_is_the_largest_of_all_groupings_with_the_correlation_of_the_first() -> None:
    """Logarithms ±0.1 of six units, and ±0.2 of five: 0.2 √(5/4), with 4 degrees. Opposite signs correlate by -1."""
    many, few = units([1] * 6, *[[1] * 6] * 4), units([1] * 5, *[[1] * 5] * 4)

    def value(sign: int) -> ResampledValue:
        steps = [np.exp(sign * size * np.array([0, 1, -1, 1, -1])) for size in (0.1, 0.2)]
        return ResampledValue(1.0, tuple(steps))

    found = fit_covariance([value(1), value(-1)], [many, few])
    deviation = 0.2 * math.sqrt(5 / 4)
    assert found.deviations == pytest.approx([deviation, deviation])
    assert found.covariance == pytest.approx(deviation**2 * np.array([[1, -1], [-1, 1]]))
    assert found.degrees == (4, 4)
    wide_first = fit_covariance([value(1)], [many])
    assert wide_first.deviations == pytest.approx([0.1 * math.sqrt(6 / 5)])
    assert wide_first.degrees == (5,)
    none = fit_covariance([value(1)], [units([1] * 4)])
    assert isinstance(none, FitCovariance)
    assert (none.covariance.shape, none.degrees) == ((0, 0), (1,))


def test_an_interval_of_logarithms_is_students() -> None:
    """t(4) is 2.776: a deviation of 0.1 reaches e^0.2776 to either side."""
    assert log_interval(10.0, 0.1, 4) == pytest.approx((10 * math.exp(-0.27764), 10 * math.exp(0.27764)), rel=1e-4)


def test_units_are_users_stretches_and_each_users_part_of_each_stretch() -> None:
    grid = [(run, user, stretch) for run in (0, 1) for user in range(5) for stretch in range(3)]
    table = pl.DataFrame(grid, schema=["run", "user", "stretch"], orient="row")
    assert [grouping.units for grouping in resample_groupings(table)] == [30, 10, 6]
    one = table.filter(pl.col("run") == 0)
    assert [grouping.units for grouping in resample_groupings(one)] == [15, 5], "three stretches are too few"
    assert [grouping.units for grouping in resample_groupings(one.head(3))] == [3]


@pytest.mark.parametrize(("interactions", "asked"), [(10, 4000), (2000, 4000), (2001, 4002), (30_000, 20_000)])
def test_a_trial_has_twice_the_interactions_within_its_bounds(interactions: int, asked: int) -> None:
    assert trial_interactions(reading(rows=rows(cpu=[1.0] * interactions))) == asked


def test_a_check_is_off_by_a_share_of_what_was_measured() -> None:
    checks = [FittedCheck("r", 5, "p90", *values, True) for values in ((4.0, 5.0), (0.0, 5.0), (0.0, 0.0))]
    assert [check.off for check in checks] == [0.25, math.inf, 0.0]


def test_a_store_that_was_never_busy_serves_in_no_time() -> None:
    run = reading(machine={"storage": {"disk": {"kind": "server"}}}, stores={"disk": StoreUse(4.0, 0.0)})
    fitted = fit_stores([run], rows(io=[0.0]), [units([1])], "")
    assert by_key(fitted) == {"storage.disk.service": Law("fixed", (0.0,), timed=True)}
    assert cast("FittedValues", fit_stores([run], rows(io=[0.0]), [units([1])], "disk")).values == ()


def test_the_cost_of_a_switch_is_the_supervisors_time_without_lines_and_page_faults_over_the_switches() -> None:
    """Switches of 100 in the trial run: after a line of 50 and faults of 40, two and four of them are left.

    On average there are three, and the time of switches was 360 for each interaction: 120 for one.
    """
    trial = FittedTrial(
        reading(
            rows=rows(
                command=["edit", "ls"] * 8,
                system=[50.0 + 3 * 40 + 2 * 100, 50.0 + 1 * 40 + 4 * 100] * 8,
                faults=[3.0, 1.0] * 8,
            ),
            supervisor={"major": (32.0, 32 * 40.0)},
        )
    )
    cost = switch_cost(trial, 100.0, 50.0, 360.0)
    assert by_key(switch_value(cost.each_ns)) == {"supervisor.getwork": Law("fixed", (120.0,), timed=True)}
    assert cost.by_command == pytest.approx({"edit": 2.0, "ls": 4.0})
