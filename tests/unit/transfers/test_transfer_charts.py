"""The charts and pictures of transfers: what is drawn is what was measured, and a browser can draw it."""

import json
from itertools import pairwise

import pytest
from loadgo.documents.chart import svg
from loadgo.documents.result import Result
from loadgo.transfers.analysis import Apart, taken_apart
from loadgo.transfers.chart_data import longest_transfers, points_by_size, price_curve, price_sizes, size_marks
from loadgo.transfers.charts import apart_charts, method_charts
from loadgo.transfers.csv_table import Observed, Table, read_table
from loadgo.transfers.prices import Prices, prices
from loadgo.transfers.transfer import Transferred
from support.transfer_rows import rounds
from support.transfer_tables import COLUMNS, PRICES, SEED, made


def at_loads() -> Apart:
    """A grid at two loads, taken apart."""
    return taken_apart(Table("this host", tuple(made({1.0: 1.0, 7.0: 5.0})), (), ()), PRICES)


def test_a_grid_has_its_cost_its_price_and_its_stretch() -> None:
    charts = {chart.name: chart for chart in apart_charts(at_loads())}
    assert list(charts) == ["transfer-cost", "transfer-price", "transfer-load"]
    for chart in charts.values():
        assert svg(chart).startswith("<svg")
    assert '"type": "log"' in json.dumps(charts["transfer-cost"].spec["layer"][0]["encoding"]["x"])


def test_the_seeds_table_has_its_stretch_as_a_point_for_each_transfer() -> None:
    parts = taken_apart(read_table(SEED, COLUMNS), prices("tenex-1972", "arpanet-1970"))
    charts = {chart.name: chart for chart in apart_charts(parts)}
    (points,) = [rows for rows in charts["transfer-load"].spec["datasets"].values() if "bytes" in rows[0]]
    # One row took 0 s by its cut clock.
    assert len(points) == 76
    assert svg(charts["transfer-load"]).startswith("<svg")


def test_without_a_network_price_there_is_none_to_draw() -> None:
    parts = taken_apart(at_loads().table, Prices("$", 1.0, None, ""))
    assert [chart.name for chart in apart_charts(parts)] == ["transfer-cost", "transfer-load"]


def test_loads_that_are_alike_have_no_slope_to_draw() -> None:
    table = Table("this host", tuple(made({11.75: 1.0, 11.81: 1.4})), (), ())
    parts = taken_apart(table, PRICES)
    assert len(parts.levels) == 2
    assert [chart.name for chart in apart_charts(parts)] == ["transfer-cost", "transfer-price"]
    assert "they do not tell what a load changes" in " ".join(parts.report().split())


def test_points_are_medians_and_the_line_is_of_the_longest_transfers() -> None:
    table = [
        Observed("", "s", "blocks", size, cost * 8 * size, message=512)
        for size, costs in ((4096, (3.0, 9.0, 4.0)), (8192, (2.0,)))
        for cost in costs
    ]
    what, points = points_by_size(table)
    assert what == "bytes a message"
    assert [(point.bytes, point.y, point.count) for point in points] == [(4096, 4.0, 3), (8192, 2.0, 1)]
    assert [point.y for point in longest_transfers(points)] == [2.0]


def test_a_message_is_never_longer_than_its_transfer() -> None:
    _, (point,) = points_by_size([Observed("", "s", "blocks", 100, 1.0, message=65536)])
    assert point.x == 100


def test_the_price_falls_with_the_message_and_crosses_where_it_says() -> None:
    loaded_rows = at_loads()
    assert loaded_rows.crossings[0].size is not None
    curve = price_curve(loaded_rows.crossings[0], price_sizes(loaded_rows))
    assert all(one[1] > two[1] for one, two in pairwise(curve))
    assert curve[0][1] > (PRICES.network_gigabyte or 0) > curve[-1][1]


def test_prices_of_whole_transfers_are_drawn_over_their_sizes() -> None:
    table = [Observed("", "s", "", size, 1e-2 + 1e-6 * size, messages=size // 100) for size in (1000, 5000, 90_000)]
    parts = taken_apart(Table("this host", tuple(table), (), ()), PRICES)
    assert {one.of for one in parts.crossings} == {"transfer"}
    low, high, *_ = price_sizes(parts)
    assert (low, high) == (1000, 90_000)


@pytest.mark.parametrize(
    ("sizes", "marks"),
    [
        ([64.0, 65536.0], [64, 256, 1024, 4096, 16384, 65536]),
        ([3000.0, 17000.0], [4096, 8192, 16384]),
        ([66_667.0, 130_293.0], [66_667, 130_293]),
        ([5.0, 5.0], [5, 5]),
    ],
)
def test_an_axis_of_sizes_is_marked_however_short_it_is(sizes: list[float], marks: list[float]) -> None:
    assert size_marks(sizes) == marks


@pytest.mark.parametrize("tariff", ["cloud", "default"])
def test_methods_stand_against_the_networks_price(tariff: str) -> None:
    (chart,) = method_charts(rounds(1), prices(tariff))
    assert ("network's price" in chart.caption) == (tariff == "cloud")
    assert svg(chart).startswith("<svg")
    assert method_charts(rounds(1)[:1], prices(tariff)) == []


def test_the_pages_hold_their_charts() -> None:
    page = Transferred(tuple(rounds(3)), (), False).report("html", prices=prices("cloud"))
    assert 'id="chart-transfer-methods"' in page
    page = at_loads().report("html")
    for name in ("cost", "price", "load"):
        assert f'id="chart-transfer-{name}"' in page


@pytest.mark.parametrize("result", [Transferred(tuple(rounds(1)[:4]), (), False), at_loads()])
def test_a_page_has_its_chart_before_the_table_of_the_same_costs(result: Result) -> None:
    """On a phone the table of two methods pushed the chart off the screen."""
    page = str(result.report("html"))
    assert page.index('<div class="chart"') < page.index("<table")


def test_labels_of_a_logarithmic_axis_keep_a_distance() -> None:
    """On a phone `0.005` and `0.01` stood together as `0.0050.01`."""
    for chart in (*method_charts(rounds(4), prices("default")), *apart_charts(at_loads())):
        assert '"labelOverlap": "greedy"' in json.dumps(chart.spec), chart.name
        assert chart.spec["config"]["axisQuantitative"]["labelSeparation"] == 6
