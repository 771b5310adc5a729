"""A machine file is TOML whatever the names in it are: of the machine, of commands, of run folders, of scripts."""

import tomllib
from pathlib import Path

import loadgo
import pytest
import tomlkit
from loadgo.notation.keys import dotted, parts_of
from loadgo.records.machine_file import parsed_machine
from loadgo.records.prediction import read_prediction

HOSTILE = [
    "a\nb",
    'quotes " and \' and """',
    "back\\slash\\",
    "control \x00\x07\x1b\x7f and \r\n\t",
    "Größe 大きさ \u2028 \u202e \U0001f680",
    "# = [a.b] {c}",
    "x" * 10_000,
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose script, commands and folder have names that need quoting."""
    folder = tmp_path_factory.mktemp("names")
    commands = ['say "hi"', "back\\slash", "a.b = c", "größer"]
    script = {"name": 'a "script" # of a test', "lines": [{"type": f"c{n}", "as": n} for n in commands]}
    machine = {
        "title": "quoted",
        "source": "a test",
        "processors": {"discipline": "sharing"},
        "commands": {name: {"cpu": "exponential(50ms)"} for name in commands},
    }
    (folder / "script.toml").write_text(tomlkit.dumps(script), encoding="utf-8")
    (folder / "machine.toml").write_text(tomlkit.dumps(machine), encoding="utf-8")
    made_run = loadgo.run(
        folder / "script.toml", on=str(folder / "machine.toml"), users=3, passes=15, out=folder / 'run "1" # \x1f'
    )
    return made_run.folder


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_machine_may_have_any_title(run: Path, name: str, tmp_path: Path) -> None:
    fitted = loadgo.fit(run, output=tmp_path / "fitted.toml", name=name)
    read = tomllib.loads((tmp_path / "fitted.toml").read_text(encoding="utf-8"))
    assert read["title"] == name
    assert fitted.title == name


def test_a_blank_title_is_refused_before_anything_is_read() -> None:
    with pytest.raises(ValueError, match="name is blank"):
        loadgo.fit("no-such-run", name=" \n")


def test_commands_of_any_name_are_fitted_and_drawn(run: Path, tmp_path: Path) -> None:
    loadgo.fit(run, output=tmp_path / "fitted.toml")
    text = (tmp_path / "fitted.toml").read_text(encoding="utf-8")
    original = tomllib.loads((run.parent / "machine.toml").read_text(encoding="utf-8"))
    assert set(tomllib.loads(text)["commands"]) == set(original["commands"]) == set(parsed_machine(text)["commands"])
    predicted = loadgo.run(
        run.parent / "script.toml", on=str(tmp_path / "fitted.toml"), passes=3, draws=8, out=tmp_path / "predicted"
    )
    prediction = read_prediction(predicted.folder)
    assert prediction is not None
    assert {parts_of(key.rpartition(" ")[0])[1] for key in prediction.parameters} == set(original["commands"])
    assert {one.command for one in prediction.figures["all"]} == {"", *original["commands"]}


def test_a_fit_of_a_prediction_says_so_and_names_the_measured_runs(run: Path, tmp_path: Path) -> None:
    measured = loadgo.fit(run, output=tmp_path / "fitted.toml")
    assert not measured.copied_fit
    predicted = loadgo.run(
        run.parent / "script.toml", on=str(tmp_path / "fitted.toml"), passes=15, draws=0, out=tmp_path / "predicted"
    )
    words = " ".join(str(loadgo.fit(predicted).report("text")).split())
    assert f"This run is simulated, on a machine that was fitted itself ({measured.title})." in words
    assert "The measured runs that it was fitted to: `loadgo fit 'run" in words


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_a_dotted_key_has_the_names_that_it_was_made_of(name: str) -> None:
    assert parts_of(dotted("commands", name, "cpu")) == ["commands", name, "cpu"]
