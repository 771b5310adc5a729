"""The bundled machines: each is read, each runs each bundled script, and each of its figures says where it is from."""

import re
import tomllib
from pathlib import Path

import loadgo
import pytest

MACHINES = Path(loadgo.__file__).parent / "data" / "machines"
SCRIPTS = Path(loadgo.__file__).parent / "data" / "scripts"
NAMES = sorted(path.stem for path in MACHINES.glob("*.toml"))
BUNDLED = sorted(path.stem for path in SCRIPTS.glob("*.toml"))
ORIGIN = re.compile(r"#.*\b(printed|derived|fitted|assumed)\b")
FIGURE = re.compile(r"^[\w\"*. ]+=\s*(?P<value>.*\d.*)$")
WORDS = ("title", "source", "like")


def figures(text: str) -> list[str]:
    """The lines of a machine file that give a number, but for names with digits in them."""
    lines = [line for line in text.splitlines() if line and not line.startswith(("#", "["))]
    return [line for line in lines if FIGURE.match(line.split("#")[0]) and not line.startswith(WORDS)]


def without_origin(text: str) -> list[str]:
    """The figures that do not say where they are from."""
    return [line for line in figures(text) if not ORIGIN.search(line)]


def test_there_are_the_six_machines_of_the_documents() -> None:
    assert {"ctss", "multics-1.8", "multics-3.0.2", "multics-645", "multics-6180", "tenex"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_each_figure_says_where_it_is_from(name: str) -> None:
    text = (MACHINES / f"{name}.toml").read_text(encoding="utf-8")
    assert len(figures(text)) > 5
    assert without_origin(text) == []


def test_a_figure_without_an_origin_is_found() -> None:
    assert without_origin('frames = 256   # from memory\ntitle = "1969"\nwired = 3   # assumed') == [
        "frames = 256   # from memory"
    ]


@pytest.mark.long
@pytest.mark.parametrize("script", BUNDLED)
@pytest.mark.parametrize("name", NAMES)
def test_each_machine_runs_each_bundled_script(name: str, script: str, tmp_path: Path) -> None:
    run = loadgo.run(script, on=name, users=2, passes=1, out=tmp_path / "run")
    rows = loadgo.tables(run).interactions
    assert run.outcome == "done"
    assert len(rows) > 0
    assert rows["ready_ns"].null_count() == 0
    assert set(rows["outcome"].cast(str).unique()) <= {"ok", "failed"}


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_interactions(name: str, tmp_path: Path) -> None:
    runs = [loadgo.run("typical-user", on=name, users=4, seed=7, out=tmp_path / at) for at in ("a", "b")]
    first, second = (loadgo.tables(run).interactions for run in runs)
    assert first.equals(second)


def test_the_6180_differs_from_the_645_in_processor_fault_path_and_storage_alone() -> None:
    document = tomllib.loads((MACHINES / "multics-6180.toml").read_text(encoding="utf-8"))
    assert document["like"] == "multics-645"
    assert set(document) == {"title", "source", "like", "processors", "memory", "storage", "supervisor", "tariff"}
    assert set(document["processors"]) == {"count", "speed", "instructions_per_second"}
    assert set(document["memory"]) == {"frames", "device", "device_pages"}
    assert document["memory"]["frames"] == 256


def test_a_console_session_faults_more_than_a_certification_run(tmp_path: Path) -> None:
    thinking = loadgo.run("typical-user", on="multics-3.0.2", users=4, out=tmp_path / "console")
    alone = loadgo.run("typical-user", on="multics-3.0.2", users=1, think="none", out=tmp_path / "certified")
    console, certified = (
        loadgo.tables(run).interactions["faults_major"].to_numpy().mean() for run in (thinking, alone)
    )
    assert console > 2 * certified


def test_a_transfer_costs_by_its_bytes(tmp_path: Path) -> None:
    script = tmp_path / "sends.toml"
    lines = "\n".join(f'[[lines]]\nas = "send"\ntype = "send {size}"' for size in (10_000, 20_000))
    script.write_text(f'name = "sends"\nlogin = "rjs"\npasses = 1\nthink = "none"\n{lines}\n', encoding="utf-8")
    run = loadgo.run(script, on="tenex", users=1, out=tmp_path / "run")
    rows = loadgo.tables(run).interactions.sort("line")
    short, long = (rows["cpu_user_ns"] + rows["cpu_system_ns"]).to_numpy() / 1e9
    assert 0.5 < (long - short) / 10_000 * 1000 < 0.75
