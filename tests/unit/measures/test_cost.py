"""Cost: the printed bills come out again at the bundled tariffs."""

from dataclasses import replace
from pathlib import Path

import pytest
from loadgo.measures.charges import SharedHoldings, cost_of, interaction_cost
from loadgo.measures.summary import summarize
from loadgo.measures.tariff import PRICE_LABELS, bundled_tariffs, load_shifts, load_tariff, tariff_on, tariff_text
from loadgo.measures.usage import Usage
from loadgo.records.interactions import TimeByClass
from support.synthetic import S, closed_loop

MS = 1e6


def used(cpu_ns: float | None, paging_wait_ns: float | None = 0.0) -> Usage:
    """An interaction that used so much."""
    return Usage(1, cpu_ns, None if cpu_ns is None else 0.0, 0.0, 0.0, 0.0, paging_wait_ns, 0.0, 0.0)


def test_every_bundled_tariff_names_its_source() -> None:
    assert bundled_tariffs() == [
        "arpanet-1970",
        "cloud",
        "ctss-1968",
        "default",
        "multics-6180-1973",
        "multics-645-1973",
        "tenex-1972",
    ]
    for name in bundled_tariffs():
        assert load_tariff(name).source


def test_only_the_default_and_the_template_are_assumptions() -> None:
    assert [name for name in bundled_tariffs() if load_tariff(name).assumption] == ["cloud", "default"]


def test_a_calculator_interaction_on_ctss_costs_the_cent_that_was_printed() -> None:
    """12 ms of processor and 145 ms of swapping were "about 1 cent", the first invocation's 600 ms "about 4 cents"."""
    tariff = load_tariff("ctss-1968")
    assert interaction_cost(used(12 * MS, 145 * MS), tariff) == pytest.approx(0.01, rel=0.03)
    assert interaction_cost(used(0.0, 600 * MS), tariff) == pytest.approx(0.04, rel=0.03)


@pytest.mark.parametrize(
    ("tariff", "cpu_s", "bill"),
    [
        ("multics-645-1973:1", 14213, 1995.07),
        ("multics-645-1973:2", 14213, 1421.30),
        ("multics-645-1973:3", 14213, 598.40),
        ("multics-6180-1973:1", 4860, 685.66),
        ("multics-6180-1973:2", 4860, 619.25),
        ("multics-6180-1973:3", 4860, 524.36),
    ],
)
def test_the_bills_of_may_1973_come_out_again(tariff: str, cpu_s: float, bill: float) -> None:
    assert interaction_cost(used(cpu_s * S), load_tariff(tariff)) == pytest.approx(bill, rel=0.005)


def test_what_was_not_measured_has_no_cost() -> None:
    assert interaction_cost(used(None), load_tariff()) is None
    assert interaction_cost(used(1.0, None), load_tariff("ctss-1968")) is None
    assert interaction_cost(used(1.0, None), load_tariff()) is not None


def test_an_interaction_alone_cannot_tell_its_part_of_what_is_paid_for_by_the_hour() -> None:
    rented = load_tariff("cloud")
    assert interaction_cost(used(1.0), rented) is None
    alone = SharedHoldings(elapsed_ns=36 * S, logged_in_ns=36 * S, present_ns=36 * S)
    written = replace(used(1.0), bytes_out=0.0)
    assert interaction_cost(written, rented, present_ns=36.0 * S, holdings=alone) == pytest.approx(0.10 / 100)


def test_a_machines_own_prices_are_asked_for_by_name() -> None:
    system = {"name": "mine", "title": "Mine", "tariff": {"shifts": {"1": 5.0, "2": 2.0}, "paging_wait_hour": 1.0}}
    assert tariff_on("machine:2", system).prices() == {"cpu_hour": 2.0, "paging_wait_hour": 1.0}
    assert tariff_on("default", system).source == "the machine mine"
    assert tariff_on("default", {}).name == "default"
    with pytest.raises(ValueError, match="tariff machine:9: has no shift 9; it has 1, 2"):
        tariff_on("machine:9", system)
    with pytest.raises(ValueError, match="no prices of its own; name a tariff"):
        tariff_on("machine", {})


def test_a_users_hour_is_what_its_interactions_cost() -> None:
    run_cost = cost_of(used(3600 * S / 100), 100, TimeByClass(3600 * S, 0, 0, 0), load_tariff("multics-645-1973"))
    assert run_cost.interaction == pytest.approx(5.05)
    assert run_cost.user_hour == pytest.approx(505.0)


def test_commands_cost_together_what_all_cost() -> None:
    summary = summarize(closed_loop(10, 20), tariff="multics-645-1973:2")
    parts = [(row.cost or 0.0) * row.response.count for row in summary.commands]
    assert summary.everything.cost is not None
    assert sum(parts) == pytest.approx(summary.everything.cost * summary.everything.response.count)


def test_ones_own_tariff_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "mine"\nsource = "the bill"\ncurrency = "€"\n[shifts]\nday = 2.0\nnight = 1\n')
    assert (load_tariff(str(file)).cpu_hour, load_tariff(f"{file}:night").cpu_hour) == (2.0, 1.0)


def test_a_shift_may_have_every_price_of_its_own(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(
        'source = "the bill"\nconnect_hour = 2\nmachine_hour = 0.1\n'
        "[shifts]\nday = 5.0\nspot = { machine_hour = 0.03 }\n"
    )
    day, spot = load_shifts(str(file))
    assert (day.shift, day.prices()) == ("day", {"cpu_hour": 5.0, "connect_hour": 2.0, "machine_hour": 0.1})
    assert (spot.shift, spot.prices()) == ("spot", {"connect_hour": 2.0, "machine_hour": 0.03})


def test_the_template_is_a_tariff_that_can_be_put_to_use_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(tariff_text("cloud"))
    assert load_tariff(str(file)).prices() == load_tariff("cloud").prices()
    assert set(PRICE_LABELS) - {"paging_wait_hour"} <= {
        line.split(" ")[0] for line in tariff_text("cloud").splitlines()
    }


def test_the_networks_price_is_what_the_hosts_was_33_to_37_times_of() -> None:
    megabit = load_tariff("arpanet-1970").gigabyte_out / 8000
    assert 9.90 / megabit == pytest.approx(33)
    assert 11.20 / megabit == pytest.approx(37, rel=0.01)


def test_prices_are_told_in_words() -> None:
    assert load_tariff("ctss-1968").in_words() == "$235 a CPU hour and hour of page wait"
    assert load_tariff("tenex-1972").in_words() == "$474.60 a CPU hour"
    assert load_tariff("cloud").in_words() == "$0.09 a gigabyte of output + $0.10 an hour of the whole machine"


@pytest.mark.parametrize(
    ("asked", "text", "says"),
    [
        ("nonsense", None, "is not bundled; these are: arpanet-1970, cloud, ctss-1968, default"),
        ("default:2", None, "one price for all shifts"),
        ("multics-645-1973:9", None, "has no shift 9; it has 1, 2, 3"),
        ("{}", 'source = "x"', "there is no price"),
        ("{}", "cpu_hour = 1", "'source' is missing"),
        (
            "{}",
            'source = "x"\ncpu_hour = -1',
            "to 1,000,000,000,000,000, not -1: write one, such as cpu_hour = 0.05",
        ),
        ("{}", "cpu_hour = = 1", "line 1, column 12"),
        ("absent.toml", None, "cannot be read"),
        ("{}", 'source = " "\ncpu_hour = 1', "'source' is missing: name the source of the prices"),
        ("{}", 'source = "x"\ncpu_hours = 1', "line 2: cpu_hours is no key of a tariff; did you mean cpu_hour?"),
        (
            "{}",
            'source = "x"\n\n# cpu_hour = 3\ncpu_hour = "5"',
            "line 4: cpu_hour must be a price from 0 to 1,000,000,000,000,000, not '5'",
        ),
        (
            "{}",
            'source = "x"\ncpu_hour = 1e308',
            "line 2: cpu_hour must be a price from 0 to 1,000,000,000,000,000, not 1e+308",
        ),
        (
            "{}",
            'source = "x"\ncpu_hour = nan',
            "line 2: cpu_hour must be a price from 0 to 1,000,000,000,000,000, not nan",
        ),
        (
            "{}",
            'source = "x"\ncpu_hour = inf',
            "line 2: cpu_hour must be a price from 0 to 1,000,000,000,000,000, not inf",
        ),
        ("{}", 'source = "x"\ncpu_hour = true', "line 2: cpu_hour must be a price"),
        ("{}", 'source = "x"\nassumption = "no"\ncpu_hour = 1', "line 2: assumption must be true or false, not 'no'"),
        ("{}", 'source = "x"\ncurrency = 3\ncpu_hour = 1', "line 2: currency must be a text, not 3"),
        ("{}", 'source = "x"\nshifts = 3', "line 2: [shifts] must be a table of prices"),
        (
            "{}",
            'source = "x"\n[shifts]\nday = -2',
            "line 3: day must be a price from 0 to 1,000,000,000,000,000, not -2",
        ),
        (
            "{}",
            'source = "x"\n[shifts]\nday = {{ rent = 2 }}',
            "line 3: rent is no key of a tariff; there are cpu_hour",
        ),
        ("{}", 'source = "x"\n[shifts.day]\nmachine_hour = -2', "line 3: machine_hour must be a price"),
        ("{}:night", 'source = "x"\n[shifts]\nday = 2', "has no shift night; it has day"),
    ],
)
def test_a_mistake_in_a_tariff_is_told_in_words(asked: str, text: str | None, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text.replace("{{", "{").replace("}}", "}"))
    with pytest.raises(ValueError, match="tariff") as mistake:
        load_tariff(asked.format(file))
    assert says in str(mistake.value)


def test_costs_at_a_tariff_are_all_of_one_number_of_interactions() -> None:
    """The prices alone give that number: so two runs, reports and ready messages can be compared."""
    counted = {name: load_tariff(name).counted for name in bundled_tariffs()}
    modern = {"cloud", "default"}
    assert {name for name, number in counted.items() if number == 1_000_000} == modern
    assert {number for name, number in counted.items() if name not in modern} == {1}
