"""The small charts of the watch page in Chromium: axes, values at a moment, a chosen stretch of time and its report."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import loadgo
import polars as pl
import pytest
from loadgo.documents.palette import category_colors
from loadgo.notation.figures import number
from loadgo.notation.terms import category_name
from loadgo.records.following import latest_ns
from loadgo.records.tables import Tables
from support.watched import NEEDS_CHROMIUM, PAGE_PATIENCE_S, PHONE, WIDE, Served, Sight, asked

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

S = 1_000_000_000
CHARTS = ("busy", "ready", "faults", "answers", "responses", "account", "memory")


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("charts") / "run"
    loadgo.run("typical-user", on="multics-6180", users=8, passes=4, seed=4, out=folder)
    return folder


LABELS = """async name => {
    const { drawAxes, plotOf } = await import(new URL("axes.js", location)), said = [];
    const pen = new Proxy({}, { get: (_, key) => key === "measureText" ? () => ({ width: 20 })
        : key === "fillText" ? text => said.push(text) : () => {}, set: () => true });
    const window = loadgo.windowNow();
    drawAxes(pen, plotOf(600, 100, window, 2e9), window, 2e9, ns => `${(ns / 1e9).toFixed(2)} s`, () => "#000");
    return said;
}"""


def test_an_axis_has_round_values_with_their_unit_and_round_moments(sight: Sight, run_tables: Tables) -> None:
    sight.window(latest_ns(run_tables), 40 * S)
    labels = sight.tell(LABELS)
    assert labels[:3] == ["0 s", "1 s", "2 s"]
    moments = [float(text.removesuffix(" s")) for text in labels[3:]]
    steps = {round(after - before, 6) for before, after in pairwise(moments)}
    assert len(moments) >= 3
    assert steps <= {10.0, 5.0}
    assert all(moment % 5 == 0 for moment in moments)


RIGHT_EDGES = """() => {
    const rows = new Map();
    for (const part of document.querySelectorAll("#series section")) {
        const { top, right, width } = part.getBoundingClientRect();
        if (width) rows.set(top, Math.max(rows.get(top) || 0, right));
    }
    return [...rows.values()].map(Math.round);
}"""


@pytest.mark.parametrize("width", [390, 1100, 1600])
def test_each_row_of_charts_is_filled(sight: Sight, width: int) -> None:
    sight.page.set_viewport_size({"width": width, "height": 900})
    edges = sight.tell(RIGHT_EDGES)
    assert len(edges) >= 3
    assert max(edges) - min(edges) <= 1


DECADES = """async range => (await import(new URL("axes.js", location))).decades(...range)"""


def test_a_logarithmic_axis_has_powers_of_ten_or_their_parts(sight: Sight) -> None:
    assert sight.tell(DECADES, [128, 2e6]) == [1e3, 1e4, 1e5, 1e6]
    assert sight.tell(DECADES, [150, 2500]) == [200, 500, 1000, 2000]


def at_moment(sight: Sight, name: str, share: float) -> tuple[float, float]:
    """The place on the screen of a part of the time of a chart."""
    box = sight.page.locator(f"#series-{name}").bounding_box()
    assert box is not None
    left = sight.tell('async wide => (await import(new URL("axes.js", location))).leftOf(wide)', box["width"])
    return box["x"] + left + share * (box["width"] - left - 1), box["y"] + box["height"] / 2


def test_pointing_at_a_moment_shows_the_values_of_all_charts_there(sight: Sight, run_tables: Tables) -> None:
    reach = latest_ns(run_tables)
    window = sight.window(reach, reach)
    sight.page.locator("#series-answers").scroll_into_view_if_needed()
    sight.page.mouse.move(*at_moment(sight, "answers", 0.5))
    values = {name: sight.text(f"value-{name}") for name in CHARTS}
    assert all(": " in text for text in values.values()), values
    bins = int(window["bins"])
    begin, end = (float(part) * S for part in values["answers"].partition(":")[0].replace(" s", "").split(" to "))
    assert begin <= reach / 2 <= end
    assert end - begin == pytest.approx(reach / bins, rel=0.02)
    ready = pl.col("ready_ns").cast(pl.Int64)
    width = reach / bins
    first = int(reach / 2 // width)
    counted = run_tables.interactions.filter((ready > first * width) & (ready <= (first + 1) * width)).height
    assert values["answers"].endswith(f": {number(counted / width * S)}")
    assert f"{category_name('user')} " in values["account"]
    legend = dict(sight.tell(LEGEND))
    assert all(f"{name} {legend[name]}" in values["account"] for name in legend if legend[name] not in ("0.0 %", "–"))
    sight.page.mouse.move(1, 1)
    assert sight.text("value-answers") == ""


LEGEND = """() => [...document.querySelectorAll("#legend-account li")].map(item =>
    [item.childNodes[1].textContent.trim(), item.lastChild.textContent])"""
PLACES = """() => [...document.querySelectorAll("#series section, #series li, #heat")].map(part => {
    const box = part.getBoundingClientRect();
    return [box.left, box.top + scrollY, box.width, box.height].map(Math.round);
})"""


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_pointing_and_choosing_move_nothing_on_the_page(
    sight: Sight, run_tables: Tables, size: tuple[int, int]
) -> None:
    sight.page.set_viewport_size({"width": size[0], "height": size[1]})
    reach = latest_ns(run_tables)
    sight.window(reach, reach)
    before = sight.tell(PLACES)
    sight.page.focus("#series-account")
    for key in ("End", "ArrowLeft", "Shift+ArrowLeft"):
        sight.page.keyboard.press(key)
        assert sight.text("value-account") != ""
        assert sight.tell(PLACES) == before
    assert sight.page.is_visible("#chosen")


def test_a_drag_chooses_a_stretch_whose_report_is_a_link(sight: Sight, page: Served, run_tables: Tables) -> None:
    reach = latest_ns(run_tables)
    sight.window(reach, reach)
    sight.page.locator("#series-busy").scroll_into_view_if_needed()
    sight.page.mouse.move(*at_moment(sight, "busy", 0.25))
    sight.page.mouse.down()
    sight.page.mouse.move(*at_moment(sight, "busy", 0.75), steps=5)
    sight.page.mouse.up()
    assert sight.text("chosen-text").startswith("Chosen: ")
    link = str(sight.page.get_attribute("#chosen-report", "href"))
    begin, end = (int(part.split("=")[1]) for part in link.partition("?")[2].split("&"))
    assert (begin / reach, end / reach) == (pytest.approx(0.25, abs=0.01), pytest.approx(0.75, abs=0.01))
    with sight.page.expect_popup() as opened:
        sight.page.click("#chosen-report")
    opened.value.wait_for_selector("#chart-over-time svg")
    inside = run_tables.interactions.filter((pl.col("ready_ns") > begin) & (pl.col("ready_ns") <= end))
    assert f"of {number(len(inside))} lines that ended then" in opened.value.inner_text("header")
    opened.value.close()
    with sight.at_rest():
        sight.page.click("#chosen-show")
    window = sight.window()
    assert (window["start"], window["end"]) == (pytest.approx(begin, abs=2), pytest.approx(end, abs=2))
    assert not sight.page.is_visible("#chosen")


def test_keys_alone_point_choose_show_and_leave(sight: Sight, run_tables: Tables) -> None:
    reach = latest_ns(run_tables)
    sight.window(reach // 2, reach // 4)
    sight.page.focus("#series-busy")
    sight.page.keyboard.press("Home")
    first = sight.text("value-busy")
    sight.page.keyboard.press("ArrowRight")
    assert first != sight.text("value-busy") != ""
    for _ in range(5):
        sight.page.keyboard.press("Shift+ArrowRight")
    assert sight.page.is_visible("#chosen")
    sight.page.keyboard.press("Escape")
    assert not sight.page.is_visible("#chosen")
    for _ in range(5):
        sight.page.keyboard.press("Shift+ArrowLeft")
    assert sight.page.is_visible("#chosen")
    before = sight.window()
    with sight.at_rest():
        sight.page.keyboard.press("Enter")
    after = sight.window()
    assert after["end"] - after["start"] < before["end"] - before["start"]
    assert before["start"] <= after["start"] < after["end"] <= before["end"]


@pytest.mark.parametrize("between", ["pointer", "leave", "show"])
def test_a_stretch_by_keys_begins_where_the_last_pointing_was(sight: Sight, run_tables: Tables, between: str) -> None:
    reach = latest_ns(run_tables)
    sight.window(reach // 2, reach // 4)
    sight.page.focus("#series-busy")
    sight.page.keyboard.press("Home")
    for _ in range(3):
        sight.page.keyboard.press("Shift+ArrowRight")
    if between == "pointer":
        sight.page.mouse.click(*at_moment(sight, "busy", 0.75))
    elif between == "leave":
        sight.page.click("#chosen-leave")
    else:
        with sight.at_rest():
            sight.page.keyboard.press("Enter")
    assert not sight.page.is_visible("#chosen")
    sight.page.focus("#series-busy")
    sight.page.keyboard.press("Shift+ArrowLeft")
    begin, end = (
        float(part) for part in sight.tell("() => import(new URL('panels.js', location)).then(m => m.pointed.stretch)")
    )
    window = sight.window()
    assert end - begin < 0.1 * (window["end"] - window["start"])


SWATCHES = """() => Object.fromEntries([...document.querySelectorAll("#legend-account li")].map(item =>
    [item.textContent.replace(/ [0-9.]+ %$/, ""), getComputedStyle(item.firstChild).backgroundColor]))"""


def test_categories_have_the_colours_of_the_report(sight: Sight, run_tables: Tables) -> None:
    names = run_tables.time["category"].cast(pl.String).unique().to_list()
    opaque = {category_name(name): color for name, color in category_colors(names).items() if len(color) == 7}
    swatches = sight.tell(SWATCHES)
    shown = {name: color for name, color in opaque.items() if name in swatches}
    assert len(shown) > 3
    assert {name: swatches[name] for name in shown} == {name: _rgb(color) for name, color in shown.items()}


def _rgb(color: str) -> str:
    """`#2f78c4` as a browser prints it."""
    red, green, blue = (int(color[at : at + 2], 16) for at in (1, 3, 5))
    return f"rgb({red}, {green}, {blue})"


@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_a_part_is_drawn_in_the_width_of_the_page(
    browser: Browser, page: Served, run_tables: Tables, size: tuple[int, int], scheme: str
) -> None:
    width, height = size
    viewport = {"width": width, "height": height}
    context = browser.new_context(viewport=viewport, color_scheme=scheme)  # type: ignore[arg-type]
    context.set_default_timeout(PAGE_PATIENCE_S * 1000)
    report = context.new_page()
    wrong: list[str] = []
    report.on("pageerror", lambda error: wrong.append(str(error)))
    report.goto(f"{page.url}report?from=0&to={latest_ns(run_tables)}")
    report.wait_for_selector("#chart-over-time svg")
    boxes = [box for drawn in report.locator(".chart svg").all() if (box := drawn.bounding_box())]
    assert boxes
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= width for box in boxes)
    report.select_option("#chart-over-time select", "compile")
    assert report.evaluate("document.documentElement.scrollWidth <= innerWidth")
    assert wrong == []
    context.close()


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("", "nanoseconds"),
        ("?from=5", "nanoseconds"),
        ("?from=-1&to=5", "nanoseconds"),
        ("?from=5&to=5", "no part of a run"),
        ("?from=1&to=9999999999999999999", "nanoseconds"),
    ],
)
def test_a_part_that_makes_no_sense_is_refused_in_words(page: Served, query: str, words: str) -> None:
    status, body, _ = asked(page.address, f"report{query}")
    assert status == 400
    assert words in body.decode()


def test_nobody_gets_a_report_without_the_secret_or_from_another_site(page: Served) -> None:
    host, _, _ = page.address.partition("/")
    assert asked(host, "/wrong/report?from=0&to=1000000000")[0] == 404
    assert asked(page.address, "report?from=0&to=1000000000", Origin="http://elsewhere.example")[0] == 404
