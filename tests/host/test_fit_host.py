"""A machine fitted to a host's run: metered times are in it by cause, and unowned time is regressed."""

import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import loadgo
import numpy as np
import polars as pl
import pytest
from loadgo.fitting.fit import fit
from loadgo.fitting.reading import read_runs
from loadgo.fitting.remarks import fit_warnings, other_work
from loadgo.fitting.unowned_time import fit_unowned_time
from loadgo.notation.laws import read_law
from loadgo.prediction.fitted import fitted_in
from loadgo.records.tables import COLUMNS_BY_TABLE, with_columns

S = 1_000_000_000
SCRIPT = 'name = "made"\nlogin = "sh"\nthink = "exponential(2s)"\nlines = ["quick", "slow"]\n'
COMMANDS = {"quick": 5e6, "slow": 40e6}
UNOWNED_NS = 3e6
"""Busy time for each interaction that no interaction was charged with."""


def run_toml(**more: str) -> str:
    """A host's conditions, as far as a fit reads them."""
    return "\n".join(
        [
            'format = 1\nid = "made"\nkind = "run"\nname = "made"\nscript = "made"\nfinished = true\noutcome = "done"',
            '[load]\nmodel = "closed"\nusers = 5\nthink = "exponential(2s)"\nseed = 1',
            '[system]\nkind = "host"\nname = "here"\nhostname = "made up"\nprocessors = 2\nmemory_bytes = 8000000000',
            *(f"[{table}]\n{text}" for table, text in more.items()),
        ]
    )


def rows_of(seed: int = 1, faults: int = 0, quiet: bool = True) -> list[dict[str, Any]]:
    """Five users of two commands: beside processor and ready wait, `slow` waits 10 ms for the disk, all 2 ms elsewhere.

    Until the first of them has done 80.
    """
    random = np.random.default_rng(seed)
    rows = []
    for user in range(1, 6):
        now = float(random.exponential(S))
        for turn in range(80):
            command = ("quick", "slow")[turn % 2]
            cpu = COMMANDS[command] * random.lognormal(-0.02, 0.2)
            parts = {"ready": random.exponential(1e6), "io": 10e6 if command == "slow" else 0.0, "paging": faults * 7e6}
            think = float(random.exponential(2 * S))
            sent = now + think
            now = sent + cpu + sum(parts.values()) + 2e6 * (1 if quiet or turn % 8 else 30)
            rows.append(
                {
                    "user": user,
                    "pass": turn // 2 + 1,
                    "line": turn % 2 + 1,
                    "command": command,
                    "planned_ns": round(sent),
                    "sent_ns": round(sent),
                    "ready_ns": round(now),
                    "typing_ns": 0,
                    "think_ns": round(think),
                    "cpu_user_ns": round(cpu * 0.75),
                    "cpu_system_ns": round(cpu * 0.25),
                    "faults_minor": 10,
                    "faults_major": faults,
                    "ready_wait_ns": round(parts["ready"]),
                    "paging_wait_ns": round(parts["paging"]),
                    "io_wait_ns": round(parts["io"]),
                    "bytes_out": 10,
                    "exit_status": 0,
                    "outcome": "ok",
                    "phase": "steady",
                }
            )
    last = min(max(row["ready_ns"] for row in rows if row["user"] == user) for user in range(1, 6))
    return [row for row in rows if row["ready_ns"] <= last]


def spans_of(rows: list[dict[str, Any]], background: float) -> list[dict[str, Any]]:
    """Total time in spans of a second: what is charged, a background, and something for each interaction that ends."""
    last = max(row["ready_ns"] for row in rows) // S + 1
    busy = np.full(last, background * S)
    for row in rows:
        busy[row["ready_ns"] // S] += UNOWNED_NS
        cpu, place = row["cpu_user_ns"] + row["cpu_system_ns"], row["sent_ns"]
        length = row["ready_ns"] - row["sent_ns"]
        while place < row["ready_ns"]:
            end = min((place // S + 1) * S, row["ready_ns"])
            busy[place // S] += cpu * (end - place) / length
            place = end
    return [
        {"at_ns": (second + 1) * S, "span_ns": S, "processor": None, "category": category, "time_ns": round(time)}
        for second, used in enumerate(busy)
        for category, time in (("user", used), ("idle zero", 2 * S - used))
    ]


def sessions_of(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Everybody logged in at the beginning and stayed until the last answer."""
    last = max(row["ready_ns"] for row in rows)
    stay = {"planned_ns": 0, "started_ns": 0, "ready_ns": 0, "ended_ns": last, "outcome": "done"}
    return [{"user": user} | stay for user in sorted({row["user"] for row in rows})]


def laid(folder: Path, rows: list[dict[str, Any]], background: float = 0.02, **more: str) -> Path:
    """A run's folder of these rows."""
    folder.mkdir()
    (folder / "run.toml").write_text(run_toml(**more))
    (folder / "script.toml").write_text(SCRIPT)
    tables = {
        "interactions": rows,
        "sessions": sessions_of(rows),
        "time": spans_of(rows, background),
        "phases": [{"at_ns": 0, "phase": "steady"}],
    }
    for name, told in tables.items():
        pl.DataFrame(told, schema=COLUMNS_BY_TABLE[name], orient="row").write_parquet(folder / f"{name}.parquet")
    return folder


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> loadgo.Fit:
    folder = tmp_path_factory.mktemp("host")
    return fit(laid(folder / "made", rows_of()), output=folder / "machine.toml")


def machine(made: loadgo.Fit) -> dict[str, Any]:
    return tomllib.loads(made.text)


def test_each_cause_of_waiting_is_in_the_machine_by_itself(made: loadgo.Fit) -> None:
    fitted_machine = machine(made)
    commands, stores = fitted_machine["commands"], fitted_machine["storage"]
    charged: dict[str, list[int]] = {name: [] for name in COMMANDS}
    for row in rows_of():
        charged[row["command"]].append(row["cpu_user_ns"] + row["cpu_system_ns"])
    for name, each in charged.items():
        assert read_law(commands[name]["cpu"]).mean == pytest.approx(np.mean(each), rel=1e-4)
    disk = commands["slow"]["requests"]["disk"] * read_law(stores["disk"]["service"]).mean
    assert disk == pytest.approx(10e6, rel=0.01)
    assert "disk" not in commands["quick"]["requests"]
    assert (stores["disk"]["servers"], stores["terminal"]["servers"]) == ("any", "any")
    elsewhere = read_law(stores["terminal"]["service"]).mean
    unowned = read_law(fitted_machine["supervisor"]["device_interrupt"]).mean
    assert unowned == pytest.approx(UNOWNED_NS, rel=0.2)
    assert elsewhere == pytest.approx(max(2e6 - unowned, 0), abs=0.6e6)
    assert fitted_machine["processors"] | {"slice": ""} == {"count": 2, "speed": 1, "discipline": "linux", "slice": ""}


def test_under_its_own_load_the_machine_answers_as_the_host_did(made: loadgo.Fit) -> None:
    """The ready waits of the host are given and not from queueing: the machine has less of them."""
    found = {check.figure: check.machine / check.measured for check in made.checks}
    assert found["CPU an interaction"] == pytest.approx(1, rel=0.03)
    assert found["throughput"] == pytest.approx(1, rel=0.06)
    assert 0.9 < found["mean response"] < 1.1


def test_what_nobody_owns_is_regressed_on_what_ended_in_each_span(tmp_path: Path) -> None:
    reading = read_runs([laid(tmp_path / "made", rows_of(seed=2), background=0.1)])
    regression = fit_unowned_time(reading)
    assert regression is not None
    assert regression.interaction_ns == pytest.approx(UNOWNED_NS, rel=0.2)
    assert regression.background == pytest.approx(0.1, rel=0.1)


def test_a_host_that_is_others_is_said_to_be(tmp_path: Path) -> None:
    made = fit(laid(tmp_path / "others", rows_of(quiet=False), background=1.5))
    assert any("the host was busy with other things" in warning for warning in made.warnings)
    written = fitted_in(made.text)
    assert written is not None
    assert written.warnings == made.warnings, "whoever uses the machine later is told"
    assert any("the median of each command is used, since the host was busy" in text for text in made.fitted.assumed)
    told = machine(made)
    assert "device_interrupt" not in told.get("supervisor", {}), "what an interaction took unowned cannot be seen"
    for name in COMMANDS:
        wait = read_law(told["storage"][f"wait-{name}"]["service"]).mean
        assert wait == pytest.approx(2e6, rel=0.01), "an eighth of the waits are of 60 ms"


def test_others_are_told_as_a_report_tells_them_though_the_run_is_too_short_to_regress(tmp_path: Path) -> None:
    (reading,) = read_runs([laid(tmp_path / "short", rows_of())])
    total = reading.total
    assert total is not None
    account = replace(total.account, unattributed_ns=round(0.6 * total.total_ns))
    busy = replace(reading, total=replace(total, account=account))
    assert fit_warnings([busy], other_work([busy], None), ())[0].startswith(
        "the host was busy with other things: other programs used 60.0 %"
    )
    quiet = replace(account, unattributed_ns=0)
    idle = replace(reading, total=replace(total, account=quiet))
    assert fit_warnings([idle], other_work([idle], None), ()) == ()


def test_faults_that_waited_become_paging_from_a_store(tmp_path: Path) -> None:
    made = fit(laid(tmp_path / "paged", rows_of(faults=2), limit="memory_bytes = 40960000"))
    told = machine(made)
    assert (told["memory"]["residence"], told["memory"]["frames"]) == ("paging", 10_000)
    assert read_law(told["storage"]["paging"]["service"]).mean == pytest.approx(7e6, rel=0.01)
    check = next(one for one in made.checks if one.figure == "mean response")
    assert check.machine == pytest.approx(check.measured, rel=0.15)


def at_speed(folder: Path, time: float) -> Path:
    """A run on processors on which everything takes `time` times as long, with the reference work beside it."""
    rows = rows_of(seed=round(100 * time))
    for row in rows:
        row["cpu_user_ns"], row["cpu_system_ns"] = (
            round(time * row[name]) for name in ("cpu_user_ns", "cpu_system_ns")
        )
    laid(folder, rows)
    (folder / "run.toml").write_text(run_toml().replace('id = "made"', f'id = "{folder.name}"'))
    seconds, draws = np.arange(1, max(row["ready_ns"] for row in rows) // S), np.random.default_rng(round(100 * time))
    shares = 0.1 + 0.05 * draws.random(len(seconds))
    pieces = {"span_ns": 1_000_000, "cpu_ns": np.round(time * 1e6 * draws.normal(1, 0.03, len(seconds))).astype(int)}
    tables = {
        "processor_speed": {"at_ns": seconds * S - S // 2, "processor": seconds % 2, **pieces},
        "processes": {"at_ns": seconds * S, "span_ns": S, "who": "users", "cpu_ns": (2 * shares * S).astype(int)},
    }
    for name, told in tables.items():
        frame = with_columns(pl.DataFrame(told), COLUMNS_BY_TABLE[name])
        frame.write_parquet(folder / f"{name}.parquet")
    return folder


def test_runs_at_different_speeds_become_a_machine_at_their_mean_speed(tmp_path: Path) -> None:
    runs = [at_speed(tmp_path / f"at-{time}", time) for time in (0.8, 1.25)]
    equal, measured = fit(*runs), fit(*runs, equal_speed=False)
    for name, true in COMMANDS.items():
        spreads = [read_law(machine(one)["commands"][name]["cpu"]).spread for one in (equal, measured)]
        assert read_law(machine(equal)["commands"][name]["cpu"]).mean == pytest.approx(true, rel=0.03)
        assert spreads[0] == pytest.approx(0.2, abs=0.03), "the scatter of a command at one speed"
        assert spreads[1] > 0.25
    for one in (equal, measured):
        assert read_law(machine(one)["fit"]["reference"]).mean == pytest.approx(1e6, rel=0.01)
    told = equal.report("text")
    assert "the runs' processors were at 0.80 to 1.25 of their mean speed" in " ".join(told.split()).replace(
        "The", "the"
    )
    assert "as measured" in " ".join(measured.report("text").split())


def test_without_meters_of_waits_the_machine_says_what_it_does_not_know(tmp_path: Path) -> None:
    rows = [row | {"ready_wait_ns": None, "io_wait_ns": None, "paging_wait_ns": None} for row in rows_of()]
    made = fit(laid(tmp_path / "blind", rows))
    assert "storage" not in machine(made)
    assert any("waits for a processor were not metered" in text for text in made.fitted.assumed)


def test_a_run_on_this_host_becomes_a_machine_that_runs_its_script(tmp_path: Path) -> None:
    script = tmp_path / "short.toml"
    script.write_text('name = "short"\nlogin = "sh"\nthink = "fixed(50ms)"\nlines = ["true", "ls /"]\n')
    run = loadgo.run(script, users=2, passes=10, out=tmp_path / "here")
    if all(value is None for value in loadgo.tables(run).interactions["cpu_user_ns"]):
        pytest.fail("this host meters no processor time at all: loadgo doctor says why")
    made = fit(run, output=tmp_path / "here.toml")
    assert all(read_law(told["cpu"]).mean > 0 for told in machine(made)["commands"].values())
    made_run = loadgo.run(script, on=str(tmp_path / "here.toml"), users=8, passes=5, out=tmp_path / "foretold")
    assert len(loadgo.tables(made_run).interactions) == 80
