"""The watch page in Chromium while its run grows, ends, is killed or is damaged, and of a host without a run."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from loadgo.records.following import latest_ns
from loadgo.records.tables import tables
from loadgo.watching.answer import answer
from loadgo.watching.window import window_of
from support.fleets import metered_fleet
from support.outside import PATIENCE_S, Bench, wait_until
from support.run_files import written_run
from support.watched import NEEDS_CHROMIUM, PHONE, SHORT, Served, Sight, address_in, looked_at, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

ROWS = "loadgo.store.tables.interactions.rows"
ALL_PROCESSES_WAIT = """async () => {
    const { answer } = await import(new URL("answer.js", location)), told = loadgo.figures();
    const states = told.states.map((values, at) => values.map(() => at === 1 ? 1 : 0));
    const time = [{ name: "user", share: 0.5 }, { name: "idle zero", share: 0.5 }];
    return answer({ ...told, states, time, busyShare: 0.5 }, loadgo.windowNow(), 0, null);
}"""
"""The answer of a page without users where processors are half busy and every process is ready and waits."""

BANDS_ARE_TABLE = """loadgo.bands().lanes.map(lane => lane.label).join()
    === [...document.querySelectorAll("#processes tbody tr")].map(row => row.cells[0].textContent).join()"""
"""The bands of processes are those of the table, in its order. Bands are drawn at each sample, the table after it."""


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "homes").mkdir()
    (tmp_path / "short.toml").write_text(SHORT)
    return Bench(tmp_path)


@contextmanager
def going(bench: Bench, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A run of two users that goes on until somebody ends it."""
    running = bench.start("run", "short.toml", "--users", "2", "--quiet", "--out", "kept", *options)
    try:
        wait_until((bench.folder / "kept" / "interactions.arrows").exists, running)
        yield running
    finally:
        running.terminate()
        running.communicate(timeout=PATIENCE_S)


def answered(bench: Bench) -> int:
    """How many interactions the run's tables have."""
    return int(tables(bench.folder / "kept").interactions["ready_ns"].is_not_null().sum())


def check_end(sight: Sight, bench: Bench) -> None:
    """The page has all of the run, says so, and answers as its tables do."""
    sight.wait("loadgo.store.ended")
    with sight.at_rest():
        sight.page.click("#whole")
    seen = tables(bench.folder / "kept")
    assert sight.tell(ROWS) == answered(bench)
    assert sight.text("answer") == answer(window_of(seen, latest_ns(seen), latest_ns(seen), 60))
    assert "ended" in sight.text("about") or "killed" in sight.text("about")


def test_a_run_that_goes_on_adds_to_the_page_and_ends_there(browser: Browser, bench: Bench) -> None:
    with (
        going(bench) as running,
        served(str(bench.folder / "kept")) as page,
        looked_at(browser, page, ended=False) as sight,
    ):
        sight.wait(f"{ROWS} > 5 && about.textContent.includes('live')")
        before, reach = sight.tell(ROWS), sight.tell("loadgo.store.reach")
        sight.wait(f"{ROWS} > {before + 10} && loadgo.store.reach > {reach} + 1e9")
        end = sight.window()["end"]
        sight.wait(f"loadgo.windowNow().end > {end}")
        running.terminate()
        check_end(sight, bench)
        with sight.at_rest():
            sight.page.click("#live")
        assert "ended" in sight.text("about")
        assert sight.wrong == []


def test_a_page_that_is_held_stays_where_it_is_while_its_run_goes_on(browser: Browser, bench: Bench) -> None:
    with going(bench), served(str(bench.folder / "kept")) as page, looked_at(browser, page, ended=False) as sight:
        sight.wait("loadgo.store.reach > 2e9")
        held = sight.window(1_500_000_000, 1_000_000_000)
        before = sight.tell("loadgo.store.reach")
        sight.wait(f"loadgo.store.reach > {before} + 1e9")
        assert (sight.window()["start"], sight.window()["end"]) == (held["start"], held["end"])
        sight.wait("about.textContent.includes('held')")


def test_the_page_that_a_run_serves_has_the_end_of_it_when_the_run_is_over(browser: Browser, bench: Bench) -> None:
    running = bench.start("run", "short.toml", "--users", "2", "--quiet", "--out", "kept", "--watch")
    with looked_at(browser, Served(address_in(running), running), ended=False) as sight:
        sight.wait(f"{ROWS} > 5")
        running.send_signal(signal.SIGINT)
        running.communicate(timeout=PATIENCE_S)
        check_end(sight, bench)
        assert sight.wrong == []


def test_a_run_that_is_killed_has_ended_and_what_it_wrote_is_there(browser: Browser, bench: Bench) -> None:
    with (
        going(bench) as running,
        served(str(bench.folder / "kept")) as page,
        looked_at(browser, page, ended=False) as sight,
    ):
        sight.wait(f"{ROWS} > 10")
        running.kill()
        running.wait()
        check_end(sight, bench)
        assert "killed" in sight.text("about")
        assert sight.tell(ROWS) > 10
        assert sight.wrong == []
    bench.loadgo("run", "short.toml", "--until", "interactions=3", "--quiet", "--out", "next")


def test_what_was_read_stays_when_the_run_is_damaged_under_it(browser: Browser, bench: Bench) -> None:
    with going(bench), served(str(bench.folder / "kept")) as page, looked_at(browser, page, ended=False) as sight:
        sight.wait(f"{ROWS} > 5")
        (bench.folder / "kept" / "run.toml").write_text("garbage = [")
        sight.wait("loadgo.store.damage && answer.textContent.includes('run.toml')")
        assert "what was read before" in sight.text("answer")
        assert sight.page.get_attribute("#answer", "class") == "bad"
        assert sight.tell(ROWS) > 5
        assert sight.table("commands")
        assert sight.wrong == []


def test_a_viewer_is_told_that_the_watcher_has_gone_and_keeps_what_is_there(browser: Browser, bench: Bench) -> None:
    with going(bench), served(str(bench.folder / "kept")) as page, looked_at(browser, page, ended=False) as sight:
        sight.wait(f"{ROWS} > 5")
        page.process.terminate()
        sight.wait("about.textContent.includes('The watcher')")
        assert "what is here stays" in sight.text("about")
        assert sight.table("commands")


def test_this_host_is_seen_without_a_run(browser: Browser) -> None:
    with served() as page, looked_at(browser, page, PHONE, ended=False) as sight:
        sight.wait("loadgo.store.tables.time.rows > 0 && document.querySelector('#processes tbody tr')")
        sight.wait("answer.textContent.includes('processors')")
        assert sight.text("answer").split(":")[0] in ("Not full", "Full")
        assert sight.tell(ALL_PROCESSES_WAIT).startswith("Not full: processors ")
        assert not sight.page.is_visible("#commands")
        assert not sight.page.is_visible("#states")
        assert "No users" in sight.text("instrument")
        assert "using a processor and waiting for one" in sight.text("users-title")
        assert sight.page.get_attribute("#answer", "class") in ("plain", "bad"), "without a target nothing is good"
        sight.wait(BANDS_ARE_TABLE)
        assert sum(float(part.split()[0]) for _, part in sight.table("time")) == pytest.approx(100, abs=1)
        assert sight.tell("document.documentElement.scrollWidth <= innerWidth")
        assert sight.wrong == []


def test_several_hosts_have_a_band_each_and_the_page_names_the_busiest(browser: Browser, tmp_path: Path) -> None:
    run = written_run(tmp_path / "hosts", metered_fleet((0.2, 0.3, 0.95)))
    with served(str(run)) as page, looked_at(browser, page, PHONE) as sight:
        sight.wait("document.querySelectorAll('#hosts tbody tr').length === 3")
        assert [row[0] for row in sight.table("hosts")] == ["cedar", "birch", "ash"]
        assert sight.tell("loadgo.bands().lanes.map(one => one.label)") == ["cedar", "birch", "ash"]
        sight.wait("answer.textContent.includes('processors of cedar 9')")
        assert sight.text("answer").startswith("Full: ")
        assert "Hosts" in sight.text("users-title")
        sight.wait(BANDS_ARE_TABLE.replace("processes", "hosts"))
        assert sight.wrong == []
