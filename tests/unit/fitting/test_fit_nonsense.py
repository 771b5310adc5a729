"""Runs that no machine can be fitted to are refused with a reason, and weaknesses of a fit are reported."""

import math
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path

import loadgo
import polars as pl
import pytest
from loadgo.errors import Mistake, Refused
from loadgo.fitting.fit import fit
from loadgo.fitting.reading import read_runs
from loadgo.fitting.remarks import _checks_of_loads, _miss_warnings
from loadgo.fitting.trial import MEAN_RESPONSE_LABEL, FittedCheck
from loadgo.notation.measures import percent
from support.command_line import typed
from support.places import TESTS
from support.run_files import forget_manifest
from support.small_machine import laid


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("nonsense")
    script, machine = laid(folder)
    loadgo.run(script, on=str(machine), users=3, passes=8, out=folder / "good")
    return folder


def spoilt(room: Path, name: str, rows: pl.Expr | None = None, **columns: pl.Expr) -> Path:
    """The good run with fewer interactions, or other values in them."""
    folder = room / name
    shutil.copytree(room / "good", folder)
    path = folder / "interactions.parquet"
    frame = pl.read_parquet(path)
    frame = frame if rows is None else frame.filter(rows)
    frame.with_columns(**columns).write_parquet(path)
    return forget_manifest(folder)


def test_one_interaction_is_too_few(room: Path) -> None:
    folder = spoilt(room, "one", (pl.col("user") == 1) & (pl.col("pass") == 4) & (pl.col("line") == 1))
    with pytest.raises(ValueError, match=r"1 interaction was answered and metered: no machine can be fitted to these"):
        fit(folder)


def test_runs_of_different_scripts_are_no_one_machine(room: Path) -> None:
    other = room / "other.toml"
    other.write_text((room / "small.toml").read_text().replace("edit prime.c", "edit other.c"))
    loadgo.run(other, on=str(room / "small-machine.toml"), users=3, passes=8, out=room / "other")
    with pytest.raises(ValueError, match="runs of different scripts: 'small', but with other lines"):
        fit(room / "good", room / "other")


def test_a_run_that_says_nothing_of_processor_time_is_refused_with_the_remedy(room: Path) -> None:
    none = pl.lit(None, pl.UInt64)
    folder = spoilt(room, "unmetered", cpu_user_ns=none, cpu_system_ns=none)
    with pytest.raises(ValueError, match=r"has no processor time of interactions, .* loadgo doctor says"):
        fit(folder)


def test_lost_records_are_said_and_the_exit_status_is_bad(room: Path) -> None:
    folder = room / "lossy"
    shutil.copytree(room / "good", folder)
    told = folder / "run.toml"
    told.write_text(
        told.read_text() + '\n[[lost]]\nat_ns = 5\nwhat = "record"\ncount = 12\nreason = "the disk is full"\n'
    )
    fitted = fit(folder)
    assert any(warning.startswith("12 records of these runs are lost") for warning in fitted.warnings)
    done = typed(room, "fit", folder, "-o", "lossy.toml", status=1)
    assert "12 records of these runs are lost" in done.stderr
    assert (room / "lossy.toml").exists()


def test_an_output_that_exists_is_not_replaced_unless_that_is_said(room: Path) -> None:
    output = room / "mine.toml"
    output.write_text("precious")
    done = typed(room, "fit", "good", "-o", output, status=2)
    assert output.read_text() == "precious"
    assert "--force" in done.stderr
    fit(room / "good", output=output, force=True)
    assert "[fit]" in output.read_text()


def test_a_command_that_the_machine_does_not_have_is_named(room: Path) -> None:
    fit(room / "good", output=room / "fitted.toml")
    other = room / "longer.toml"
    other.write_text((room / "small.toml").read_text().replace('"ls"', '"ls", "mail"'))
    with pytest.raises((Mistake, Refused, ValueError), match="does not know mail"):
        loadgo.run(other, on=str(room / "fitted.toml"), users=2, out=room / "never")


def test_a_host_and_a_machine_are_two_systems(room: Path) -> None:
    folder = room / "as-a-host"
    shutil.copytree(room / "good", folder)
    told = folder / "run.toml"
    conditions = tomllib.loads(told.read_text())
    as_host = told.read_text().replace('kind = "machine"', 'kind = "host"')
    told.write_text(as_host.replace(f'id = "{conditions["id"]}"', 'id = "another"'))
    with pytest.raises(ValueError, match="fit one system at a time"):
        fit(room / "good", folder)


def test_a_machine_that_swaps_whole_programs_is_refused(room: Path, tmp_path: Path) -> None:
    loadgo.run("desk-calculator", on="ctss", users=2, passes=2, out=tmp_path / "swapped")
    with pytest.raises(ValueError, match="swaps whole programs"):
        fit(tmp_path / "swapped")


def test_a_command_typed_hardly_ever_is_said_to_be_known_as_little(room: Path) -> None:
    few = ~((pl.col("command").cast(pl.String) == "compile") & (pl.col("pass") != 3))
    fitted = fit(spoilt(room, "few", few))
    assert any("`compile`: fewer than 5 interactions" in text for text in fitted.fitted.assumed)
    compiled = next(one for one in fitted.fitted.parameters if one.key == "commands.compile.cpu")
    edited = next(one for one in fitted.fitted.parameters if one.key == "commands.edit.cpu")
    at = {one.key: place for place, one in enumerate(fitted.fitted.parameters) if one.of == "mean"}
    variances = fitted.fitted.covariance.diagonal()
    assert variances[at[compiled.key]] > variances[at[edited.key]]


def test_the_standard_output_has_the_file_alone(room: Path) -> None:
    done = typed(room, "fit", "good", "-o", "-", "--name", "mine")
    assert tomllib.loads(done.stdout)["title"] == "mine"


def test_users_on_another_machine_were_not_metered(room: Path) -> None:
    folder = room / "remote"
    shutil.copytree(room / "good", folder)
    told = folder / "run.toml"
    elsewhere = told.read_text().replace("[system]", '[system]\nlogin = "ssh elsewhere"')
    told.write_text(elsewhere.replace('cpu = "', 'cpu = "" # "'))
    with pytest.raises(ValueError, match=r"on another host .*what each interaction used was not measured"):
        fit(folder)


def test_a_command_that_was_never_answered_is_said_to_be_unknown(room: Path) -> None:
    silent = pl.when(pl.col("command").cast(pl.String) == "ls").then(pl.lit("timeout")).otherwise(pl.col("outcome"))
    fitted = fit(spoilt(room, "silent", outcome=silent.cast(pl.Categorical)))
    assert any(
        "of `ls` was answered and metered, so the machine has no such command" in warning for warning in fitted.warnings
    )


def test_a_run_that_is_named_twice_would_count_twice(room: Path) -> None:
    with pytest.raises(ValueError, match="good is named twice"):
        fit(room / "good", room / "good")


@pytest.mark.parametrize("unused", [(), ("cpu", "wait")], ids=["used something", "used nothing"])
def test_a_host_on_which_every_response_took_no_time_is_fitted(tmp_path: Path, unused: tuple[str, ...]) -> None:
    folder = tmp_path / "instant"
    shutil.copytree(TESTS / "runs/reported/live-exact", folder)
    path = folder / "interactions.parquet"
    frame = pl.read_parquet(path)
    nothing = [name for name in frame.columns if name.endswith("_ns") and any(word in name for word in unused)]
    zeros = {name: pl.lit(0, frame[name].dtype) for name in nothing}
    frame.with_columns(ready_ns=pl.col("sent_ns"), **zeros).write_parquet(path)
    fitted = fit(folder)
    assert any("no response time" in text for text in fitted.fitted.assumed) == (not unused)
    (mean, *_) = fitted.checks
    assert (mean.figure, mean.measured) == ("mean response", 0.0)
    assert mean.off == (0.0 if unused else math.inf)
    assert "inf" not in fitted.report(width=100)
    assert fitted.to_dict()["checks"][0]["off"] == (0.0 if unused else None)


def test_the_warning_of_a_miss_has_the_figure_of_the_table() -> None:
    missed = FittedCheck("r", 5, MEAN_RESPONSE_LABEL, 57.6e6, 11.81e6, timed=True, error=0.01)
    (warning,) = _miss_warnings([missed])
    assert f"the machine's mean response is {percent(missed.off).removeprefix('−')} too low" in warning
    assert "79.5 % too low" in warning


def test_runs_of_one_load_that_differ_by_their_speed_are_checked_together(room: Path) -> None:
    (reading,) = read_runs([room / "good"])
    repeated = replace(reading, id="again")
    misses = {reading.id: 0.8, repeated.id: 1.2}
    checks = [
        FittedCheck(run, 3, MEAN_RESPONSE_LABEL, 1e7, 1e7 * miss, timed=True, error=0.01)
        for run, miss in misses.items()
    ]
    assert len(_miss_warnings(checks)) == 1
    (together,) = _checks_of_loads([reading, repeated], checks)
    assert together.off == pytest.approx(0.0)
    assert together.error == pytest.approx(0.01 / 2**0.5)
    other = replace(repeated, think="none")
    assert len(_checks_of_loads([reading, other], checks)) == 2
