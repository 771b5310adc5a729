"""The watch page of a run on several hosts in Chromium: response and meters by host, a lost host, a late one."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from loadgo.notation.figures import duration, number, share
from loadgo.records.following import follow, latest_ns
from loadgo.records.tables import Tables
from loadgo.watching.answer import answer
from loadgo.watching.window import WatchWindow, window_of
from support.accessibility import serious
from support.fleets import growing_run, metered_fleet_run
from support.run_files import written_run
from support.run_lock import lock_held
from support.watched import NEEDS_CHROMIUM, PHONE, WIDE, Sight, looked_at, picture, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

S = 1_000_000_000
STATES_OF_HOSTS = """(({ ash, birch, cedar, damson }) => !ash && birch === "lost at 12.50 s"
    && cedar?.startsWith("no meters for ") && !damson)(Object.fromEntries(
    [...document.querySelectorAll("#hosts tbody tr")].map(row => [row.cells[0], row.cells[row.cells.length - 1]])
    .map(cells => cells.map(cell => cell.textContent))))"""
"""Birch is lost, cedar is late, and the others are well. Rows of damson may reach the page after those of ash."""
CHARTS = ("host-responses", "host-busy", "host-ready", "host-memory")


@pytest.fixture(scope="module")
def measured() -> Tables:
    return metered_fleet_run((1.0, 4.0, 1.0, 1.0), (0.2, 0.3, 0.95, 0.4), lost={"damson": "the agent was lost"})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, measured: Tables) -> Path:
    return written_run(tmp_path_factory.mktemp("hosts") / "run", measured)


def window_of_run(run: Path, end_ns: float | None = None, width_ns: float | None = None) -> WatchWindow:
    tables = follow(run).all_tables()
    end = latest_ns(tables) if end_ns is None else round(end_ns)
    return window_of(tables, end, end if width_ns is None else round(width_ns), 60)


def expected_rows(window: WatchWindow) -> dict[str, list[str]]:
    """The cells of the table of hosts, by the name of the host, without those of what is wrong with a host."""
    return {
        host.name: [
            f"{10 * place + 1}–{10 * place + 10}",
            number(host.count),
            duration(host.p50_ns),
            "few" if host.p90_ns is None else duration(host.p90_ns),
            share(host.busy_share),
        ]
        for place, host in enumerate(window.hosts)
    }


def shown(sight: Sight, name: str) -> bool:
    return bool(sight.page.is_visible(f"#{name}"))


def test_each_host_has_a_row_with_the_figures_of_the_tables(sight: Sight, run: Path) -> None:
    rows = {row[0]: row[1:6] for row in sight.table("hosts")}
    assert rows == expected_rows(window_of_run(run))
    assert sight.table("hosts")[0][0] == "birch", "the slowest is the first"
    sight.window(30 * S, 12 * S)
    assert {row[0]: row[1:6] for row in sight.table("hosts")} == expected_rows(window_of_run(run, 30 * S, 12 * S))


def test_the_meters_of_each_host_are_those_of_the_tables(sight: Sight, run: Path) -> None:
    told = {host["name"]: host for host in sight.tell("loadgo.figures().hosts")}
    for host in window_of_run(run).hosts:
        of_page = told[host.name]
        assert of_page["share"] == pytest.approx(host.busy_share, rel=1e-6)
        assert of_page["length"] == pytest.approx(host.queue_length, rel=1e-6)
        assert of_page["used"] == pytest.approx(host.memory_share, rel=1e-6)


def test_a_lost_host_is_named_first_and_its_series_end(sight: Sight, run: Path) -> None:
    assert sight.text("answer").startswith("Lost: damson at 12.0 s. Full: ")
    assert sight.text("answer") == answer(window_of_run(run))
    assert sight.page.get_attribute("#answer", "class") == "bad"
    (row,) = (row for row in sight.table("hosts") if row[0] == "damson")
    assert row[-1] == "lost at 12.00 s"
    ends = sight.tell("loadgo.figures().hosts.map(host => host.busy.filter(value => value >= 0).length)")
    columns = sight.tell("loadgo.windowNow().columns")
    reach_s = sight.tell("loadgo.store.reach") / S
    assert ends[3] == pytest.approx(columns * 45 / reach_s, abs=2), "its records end after 45 s"
    sight.window(10 * S, 10 * S)
    assert not sight.text("answer").startswith("Lost"), "at that moment it was not lost yet"


def test_charts_of_hosts_are_pointed_at_with_all_others(sight: Sight) -> None:
    names = [host["name"] for host in sight.tell("loadgo.store.settings.hosts")]
    for name in CHARTS:
        assert shown(sight, f"series-{name}")
        label = sight.page.get_attribute(f"#series-{name}", "aria-label") or ""
        assert all(f"{host} " in label for host in names), name
    sight.page.focus("#series-host-busy")
    sight.page.keyboard.press("ArrowLeft")
    for name in CHARTS:
        assert all(f"{host} " in sight.text(f"value-{name}") for host in names), name
    assert sight.text("value-busy")


def test_the_answer_names_the_slowest_host_beside_the_busiest(sight: Sight, run: Path) -> None:
    busiest, slowest = "processors of cedar 9", "; slowest on birch (p90 "
    assert busiest in sight.text("answer")
    assert slowest in sight.text("answer")
    assert sight.text("answer") == answer(window_of_run(run)), "the terminal says the same"


def test_what_is_of_one_host_alone_is_not_shown(sight: Sight) -> None:
    for name in ("part-memory", "memory", "processes-part"):
        assert not shown(sight, name), name
    assert shown(sight, "users")
    assert shown(sight, "commands")


@pytest.mark.parametrize("size", [PHONE, WIDE, (1600, 1000)])
def test_the_hosts_fit_a_desk_and_a_phone(browser: Browser, run: Path, size: tuple[int, int], tmp_path: Path) -> None:
    with served(str(run)) as page, looked_at(browser, page, size) as sight:
        assert sight.tell("document.documentElement.scrollWidth <= innerWidth")
        assert serious(sight.page) == []
        picture(sight, tmp_path / "page.png")
        assert sight.wrong == []


TOPS = """selector => [...document.querySelectorAll(selector)].filter(drawn => drawn.checkVisibility())
    .map(drawn => Math.round(drawn.getBoundingClientRect().top))"""


@pytest.mark.parametrize(("width", "rows"), [(1100, 2), (1600, 1)])
def test_charts_of_the_hosts_fill_their_rows_and_begin_at_one_height(
    browser: Browser, run: Path, width: int, rows: int
) -> None:
    with served(str(run)) as page, looked_at(browser, page, (width, 1000)) as sight:
        for charts in ("#by-host canvas", "#series > section:not(:has(> ul)):not(#part-responses) canvas"):
            tops = sight.tell(TOPS, charts)
            assert sorted(tops.count(top) for top in set(tops)) == [4 // rows] * rows


def test_a_run_that_goes_on_shows_each_host_and_a_loss_when_it_comes(
    browser: Browser, measured: Tables, tmp_path: Path
) -> None:
    folder = tmp_path / "run"
    hosts = growing_run(folder, measured)
    with (
        lock_held(folder),
        served(str(folder)) as page,
        looked_at(browser, page, ended=False) as sight,
    ):
        assert [row[-1] for row in sight.table("hosts")] == [""] * 4
        for host in hosts.values():
            host.place(0.0)
            host.come(12)
        sight.wait("loadgo.store.tables.time.rows > 0 && loadgo.figures().hosts.every(host => host.share > 0)")
        hosts["birch"].place(0.0, lost="the agent was lost", lost_at_s=12.5)
        hosts["damson"].place(0.0, bound_ns=240_000_000)
        for name in ("ash", "damson"):
            hosts[name].come(30)
        sight.wait("answer.textContent.startsWith('Lost: birch at 12.5 s. ')")
        sight.wait("document.querySelector('#hosts-note').textContent.includes('The clock of damson is known badly')")
        sight.wait(STATES_OF_HOSTS)
        assert "; no answer in the last " in sight.text("answer"), "they ended after 8 s"
        assert re.search(r"processors of cedar 9\S+ % busy \(no meters for 1\S+ s\)", sight.text("answer"))
        assert sight.tell("loadgo.figures().hosts[0].seen") == 27 * S, "a late host does not hold the page up"
        assert np.isfinite(sight.tell("loadgo.figures().hosts[0].share"))
        assert sight.wrong == []
