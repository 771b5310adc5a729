"""Remote job entry as users meet it: the bundled script here and on TENEX, its batch host, its table of transfers."""

import os
import shutil
import signal
import subprocess
import time
import tomllib
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.running import host
from loadgo.transfers.csv_cells import KNOWN_COLUMNS
from loadgo.transfers.csv_table import read_table
from loadgo.transfers.grid import grid_csv
from loadgo.transfers.transfer import Served
from support.far_end import waiting
from support.outside import LOOK_EVERY_S, PATIENCE_S, Bench, finished, wait_until
from support.remote_transfers import TRANSFERS

AT_ONCE = ("--think", "none", "--typing", "none")


def rjs() -> str:
    """Where users find `loadgo-rjs`."""
    path = shutil.which("loadgo-rjs", path=host._search_path())
    assert path, "loadgo-rjs comes with loadgo: run scripts/setup"
    return path


def job(folder: Path, *words: str, status: int = 0) -> str:
    """The output of `loadgo-rjs WORDS`."""
    result = subprocess.run([rjs(), *words], cwd=folder, capture_output=True, text=True, check=False)
    assert result.returncode == status, result
    return result.stdout + result.stderr


def batch_host_of(bench: Bench) -> int:
    """The process id of the batch host that stands in the folder of the run `kept`."""
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and (process / "cwd").samefile(bench.folder / "kept"):
                return int(process.name)
        except OSError:
            continue
    return 0


def test_a_run_keeps_a_row_of_each_transfer_that_can_be_taken_apart(bench: Bench) -> None:
    bench.run("remote-jobs", "--users", "2", "--passes", "1", *AT_ONCE)
    rows = pl.read_csv(bench.folder / "kept/transfers.csv")
    assert sorted(zip(rows["job"], rows["bytes"], strict=True)) == sorted([*TRANSFERS.values()] * 2)
    assert set(rows["method"]) == {"records"}
    assert rows["cpu_s"].min() > 0  # type: ignore[operator]
    table = read_table(bench.folder / "kept/transfers.csv", {"load": "load_1min"})
    assert len(table.transfers) == 14
    assert table.contradictions == table.left_out == ()
    told = bench.typed("transfer", "--read", "kept/transfers.csv").stdout
    assert "Sending a terabyte costs $" in told
    assert "receiving" in told


def test_the_table_has_the_columns_that_are_read(tmp_path: Path) -> None:
    with waiting(rows=tmp_path / "rows.csv"):
        pass
    names = (tmp_path / "rows.csv").read_text().strip().split(",")
    ours = [name for name in grid_csv([]).strip().split(",") if name in KNOWN_COLUMNS]
    assert [name for name in names if name in ours] == ours
    assert set(names) - set(KNOWN_COLUMNS) == {"job", "load_1min"}


def notes(bench: Bench) -> str:
    """The notes of the run `kept`."""
    return "\n".join(tomllib.loads((bench.folder / "kept/run.toml").read_text())["notes"])


def test_the_batch_host_is_told_of_and_is_gone_after_the_run(bench: Bench) -> None:
    bench.run("remote-jobs", "--passes", "1", *AT_ONCE)
    assert "BATCH_HOST was `loadgo-rjs serve" in notes(bench)
    assert batch_host_of(bench) == 0


def test_a_run_that_is_killed_leaves_no_batch_host(bench: Bench) -> None:
    running = bench.start("run", "remote-jobs", "--think", "fixed(10min)", "--quiet", "--out", "kept")
    wait_until(lambda: batch_host_of(bench) != 0, running)
    running.kill()
    running.communicate()
    give_up = time.monotonic() + PATIENCE_S
    while batch_host_of(bench):
        assert time.monotonic() < give_up, "it goes on without its run"
        time.sleep(LOOK_EVERY_S)
    bench.run(bench.script('lines = ["true"]'), out="next")  # clears the rest away


def test_a_batch_host_that_dies_fails_lines_and_the_run_goes_on(bench: Bench) -> None:
    running = bench.start("run", "remote-jobs", "--passes", "40", *AT_ONCE, "--quiet", "--out", "kept")
    wait_until(lambda: "\nprint," in read(bench.folder / "kept/transfers.csv"), running)
    host = batch_host_of(bench)
    assert host, "0 would be this process's whole group"
    os.kill(host, signal.SIGKILL)
    finished(running)
    assert "ended early, by signal 9" in notes(bench)
    rows = bench.tables("kept").interactions.with_columns(pl.col("command", "outcome").cast(pl.String))
    assert len(rows) == 40 * 11
    late = rows.filter(pl.col("pass") == 40)
    jobs = late.filter(pl.col("command").is_in([*TRANSFERS]))
    assert set(jobs["exit_status"]) == {2}
    assert set(jobs["outcome"]) == {"failed"}


def read(file: Path) -> str:
    """The file's text; empty for a missing file."""
    return file.read_text() if file.exists() else ""


def test_a_batch_host_elsewhere_is_named_by_the_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    heard: list[Served] = []
    with waiting(heard.append, rows=bench.folder / "rows.csv") as server:
        monkeypatch.setenv("BATCH_HOST", server.address)
        bench.run("remote-jobs", "--passes", "1", *AT_ONCE)
    assert "was not started" in notes(bench)
    assert not (bench.folder / "kept/transfers.csv").exists()
    assert [news.job for news in heard] == [job for job, _ in TRANSFERS.values()]
    assert len((bench.folder / "rows.csv").read_text().splitlines()) == 1 + len(TRANSFERS)


def test_a_program_beside_that_cannot_begin_is_refused_before_anybody_logs_in(bench: Bench) -> None:
    script = bench.script('lines = ["true"]\n[beside]\nHOST = "sh -c \'echo no room >&2; exit 5\'"\n')
    result = bench.typed("run", script, "--out", "kept", status=2)
    assert "HOST" in result.stderr
    assert "ended before it said anything: no room" in result.stderr


def test_what_a_program_beside_says_first_is_in_the_users_environment(bench: Bench) -> None:
    place = "[beside]\nPLACE = \"sh -c 'echo somewhere; exec sleep 999'\"\n"
    script = bench.script(f"status = 0\nlines = ['test \"$PLACE\" = somewhere']\n{place}")
    rows = bench.run(script).interactions
    assert rows["exit_status"].to_list() == [0]


def test_serve_keeps_its_bounds_for_jobs_too(tmp_path: Path) -> None:
    (tmp_path / "long.deck").write_text("//PRINT 1000\n")
    heard: list[Served] = []
    with waiting(heard.append, size=100_000) as server:
        told = job(tmp_path, "submit", "long.deck", "--to", server.address, status=1)
    assert "132000 bytes is more than the 100000" in told
    assert not (tmp_path / "long.job").exists()


@pytest.mark.parametrize("csv", ["rows.csv", "-"])
def test_serve_lets_jobs_take_their_time_and_keeps_their_table(csv: str, bench: Bench) -> None:
    (bench.folder / "a.deck").write_text("X\n")
    where = ("--listen", "127.0.0.1:0", "--job-time", "400ms", "--csv", csv)
    running = bench.start("transfer", "serve", *where)
    assert running.stderr is not None
    address = running.stderr.readline().split("waiting at ")[1].split()[0]
    begun = time.monotonic()
    job(bench.folder, "submit", "a.deck", "--to", address)
    job(bench.folder, "print", "a.job", "--to", address)
    assert time.monotonic() - begun >= 0.4, "the job's own time has passed"
    running.terminate()
    ended = finished(running)
    assert "print s: 132 bytes" in ended.stderr
    rows = (ended.stdout if csv == "-" else (bench.folder / csv).read_text()).splitlines()
    assert [row.split(",")[0] for row in rows] == ["job", "submit", "print"]


def test_serve_wants_its_token_for_jobs_too(tmp_path: Path) -> None:
    (tmp_path / "a.deck").write_text("X\n")
    (tmp_path / "token").write_text("sesame\n")
    with waiting(token="sesame") as server:
        told = job(tmp_path, "submit", "a.deck", "--to", server.address, status=2)
        assert "wants a token" in told
        job(tmp_path, "submit", "a.deck", "--to", server.address, "--token-file", "token")


def test_tenex_moves_the_bytes_that_the_users_of_this_host_move() -> None:
    machine = tomllib.loads((Path(loadgo.__file__).parent / "data/machines/tenex.toml").read_text())
    for command, (_, size) in TRANSFERS.items():
        assert machine["commands"][command]["network_bytes"] == size


def test_on_tenex_more_users_raise_the_load_and_stretch_each_transfer(tmp_path: Path) -> None:
    """The wait for the other host does not depend on the load here, and is left out."""
    means = []
    for users in (1, 5):
        run = loadgo.run("remote-jobs", on="tenex", users=users, out=tmp_path / str(users))
        rows = loadgo.tables(run).interactions.filter(pl.col("command").cast(pl.String) == "print algebra")
        real = (rows["ready_ns"] - rows["sent_ns"] - rows["io_wait_ns"]).mean()
        cpu = (rows["cpu_user_ns"] + rows["cpu_system_ns"]).mean()
        means.append((real, cpu))
    (alone, alone_cpu), (among, among_cpu) = means
    assert among > 2 * alone  # type: ignore[operator]
    assert among_cpu < 1.2 * alone_cpu  # type: ignore[operator]
