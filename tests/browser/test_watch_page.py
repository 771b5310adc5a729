"""The watch page in Chromium: every panel is filled, by a real run and by a simulated one, with what the tables say."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import astuple
from pathlib import Path
from typing import TYPE_CHECKING, Any

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.measures.other_work import BUSY_LEVELS
from loadgo.measures.total_time import OWNER_GROUPS
from loadgo.notation.figures import duration, number, share, size
from loadgo.notation.terms import category_name
from loadgo.records.following import latest_ns
from loadgo.records.tables import Tables, tables
from loadgo.watching.answer import answer
from loadgo.watching.window import USER_STATES, WatchWindow, window_of
from support.watched import NEEDS_CHROMIUM, STATES_AT_THE_END, Sight, host_run, looked_at, served

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = NEEDS_CHROMIUM

PANELS = {
    "interactions": ("users", "series-answers", "series-responses", "commands", "states"),
    "waits": ("waiting",),
    "time": ("series-busy", "series-account", "time"),
    "queue": ("series-ready",),
    "faults": ("heat-cpu",),
    "waiting faults": ("heat-wait",),
    "counted faults": ("series-faults",),
    "processes": ("processes",),
    "memory": ("series-memory", "memory"),
}
"""Pictures and tables of the page by the rows that fill them. Without rows they show a note."""

_EDGE_NS = 5_000_000
SEEN = """() => { const told = loadgo.figures(); return {
    answered: told.answered, response: told.response, lateness: told.lateness, lost: told.lost, users: told.users,
    phase: told.phase, commands: told.commands, waiting: told.waiting, usersShare: told.usersShare,
    otherWork: told.otherWork,
    time: told.time.map(({ name, share }) => [name, share]),
    processes: told.processes.map(({ name, share }) => [name, share]),
    states: told.states.map(values => values.reduce((a, b) => a + b, 0) / values.length),
} }"""
FILLED = """names => names.filter(name => {
    const one = document.getElementById(name);
    if (one.tagName !== "CANVAS") return one.tBodies.length && one.tBodies[0].rows.length;
    return one.width && one.getContext("2d").getImageData(0, 0, one.width, one.height).data.some(part => part);
})"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of this host, and one of a simulated machine."""
    place = tmp_path_factory.mktemp("pages")
    loadgo.run("typical-user", on="multics-6180", users=12, seed=2, out=place / "simulated")
    return {"simulated": place / "simulated", "host": host_run(place / "host")}


@pytest.fixture(scope="module")
def sights(browser: Browser, runs: dict[str, Path]) -> Iterator[dict[str, Sight]]:
    """The page of each."""
    with ExitStack() as ends:
        pages = {name: ends.enter_context(served(str(run))) for name, run in runs.items()}
        yield {name: ends.enter_context(looked_at(browser, page)) for name, page in pages.items()}


@pytest.fixture(params=["host", "simulated"])
def watched(request: pytest.FixtureRequest, runs: dict[str, Path], sights: dict[str, Sight]) -> tuple[Sight, Tables]:
    """A page that shows its whole run, and the run's tables."""
    sight, seen = sights[request.param], tables(runs[request.param])
    sight.window(latest_ns(seen), latest_ns(seen))
    return sight, seen


def rows_for(seen: Tables) -> dict[str, int]:
    """How many rows there are for each kind of panel. Faults that waited less than 1 ns on the mean are not drawn."""
    own = seen.processes.filter(pl.col("user").is_null() & ~pl.col("who").cast(pl.String).is_in(OWNER_GROUPS))
    ready = seen.queue.filter(pl.col("measure").cast(pl.String) == "ready")
    counts = {name: len(getattr(seen, name, ())) for name in ("interactions", "time", "faults", "memory")}
    waits = int((seen.interactions["ready_wait_ns"].fill_null(0) > 0).sum())
    sums = seen.faults.filter(pl.all_horizontal(pl.col("user", "command", "device", "bucket_ns").is_null()))
    counted = len(seen.faults) + int(seen.interactions["faults_major"].is_not_null().sum())
    waiting = len(sums.filter((pl.col("count") > 0) & (pl.col("wait_ns") >= pl.col("count"))))
    others = {"processes": len(own), "queue": len(ready), "waits": waits, "waiting faults": waiting}
    return counts | others | {"counted faults": counted}


def inner_window(seen: Tables) -> tuple[int, int]:
    """End and length of a window around the middle half of the answers, which come late on a busy host."""
    ready_ns = seen.interactions["ready_ns"].drop_nulls().sort()
    first_ns, last_ns = (int(ready_ns[len(ready_ns) * quarters // 4]) for quarters in (1, 3))
    return last_ns + _EDGE_NS, last_ns - first_ns + 2 * _EDGE_NS


def test_every_panel_is_filled_by_what_was_measured_and_says_what_was_not(watched: tuple[Sight, Tables]) -> None:
    sight, seen = watched
    rows = rows_for(seen)
    typed = seen.interactions.filter(pl.col("ready_ns").is_not_null() & (pl.col("outcome") != "extrapolated"))
    assert sight.tell("loadgo.store.tables.interactions.rows") == len(typed)
    filled = sight.tell(FILLED, [name for names in PANELS.values() for name in names])
    assert sorted(filled) == sorted(name for kind, names in PANELS.items() if rows[kind] for name in names)
    for kind, notes in {
        "memory": ("now-memory", "memory-note"),
        "queue": ("now-ready",),
        "faults": ("heat-cpu-note",),
    }.items():
        for note in notes:
            assert sight.text(note).startswith("not measured") == (not rows[kind]), note
    assert sight.text("legend").split("\n") == [*STATES_AT_THE_END, "not logged in"]
    assert sight.wrong == []


@pytest.mark.parametrize("inner", [False, True], ids=["whole", "inner"])
def test_the_numbers_on_the_page_are_those_of_the_tables(watched: tuple[Sight, Tables], inner: bool) -> None:
    sight, run_tables = watched
    reach = latest_ns(run_tables)
    end, width = inner_window(run_tables) if inner else (reach, reach)
    window = sight.window(end, width)
    frame = window_of(run_tables, end, width, int(window["columns"]))
    assert frame.answered > 0
    assert (window["start"], window["end"]) == (frame.start_ns, frame.end_ns)
    page_figures = sight.tell(SEEN)
    assert sight.text("answer") == answer(frame)
    _same_figures(page_figures, frame)
    _same_in_the_tables(sight, page_figures)
    _same_series(sight, frame)
    _same_answers(sight, window_of(run_tables, end, width, int(window["bins"])))
    _same_waits(page_figures, run_tables, frame)
    _same_lengths(sight, frame)
    lateness = page_figures["lateness"]
    late = f"the driver was {f'{duration(lateness)} late (p99)' if lateness else 'in time'}"
    lost = "nothing lost" if not frame.lost else f"{number(frame.lost)} RECORDS LOST"
    assert sight.text("instrument") == f"{number(frame.answered)} answers in {duration(width)}; {late}, {lost}."
    how = "ended" if end >= latest_ns(run_tables) else "held"
    everybody = run_tables.sessions["user"].n_unique()
    now = f"{number(frame.users)} of {number(everybody)} logged in · {frame.phase} · {how}"
    is_over = how == "ended" and not frame.users
    assert (f"{number(everybody)} users · ended" if is_over else now) in sight.text("about")


def test_closer_than_the_meters_look_their_figures_are_those_of_the_span(watched: tuple[Sight, Tables]) -> None:
    sight, seen = watched
    end, width = inner_window(seen)[0], 20_000_000
    frame = window_of(seen, end, width, int(sight.window(end, width)["columns"]))
    assert sight.text("answer") == answer(frame)
    assert "not measured" not in sight.text("answer")
    _same_series(sight, frame)
    assert sight.table("time") == [
        [category_name(name), share(part)] for name, part in sorted(frame.time.items(), key=_largest_first) if part
    ]


def _largest_first(row: tuple[str, float]) -> float:
    return -row[1]


def _same_figures(page_figures: dict[str, Any], frame: WatchWindow) -> None:
    assert {key: page_figures[key] for key in ("answered", "lost", "users", "phase")} == {
        "answered": frame.answered,
        "lost": frame.lost,
        "users": frame.users,
        "phase": frame.phase,
    }
    response = {name: value for name, value in page_figures["response"].items() if value is not None and name != "mean"}
    assert response == pytest.approx({f"p{100 * p:g}": value for p, value in frame.response_ns.items()})
    assert page_figures["lateness"] == pytest.approx(frame.lateness_ns)
    assert page_figures["states"] == pytest.approx(
        [float(np.mean(frame.states[name])) for name in USER_STATES], rel=1e-3, abs=1e-4
    )
    assert dict(page_figures["time"]) == pytest.approx(frame.time)
    assert page_figures["usersShare"] == pytest.approx(frame.users_share)
    work = frame.other_work
    page_work = page_figures["otherWork"]
    assert (page_work is None) == (work is None)
    if page_work is not None and work is not None:
        assert (page_work["share"], page_work["error"]) == pytest.approx((work.share, work.error))
        assert page_work["level"] in BUSY_LEVELS
    commands = [(row.name, row.count, row.p50_ns, row.p90_ns, row.mean_ns, row.cpu_ns) for row in frame.commands]
    for page_row, frame_row in zip(page_figures["commands"], commands, strict=True):
        assert (page_row["name"], page_row["count"]) == frame_row[:2]
        assert [page_row["p50"], page_row["p90"], page_row["mean"], page_row["cpu"]] == pytest.approx(frame_row[2:])
    for page_row, waiter in zip(page_figures["waiting"]["most"], frame.waiters, strict=False):
        assert [page_row["user"], page_row["sum"], page_row["longest"]] == pytest.approx(astuple(waiter))
    assert [name for name, _ in page_figures["processes"]] == list(frame.processes)


def _same_in_the_tables(sight: Sight, page_figures: dict[str, Any]) -> None:
    """The cells are the figures, in the words of the reports."""
    assert sight.table("commands") == [
        [row["name"], number(row["count"]), duration(row["p50"]), _p90(row["p90"]), duration(row["cpu"])]
        for row in page_figures["commands"]
    ]
    assert sight.table("time") == [
        [category_name(name), share(part)] for name, part in page_figures["time"] if part > 0
    ]
    assert sight.table("processes") == [[name, share(part)] for name, part in page_figures["processes"]]
    states, response = sum(page_figures["states"]), sum(page_figures["states"][:5])
    for (name, of_all, of_response), state, sums in zip(
        sight.table("states"), STATES_AT_THE_END, page_figures["states"], strict=True
    ):
        assert name == state
        assert float(of_all.split()[0]) == pytest.approx(100 * sums / states, abs=0.051)
        if state in USER_STATES[:5]:
            assert float(of_response.split()[0]) == pytest.approx(100 * sums / response, abs=0.051)


def _p90(ns: float | None) -> str:
    return "few" if ns is None else duration(ns)


def _same_series(sight: Sight, frame: WatchWindow) -> None:
    """Compares the mean of each series, and its largest value if a column is a tenth of a second or more."""
    most = frame.width_ns / len(frame.busy) >= 1e8

    def described(values: np.ndarray[Any, np.dtype[np.float64]], words: Any, *, always: bool = False) -> str:
        known = values[~np.isnan(values)]
        largest = f", most {words(float(known.max()))}" if most or always else ""
        return f"{words(float(known.mean()))} on the mean{largest}" if len(known) else "not measured"

    most_busy = share(float(np.nanmax(frame.busy)))
    assert sight.text("now-busy") == f"{share(frame.busy_share)} on the mean, most {most_busy}"
    assert sight.text("now-ready") == described(frame.ready, number, always=True)
    # Faults without a meter are counted in the bins of answers, which are longer than columns.
    faults = described(frame.faults, number, always=frame.fault_ns is None)
    waited = frame.major[~np.isnan(frame.major)]
    device = f" (orange: {number(float(waited.mean()))} waited for a device)" if len(waited) else ""
    assert sight.text("now-faults") == faults + device


def _same_answers(sight: Sight, frame: WatchWindow) -> None:
    """Compares answers a second with those of a window whose columns are the page's bins, and the most of long bins."""
    is_long = frame.width_ns / len(frame.per_second) >= 1e8
    largest = f", most {number(float(frame.per_second.max()))}" if is_long else ""
    assert sight.text("now-answers") == f"{number(float(frame.per_second.mean()))} on the mean{largest}"
    assert frame.width_ns / len(frame.per_second) >= min(1e9, frame.width_ns)


def _same_lengths(sight: Sight, frame: WatchWindow) -> None:
    """Compares the number of faults with a duration, and their range, to half a power of 2, with the heat map's."""
    for name, lengths in (("heat-cpu-note", frame.fault_cpu), ("heat-wait-note", frame.fault_waits)):
        note = sight.text(name)
        if lengths is None:
            assert note.startswith(("not measured", "none in this window", "of ")), note
            continue
        assert f"; {number(float(lengths.counts.sum()))} of " in note, note
        shortest, longest = lengths.range_ns
        low, high = note.partition(" at the top")[0].split(" at the bottom to ")
        assert low in {duration(shortest * 2**step) for step in (-0.5, 0)}, note
        assert high in {duration(longest * 2**step) for step in (0, 0.5)}, note


def _same_waits(page_figures: dict[str, Any], run_tables: Tables, frame: WatchWindow) -> None:
    """Compares the users that waited longest, computed from the rows, with those on the page."""
    late = run_tables.interactions.filter((pl.col("ready_ns") > frame.start_ns) & (pl.col("ready_ns") <= frame.end_ns))
    waits = late.group_by("user").agg(
        pl.col("ready_wait_ns").cast(pl.Float64).sum().alias("sum"),
        longest=pl.col("ready_wait_ns").cast(pl.Float64).max(),
        each=pl.col("ready_wait_ns").cast(pl.Float64).sum() / pl.len(),
    )
    assert page_figures["waiting"]["total"] == pytest.approx(waits["sum"].sum())
    most = waits.filter(pl.col("sum") > 0).sort("sum", descending=True).head(8)
    for page_row, table_row in zip(page_figures["waiting"]["most"], most.to_dicts(), strict=True):
        assert page_row["sum"] == pytest.approx(table_row["sum"])
        assert (page_row["longest"], page_row["each"]) == pytest.approx((table_row["longest"], table_row["each"]))


def test_a_wanted_response_time_that_is_missed_is_the_answer_and_marked(
    browser: Browser, runs: dict[str, Path]
) -> None:
    with served(str(runs["simulated"]), "--target", "3s") as page, looked_at(browser, page) as sight:
        frame = window_of(tables(runs["simulated"]), int(sight.window()["end"]), int(sight.window()["end"]), 60)
        assert sight.text("answer") == answer(frame, 3e9)
        assert sight.text("answer").startswith("Too slow: ")
        over = [row[0] for row in sight.table("commands") if row[3].endswith(" over")]
        assert over == [row.name for row in frame.commands if row.p90_ns is not None and row.p90_ns > 3e9]
        assert over
        assert sight.wrong == []


def test_the_page_writes_numbers_as_the_reports_do(sights: dict[str, Sight]) -> None:
    values = [0, 1, 7.5, 999, 999.6, 1234, 56_789.1, 1e6, 2.5e9, 59e9, 601e9, 9e12, 1.5e-3 * 1e9, 0.05]
    script = """async values => {
        const { bytes, duration, number, share } = await import(new URL("words.js", location));
        return [number, bytes, duration, share].map(words => [...values.map(words), words(null), words(undefined)]);
    }"""
    expected = [[form(value) for value in values] + ["–", "–"] for form in (number, size, duration, share)]
    assert sights["simulated"].tell(script, values) == expected


def test_the_page_says_that_the_host_is_busy_with_other_things(sights: dict[str, Sight]) -> None:
    """With the words and the limits of the terminal's view."""
    script = """async others => {
        const { answer, judgedAfter } = await import(new URL("answer.js", location));
        const told = loadgo.figures(), window = loadgo.windowNow();
        const judged = ([share, error, level]) => judgedAfter({ share, error }, level ? { level } : null);
        return others.map(other => answer({ ...told, otherWork: judged(other) }, window, 1, null));
    }"""
    others = [(0.04, 0.0, None), (0.11, 0.02, None), (0.34, 0.0, None), (0.09, 0.0, "busy")]
    quiet, partly, busy, still_busy = sights["simulated"].tell(script, others)
    assert "other things" not in quiet
    for said, level, part in ((partly, "partly busy", "11.0"), (busy, "busy", "34.0"), (still_busy, "busy", "9.0")):
        assert f"; the host is {level} with other things." in said
        assert f", {part} % for other programs" in said


def test_what_the_keys_do_is_folded_before_the_charts(sights: dict[str, Sight]) -> None:
    sight = sights["simulated"]
    assert sight.tell("document.getElementById('hints').open") is False
    assert sight.page.locator("#hints summary").is_visible()
    assert not sight.page.locator("#keys").is_visible()


def test_no_figure_of_the_answer_and_of_the_headings_is_parted_from_its_unit(sights: dict[str, Sight]) -> None:
    script = """() => [...document.querySelectorAll("#answer, h2 span.now")].flatMap(element => {
        const figures = element.textContent.match(/\\d[\\d.,]* (%|[µnm]?s)(?!\\w)/g) ?? [];
        const whole = [...element.querySelectorAll(".whole")];
        const broken = whole.filter(one => one.getClientRects().length > 1);
        return [...broken.map(one => one.textContent), ...figures.filter((_, at) => at >= whole.length)];
    })"""
    sight = sights["simulated"]
    assert sight.page.locator("#answer .whole").count() > 0
    size = sight.page.viewport_size
    assert size is not None
    broken = []
    for width in (390, 1100, 1600):
        sight.page.set_viewport_size({"width": width, "height": 900})
        broken += sight.tell(script)
    sight.page.set_viewport_size(size)
    assert broken == []
