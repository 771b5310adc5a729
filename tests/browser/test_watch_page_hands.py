"""The watch page under hand and keys in Chromium: zoom, drag, playing, keyboard only, phone, dark, forced colours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import loadgo
import polars as pl
import pytest
from loadgo.notation.figures import duration, share
from loadgo.records.following import latest_ns
from loadgo.records.tables import Tables
from support.accessibility import serious
from support.watched import NEEDS_CHROMIUM, PHONE, STATES_AT_THE_END, WIDE, Served, Sight, looked_at

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

S = 1_000_000_000
PLACE = """async at => {
    const { gutter } = await import(new URL("pictures.js", location)), { start, end } = loadgo.windowNow();
    const names = gutter(users.clientWidth);
    return names + (users.clientWidth - names) * (at - start) / (end - start);
}"""
"""Where on the picture of the users a moment of the run is, in pixels from its left edge."""
BELOW_BANDS = """async () => (await import(new URL("pictures.js", location))).BELOW_BANDS"""
"""The room below the bands for the moments of the run, in pixels."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("hands") / "run"
    loadgo.run("typical-user", on="multics-6180", users=5, passes=2, seed=4, out=folder)
    return folder


@pytest.fixture(scope="module")
def row(run_tables: Tables) -> dict[str, Any]:
    """An interaction in the middle of the run, of the third user."""
    third = run_tables.interactions.filter((pl.col("user") == 3) & pl.col("ready_ns").is_not_null()).sort("sent_ns")
    return third.row(len(third) // 2, named=True)


def ready_message(row: dict[str, Any]) -> str:
    """The page's text for an interaction, in the form of `loadgo ready`."""
    response, cpu = row["ready_ns"] - row["sent_ns"], row["cpu_user_ns"] + row["cpu_system_ns"]
    faults = f"page faults {row['faults_minor']} minor and {row['faults_major']} major"
    return f"real {duration(response)}, CPU {duration(cpu)} ({share(cpu / response)}), {faults}"


def middle(row: dict[str, Any]) -> float:
    """The middle of the interaction's response, in nanoseconds since the run began."""
    return float(row["sent_ns"] + row["ready_ns"]) / 2


def point(sight: Sight, row: dict[str, Any]) -> tuple[float, float]:
    """Where the middle of an interaction is on the screen, in its user's band."""
    box = sight.page.locator("#users").bounding_box()
    assert box is not None
    lanes = [lane["first"] for lane in sight.tell("loadgo.bands().lanes")]
    down = (lanes.index(row["user"]) + 0.5) / len(lanes) * (box["height"] - sight.tell(BELOW_BANDS))
    return box["x"] + sight.tell(PLACE, middle(row)), box["y"] + down


def check_detail(sight: Sight, row: dict[str, Any]) -> None:
    """Checks that the page shows the row of the chosen interaction."""
    first, message, times, waits, outcome = (line for line in sight.text("detail").splitlines() if line)
    assert first == f"user {row['user']}, pass {row['pass']}, line {row['line']}: {row['command']}"
    assert message == ready_message(row)
    assert f"thought {duration(row['think_ns'])}" in times
    ready, pages, disk = (duration(row[f"{name}_wait_ns"]) for name in ("ready", "paging", "io"))
    assert waits == f"waits: CPU {ready}, pages {pages}, disk {disk}"
    assert f"outcome {row['outcome']}" in outcome


def close_to(sight: Sight, row: dict[str, Any]) -> bool:
    """Whether the window shows little more than this interaction."""
    window = sight.window()
    return window["end"] - window["start"] < 4 * (row["ready_ns"] - row["sent_ns"])


def test_the_wheel_goes_to_a_single_interaction_which_says_its_row(sight: Sight, row: dict[str, Any]) -> None:
    for _ in range(60):
        if close_to(sight, row):
            break
        sight.page.mouse.move(*point(sight, row))
        with sight.at_rest():
            sight.page.mouse.wheel(0, -100)
    window = sight.window()
    assert window["start"] < row["sent_ns"] < row["ready_ns"] < window["end"] + row["ready_ns"] - row["sent_ns"]
    assert close_to(sight, row)
    with sight.at_rest():
        sight.page.mouse.click(*point(sight, row))
    check_detail(sight, row)
    assert sight.tell("loadgo.figures().answered") < 20


def test_the_buttons_go_to_a_single_interaction_which_says_its_row(
    sight: Sight, run_tables: Tables, row: dict[str, Any]
) -> None:
    with sight.at_rest():
        sight.page.fill("#moment", str(round(1000 * middle(row) / latest_ns(run_tables))))
    while sight.window()["end"] - sight.window()["start"] > 10 * S:
        with sight.at_rest():
            sight.page.click("#closer")
    moved = sight.window()
    sight.window(middle(row) + (moved["end"] - moved["start"]) / 2, moved["end"] - moved["start"])
    with sight.at_rest():
        sight.page.mouse.click(*point(sight, row))
    check_detail(sight, row)
    with sight.at_rest():
        sight.page.click("#wider")
    wider = sight.window()
    assert wider["end"] - wider["start"] == pytest.approx(2 * (moved["end"] - moved["start"]))
    with sight.at_rest():
        sight.page.click("#whole")
    assert (sight.window()["start"], sight.window()["end"]) == (0, latest_ns(run_tables))


def test_keys_alone_go_to_a_single_interaction_and_back(sight: Sight, run_tables: Tables, row: dict[str, Any]) -> None:
    user_rows = run_tables.interactions.filter((pl.col("user") == row["user"]) & pl.col("ready_ns").is_not_null()).sort(
        "ready_ns"
    )
    sight.page.focus("#users")
    for _ in range(3):
        press(sight, "ArrowDown")
    assert sight.text("axis").endswith(f"at user {row['user']}")
    for number in range(3):
        press(sight, "Shift+ArrowRight")
        check_detail(sight, user_rows.row(number, named=True))
    press(sight, "Shift+ArrowLeft")
    chosen = user_rows.row(1, named=True)
    check_detail(sight, chosen)
    whole = sight.window()
    press(sight, "Enter")
    window = sight.window()
    assert close_to(sight, chosen)
    assert window["start"] <= chosen["sent_ns"] < chosen["ready_ns"] <= window["end"]
    press(sight, "Escape")
    assert not sight.page.is_visible("#detail")
    press(sight, "Escape")
    press(sight, "End")
    assert sight.window() == whole


def press(sight: Sight, key: str) -> None:
    """A key, and the page at rest after it."""
    with sight.at_rest():
        sight.page.keyboard.press(key)


def test_each_key_that_the_page_names_does_what_it_says(sight: Sight, run_tables: Tables) -> None:
    reach = latest_ns(run_tables)
    sight.page.focus("#users")
    sight.window(reach // 2, reach // 8)
    ends = []
    for key in ("ArrowLeft", "ArrowRight", "ArrowRight", "Home", "End"):
        press(sight, key)
        ends.append(sight.window()["end"] / reach)
    assert ends == pytest.approx([15 / 32, 1 / 2, 17 / 32, 1 / 8, 1.0])
    sight.window(reach // 2, reach // 8)
    widths = []
    for key in ("+", "-", "-", "="):
        press(sight, key)
        window = sight.window()
        widths.append((window["end"] - window["start"]) / reach)
        assert (window["end"] + window["start"]) / 2 / reach == pytest.approx(7 / 16)
    assert widths == pytest.approx([1 / 16, 1 / 8, 1 / 4, 1 / 8])
    lanes = []
    for key in ("ArrowDown", "ArrowDown", "ArrowUp"):
        press(sight, key)
        lanes.append(sight.tell("loadgo.view.lane"))
    assert lanes == [0, 1, 0]


def test_a_drag_moves_the_run_under_the_hand(sight: Sight, run_tables: Tables) -> None:
    reach = latest_ns(run_tables)
    before = sight.window(reach // 2, reach // 5)
    at = 0.6 * reach / 2
    x, y = point(sight, {"user": 2, "sent_ns": at, "ready_ns": at})
    sight.page.mouse.move(x, y)
    sight.page.mouse.down()
    with sight.at_rest():
        sight.page.mouse.move(x - 120, y, steps=6)
        sight.page.mouse.up()
    after = sight.window()
    assert after["end"] - after["start"] == pytest.approx(before["end"] - before["start"])
    assert after["end"] > before["end"]
    assert point(sight, {"user": 2, "sent_ns": at, "ready_ns": at})[0] == pytest.approx(x - 120, abs=1.5)


@pytest.mark.parametrize(("speed", "sign"), [("10", 1), ("-10", -1)])
def test_a_run_is_played_forward_and_back_and_its_figures_go_along(
    sight: Sight, run_tables: Tables, speed: str, sign: int
) -> None:
    reach = latest_ns(run_tables)
    before = sight.window(reach // 2, reach // 8)["end"]
    sight.page.select_option("#speed", speed)
    drawn = sight.tell("+document.body.dataset.drawn")
    sight.page.click("#play")
    assert (sight.text("play"), sight.page.get_attribute("#play", "aria-pressed")) == ("Pause", "true")
    sight.wait(f"{sign} * (loadgo.view.end - {before}) > 5e9")
    sight.wait(f"+document.body.dataset.drawn > {drawn} && about.textContent.includes('played')")
    with sight.at_rest():
        sight.page.click("#play")
    assert (sight.text("play"), sight.page.get_attribute("#play", "aria-pressed")) == ("Play", "false")
    assert sign * (sight.window()["end"] - before) > 5e9
    assert "held" in sight.text("about")
    if sign < 0:
        sight.window(2 * S, reach // 8)
        sight.page.click("#play")
        sight.wait("loadgo.view.playing === null")
        assert sight.window()["end"] <= 1


FOCUS = """() => { const { id, className } = document.activeElement, style = getComputedStyle(document.activeElement);
    return [id || className, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) >= 2]; }"""


def test_every_control_is_reached_by_tab_and_shows_that_it_has_the_focus(sight: Sight) -> None:
    reached = []
    for _ in range(30):
        sight.page.keyboard.press("Tab")
        name, shown = sight.tell(FOCUS)
        if name in ("", *(known for known, _ in reached)):
            break
        reached.append((name, shown))
    controls = ["live", "play", "speed", "moment", "wider", "closer", "whole", "users"]
    assert [name for name, _ in reached if name in controls] == controls
    assert all(shown for _, shown in reached), reached
    sight.page.focus("#play")
    sight.page.keyboard.press("Space")
    sight.wait("loadgo.view.playing !== null")
    sight.page.keyboard.press("Space")
    sight.wait("loadgo.view.playing === null")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, PHONE], ids=["wide", "phone"])
def test_light_and_dark_a_desk_and_a_phone_have_all_of_it_in_readable_colours(
    browser: Browser, page: Served, size: tuple[int, int], scheme: str
) -> None:
    with looked_at(browser, page, size, scheme=scheme) as sight:
        wide = sight.tell("[document.documentElement, document.body].map(one => one.scrollWidth <= innerWidth)")
        assert wide == [True, True]
        ground = _light(sight.tell("getComputedStyle(document.body).backgroundColor"))
        assert (ground < 0.1) == (scheme == "dark")
        for name in ("#answer", "#about", "#keys", "#commands th", "#commands td", "#live", "#legend li"):
            ink = _light(sight.page.eval_on_selector(name, "one => getComputedStyle(one).color"))
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5, name
        for name in ("live", "play", "speed", "wider", "closer", "whole"):
            box = sight.page.locator(f"#{name}").bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) >= 24, name
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= size[0]
        assert serious(sight.page) == []
        assert sight.wrong == []


def _light(colour: str) -> float:
    """Relative luminance of `rgb(r, g, b)`, as the web's rules for contrast have it."""
    parts = [int(part) / 255 for part in colour.removeprefix("rgb(").removesuffix(")").split(",")]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_without_telling_colours_apart_the_states_are_there_in_words(
    browser: Browser, page: Served, run_tables: Tables
) -> None:
    with looked_at(browser, page, forced="active") as sight:
        swatches = sight.tell("[...legend.querySelectorAll('i')].map(one => getComputedStyle(one).backgroundColor)")
        assert len(set(swatches)) == len(STATES_AT_THE_END) + 1
        assert [name for name, *_ in sight.table("states")] == STATES_AT_THE_END
        assert sight.text("legend").split("\n") == [*STATES_AT_THE_END, "not logged in"]
        assert sight.page.get_attribute("#users", "aria-label")
        assert all(sight.tell("[...document.querySelectorAll('canvas')].map(one => !!one.getAttribute('aria-label'))"))
