"""Sends against receives, loads against each other, and the processor's price against the network's."""

from dataclasses import replace

import pytest
from loadgo.documents.document import SignPicture
from loadgo.notation.figures import digits
from loadgo.stats.interval import Interval
from loadgo.transfers.analysis import taken_apart
from loadgo.transfers.analysis_document import _change_of, apart_document
from loadgo.transfers.compared import Times, by_load, receives_over_sends
from loadgo.transfers.crossing import crossings
from loadgo.transfers.csv_table import Observed, Table
from loadgo.transfers.parts import Part, Parts
from support.transfer_tables import PRICES, made


def test_receives_over_sends_has_an_interval_that_holds_the_truth() -> None:
    (ends,) = receives_over_sends(made({0.0: 1.0}))
    assert ends.alike
    assert ends.compared == 9
    assert ends.receives.interval is not None
    assert ends.receives.interval.holds(1.3)
    assert ends.receives.interval.low > 1.2


def test_ends_without_sizes_in_common_are_compared_all_together() -> None:
    sends = [Observed("", "s", "", 1000 + at, 1e-3 * (1000 + at)) for at in range(20)]
    receives = [Observed("", "r", "", 5000 + at, 2e-3 * (5000 + at)) for at in range(20)]
    (ends,) = receives_over_sends(sends + receives)
    assert not ends.alike
    assert ends.receives.times == pytest.approx(2)


def test_the_stretch_is_told_apart_from_the_price() -> None:
    levels = by_load(made({1.0: 1.0, 3.0: 2.0, 7.0: 5.0}))
    assert [level.load for level in levels] == [1.0, 3.0, 7.0]
    assert [level.real.times for level in levels] == pytest.approx([1, 2, 5], rel=0.03)
    last = levels[-1]
    assert last.cpu.interval is not None
    assert last.cpu.interval.holds(1.0)
    assert last.real.interval is not None
    assert last.real.interval.holds(5.0)
    assert last.stretch.times == pytest.approx(7.5, rel=0.03)


def test_loads_of_all_sorts_are_not_levels() -> None:
    many = [Observed("", "s", "", 1000, 1.0, real_s=2.0, load=float(at)) for at in range(40)]
    assert by_load(many) == []


def parts(message: float, byte: float) -> Parts:
    """A kind whose messages and bytes cost so much."""
    return Parts("s blocks", 9, (Part("message", message, None, 0.5), Part("byte", byte, None, 0.5)), (), 0.0)


@pytest.mark.parametrize(
    ("message", "byte", "where", "size"),
    [
        (100e-9, 1e-9, "at a size", 100.0),
        (100e-9, 3e-9, "always above", None),
        (0.5e-9, 1e-9, "always below", None),
    ],
)
def test_the_price_passes_the_networks_where_the_two_are_equal(
    message: float, byte: float, where: str, size: float | None
) -> None:
    (found,) = crossings([parts(message, byte)], PRICES)
    assert found.where == where
    assert found.size == (None if size is None else pytest.approx(size))
    if found.size is not None:
        assert found.gigabyte(found.size) == pytest.approx(PRICES.network_gigabyte)
        assert found.gigabyte(found.size / 2) > (PRICES.network_gigabyte or 0)


@pytest.mark.parametrize("width", [80, 120])
def test_the_page_tells_ends_loads_and_crossings(width: int) -> None:
    analysis = taken_apart(Table("this host", tuple(made({1.0: 1.0, 7.0: 5.0})), (), ()), PRICES, "processes running")
    page = analysis.report(width=width)
    for words in (
        "Receiving ÷ sending",
        "Against the load: the same transfers",
        "times as long",
        "processes running",
        "Price crossing",
        "Against load: ●",
    ):
        assert words in " ".join(page.split())
    assert max(map(len, page.splitlines())) <= width
    assert sum(isinstance(section, SignPicture) for section in apart_document(analysis).sections) == 2


def test_loads_without_a_quiet_one_are_told_and_lower_the_trust() -> None:
    def page(low: float, high: float) -> str:
        analysis = taken_apart(Table("this host", tuple(made({low: 1.0, high: 5.0})), (), ()), PRICES, "running")
        return " ".join(analysis.report(width=200).split())

    assert "There was no quiet load: the lowest was 11.2." in page(11.2, 12.8)
    assert "no load was quiet: the lowest was 11.2" in page(11.2, 12.8)
    assert "quiet" not in page(1.0, 7.0)
    assert _change_of("processor time per bit", Times(0.75, None)).endswith(
        "is 0.750 times as long (without an interval: chance may explain it)"
    )


def test_all_pages_price_the_same_amount_of_data() -> None:
    """A tenth of a picosecond a bit: nobody reads the price of a million bits."""
    cheap = tuple(replace(transfer, cpu_s=transfer.bits * 1e-13) for transfer in made({1.0: 1.0, 7.0: 5.0}))
    page = taken_apart(Table("this host", cheap, (), ()), PRICES, "running").report(width=200)
    cost = 1e-13 * 8e9 * 1e3 * PRICES.cpu_hour / 3600
    assert f"Sending a terabyte costs {PRICES.currency}{digits(cost)}" in " ".join(page.split())
    assert "megabit" not in page


def test_no_change_with_the_load_is_named_that_the_interval_does_not_show() -> None:
    def sentence(low: float, high: float) -> str:
        analysis = taken_apart(Table("this host", tuple(made({low: 1.0, high: 5.0})), (), ()), PRICES, "running")
        return str(apart_document(analysis).answer)

    assert "At a load of 7.0 against 1.0 " in sentence(1.0, 7.0)
    assert "and real time is 4.95 times as long." in sentence(1.0, 7.0)
    assert "they do not tell what a load changes" in sentence(15.7, 15.8)
    assert _change_of("real time", Times(1.44, Interval(0.58, 2.1))) == (
        "no change of real time can be told (1.44 times, 0.580 to 2.10)"
    )
