"""The watch page of a run on another host in Chromium: what interactions use there comes while the run goes on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl
import pytest
from loadgo.notation.figures import duration
from loadgo.records.following import follow
from loadgo.records.host_places import ControllerLock
from loadgo.records.runs import FAR_FOLDER
from loadgo.watching.window import window_of
from support.fleets import growing_far_run, metered_fleet_run
from support.run_lock import lock_held
from support.watched import NEEDS_CHROMIUM, looked_at, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

S = 1_000_000_000
CPU_OF_COMMAND = "document.querySelector('#commands tbody tr').cells[4].textContent"
RUNNING = """store => { const all = 8, { values } = store.users.grid; let sum = 0;
    for (let at = 0; at < values.length; at += all) sum += values[at]; return sum * store.users.grid.width; }"""
"""Time of all users in the state *running*, in the page's coarse picture."""

USED = """store => { const { cpu_ns: cpu, response_ns: response } = store.tables.interactions.columns;
    return cpu.reduce((sum, one, row) => sum + Math.min(one || 0, response[row]), 0); }"""
"""Processor time of all interactions, of each as much as it took."""


def test_what_interactions_use_comes_to_rows_that_the_page_has(browser: Browser, tmp_path: Path) -> None:
    run = metered_fleet_run((1.0,), (0.2,))
    unknown = [pl.lit(None, pl.UInt64).alias(name) for name in ("cpu_user_ns", "cpu_system_ns")]
    far = growing_far_run(folder := tmp_path / "run", replace(run, interactions=run.interactions.with_columns(unknown)))
    far.place(0.0)
    lock = ControllerLock(folder / FAR_FOLDER)
    with lock_held(folder), served(str(folder)) as page, looked_at(browser, page, ended=False) as sight:
        sight.wait("loadgo.store.tables.interactions.rows > 0")
        sight.window(60 * S, 60 * S)
        assert sight.tell(CPU_OF_COMMAND) == "–"
        assert "What 0 of them used on the other host is known, provisionally until the run ends." in sight.text(
            "instrument"
        )
        before = sight.tell(f"({RUNNING})(loadgo.store)")
        far.read(90.0)
        sight.wait("loadgo.figures().charged === loadgo.figures().answered")
        sight.window(60 * S, 60 * S)
        window = window_of(follow(folder).all_tables(), 60 * S, 60 * S, 60)
        assert sight.tell(CPU_OF_COMMAND) == duration(window.commands[0].cpu_ns)
        used = sight.tell(f"({USED})(loadgo.store)")
        after = sight.tell(f"({RUNNING})(loadgo.store)")
        assert after - before == pytest.approx(used, rel=1e-3), "the coarse picture of many users has it, too"
        far.place(0.0, lost="the agent was killed", lost_at_s=50.0)
        sight.wait("answer.textContent.startsWith('Lost: ash.example at 50.0 s. ')")
        assert sight.page.get_attribute("#answer", "class") == "bad"
        assert sight.wrong == []
    lock.release()
