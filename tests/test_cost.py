"""Cost: the printed bills come out again at the bundled tariffs."""

from pathlib import Path

import pytest
from loadgo.classes import Classes
from loadgo.cost import bundled_tariffs, cost_of, interaction_cost, load_tariff
from loadgo.summary import summarize
from loadgo.usage import Usage
from synthetic import S, closed_loop

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


def test_a_users_hour_is_what_its_interactions_cost() -> None:
    found = cost_of(used(3600 * S / 100), 100, Classes(3600 * S, 0, 0, 0), load_tariff("multics-645-1973"))
    assert found.interaction == pytest.approx(5.05)
    assert found.user_hour == pytest.approx(505.0)


def test_commands_cost_together_what_all_cost() -> None:
    summary = summarize(closed_loop(10, 20), tariff="multics-645-1973:2")
    parts = [(row.cost or 0.0) * row.response.count for row in summary.commands]
    assert summary.everything.cost is not None
    assert sum(parts) == pytest.approx(summary.everything.cost * summary.everything.response.count)


def test_ones_own_tariff_is_a_file(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('title = "mine"\nsource = "the bill"\ncurrency = "€"\n[shifts]\nday = 2.0\nnight = 1\n')
    assert (load_tariff(str(file)).cpu_hour, load_tariff(f"{file}:night").cpu_hour) == (2.0, 1.0)


@pytest.mark.parametrize(
    ("asked", "text", "says"),
    [
        ("nonsense", None, "is not bundled; these are: arpanet-1970, cloud, ctss-1968, default"),
        ("default:2", None, "one price for all shifts"),
        ("multics-645-1973:9", None, "has no shift 9; it has 1, 2, 3"),
        ("{}", 'source = "x"', "'cpu_hour' is missing"),
        ("{}", "cpu_hour = 1", "'source' is missing"),
        ("{}", 'source = "x"\ncpu_hour = -1', "must be a price of 0 or more, not -1"),
        ("{}", "cpu_hour = = 1", "line 1, column 12"),
        ("absent.toml", None, "cannot be read"),
    ],
)
def test_a_mistake_in_a_tariff_is_told_in_words(asked: str, text: str | None, says: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    if text is not None:
        file.write_text(text)
    with pytest.raises(ValueError, match="tariff") as mistake:
        load_tariff(asked.format(file))
    assert says in str(mistake.value)
