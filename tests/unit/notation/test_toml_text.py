"""TOML that nests its values thousands deep is a mistake in words wherever people and folders bring it."""

import shutil
from pathlib import Path

import pytest
from loadgo.cli.app import app
from loadgo.errors import BadRun, Mistake
from loadgo.measures.tariff import load_tariff
from loadgo.notation.toml_text import parse_toml, toml_table
from loadgo.records.tables import tables
from support.places import TESTS
from typer.testing import CliRunner

NESTED = f"a = {'[' * 2000}{']' * 2000}\n"
ENDED = TESTS / "runs" / "format-1" / "2026-11-21T01-37-05-ended"


def test_values_that_are_nested_too_deeply_are_a_mistake() -> None:
    with pytest.raises(ValueError, match="nested too deeply"):
        toml_table(NESTED)
    with pytest.raises(Mistake, match="nested too deeply"):
        parse_toml(NESTED)


def test_a_tariff_that_is_nested_too_deeply_is_refused_in_words(tmp_path: Path) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(NESTED)
    with pytest.raises(ValueError, match=r"tariff .*nested too deeply"):
        load_tariff(str(file))
    refused = CliRunner().invoke(app, ["report", str(ENDED), "--tariff", str(file)])
    assert (refused.exit_code, "nested too deeply" in refused.output) == (2, True)


@pytest.mark.parametrize("file", ["run.toml", "prediction.toml"])
def test_a_file_of_a_run_that_is_nested_too_deeply_is_damage(file: str, tmp_path: Path) -> None:
    run = Path(shutil.copytree(ENDED, tmp_path / "run"))
    (run / file).write_text(NESTED)
    with pytest.raises(BadRun, match=rf"{file}.*nested too deeply"):
        tables(run)
