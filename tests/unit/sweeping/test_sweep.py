"""A sweep's points are those of single simulations, and the same bytes by any way to compute them."""

from __future__ import annotations

import json
import re
import resource
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.errors import BadArgument, BadRun, Mistake, Refused
from loadgo.sweeping import configurations
from loadgo.sweeping.columns import columns_of
from loadgo.sweeping.configurations import configurations_of, portions_of
from loadgo.sweeping.folder import work_in
from loadgo.sweeping.grid_file import read_grid
from loadgo.sweeping.plan import plan_sweep
from loadgo.sweeping.points import compute_batch
from loadgo.sweeping.results import scan_points
from support import fitted_machine
from support.command_line import typed
from support.model_machines import open_queue
from support.sweeps import GRID, POINTS, LastFirst, contents, own_load_grid, script_grid


@pytest.fixture(scope="module")
def swept_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a grid, and its sweep by two processes in `whole`."""
    folder = tmp_path_factory.mktemp("sweep")
    loadgo.sweep(own_load_grid(folder), workers=2, out=folder / "whole")
    return folder


def test_a_point_is_the_simulation_of_its_settings_users_and_seed(swept_folder: Path) -> None:
    points = loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole").frame()
    assert len(points) == POINTS
    row = points.filter(pl.col("set processors.speed") == "2", users=9, seed=3).row(0, named=True)
    alone = loadgo.simulate(
        swept_folder / "repairman.toml", users=9, seed=3, until="interactions=1000", set=["processors.speed=2"]
    )
    assert alone.response_s.value is not None
    assert alone.response_s.half_width is not None
    assert row["mean_s"] == alone.response_s.value
    assert row["mean_high_s"] == alone.response_s.value + alone.response_s.half_width
    assert row["throughput"] == alone.throughput.value
    busy = alone.station("processors").utilisation
    assert busy is not None
    assert row["busy"] == busy.value
    assert row["interactions"] == alone.interactions
    assert row["p90_s"] is None
    assert alone.all.p90_s.value is None


def test_a_point_of_a_script_is_its_run(tmp_path: Path) -> None:
    grid = script_grid(tmp_path)
    points = loadgo.sweep(grid, workers=1, out=tmp_path / "out").frame()
    named = tomllib.loads(grid.read_text())
    script, machine = (tmp_path / named[key] for key in ("script", "machine"))
    run = loadgo.run(script, on=str(machine), users=3, seed=2, duration="2min", out=tmp_path / "run")
    row = points.filter(users=3, seed=2).row(0, named=True)
    response = run.summary.everything.response
    assert response.mean_ns is not None
    assert row["mean_s"] == pytest.approx(response.mean_ns / 1e9, rel=1e-12)
    for name in ("p50", "p90"):
        quantile = response.quantile(name)
        assert quantile.value_ns is not None
        assert row[f"{name}_s"] == pytest.approx(quantile.value_ns / 1e9, rel=1e-12)
    assert run.summary.total_time is not None
    assert row["busy"] == pytest.approx(run.summary.total_time.busy_share, rel=1e-12)
    assert row["throughput"] == pytest.approx(run.summary.stretch.per_second, rel=1e-12)
    assert row["problem"] is None


def test_an_executor_in_any_order_gives_the_same_bytes(swept_folder: Path, tmp_path: Path) -> None:
    executor = LastFirst()
    result = loadgo.sweep(swept_folder / "grid.toml", executor=executor, out=tmp_path / "other")
    assert executor.computed == [3, 2, 1, 0, 4]
    assert contents(tmp_path / "other") == contents(swept_folder / "whole")
    assert result.points == POINTS


@pytest.mark.processes
def test_parts_merge_to_the_same_bytes(swept_folder: Path, tmp_path: Path) -> None:
    parts = [tmp_path / f"part-{number}" for number in (1, 2, 3)]
    for number, part in enumerate(parts, start=1):
        swept = loadgo.sweep(swept_folder / "grid.toml", workers=1, part=f"{number}/3", out=part)
        assert swept.part == f"{number}/3"
        assert swept.points == swept.points_expected == len(swept.frame()) == (5, 10, 9)[number - 1]
    merged = loadgo.merge(*reversed(parts), out=tmp_path / "merged")
    assert contents(tmp_path / "merged") == contents(swept_folder / "whole")
    assert merged.in_words == loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole").in_words
    again = loadgo.merge(*parts, out=tmp_path / "merged")
    assert again.in_words == merged.in_words
    assert contents(tmp_path / "merged") == contents(swept_folder / "whole")


def test_missing_doubled_and_unfinished_parts_are_named(swept_folder: Path, tmp_path: Path) -> None:
    first, third = tmp_path / "first", tmp_path / "third"
    for number, folder in ((1, first), (3, third)):
        loadgo.sweep(swept_folder / "grid.toml", executor=LastFirst(1), part=f"{number}/4", out=folder)
    shutil.copytree(first, tmp_path / "copy")
    next((third / "points").iterdir()).unlink()
    with pytest.raises(BadArgument) as raised:
        loadgo.merge(first, third, tmp_path / "copy", out=tmp_path / "merged")
    text = str(raised.value)
    assert f"part 1 is there 2 times, in {first} and {tmp_path / 'copy'}" in text
    assert "parts 2/4, 4/4 are missing" in text
    assert f"{third}, part 3/4, has 0 of 5 simulations: run that part again" in text
    assert not (tmp_path / "merged").exists()


def test_parts_of_other_sweeps_are_refused(swept_folder: Path, tmp_path: Path) -> None:
    other = own_load_grid(tmp_path, GRID.replace("seeds = 4", "seeds = [7, 8, 9, 10]"))
    loadgo.sweep(swept_folder / "grid.toml", executor=LastFirst(1), part="1/2", out=tmp_path / "first")
    loadgo.sweep(other, executor=LastFirst(1), part="2/2", out=tmp_path / "second")
    with pytest.raises(BadArgument, match="are of different sweeps, which differ in: seeds"):
        loadgo.merge(tmp_path / "first", tmp_path / "second", out=tmp_path / "merged")
    with pytest.raises(BadRun, match="is no sweep's folder"):
        loadgo.merge(tmp_path, out=tmp_path / "merged")


def test_points_that_are_done_are_never_done_again(swept_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(swept_folder / "whole", tmp_path / "out")
    for name in ("00001.parquet", "00003.parquet"):
        (tmp_path / "out" / "points" / name).unlink()
    (tmp_path / "out" / "points" / "00003.parquet.part").write_bytes(b"half")
    executor, states = LastFirst(1), list[dict[str, int]]()
    loadgo.sweep(swept_folder / "grid.toml", executor=executor, out=tmp_path / "out", progress=states.append)
    assert executor.computed == [1, 3]
    assert contents(tmp_path / "out") == contents(swept_folder / "whole")
    assert [state["points"] for state in states] == [14, 19, 24]
    assert all(state["points_expected"] == POINTS and state["points_before"] == 14 for state in states)


def test_a_folder_of_another_sweep_is_refused_with_what_differs(swept_folder: Path, tmp_path: Path) -> None:
    before = contents(swept_folder / "whole")
    other = own_load_grid(tmp_path, GRID.replace("[2, 5, 9]", "[2, 5, 8]"))
    with pytest.raises(BadArgument, match=r"whole is of another sweep, which differs in: users\. Name another folder"):
        loadgo.sweep(other, out=swept_folder / "whole")
    (tmp_path / "grid.toml").write_text(GRID)
    machine = tmp_path / "repairman.toml"
    machine.write_text(machine.read_text().replace("0.3s", "0.4s"))
    with pytest.raises(BadArgument, match="differs in: machines' texts"):
        loadgo.sweep(tmp_path / "grid.toml", out=swept_folder / "whole")
    with pytest.raises(BadArgument, match=r"is of the whole of this sweep, not of part 1/2"):
        loadgo.sweep(swept_folder / "grid.toml", part="1/2", out=swept_folder / "whole")
    assert contents(swept_folder / "whole") == before


def test_a_worker_with_another_version_or_other_code_is_refused(swept_folder: Path) -> None:
    task = plan_sweep(read_grid(swept_folder / "grid.toml")).task(0)
    assert compute_batch(task) == (swept_folder / "whole" / "points" / "00000.parquet").read_bytes()
    other_files = replace(task.code, file_state="of other files")
    with pytest.raises(Refused, match=r"a worker has loadgo .*, and the task is of loadgo 0\.0\.9: install the same"):
        compute_batch(replace(task, code=replace(other_files, version="0.0.9")))
    with pytest.raises(Refused, match=r"has other code than this one, or another version of Polars or NumPy"):
        compute_batch(replace(task, code=replace(other_files, code_hash="0" * 64)))


def test_a_measure_that_no_point_has_is_answered_with_the_remedy(swept_folder: Path, tmp_path: Path) -> None:
    grid = own_load_grid(tmp_path, GRID.replace("seeds = 4", 'seeds = 1\nmeasure = "p99"'))
    swept = loadgo.sweep(grid, executor=LastFirst(1), out=tmp_path / "out")
    assert swept.in_words == (
        "6 simulations (processors.speed 1 and 2; users 2, 5 and 9), and none has p99 of the response: lengthen the "
        "simulations, or choose another measure."
    )
    with pytest.raises(BadArgument, match="there is no chart"):
        swept.chart()


def test_two_processes_do_not_work_in_one_folder(swept_folder: Path) -> None:
    with (
        work_in(swept_folder / "whole"),
        pytest.raises(BadArgument, match=r"another loadgo computes the sweep in .* now"),
    ):
        loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole")
    assert loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole").points == POINTS


def test_a_folder_that_is_no_sweeps_is_not_written_to(swept_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("dear")
    with pytest.raises(BadArgument, match="exists and is no sweep's folder"):
        loadgo.sweep(swept_folder / "grid.toml", out=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["letter"]


@pytest.mark.long
def test_a_point_that_cannot_be_computed_has_the_reason_and_the_others_their_figures(tmp_path: Path) -> None:
    (tmp_path / "open.toml").write_text(open_queue(1.5, "exponential(1s)"))
    lines = [
        'machine = "open.toml"',
        'until = "precision(mean)=10%"',
        "batch = 2",
        "[set]",
        '"processors.speed" = [2, 1]',
    ]
    (tmp_path / "grid.toml").write_text("\n".join(lines))
    swept = loadgo.sweep(tmp_path / "grid.toml", executor=LastFirst(1), out=tmp_path / "out")
    fast, slow = swept.frame().iter_rows(named=True)
    assert fast["problem"] is None
    assert fast["mean_s"] > 0
    assert slow["mean_s"] is None
    assert "they come faster than it can answer" in slow["problem"]
    assert swept.bad
    assert swept.problem_count == 1
    assert slow["problem"] in " ".join(str(swept.report()).split())


def test_what_the_grid_names_is_checked_before_the_first_point(tmp_path: Path) -> None:
    own_load_grid(tmp_path)
    wrong = {
        'machine = "no-such"': (BadArgument, "there is no machine called 'no-such'"),
        'machine = "repairman.toml"\n[set]\n"processors.sped" = 1': (BadArgument, "sped"),
        'machine = "ctss"': (BadArgument, "ctss: the machine has no load of its own"),
        'machine = "open.toml"\nusers = 3': (BadArgument, "come and go"),
        'machine = "repairman.toml"\nuntil = "soon"': (BadArgument, "soon"),
        'machine = "repairman.toml"\nscript = "light"\nusers = 1\nthink = "slowly"': (BadArgument, "slowly"),
        'machine = "bad.toml"': (Mistake, r"bad\.toml, line 1"),
        'machine = "here"\nscript = "light"\nusers = 1': (BadArgument, "here"),
    }
    (tmp_path / "open.toml").write_text(open_queue(0.5, "exponential(1s)"))
    (tmp_path / "bad.toml").write_text("titel = 3\n")
    for text, (kind, words) in wrong.items():
        (tmp_path / "grid.toml").write_text(text)
        with pytest.raises(kind, match=words):
            loadgo.sweep(tmp_path / "grid.toml", executor=LastFirst(1), out=tmp_path / "out")
        assert not (tmp_path / "out").exists()


def test_the_answer_names_the_least_and_the_greatest(swept_folder: Path) -> None:
    swept = loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole")
    table = swept.frame("configurations").sort("mean_s")
    least, greatest = table.row(0, named=True), table.row(-1, named=True)
    assert (least["users"], least["set processors.speed"]) == (2, "2")
    assert (greatest["users"], greatest["set processors.speed"]) == (9, "1")
    answer = swept.in_words
    assert answer.startswith(
        "24 simulations (6 configurations, 4 seeds each: processors.speed 1 and 2; users 2, 5 and 9): the mean "
        "response is lowest, "
    )
    assert "with 2 users at processors.speed=2, and highest, " in answer
    assert answer.endswith("with 9 users at processors.speed=1.")
    assert json.loads(str(swept.report("json")))["in_words"] == answer


def test_a_configurations_interval_is_from_the_scatter_of_its_seeds(swept_folder: Path) -> None:
    swept = loadgo.sweep(swept_folder / "grid.toml", out=swept_folder / "whole")
    values = swept.frame().filter(pl.col("set processors.speed") == "1", users=5)["mean_s"]
    chosen = next(row for row in swept.configurations if row.users == 5 and row.settings["processors.speed"] == "1")
    figure = chosen.figures["mean"]
    assert figure.value == pytest.approx(values.mean())
    assert figure.interval is not None
    spread = values.std()
    assert isinstance(spread, float)
    assert figure.interval.high - figure.value == pytest.approx(3.1824463 * spread / 2, rel=1e-6)


def test_points_without_the_figure_are_counted_in_every_format(tmp_path: Path) -> None:
    grid = own_load_grid(tmp_path, GRID.replace("seeds = 4", "seeds = 8").replace("=1000", "=700"))
    swept = loadgo.sweep(grid, executor=LastFirst(1), out=tmp_path / "out")
    means = swept.frame().group_by("set processors.speed", "users").agg(pl.col("mean_s").count().alias("having"))
    having = {(speed, users): count for speed, users, count in means.iter_rows()}
    assert 0 < sum(having.values()) < len(swept.frame())
    for row in swept.configurations:
        assert row.figures["mean"].points == having[row.settings["processors.speed"], row.users]
    without = len(swept.frame()) - sum(having.values())
    assert swept.points_without("mean") == without
    text = " ".join(str(swept.report()).split())
    assert f"{without} of 48 simulations have no figure for the mean response, and the means leave them out." in text
    assert re.search(r"with 2 users at processors\.speed=2", text)
    least = min(swept.configurations, key=lambda row: row.figures["mean"].value)
    assert f"; from {least.figures['mean'].points} of 8 simulations) with 2 users" in swept.in_words
    (known,) = re.findall(r"Figures that not all of the 48 simulations have: ([^.]*)\.", text)
    assert f"throughput (in {48 - without})" in known
    from_json = json.loads(str(swept.report("json")))["configurations"]
    assert [row["figures"]["mean"]["points"] for row in from_json] == [*swept.frame("configurations")["mean_points"]]
    assert f"{without} of 48 simulations without this figure are left out." in str(swept.report("html"))


def test_figures_do_not_depend_on_the_order_in_which_points_are_read(tmp_path: Path) -> None:
    grid = replace(read_grid(own_load_grid(tmp_path)), users=(5,), settings={}, seeds=tuple(range(1000)))
    random = np.random.default_rng(1)
    rows = [{"point": seed, "machine": "m", "users": 5, "mean_s": random.exponential()} for seed in range(1000)]
    orders = [rows, rows[::-1], [rows[index] for index in random.permutation(1000)]]
    frames = [pl.LazyFrame(order, schema=columns_of(()), strict=False) for order in orders]
    first, *others = [configurations_of([frame], grid) for frame in frames]
    assert all(other == first for other in others)


def test_figures_are_the_same_by_portions_of_points(
    swept_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    grid = read_grid(swept_folder / "grid.toml")
    whole = configurations_of(portions_of(swept_folder / "whole", grid), grid)
    monkeypatch.setattr(configurations, "POINTS_IN_MEMORY", 9)
    assert len(list(portions_of(swept_folder / "whole", grid))) > 1
    assert configurations_of(portions_of(swept_folder / "whole", grid), grid) == whole
    assert len(whole) == 6


def test_a_merge_repeats_the_warnings_of_fits(tmp_path: Path) -> None:
    (tmp_path / "script.toml").write_text(fitted_machine.SCRIPT)
    text = fitted_machine.machine().replace("interactions = 600", 'interactions = 600\nwarnings = ["edit is missed"]')
    (tmp_path / "machine.toml").write_text(text)
    lines = ['script = "script.toml"', 'machine = "machine.toml"', "users = [2, 3]"]
    (tmp_path / "grid.toml").write_text("\n".join(lines))
    for number in (1, 2):
        part = loadgo.sweep(
            tmp_path / "grid.toml", executor=LastFirst(1), part=f"{number}/2", out=tmp_path / str(number)
        )
        assert any("edit is missed" in warning for warning in part.fit_warnings)
    merged = loadgo.merge(tmp_path / "2", tmp_path / "1", out=tmp_path / "merged")
    assert merged.fit_warnings == part.fit_warnings
    assert "edit is missed" in typed(tmp_path, "merge", "1", "2", "--out", "again").stderr


def test_a_full_disk_is_no_result_of_a_point(tmp_path: Path) -> None:
    task = plan_sweep(read_grid(script_grid(tmp_path))).task(0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2048, before[1]))
    try:
        with pytest.raises((Refused, BadRun)):
            compute_batch(task)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert pl.read_parquet(compute_batch(task))["problem"].null_count() == len(task.points)


def test_a_sweep_that_was_killed_before_its_first_file_begins_again(swept_folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out" / "points").mkdir(parents=True)
    (tmp_path / "out" / "part.toml").write_text("part = 1\nof = 2\n")
    (tmp_path / "out" / "sweep.toml.head-7.part").write_text("half")
    loadgo.sweep(swept_folder / "grid.toml", workers=1, out=tmp_path / "out")
    assert contents(tmp_path / "out") == contents(swept_folder / "whole")


def test_a_folder_that_another_loadgo_begins_is_not_written_to(swept_folder: Path, tmp_path: Path) -> None:
    with work_in(tmp_path / "out"), pytest.raises(BadArgument, match="another loadgo computes the sweep"):
        loadgo.sweep(swept_folder / "grid.toml", out=tmp_path / "out")
    assert contents(tmp_path / "out") == {"lock": b""}


def test_a_damaged_file_of_points_is_named(swept_folder: Path, tmp_path: Path) -> None:
    loadgo.sweep(swept_folder / "grid.toml", executor=LastFirst(1), part="1/1", out=tmp_path / "part")
    damaged = tmp_path / "part" / "points" / "00002.parquet"
    damaged.write_bytes(b"PAR1 and no more")
    with pytest.raises(BadRun, match=r"cannot read .*part/points/00002\.parquet"):
        loadgo.sweep(swept_folder / "grid.toml", out=tmp_path / "part")
    with pytest.raises(BadRun, match=r"cannot read .*merged/points/00002\.parquet"):
        loadgo.merge(tmp_path / "part", out=tmp_path / "merged")


def test_points_are_in_order_beyond_five_digits(swept_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(swept_folder / "whole", tmp_path / "out")
    points = tmp_path / "out" / "points"
    (points / "00003.parquet").rename(points / "99999.parquet")
    (points / "00004.parquet").rename(points / "100000.parquet")
    assert scan_points(tmp_path / "out").collect()["point"].to_list() == list(range(POINTS))


def test_a_damaged_description_and_an_empty_part_are_refused(swept_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(swept_folder / "whole", tmp_path / "part")
    file = tmp_path / "part" / "sweep.toml"
    file.write_text(file.read_text().replace("measure = ", "mesure = "))
    with pytest.raises(BadRun, match=r"sweep\.toml is damaged: KeyError, 'measure'"):
        loadgo.merge(tmp_path / "part", out=tmp_path / "merged")
    with pytest.raises(BadArgument, match=r"`part=1/6` has no simulations, since the grid has 5 batches"):
        loadgo.sweep(swept_folder / "grid.toml", part="1/6", out=tmp_path / "empty")
    assert not (tmp_path / "empty").exists()


def test_points_of_other_code_with_the_same_version_are_refused(swept_folder: Path, tmp_path: Path) -> None:
    shutil.copytree(swept_folder / "whole", tmp_path / "out")
    file = tmp_path / "out" / "sweep.toml"
    file.write_text(re.sub('code = ".', 'code = "x', file.read_text()))
    with pytest.raises(BadArgument, match=r"of another sweep, which differs in: code\."):
        loadgo.sweep(swept_folder / "grid.toml", out=tmp_path / "out")
